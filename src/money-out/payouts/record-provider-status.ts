import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { recordEvent } from '../../platform/events/record-event.ts';
import { nextPayoutLookAt, nextPayoutWaitMs, overdueGraceMs, unansweredLookMs } from '../../shared/asking-intervals.ts';
import { must } from '../../shared/assert.ts';
import { answerAttempt, findMadeAttempts, openAttempt, readAskedSince } from './attempts.ts';
import { noteFurtherTransfers, noteGone } from './beyond-ours.ts';
import { Payout } from './payout.entity.ts';
import {
  contradicts,
  isFinalPayout,
  isReturnUnbooked,
  isUnknown,
  lastingStatus,
  type ProviderReport,
  type ProviderStatus,
  resourceTypeOf,
  restOf,
} from './payout.ts';

/** The payout with this id, locked until the transaction ends. */
export function lockPayout(tx: EntityManager, id: string): Promise<Payout> {
  return tx.findOneOrFail(Payout, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
}

/**
 * Records the provider's status in the caller's transaction: one row per change, since when the outcome is unknown, and
 * when a sweep checks the payout if its workflow does not. `asked` is the workflow's clock at the time of asking; the
 * status is dated by the later of that and the database's clock. A rate-limited call changes no status. A final status
 * is replaced only by another final one. For a final payout only a conclusive status is recorded; if it contradicts the
 * payout's status, no money moves and the contradiction is reported to operators.
 */
export async function recordProviderStatus(
  tx: EntityManager,
  payout: Payout,
  report: ProviderReport,
  asked: Date,
): Promise<void> {
  if ('providerTransferId' in report && !payout.provider_transfer_id) await keepFoundAttempt(tx, payout);
  const now = await readDatabaseClock(tx);
  const at = new Date(Math.max(asked.getTime(), now.getTime()));
  const failureCode = 'failureCode' in report ? report.failureCode : null;
  const restMs = restOf(report);
  const provesNothing = isUnknown(report.said) && !contradicts(payout.status, report.said);
  const takesBack = lastingStatus(report.said, payout.last_word) !== report.said;
  const isRecorded = isFinalPayout(payout.status)
    ? !provesNothing || isUnmade(payout, report.said)
    : !takesBack && (restMs === 0 || report.said !== 'silent');
  if (isRecorded && payout.last_word !== report.said) {
    await tx.execute('insert into payout_words (payout_id, said, failure_code, at) values (?, ?, ?, ?)', [
      payout.id,
      report.said,
      failureCode,
      at,
    ]);
    payout.last_word = report.said;
    payout.last_word_at = at;
  }
  payout.asked_at = at;
  payout.asks += 1;
  if ('providerTransferId' in report) payout.provider_transfer_id = report.providerTransferId;
  if (isFinalPayout(payout.status)) {
    payout.look_again_at = nextLookAtFinal(payout, report, now);
  } else {
    if (payout.last_word && !isUnknown(payout.last_word)) payout.unknown_since = null;
    else payout.unknown_since ??= at;
    await lookAgainLater(tx, payout, at, restMs);
  }
  payout.updated_at = now;
  await tx.flush();
  // Settling a pending payout books the return, so it is not recorded here.
  if ('providerTransferId' in report && !(payout.status === 'pending' && report.said === 'reversed')) {
    await noteGone(tx, { providerId: report.providerTransferId, status: report.said });
  }
  await noteFurtherTransfers(tx, payout, report.further ?? []);
  // A further transfer may reverse what two people booked for this payout.
  if (report.further) await tx.refresh(payout);
  if (isFinalPayout(payout.status)) await noteContradiction(tx, payout, report.said, now);
}

/** The provider has the transfer, so it was requested: if no attempt is recorded, a restored database lacks it. */
async function keepFoundAttempt(tx: EntityManager, { id: payoutId, status }: Payout): Promise<void> {
  if (isFinalPayout(status) || (await findMadeAttempts(tx, payoutId)).length > 0) return;
  const number = must(await openAttempt(tx, payoutId, { isMade: true }), 'a transfer that exists is not held');
  await answerAttempt(tx, { payoutId, number, outcome: 'accepted', failureCode: null });
}

/**
 * Whether people settled the payout as failed without an answer, and the provider now reports for the first time that
 * it does not know the transfer.
 */
const isUnmade = ({ status, last_word, provider_transfer_id }: Payout, said: ProviderStatus): boolean =>
  status === 'failed' && said === 'not known' && !provider_transfer_id && (!last_word || isUnknown(last_word));

/** Sets a pending payout's next check to some time after `at`, later than the workflow's own poll. */
export async function lookAgainLater(tx: EntityManager, payout: Payout, at: Date, restMs = 0): Promise<void> {
  const wait = nextPayoutWaitMs(at.getTime() - (await readAskedSince(tx, payout)).getTime(), restMs);
  payout.look_again_at = new Date(at.getTime() + wait + overdueGraceMs);
}

/**
 * Reports a contradiction once, when it begins. It ends when the provider agrees again or an operator explains it; the
 * explained status is not reported again until the provider has reported another.
 */
async function noteContradiction(tx: EntityManager, payout: Payout, said: ProviderStatus, now: Date): Promise<void> {
  const contradicted = contradicts(payout.status, said);
  if (payout.explained_word) {
    if (said === payout.explained_word || said === 'silent' || said === 'not known') return;
    payout.explained_word = null;
  }
  if (contradicted === (payout.contradicted_at !== null && payout.contradicted_at !== undefined)) return;
  if (!contradicted && (said === 'silent' || said === 'not known')) return;
  payout.contradicted_at = contradicted ? now : null;
  await tx.flush();
  if (!contradicted) return;
  await recordEvent(tx, {
    event: 'PAYOUT_CONTRADICTED',
    impact: 'HIGH',
    resourceType: resourceTypeOf[payout.kind],
    resourceId: payout.id,
    actorId: null,
    requestId: null,
    data: { status: payout.status, provider_says: said },
  });
}

/**
 * When to check a final payout again; null if no more checks are due. A check without an answer does not count, nor
 * does one that found a return which is not booked yet.
 */
function nextLookAtFinal(payout: Payout, report: ProviderReport, now: Date): Date | null {
  const next = payout.finalized_at ? nextPayoutLookAt(payout.finalized_at, now) : null;
  const soon = (ms: number) => new Date(Math.min(now.getTime() + ms, next?.getTime() ?? Number.POSITIVE_INFINITY));
  if (isReturnUnbooked(payout)) return soon(overdueGraceMs);
  return report.said === 'silent' ? soon(Math.max(restOf(report), unansweredLookMs)) : next;
}
