import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../../platform/events/record-event.ts';
import { refuse } from '../../shared/errors.ts';
import { isNote, notANote } from '../../shared/plain-text.ts';
import { carryOutAbout } from '../decisions/carry-out.ts';
import type { Decision } from '../decisions/decision.entity.ts';
import type { PayoutOutcome } from '../decisions/decision.ts';
import type { DecisionPorts } from '../decisions/handling.ts';
import { hearProvider } from './ask-transfer.ts';
import { findMadeAttempts } from './attempts.ts';
import type { MovingPorts } from './handling.ts';
import { Payout } from './payout.entity.ts';
import {
  finalOutcomeOf,
  isFinalPayout,
  lastingStatus,
  type PayoutSettlement,
  type PayoutStanding,
  type ProviderStatus,
  resourceTypeOf,
  settledByOperator,
} from './payout.ts';
import { lockPayout, recordProviderStatus } from './record-provider-status.ts';
import { mayBeUnderWayMs } from './repeating.ts';
import { fail, findUntold, reverseIfReturned, succeed } from './resolve-payout.ts';
import { standingOf } from './standing-of.ts';

interface Settling {
  payoutId: string;
  settlement: PayoutSettlement;
  /** ISO 8601, the workflow's clock. */
  at: string;
  signal: AbortSignal;
}

/**
 * Settles a pending payout by hand, once: as the provider's final status proves, for any operator, or as two people
 * have decided. Two people cannot settle it within two minutes of an attempt, whose request may still be in transit,
 * nor as `succeeded` without an attempt. Throws REQUEST_INVALID, with the provider's status, if that does not prove the
 * outcome. A decision is never refused to the caller: it is carried out, becomes `refused` or `lapsed`, or waits for a
 * second person. Idempotent.
 */
export async function settlePayout(
  em: EntityManager,
  ports: MovingPorts & DecisionPorts,
  { payoutId, settlement, at, signal }: Settling,
): Promise<PayoutStanding> {
  const asked = await em.findOneOrFail(Payout, { id: payoutId });
  if ('decision_id' in settlement) {
    await carryOutAbout(em, ports, { id: settlement.decision_id, kind: 'settle_payout', payout_id: payoutId });
  } else {
    const report = await hearProvider(em, ports.gateways, asked, signal);
    await em.fork().transactional(async (tx) => {
      const payout = await lockPayout(tx, payoutId);
      const said = lastingStatus(report.said, payout.last_word);
      if (!isFinalPayout(payout.status)) await recordProviderStatus(tx, payout, report, new Date(at));
      await settleAsProven(tx, ports, payout, { ...settlement, said });
    });
  }
  const place = em.fork();
  const payout = await place.findOneOrFail(Payout, { id: payoutId });
  return standingOf(payout, isFinalPayout(payout.status) ? await findUntold(place, payout) : []);
}

/** Settles a payout without a decision, only as the provider's final status proves. */
async function settleAsProven(
  tx: EntityManager,
  ports: MovingPorts,
  payout: Payout,
  { outcome, note, said }: { outcome: PayoutOutcome; note: string; said: ProviderStatus },
): Promise<void> {
  if (!isNote(note)) refuse('REQUEST_INVALID', notANote);
  if (isFinalPayout(payout.status)) {
    if (await isSettledSo(tx, payout, { outcome, note })) return;
    refuse('REQUEST_INVALID', `The payout is already ${payout.status}`);
  }
  if (finalOutcomeOf({ said }) !== outcome) {
    refuse(
      'REQUEST_INVALID',
      `The provider does not report that the transfer ${outcome}; it says: ${said}. ` +
        'Without that proof, two people must decide: POST /v1/decisions',
    );
  }
  await endByHand(tx, ports, payout, { outcome, note, said, actorId: null, decisionId: null });
}

/**
 * Why a decision about a payout has become void: the payout is final, or the provider has since reported the outcome.
 * Null if it is valid.
 */
export function whyDecisionMoved(
  { status }: Payout,
  { decision, said }: { decision: Decision; said: ProviderStatus | null | undefined },
): string | null {
  if (status !== 'pending') return `the payout is now ${status}`;
  const { says } = (decision.evidence.provider ?? {}) as { says?: string };
  const isNew = said && finalOutcomeOf({ said }) !== null && says !== said;
  return isNew ? `the provider has since reported a final status: ${said}` : null;
}

/** Settles a pending payout by hand in the caller's transaction. */
export async function endByHand(
  tx: EntityManager,
  ports: MovingPorts,
  payout: Payout,
  by: { outcome: PayoutOutcome; note: string; said: ProviderStatus; actorId: string | null; decisionId: string | null },
): Promise<void> {
  const { outcome, note, said, actorId, decisionId } = by;
  await (outcome === 'succeeded' ? succeed(tx, ports, payout) : fail(tx, ports, payout, settledByOperator));
  await recordEvent(tx, {
    event: 'PAYOUT_SETTLED',
    impact: 'HIGH',
    resourceType: resourceTypeOf[payout.kind],
    resourceId: payout.id,
    actorId,
    requestId: null,
    data: { outcome, note, decision_id: decisionId, provider_says: said },
  });
  await reverseIfReturned(tx, ports, payout);
}

/** Whether this settlement was already made and the step is a retry because its result was lost. */
async function isSettledSo(
  tx: EntityManager,
  { id, kind }: Payout,
  settlement: { outcome: PayoutOutcome; note: string },
): Promise<boolean> {
  const found = await tx.execute<unknown[]>(
    `select 1 from events where resource_type = ? and resource_id = ? and event = 'PAYOUT_SETTLED'
       and data @> ?::jsonb limit 1`,
    [resourceTypeOf[kind], id, JSON.stringify({ ...settlement, decision_id: null })],
  );
  return found.length > 0;
}

/**
 * Why two people cannot decide this outcome while the provider is silent, with the field in error: a request may still
 * be in transit, or none was ever made, so no transfer can have succeeded. Null if they can.
 */
export async function whyUndecidable(
  em: EntityManager,
  { payoutId, outcome }: { payoutId: string; outcome: PayoutOutcome },
): Promise<{ field: 'payout_id' | 'outcome'; reason: string } | null> {
  const made = await findMadeAttempts(em, payoutId);
  if (made.some(({ ageMs }) => ageMs < mayBeUnderWayMs)) {
    return {
      field: 'payout_id',
      reason: 'the request to the provider may still be in transit; try again in two minutes',
    };
  }
  if (outcome === 'succeeded' && made.length === 0) {
    return { field: 'outcome', reason: 'the transfer was never requested, so it cannot have succeeded' };
  }
  return null;
}
