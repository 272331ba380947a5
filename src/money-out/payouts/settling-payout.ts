import { must } from '../../shared/assert.ts';
import { budgets } from '../../shared/budgets.ts';
import { refuse } from '../../shared/errors.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { actorOf } from '../decisions/carry-out.ts';
import { type DecisionHandling, refused } from '../decisions/handling.ts';
import { hearProvider } from '../payouts/ask-transfer.ts';
import { findMadeAttempts } from '../payouts/attempts.ts';
import { Payout } from '../payouts/payout.entity.ts';
import { finalOutcomeOf, isFinalPayout, lastingStatus, type ProviderReport } from '../payouts/payout.ts';
import { endByHand, whyDecisionMoved, whyUndecidable } from '../payouts/settle-payout.ts';
import type { PayoutKinds } from './handling.ts';
import { lockPayout, recordProviderStatus } from './record-provider-status.ts';
import { readDecision } from './undecided.ts';

const field = 'payout_id';

/** Settles a payout by hand: one person if the provider's final status proves the outcome, otherwise two. */
export const settlingPayout = (payoutKinds: PayoutKinds): DecisionHandling<'settle_payout'> => ({
  async look(em, gateways, { payout_id: payoutId, outcome }) {
    const payout =
      (await em.findOne(Payout, { id: payoutId })) ?? refuse('NOT_FOUND', 'the payout was not found', { field });
    if ((await readDecision(em, payout)).isHeld) {
      refuse('REQUEST_INVALID', 'the payout is not sent until its own decision is approved', { field });
    }
    if (isFinalPayout(payout.status)) refuse('REQUEST_INVALID', `the payout is already ${payout.status}`, { field });
    const signal = AbortSignal.timeout(budgets.provider.call);
    const report = await hearProvider(em, gateways, payout, signal);
    const says = lastingStatus(report.said, payout.last_word);
    const proven = finalOutcomeOf({ said: says });
    if (proven !== null && proven !== outcome) {
      refuse('REQUEST_INVALID', `the provider reports a final status: ${says}`, { field: 'outcome' });
    }
    const objection = proven === null ? await whyUndecidable(em, { payoutId, outcome }) : null;
    if (objection !== null) refuse('REQUEST_INVALID', objection.reason, { field: objection.field });
    const { status, amount, fee, net_amount, last_word, unknown_since } = payout;
    const attempts = (await findMadeAttempts(em, payoutId)).length;
    return {
      evidence: {
        provider: {
          says,
          transfer_id: 'providerTransferId' in report ? report.providerTransferId : null,
          failure_code: 'failureCode' in report ? report.failureCode : null,
        },
        books: {
          status,
          amount,
          fee,
          net_amount,
          attempts,
          provider_said_before: last_word ?? null,
          unknown_since: unknown_since?.toISOString() ?? null,
        },
      },
      isProven: proven === outcome,
    };
  },
  ofOne: true,
  async hear(em, gateways, { payout_id }) {
    const payout = await em.findOneOrFail(Payout, { id: payout_id ?? '' });
    return hearProvider(em, gateways, payout, AbortSignal.timeout(budgets.provider.call));
  },
  async hold(tx, { payout_id }, report: ProviderReport) {
    const payout = await lockPayout(tx, payout_id ?? '');
    if (!isFinalPayout(payout.status)) await recordProviderStatus(tx, payout, report, new Date());
  },
  async whyMoved(tx, decision) {
    const { payout_id } = decision;
    const payout = await tx.findOneOrFail(Payout, { id: payout_id ?? '' }, { refresh: true });
    return whyDecisionMoved(payout, { decision, said: payout.last_word });
  },
  async act(tx, ports, decision, report: ProviderReport) {
    const { id: decisionId, note } = decision;
    const outcome = must(decision.outcome, 'a decision about a payout has an outcome');
    const payout = await tx.findOneOrFail(Payout, { id: decision.payout_id ?? '' });
    const said = lastingStatus(report.said, payout.last_word);
    if (finalOutcomeOf({ said }) !== outcome) {
      if (!decision.approved_by) return 'waits';
      const objection = await whyUndecidable(tx, { payoutId: payout.id, outcome });
      if (objection !== null) return refused(objection.reason);
    }
    const actorId = actorOf(decision);
    await endByHand(tx, { ...ports, payoutKinds }, payout, { outcome, note, said, actorId, decisionId });
    return undefined;
  },
  async tell(em, workflows, { payout_id }) {
    await failpoint('settle-payout.after');
    await workflows.hintPayout(await em.findOneOrFail(Payout, { id: payout_id ?? '' }));
  },
});
