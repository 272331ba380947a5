import type { EntityManager } from '@mikro-orm/postgresql';
import { systemAccounts } from '../../ledger/accounts/account.ts';
import { postJournal, recordTransactions } from '../../ledger/post-journal.ts';
import { readPayer } from '../../people/identity/read-payer.ts';
import { recordEvents } from '../../platform/events/record-event.ts';
import { openOnce } from '../../platform/openings/open-once.ts';
import { must } from '../../shared/assert.ts';
import { budgets } from '../../shared/budgets.ts';
import { isDomainError, refuse } from '../../shared/errors.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { journalKeys } from '../../shared/ids.ts';
import { type Money, negateMoney } from '../../shared/money.ts';
import { type Allocated, type AllocationOutcome, type AllocationRequest, packIds, unpackIds } from './allocation.ts';
import { type Judgement, judgeCause, judgeDonations, type ReceivingCause } from './judge-donations.ts';
import { refuseAsWritten, refusedAllocation } from './refuse-allocation.ts';

/**
 * Allocates open donations to a cause, all or none, in one transaction with one journal from the pool to the cause's
 * account. Returns an already allocated batch with the attempt that allocated it, or a refusal, which is final for
 * every attempt at this opening. Throws as `openOnce` does for a request that is too old, and SERVICE_UNAVAILABLE if
 * the requester is no longer active.
 */
export async function allocateDonations(em: EntityManager, request: AllocationRequest): Promise<AllocationOutcome> {
  await failpoint('allocate-donations.before');
  const { batchId, stamp } = request;
  const outcome = await openOnce(
    em,
    { resourceId: batchId, kind: 'donation_allocation', stamp, budget: budgets.database.allocation },
    { find: (tx) => findAllocation(tx, batchId), make: (tx) => allocate(tx, request) },
  ).catch((error: unknown) => {
    const refused = refusedAllocation(error);
    if (refused === null) throw error;
    return refused;
  });
  await failpoint('allocate-donations.after');
  return outcome;
}

async function allocate(tx: EntityManager, request: AllocationRequest): Promise<Allocated> {
  const ids = unpackIds(request.donations);
  const judgement = await judgeDonations(tx, ids, { lock: true });
  const cause = await judgeCause(tx, request.causeId, { lock: true });
  if ('refusal' in cause) return refuseWhole(cause.refusal, judgement);
  if (judgement.refused.length > 0) return refuseWhole(null, judgement);
  // Check this last, so that a suspension of the requester does not wait for the locks above.
  await requireActive(tx, request.requestedBy);
  return moveToCause(tx, request, { ids, cause, total: judgement.totalAmount });
}

/**
 * Throws SERVICE_UNAVAILABLE if the requester is no longer active, so that another requester who joined the workflow
 * retries.
 */
async function requireActive(tx: EntityManager, userId: string): Promise<void> {
  try {
    await readPayer(tx, userId);
  } catch (cause) {
    if (!isDomainError(cause)) throw cause;
    refuse('SERVICE_UNAVAILABLE', 'The user who requested this is no longer active', { cause, retryAfterSeconds: 1 });
  }
}

/** Returns the allocation of this batch with the attempt that made it, or null. */
export async function findAllocation(em: EntityManager, batchId: string): Promise<Allocated | null> {
  const [row] = await em.execute<
    { attempt_id: string; cause_id: string; donation_count: number; total_amount: Money }[]
  >('select attempt_id, cause_id, donation_count, total_amount::text from donation_allocations where id = ?', [
    batchId,
  ]);
  if (row === undefined) return null;
  const { attempt_id: attemptId, cause_id: causeId, donation_count: count, total_amount: totalAmount } = row;
  return { outcome: 'allocated', attemptId, batchId, causeId, count, totalAmount };
}

async function moveToCause(
  tx: EntityManager,
  { batchId, attemptId, causeId, requestedBy, requestId }: AllocationRequest,
  { ids, cause, total }: { ids: string[]; cause: ReceivingCause; total: Money },
): Promise<Allocated> {
  // Update these rows first: the journal must match them.
  await tx.execute(
    `update donations set cause_id = ?, allocation_batch_id = ?, updated_at = now() where id = any(?::uuid[])`,
    [causeId, batchId, `{${ids.join(',')}}`],
  );
  const journalId = must(
    await postJournal(tx, {
      kind: 'donation-allocation',
      businessKey: journalKeys.donationAllocated(batchId),
      postings: [
        { accountId: systemAccounts.openDonationPool, amount: negateMoney(total) },
        { accountId: cause.accountId, amount: total },
      ],
    }),
    'a batch of unallocated donations has no journal yet',
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
  const event = { event: 'RESOURCE_UPDATED', actorId: requestedBy, requestId } as const;
  const whole = { cause_id: causeId, donation_count: ids.length, total_amount: total, journal_id: journalId };
  const each = { cause_id: causeId, allocation_batch_id: batchId };
  await recordEvents(tx, [
    { ...event, resourceType: 'donation_allocation', resourceId: batchId, data: whole },
    ...ids.map((id) => ({ ...event, resourceType: 'donation', resourceId: id, data: each })),
  ]);
  await failpoint('allocate-donations.written');
  return { outcome: 'allocated', attemptId, batchId, causeId, count: ids.length, totalAmount: total };
}

function refuseWhole(cause: string | null, { refused }: Judgement): never {
  const byReason = Object.entries(Object.groupBy(refused, ({ reason }) => reason));
  return refuseAsWritten({
    outcome: 'refused',
    cause,
    donations: Object.fromEntries(byReason.map(([reason, members]) => [reason, packIds(members.map(({ id }) => id))])),
  });
}
