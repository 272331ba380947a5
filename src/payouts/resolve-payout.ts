import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../database/database-clock.ts';
import type { Sealer } from '../encryption/sealer.ts';
import { recordEvent } from '../events/record-event.ts';
import { systemAccounts } from '../ledger/account.ts';
import { type Posting, postJournal } from '../ledger/post-journal.ts';
import { Partner } from '../partners/partner.entity.ts';
import type { WebhookEvent } from '../partners/partner.ts';
import { nextPayoutLookAt } from '../shared/asking-intervals.ts';
import { assert, must } from '../shared/assert.ts';
import { failpoint } from '../shared/failpoint.ts';
import { journalKeys } from '../shared/ids.ts';
import { addMoney, negateMoney } from '../shared/money.ts';
import { canMove } from '../shared/status-law.ts';
import { findPendingWebhooks, recordWebhook } from '../webhooks/record-webhook.ts';
import { lockPayout } from './note-word.ts';
import type { Payout } from './payout.entity.ts';
import {
  contradicts,
  finalOutcomeOf,
  isFinalPayout,
  isReturnUnbooked,
  type PayoutStanding,
  type PayoutStatus,
  payoutLaw,
  type Said,
  type TransferWord,
} from './payout.ts';
import { presentWholePayout } from './present-payout.ts';
import { standingOf } from './reserve-payout.ts';

/**
 * Draws from the provider's word what follows, once: the reservation is spent or returned, or a success taken back. What
 * it said last of the transfer's end counts, also where it has fallen silent since, or was asked by another step. A final
 * payout is moved by nothing but a reversal after success; a word that contradicts it changes no money and
 * becomes a case for operators. What nobody can tell changes nothing.
 */
export async function resolvePayout(
  em: EntityManager,
  sealer: Sealer,
  { payoutId, word }: { payoutId: string; word: TransferWord },
): Promise<PayoutStanding> {
  await failpoint('resolve-payout.before');
  const standing = await em.transactional(async (tx) => {
    const payout = await lockPayout(tx, payoutId);
    // A final payout may be here because this step is repeated, and the webhooks that it wrote are not begun.
    const deliveryIds: (string | null)[] = isFinalPayout(payout.status)
      ? await findPendingWebhooks(tx, { resourceType: 'payout', resourceId: payoutId })
      : [];
    const { said, failureCode } = await lastSaid(tx, payout, word);
    if (payout.status === 'pending') {
      const outcome = finalOutcomeOf({ said });
      if (outcome === 'succeeded') deliveryIds.push(await succeed(tx, sealer, payout));
      else if (outcome === 'failed') deliveryIds.push(await fail(tx, sealer, payout, failureCode ?? 'UNKNOWN'));
    }
    deliveryIds.push(await reverseIfSaid(tx, sealer, payout, said));
    await noteContradiction(tx, payout, said);
    return standingOf(
      payout,
      deliveryIds.filter((id) => id !== null),
    );
  });
  await failpoint('resolve-payout.after');
  return standing;
}

/**
 * What the provider has said of a transfer by now, whichever step heard it: of a pending one its last word on how it
 * ended, of one that succeeded that the bank gave it back; otherwise what was heard now.
 */
async function lastSaid(
  tx: EntityManager,
  { id, status, last_word }: Payout,
  word: TransferWord,
): Promise<{ said: Said; failureCode: string | null }> {
  const heard = { said: word.said, failureCode: 'failureCode' in word ? word.failureCode : null };
  if (!last_word || last_word === heard.said) return heard;
  const isUnheeded =
    status === 'pending' ? finalOutcomeOf({ said: last_word }) !== null : isReturnUnbooked({ status, last_word });
  if (!isUnheeded) return heard;
  const [before] = await tx.execute<{ failure_code: string | null }[]>(
    'select failure_code from payout_words where payout_id = ? and said = ? order by id desc limit 1',
    [id, last_word],
  );
  return { said: last_word, failureCode: before?.failure_code ?? null };
}

/**
 * Spends the reservation: the net has left through the gateway, the fee stays with us, and the provider took its cost
 * besides, which it keeps when the bank gives the net back.
 */
export async function succeed(tx: EntityManager, sealer: Sealer, payout: Payout): Promise<string | null> {
  const { reserved_account_id } = await tx.findOneOrFail(Partner, { id: payout.partner_id });
  payout.provider_cost = payout.provider_fee;
  return move(tx, sealer, payout, 'succeeded', {
    businessKey: journalKeys.payoutSpent(payout.id),
    postings: [
      { accountId: reserved_account_id, amount: negateMoney(addMoney(payout.net_amount, payout.fee)) },
      { accountId: systemAccounts.gatewayClearing, amount: addMoney(payout.net_amount, payout.provider_cost) },
      { accountId: systemAccounts.providerCost, amount: negateMoney(payout.provider_cost) },
      { accountId: systemAccounts.feeRevenue, amount: payout.fee },
    ],
  });
}

/** Returns the whole reservation, the fee too. */
export async function fail(
  tx: EntityManager,
  sealer: Sealer,
  payout: Payout,
  failureCode: string,
): Promise<string | null> {
  const { reserved_account_id, available_account_id } = await tx.findOneOrFail(Partner, { id: payout.partner_id });
  const reserved = addMoney(payout.net_amount, payout.fee);
  payout.failure_code = failureCode;
  return move(tx, sealer, payout, 'failed', {
    businessKey: journalKeys.payoutReturned(payout.id),
    postings: [
      { accountId: reserved_account_id, amount: negateMoney(reserved) },
      { accountId: available_account_id, amount: reserved },
    ],
  });
}

/** If the bank gave back what had succeeded: a new journal returns the net to `available`; the fee stays. */
export async function reverseIfSaid(
  tx: EntityManager,
  sealer: Sealer,
  payout: Payout,
  said: Said,
): Promise<string | null> {
  if (payout.status !== 'succeeded' || said !== 'reversed') return null;
  const { available_account_id } = await tx.findOneOrFail(Partner, { id: payout.partner_id });
  return move(tx, sealer, payout, 'reversed', {
    businessKey: journalKeys.payoutReversed(payout.id),
    postings: [
      { accountId: systemAccounts.gatewayClearing, amount: negateMoney(payout.net_amount) },
      { accountId: available_account_id, amount: payout.net_amount },
    ],
  });
}

async function move(
  tx: EntityManager,
  sealer: Sealer,
  payout: Payout,
  status: PayoutStatus,
  journal: { businessKey: string; postings: Posting[] },
): Promise<string | null> {
  assert(canMove(payoutLaw, payout.status, status), `a payout goes from ${payout.status} to ${status}`);
  const now = await readDatabaseClock(tx);
  payout.status = status;
  payout.finalized_at = payout.updated_at = now;
  payout.unknown_since = null;
  payout.look_again_at = status === 'succeeded' || payout.failure_code !== null ? nextPayoutLookAt(now, now) : null;
  payout.version += 1;
  await tx.flush();
  const journalId = must(
    await postJournal(tx, { kind: `partner-payout.${status}`, ...journal }),
    'a payout moves to a status once',
  );
  await recordEvent(tx, {
    event: 'RESOURCE_UPDATED',
    resourceType: 'payout',
    resourceId: payout.id,
    actorId: null,
    requestId: payout.request_id ?? null,
    data: { status, journal_id: journalId, failure_code: payout.failure_code },
  });
  return recordWebhook(tx, sealer, {
    partnerId: payout.partner_id,
    resourceType: 'payout',
    resourceId: payout.id,
    version: payout.version,
    type: `payout.${status}` as WebhookEvent,
    at: now,
    data: await presentWholePayout(sealer, payout),
  });
}

/** A contradiction is told once, when it begins, and is over when the provider agrees again. */
async function noteContradiction(tx: EntityManager, payout: Payout, said: Said): Promise<void> {
  const contradicted = contradicts(payout.status, said);
  if (contradicted === (payout.contradicted_at !== null && payout.contradicted_at !== undefined)) return;
  if (!contradicted && (said === 'silent' || said === 'not known')) return;
  payout.contradicted_at = contradicted ? await readDatabaseClock(tx) : null;
  await tx.flush();
  if (!contradicted) return;
  await recordEvent(tx, {
    event: 'PAYOUT_CONTRADICTED',
    impact: 'HIGH',
    resourceType: 'payout',
    resourceId: payout.id,
    actorId: null,
    requestId: null,
    data: { status: payout.status, provider_says: said },
  });
}
