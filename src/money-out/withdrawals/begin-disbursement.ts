import type { EntityManager } from '@mikro-orm/postgresql';
import type { Account } from '../../ledger/accounts/account.entity.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordEvent } from '../../platform/events/record-event.ts';
import { overdueGraceMs } from '../../shared/asking-intervals.ts';
import { newId } from '../../shared/ids.ts';
import { compareMoney } from '../../shared/money.ts';
import { longestNote } from '../../shared/plain-text.ts';
import { decisionLivesHours } from '../decisions/decision.ts';
import type { Payout } from '../payouts/payout.entity.ts';
import { judgeDisbursement } from './judge-disbursement.ts';
import type { Withdrawal } from './withdrawal.entity.ts';
import { type CausePort, placeOfNote, type WithdrawalOpening, type WithdrawalTerms } from './withdrawal.ts';
import { refuseBeyondWithdrawalHeadroom, type WithdrawalHeadroom } from './withdrawal-headroom.ts';

/** What a disbursement has besides a withdrawal's fields. */
export interface Disbursement {
  causeId: string;
  note: string;
  /** Whether two people must approve it before it is sent. */
  waits: boolean;
}

/**
 * Checks a withdrawal under the locks of account and user, and of its cause for a disbursement; returns the
 * disbursement, or null for an ordinary withdrawal. Two people must approve a disbursement if the owner is an
 * individual, or if the amount exceeds the configured limit. Throws as `refuseBeyondWithdrawalHeadroom` or
 * `judgeDisbursement` does.
 */
export async function openDisbursement(
  tx: EntityManager,
  { sealer, config }: { sealer: Sealer; config: WithdrawalTerms },
  headroom: WithdrawalHeadroom,
  { id, account, opening }: { id: string; account: Account; opening: WithdrawalOpening },
): Promise<Disbursement | null> {
  const { amount, accountId, disbursement } = opening;
  if (!disbursement) {
    refuseBeyondWithdrawalHeadroom(headroom, amount, config.WITHDRAWAL_DAILY_LIMIT);
    return null;
  }
  const { causeId, noteSealed } = disbursement;
  const { isOfIndividual } = await judgeDisbursement(tx, headroom, { causeId, accountId, amount, lock: true });
  const isLarge = compareMoney(amount, config.DISBURSEMENT_APPROVAL_ABOVE) > 0;
  return {
    causeId,
    note: await sealer.open(placeOfNote(id), noteSealed),
    waits: isOfIndividual || account.kind === 'user' || isLarge,
  };
}

/**
 * The step after a disbursement's reservation: creates its decision or, if it needs none, sets its cause `in_progress`.
 */
export async function beginDisbursement(
  tx: EntityManager,
  causes: CausePort,
  { withdrawal, payout, disbursement }: { withdrawal: Withdrawal; payout: Payout; disbursement: Disbursement },
): Promise<void> {
  const { causeId, note, waits } = disbursement;
  const { id, user_id: userId } = withdrawal;
  if (!waits) return causes.startCause(tx, causeId, { actorId: userId, requestId: payout.request_id ?? null });
  const lapsesAt = payout.created_at.getTime() + decisionLivesHours('disburse') * 3_600_000;
  payout.look_again_at = new Date(lapsesAt + overdueGraceMs);
  await tx.flush();
  const books = {
    cause_id: causeId,
    amount: payout.amount,
    net_amount: payout.net_amount,
    owner_id: withdrawal.organization_id ?? userId,
  };
  const decisionId = newId();
  await tx.execute(
    `insert into decisions (id, kind, withdrawal_id, note, evidence, proposed_by)
     values (?, 'disburse', ?, ?, ?, ?)`,
    [
      decisionId,
      id,
      note.replace(/\s+/g, ' ').slice(0, longestNote).trim(),
      JSON.stringify({ provider: null, books }),
      userId,
    ],
  );
  await recordEvent(tx, {
    event: 'DECISION_PROPOSED',
    impact: 'HIGH',
    resourceType: 'decision',
    resourceId: decisionId,
    actorId: userId,
    requestId: payout.request_id ?? null,
    data: { kind: 'disburse', withdrawal_id: id },
  });
}
