import type { EntityManager } from '@mikro-orm/postgresql';
import { withTime } from '../database-time-outs.ts';
import { recordEvent } from '../events/record-event.ts';
import { systemAccounts } from '../ledger/account.ts';
import { postJournal, recordTransactions } from '../ledger/post-journal.ts';
import { must } from '../shared/assert.ts';
import { budgets } from '../shared/budgets.ts';
import { failpoint } from '../shared/failpoint.ts';
import { journalKeys } from '../shared/ids.ts';
import { type Money, negateMoney } from '../shared/money.ts';
import {
  type Allocated,
  type AllocationOutcome,
  type AllocationRefused,
  type AllocationRequest,
  packIds,
  unpackIds,
} from './allocation.ts';
import { type Judgement, judgeCause, judgeDonations, type ReceivingCause } from './judge-donations.ts';

/**
 * Allocates open donations to a cause, all of them or none: one database transaction with one journal from the pool to
 * the cause's account, whatever the size of the batch. Done again for the same request it tells what it did; for another
 * request the donations are allocated already. What it refuses leaves no trace.
 */
export async function allocateDonations(em: EntityManager, request: AllocationRequest): Promise<AllocationOutcome> {
  await failpoint('allocate-donations.before');
  const outcome = await withTime(em, budgets.database.allocation, async (tx) => {
    await tx.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [request.batchId]);
    const done = await findAllocation(tx, request);
    if (done !== null) return done;
    const ids = unpackIds(request.donations);
    const cause = await judgeCause(tx, request.causeId, { lock: true });
    const judgement = await judgeDonations(tx, ids, { lock: true });
    if ('refusal' in cause) return refusal(cause.refusal, judgement);
    if (judgement.refused.length > 0) return refusal(null, judgement);
    return moveToCause(tx, request, { ids, cause, total: judgement.totalAmount });
  });
  await failpoint('allocate-donations.after');
  return outcome;
}

/** What this request has allocated, or null. */
export async function findAllocation(
  em: EntityManager,
  { batchId, attemptId }: Pick<AllocationRequest, 'batchId' | 'attemptId'>,
): Promise<Allocated | null> {
  const [row] = await em.execute<{ cause_id: string; donation_count: number; total_amount: Money }[]>(
    `select cause_id, donation_count, total_amount::text from donation_allocations where id = ? and attempt_id = ?`,
    [batchId, attemptId],
  );
  if (row === undefined) return null;
  const { cause_id: causeId, donation_count: count, total_amount: totalAmount } = row;
  return { outcome: 'allocated', attemptId, batchId, causeId, count, totalAmount };
}

async function moveToCause(
  tx: EntityManager,
  { batchId, attemptId, causeId, requestedBy, requestId }: AllocationRequest,
  { ids, cause, total }: { ids: string[]; cause: ReceivingCause; total: Money },
): Promise<Allocated> {
  const journalId = must(
    await postJournal(tx, {
      kind: 'donation-allocation',
      businessKey: journalKeys.donationAllocated(batchId),
      postings: [
        { accountId: systemAccounts.openDonationPool, amount: negateMoney(total) },
        { accountId: cause.accountId, amount: total },
      ],
    }),
    'a batch whose donations are unallocated has no journal',
  );
  await recordTransactions(tx, journalId, [
    {
      userId: requestedBy,
      organizationId: cause.organizationId,
      amount: total,
      type: 'price',
      sourceAccountId: systemAccounts.openDonationPool,
      destinationAccountId: cause.accountId,
      referenceType: 'donation',
      referenceId: causeId,
      purpose: 'product_transfer',
      paymentOrderId: null,
      createdBy: requestedBy,
    },
  ]);
  await failpoint('allocate-donations.posted');
  await tx.execute(
    `insert into donation_allocations (id, attempt_id, cause_id, donation_count, total_amount, journal_id, created_by)
     values (?, ?, ?, ?, ?, ?, ?)`,
    [batchId, attemptId, causeId, ids.length, total, journalId, requestedBy],
  );
  await tx.execute(
    `update donations set cause_id = ?, allocation_batch_id = ?, updated_at = now() where id = any(?::uuid[])`,
    [causeId, batchId, `{${ids.join(',')}}`],
  );
  await recordEvent(tx, {
    event: 'RESOURCE_UPDATED',
    resourceType: 'donation_allocation',
    resourceId: batchId,
    actorId: requestedBy,
    requestId,
    data: { cause_id: causeId, donation_count: ids.length, total_amount: total, journal_id: journalId },
  });
  await failpoint('allocate-donations.written');
  return { outcome: 'allocated', attemptId, batchId, causeId, count: ids.length, totalAmount: total };
}

function refusal(cause: string | null, { refused }: Judgement): AllocationRefused {
  const byReason = Object.entries(Object.groupBy(refused, ({ reason }) => reason));
  return {
    outcome: 'refused',
    cause,
    donations: Object.fromEntries(byReason.map(([reason, members]) => [reason, packIds(members.map(({ id }) => id))])),
  };
}
