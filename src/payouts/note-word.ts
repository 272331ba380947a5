import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../database/database-clock.ts';
import { recordEvent } from '../events/record-event.ts';
import { nextPayoutLookAt, nextPayoutWaitMs, overdueGraceMs, unansweredLookMs } from '../shared/asking-intervals.ts';
import { handlings } from './handlings.ts';
import { Payout } from './payout.entity.ts';
import {
  contradicts,
  isFinalPayout,
  isReturnUnbooked,
  isUnknown,
  restOf,
  type Said,
  saidForGood,
  type TransferWord,
} from './payout.ts';

/** The payout of this id, locked until the transaction ends. */
export function lockPayout(tx: EntityManager, id: string): Promise<Payout> {
  return tx.findOneOrFail(Payout, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
}

/**
 * Writes down what the provider said, in the caller's transaction: one row for each change of its word, since when
 * nobody can tell, and when the sweep looks after the payout if its workflow does not. `asked` is the workflow's clock
 * when it asked; the word came later, by that clock or the database's, whichever is ahead. That calls to the provider are
 * limited is no word of it on the payout, and no reason to tell operators. How a transfer ended is unsaid only by another
 * such word, and of a final payout only words that prove something are written down; one that cannot be true beside its
 * status changes no money and becomes a case for operators.
 */
export async function noteWord(tx: EntityManager, payout: Payout, word: TransferWord, asked: Date): Promise<void> {
  const now = await readDatabaseClock(tx);
  const at = new Date(Math.max(asked.getTime(), now.getTime()));
  const failureCode = 'failureCode' in word ? word.failureCode : null;
  const restMs = restOf(word);
  const provesNothing = isUnknown(word.said) && !contradicts(payout.status, word.said);
  const isUnsaying = saidForGood(word.said, payout.last_word) !== word.said;
  const isWord = isFinalPayout(payout.status)
    ? !provesNothing
    : !isUnsaying && (restMs === 0 || word.said !== 'silent');
  if (isWord && payout.last_word !== word.said) {
    await tx.execute('insert into payout_words (payout_id, said, failure_code, at) values (?, ?, ?, ?)', [
      payout.id,
      word.said,
      failureCode,
      at,
    ]);
    payout.last_word = word.said;
    payout.last_word_at = at;
  }
  payout.asked_at = at;
  payout.asks += 1;
  if ('providerTransferId' in word) payout.provider_transfer_id ??= word.providerTransferId;
  if (isFinalPayout(payout.status)) {
    payout.look_again_at = nextLookAtFinal(payout, word, now);
  } else {
    if (isUnsaying || !isUnknown(word.said)) payout.unknown_since = null;
    else if (restMs === 0) payout.unknown_since ??= at;
    const wait = nextPayoutWaitMs(at.getTime() - payout.created_at.getTime(), restMs);
    payout.look_again_at = new Date(at.getTime() + wait + overdueGraceMs);
  }
  payout.updated_at = now;
  await tx.flush();
  if (isFinalPayout(payout.status)) await noteContradiction(tx, payout, word.said, now);
}

/**
 * A contradiction is told once, when it begins, and is over when the provider agrees again, or an operator explains it:
 * then the same word is no news, until the provider has said another.
 */
async function noteContradiction(tx: EntityManager, payout: Payout, said: Said, now: Date): Promise<void> {
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
    resourceType: handlings[payout.kind].resourceType,
    resourceId: payout.id,
    actorId: null,
    requestId: null,
    data: { status: payout.status, provider_says: said },
  });
}

/**
 * When a final payout is looked at again; null when it has been looked at for long enough. A look that was not answered is
 * none, and neither is one that heard of a return that no step has booked yet.
 */
function nextLookAtFinal(payout: Payout, word: TransferWord, now: Date): Date | null {
  const next = payout.finalized_at ? nextPayoutLookAt(payout.finalized_at, now) : null;
  const soon = (ms: number) => new Date(Math.min(now.getTime() + ms, next?.getTime() ?? Number.POSITIVE_INFINITY));
  if (isReturnUnbooked(payout)) return soon(overdueGraceMs);
  return word.said === 'silent' ? soon(Math.max(restOf(word), unansweredLookMs)) : next;
}
