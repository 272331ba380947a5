import type { EntityManager } from '@mikro-orm/postgresql';
import { systemAccounts } from '../../ledger/accounts/account.ts';
import { postJournal, recordTransactions } from '../../ledger/post-journal.ts';
import { readPayer } from '../../people/identity/read-payer.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import { must } from '../../shared/assert.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { journalKeys, newId } from '../../shared/ids.ts';
import { type Money, negateMoney } from '../../shared/money.ts';
import { completeClosedCause } from '../causes/cause-of-disbursement.ts';
import { Donation } from './donation.entity.ts';
import { type DonationStatus, refundDays } from './donation.ts';
import { getDonation } from './find-donations.ts';

/** A donation, and the facts that decide whether it can be refunded. */
export interface RefundFacts {
  id: string;
  user_id: string;
  /** The donor's organization at the time of payment. */
  organization_id: string | null;
  /** IDR, scale 4. */
  amount: Money;
  status: DonationStatus;
  cause_id: string | null;
  /** When it was paid; null until then. */
  paid_at: Date | string | null;
  allocated: boolean;
  in_time: boolean;
  disbursed_since: boolean;
  covered: boolean;
  /** The account that holds it: its cause's, or the open pool. */
  account_id: string;
  /** The account to which it is refunded; null if the donor has none. */
  refund_account_id: string | null;
  /** Whether the cause has disbursed money. */
  disbursed: boolean;
  /** Whether the account that holds it belongs to an erased person, who can no longer use it. */
  owner_erased: boolean;
}

/** Locks the donation and the balance that holds it until the transaction ends, so that its facts cannot change. */
export async function lockRefund(tx: EntityManager, donationId: string): Promise<void> {
  await tx.execute('select lock_refund(?)', [donationId]);
}

/** Reads the facts for a refund requested at `askedAt`, by default now. Returns null if there is no donation. */
export async function readRefund(
  em: EntityManager,
  donationId: string,
  askedAt: Date | null = null,
): Promise<RefundFacts | null> {
  const [facts] = await em.execute<RefundFacts[]>(
    `select d.id, d.user_id, t.organization_id, d.amount::text, d.status, d.cause_id, t.created_at as paid_at,
       d.allocation_batch_id is not null as allocated,
       coalesce(?::timestamptz, clock_timestamp()) < t.created_at + make_interval(days => ?) as in_time,
       exists (select from withdrawals w join payouts p on p.id = w.id where w.cause_id = d.cause_id
         and w.created_at >= t.created_at and p.has_left) as disbursed_since,
       d.amount <= account_balance(held.account_id)
         and (d.cause_id is null or d.amount <= disbursable_of_cause(d.cause_id)) as covered,
       held.account_id, refund_account(d.id) as refund_account_id,
       d.cause_id is not null and disbursed_of_cause(d.cause_id) > 0 as disbursed,
       exists (select from accounts a join users u on u.id = a.user_id
         where a.id = held.account_id and a.organization_id is null and u.erased_at is not null) as owner_erased
     from donations d
     left join transactions t on t.id = d.transaction_id
     left join charitable_causes c on c.id = d.cause_id
     cross join lateral (select coalesce(c.account_id, ?) as account_id) held
     where d.id = ?`,
    [askedAt, refundDays, systemAccounts.openDonationPool, donationId],
  );
  return facts ?? null;
}

/**
 * Returns why a donation cannot be refunded, or null if it can. With `byDecision` a donation of any age can be refunded
 * if the owner of the cause's account was erased, because money that the bank returned has no other way out.
 */
export function whyNotRefundable(facts: RefundFacts, { byDecision }: { byDecision: boolean }): string | null {
  if (facts.status !== 'completed') return `the donation is ${facts.status}, not completed`;
  if (facts.allocated) return 'an open donation cannot be refunded once it is allocated';
  const isStranded = byDecision && facts.owner_erased;
  if (!facts.in_time && !isStranded) return `a donation can only be refunded within ${refundDays} days`;
  if (facts.disbursed_since && !isStranded) return 'money of its charitable cause has been disbursed since';
  if (!facts.covered) return 'the account that holds it no longer covers it';
  return facts.refund_account_id === null ? 'its donor has no account to refund it to' : null;
}

/**
 * Refunds the caller's own donation, in one transaction that locks the donation and the balance that holds it. Throws
 * NOT_FOUND; FORBIDDEN for someone else's, even for platform users, who propose a decision instead; and REQUEST_INVALID
 * if it cannot be refunded.
 */
export async function refundDonation(
  em: EntityManager,
  { caller, donationId, requestId }: { caller: Caller; donationId: string; requestId: string },
): Promise<Donation> {
  const refunded = await em.transactional(async (tx) => {
    const { user_id: donorId } = await getDonation(tx, caller, donationId);
    if (donorId !== caller.userId) {
      refuse('FORBIDDEN', 'only its donor can refund it; operators propose a decision of kind refund_donation', {
        field: 'id',
      });
    }
    await lockRefund(tx, donationId);
    const facts = must(await readRefund(tx, donationId), 'donations are never deleted');
    const why = whyNotRefundable(facts, { byDecision: false });
    if (why !== null) refuse('REQUEST_INVALID', why, { field: 'id' });
    await readPayer(tx, donorId);
    await giveBack(tx, facts, { actorId: caller.userId, requestId });
    return tx.findOneOrFail(Donation, { id: donationId }, { refresh: true });
  });
  await failpoint('refund-donation.after');
  return refunded;
}

/**
 * Refunds a refundable donation that the caller's transaction has locked: first updates its status, which the journal
 * must match, then writes the journal, a `reversed` transaction row and the event. Completes a closed cause that has
 * disbursed the rest of its money.
 */
export async function giveBack(
  tx: EntityManager,
  facts: RefundFacts,
  by: { actorId: string; requestId: string | null; decisionId?: string },
): Promise<void> {
  const { id, amount, account_id: accountId, cause_id: causeId } = facts;
  const refundAccountId = must(facts.refund_account_id, 'a refundable donation has a refund account');
  const transactionId = newId();
  await tx.execute(
    "update donations set status = 'refunded', refund_transaction_id = ?, updated_at = now() where id = ?",
    [transactionId, id],
  );
  await failpoint('refund-donation.marked');
  const journalId = must(
    await postJournal(tx, {
      kind: 'donation.refunded',
      businessKey: journalKeys.donationRefunded(id),
      postings: [
        { accountId, amount: negateMoney(amount) },
        { accountId: refundAccountId, amount },
      ],
    }),
    'a donation is refunded once',
  );
  await failpoint('refund-donation.posted');
  await recordTransactions(tx, journalId, [
    {
      id: transactionId,
      userId: facts.user_id,
      organizationId: facts.organization_id,
      amount,
      status: 'reversed',
      type: 'price',
      sourceAccountId: accountId,
      destinationAccountId: refundAccountId,
      referenceType: 'donation',
      referenceId: causeId ?? accountId,
      purpose: 'internal_withdrawal',
      paymentOrderId: null,
      createdBy: by.actorId,
    },
  ]);
  await recordAction(tx, by, 'RESOURCE_UPDATED', ['donation', id], {
    status: 'refunded',
    transaction_id: transactionId,
    journal_id: journalId,
    ...(by.decisionId !== undefined && { decision_id: by.decisionId }),
  });
  if (causeId !== null && facts.disbursed) await completeClosedCause(tx, causeId, by);
  await failpoint('refund-donation.written');
}
