import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../../platform/events/record-event.ts';
import type { Gateways } from '../../platform/gateway/gateway.ts';
import { assert, must } from '../../shared/assert.ts';
import { refuse } from '../../shared/errors.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { isNote, notANote } from '../../shared/plain-text.ts';
import type { Decision } from '../decisions/decision.entity.ts';
import type { PayoutOutcome } from '../decisions/decision.ts';
import { actorOf, endDecision, lockDecisionAbout, whyPowerless } from '../decisions/end-decision.ts';
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
 * Ends a pending payout by hand, once: as a final status of the provider proves, whoever asks for it, or as two people
 * have decided. Two people cannot end it within two minutes of an attempt, as its request may still be under way, nor
 * as `succeeded` when there was no attempt.
 * Throws REQUEST_INVALID, with what the provider says, when that does not prove the outcome. A decision is never
 * refused to the caller: it is carried out, ends `refused` or `lapsed`, or waits for a second person. Repeating a
 * settlement returns the same.
 */
export async function settlePayout(
  em: EntityManager,
  ports: MovingPorts & { gateways: Gateways },
  { payoutId, settlement, at, signal }: Settling,
): Promise<PayoutStanding> {
  const report = await hearProvider(ports.gateways, await em.findOneOrFail(Payout, { id: payoutId }), signal);
  const standing = await em.fork().transactional(async (tx) => {
    const decision = await decisionOf(tx, payoutId, settlement);
    const payout = await lockPayout(tx, payoutId);
    const wasFinal = isFinalPayout(payout.status);
    const said = lastingStatus(report.said, payout.last_word);
    if (!wasFinal) await recordProviderStatus(tx, payout, report, new Date(at));
    const deliveries =
      decision === null
        ? await settleAsProven(tx, ports, payout, { settlement, said })
        : await carryOut(tx, ports, payout, { decision, said });
    // The payout may be final because this step is repeated, with its webhooks written but not started.
    return standingOf(payout, wasFinal ? await findUntold(tx, payout) : deliveries);
  });
  await failpoint('settle-payout.after');
  return standing;
}

async function decisionOf(tx: EntityManager, payoutId: string, settlement: PayoutSettlement): Promise<Decision | null> {
  if (!('decision_id' in settlement)) return null;
  return lockDecisionAbout(tx, { id: settlement.decision_id, kind: 'settle_payout', payout_id: payoutId });
}

/** Without a decision: only as the provider's final status says. */
async function settleAsProven(
  tx: EntityManager,
  ports: MovingPorts,
  payout: Payout,
  { settlement, said }: { settlement: PayoutSettlement; said: ProviderStatus },
): Promise<string[]> {
  assert(!('decision_id' in settlement), 'there is no decision');
  const { outcome, note } = settlement;
  if (!isNote(note)) refuse('REQUEST_INVALID', notANote);
  if (isFinalPayout(payout.status)) {
    if (await isSettledSo(tx, payout, { outcome, note })) return [];
    refuse('REQUEST_INVALID', `The payout is already ${payout.status}`);
  }
  if (finalOutcomeOf({ said }) !== outcome) {
    refuse(
      'REQUEST_INVALID',
      `The provider does not report that the transfer ${outcome}; it says: ${said}. ` +
        'What it does not prove needs a decision of two people: POST /v1/decisions',
    );
  }
  return end(tx, ports, payout, { outcome, note, said, actorId: null, decisionId: null });
}

/** Carries a decision out, and ends it in the same transaction. */
async function carryOut(
  tx: EntityManager,
  ports: MovingPorts,
  payout: Payout,
  { decision, said }: { decision: Decision; said: ProviderStatus },
): Promise<string[]> {
  if (decision.status !== 'pending') return [];
  const outcome = must(decision.outcome, 'a decision about a payout says how it ends');
  const why = (await whyPowerless(tx, decision)) ?? whyDecisionMoved(payout, { decision, said });
  if (why !== null) {
    await endDecision(tx, decision, { status: 'lapsed', reason: why });
    return [];
  }
  const isProven = finalOutcomeOf({ said }) === outcome;
  if (!isProven && !decision.approved_by) return [];
  const objection = isProven ? null : await whyUndecidable(tx, { payoutId: payout.id, outcome });
  if (objection !== null) {
    await endDecision(tx, decision, { status: 'refused', reason: objection.reason });
    return [];
  }
  const actorId = actorOf(decision);
  const deliveries = await end(tx, ports, payout, {
    outcome,
    note: decision.note,
    said,
    actorId,
    decisionId: decision.id,
  });
  await endDecision(tx, decision, { status: 'carried_out', actorId });
  return deliveries;
}

/**
 * Why a decision about a payout has become void: the payout has ended, or the provider has since said how the transfer
 * ended. Null while it is valid.
 */
export function whyDecisionMoved(
  { status }: Payout,
  { decision, said }: { decision: Decision; said: ProviderStatus | null | undefined },
): string | null {
  if (status !== 'pending') return `the payout is now ${status}`;
  const { says } = (decision.evidence.provider ?? {}) as { says?: string };
  const isNew = said && finalOutcomeOf({ said }) !== null && says !== said;
  return isNew ? `the provider has said since how the transfer ended: ${said}` : null;
}

/** Returns the ids of the webhooks it wrote. */
async function end(
  tx: EntityManager,
  ports: MovingPorts,
  payout: Payout,
  by: { outcome: PayoutOutcome; note: string; said: ProviderStatus; actorId: string | null; decisionId: string | null },
): Promise<string[]> {
  const { outcome, note, said, actorId, decisionId } = by;
  const ended =
    outcome === 'succeeded' ? await succeed(tx, ports, payout) : await fail(tx, ports, payout, settledByOperator);
  await recordEvent(tx, {
    event: 'PAYOUT_SETTLED',
    impact: 'HIGH',
    resourceType: resourceTypeOf[payout.kind],
    resourceId: payout.id,
    actorId,
    requestId: null,
    data: { outcome, note, decision_id: decisionId, provider_says: said },
  });
  const reversed = await reverseIfReturned(tx, ports, payout);
  return [...ended, ...reversed];
}

/** Whether this very settlement was already made: the step is repeated because its answer was lost. */
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
 * Why two people cannot decide, against the provider's silence, that a payout ended so, and the field that says it: a
 * request may still be under way, until when only the provider can say how it ended; or none was ever made, without
 * which no transfer can have succeeded. Null when they can.
 */
export async function whyUndecidable(
  em: EntityManager,
  { payoutId, outcome }: { payoutId: string; outcome: PayoutOutcome },
): Promise<{ field: 'payout_id' | 'outcome'; reason: string } | null> {
  const made = await findMadeAttempts(em, payoutId);
  if (made.some(({ ageMs }) => ageMs < mayBeUnderWayMs)) {
    return {
      field: 'payout_id',
      reason: 'the request to the provider may still be under way; try again in two minutes',
    };
  }
  if (outcome === 'succeeded' && made.length === 0) {
    return { field: 'outcome', reason: 'the transfer was never asked for, so it cannot have succeeded' };
  }
  return null;
}
