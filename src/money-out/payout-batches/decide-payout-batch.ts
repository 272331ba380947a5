import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { holdBalances } from '../../ledger/lock-order.ts';
import { postJournals } from '../../ledger/post-journal.ts';
import { recordEvent } from '../../platform/events/record-event.ts';
import { must } from '../../shared/assert.ts';
import { refuse } from '../../shared/errors.ts';
import { journalKeys } from '../../shared/ids.ts';
import { addMoney, type Money, negateMoney } from '../../shared/money.ts';
import { textArray } from '../../shared/postgres.ts';
import { hasBatchLeft } from '../payouts/beyond-ours.ts';
import { lockPayoutHeadroom, type PayoutHeadroom, refuseBatchBeyond } from '../payouts/payout-limits.ts';
import { hasLapsed } from './look-at-payout-batch.ts';
import { PayoutBatch } from './payout-batch.entity.ts';
import type { PayoutBatchWorkflows } from './payout-batch.ts';

export interface BatchDecision {
  partnerId: string;
  batchId: string;
  /** The key that decides, or the operator, who can only reject. */
  by: { keyId: string } | { userId: string };
  requestId: string;
}

/**
 * Approves a batch: reserves the money of all its items or of none, within limits and balance, in one transaction under
 * the partner's lock; each item becomes a payout. Throws RESOURCE_NOT_FOUND, AUTH_PERMISSION_DENIED for the key that
 * created the batch and its rotations, PAYOUT_BATCH_DECIDED unless it needs approval, FUNDS_* and
 * AUTH_PARTNER_INACTIVE.
 */
export async function approvePayoutBatch(
  em: EntityManager,
  { workflows }: { workflows: Pick<PayoutBatchWorkflows, 'wakePayoutBatch'> },
  decision: BatchDecision & { by: { keyId: string } },
): Promise<PayoutBatch> {
  const batch = await em.transactional(async (tx) => {
    const headroom = await lockPayoutHeadroom(tx, decision.partnerId);
    const open = await lockUndecided(tx, decision, headroom.at);
    const [of] = await tx.execute<{ largest: Money }[]>(
      'select max(amount)::text as largest from payout_batch_items where batch_id = ?',
      [open.id],
    );
    refuseBatchBeyond(headroom, {
      largest: of?.largest ?? open.total_amount,
      total: open.total_amount,
      count: open.item_count,
      reserved: open.fee_mode === 'DEDUCTED' ? open.total_amount : addMoney(open.total_amount, open.total_fee),
    });
    await reserveItems(tx, open, headroom);
    await decide(tx, open, decision, { status: 'processing', at: headroom.at });
    return open;
  });
  void workflows.wakePayoutBatch(batch.id);
  return batch;
}

/**
 * Rejects a batch, which is then never paid. Throws RESOURCE_NOT_FOUND, AUTH_PERMISSION_DENIED and PAYOUT_BATCH_DECIDED
 * as `approvePayoutBatch` does; the last also if transfers of the batch have left (`hasBatchLeft`).
 */
export async function rejectPayoutBatch(
  em: EntityManager,
  { workflows }: { workflows: Pick<PayoutBatchWorkflows, 'wakePayoutBatch'> },
  decision: BatchDecision,
): Promise<PayoutBatch> {
  const batch = await em.transactional(async (tx) => {
    const { at } = await lockPayoutHeadroom(tx, decision.partnerId);
    const open = await lockUndecided(tx, decision, at);
    if (await hasBatchLeft(tx, open.id)) {
      refuse(
        'PAYOUT_BATCH_DECIDED',
        'Transfers of this batch left before a restore removed its approval: approve it again',
        {
          details: { status: open.status },
        },
      );
    }
    await decide(tx, open, decision, { status: 'rejected', at });
    return open;
  });
  void workflows.wakePayoutBatch(batch.id);
  return batch;
}

async function lockUndecided(
  tx: EntityManager,
  { partnerId, batchId, by }: BatchDecision,
  at: Date,
): Promise<PayoutBatch> {
  const batch = await tx.findOne(
    PayoutBatch,
    { id: batchId, partner_id: partnerId },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  if (batch === null) refuse('RESOURCE_NOT_FOUND', 'The payout batch was not found');
  if ('keyId' in by && batch.made_by && (await isOfOneFamily(tx, by.keyId, batch.made_by))) {
    refuse(
      'AUTH_PERMISSION_DENIED',
      'A batch cannot be decided by the key that created it, nor by a rotation of that key',
    );
  }
  const stands = (await hasLapsed(tx, batch, at)) ? 'lapsed' : batch.status;
  if (stands !== 'needs_approval')
    refuse('PAYOUT_BATCH_DECIDED', `The batch is ${stands}`, { details: { status: stands } });
  return batch;
}

/** Whether one key is a rotation of the other, or both are rotations of a third: they are in the same hands. */
async function isOfOneFamily(tx: EntityManager, first: string, second: string): Promise<boolean> {
  const rows = await tx.execute<{ roots: number }[]>(
    `with recursive line as (
       select id, rotated_from from partner_keys where id in (?, ?)
       union select k.id, k.rotated_from from line join partner_keys k on k.id = line.rotated_from)
     select count(*)::integer as roots from line where rotated_from is null`,
    [first, second],
  );
  return rows[0]?.roots === 1;
}

/**
 * Creates a payout for each item and reserves its money, with all events, in a few statements for all items. No sweep
 * finds a payout until the batch starts it.
 */
async function reserveItems(
  tx: EntityManager,
  batch: PayoutBatch,
  { availableAccountId, reservedAccountId, at }: PayoutHeadroom,
): Promise<void> {
  const payouts = await tx.execute<{ id: string; gross: Money }[]>(
    `insert into payouts (id, kind, batch_id, source_account_id, reserved_account_id, partner_id, reference, external_ref,
       fee_mode, amount, fee, net_amount, provider_fee, bank_code, texts_sealed, status, request_id,
       created_at, updated_at)
     select i.id, 'partner_payout', b.id, ?::uuid, ?::uuid, b.partner_id, i.reference, i.external_ref, b.fee_mode, i.amount,
       i.fee, i.net_amount, i.provider_fee, i.bank_code, i.texts_sealed, 'pending',
       ?, ?::timestamptz, ?::timestamptz
     from payout_batches b join payout_batch_items i on i.batch_id = b.id where b.id = ? order by i.place
     returning id, (net_amount + fee)::text as gross`,
    [availableAccountId, reservedAccountId, batch.request_id, at, at, batch.id],
  );
  await holdBalances(tx, { debited: [availableAccountId], credited: [reservedAccountId] });
  const posted = await postJournals(
    tx,
    payouts.map(({ id, gross }) => ({
      kind: 'partner-payout.reserved',
      businessKey: journalKeys.payout('partner-payout', id, 'reserved'),
      postings: [
        { accountId: availableAccountId, amount: negateMoney(gross) },
        { accountId: reservedAccountId, amount: gross },
      ],
    })),
  );
  await tx.execute(
    `insert into events (event, impact, resource_type, resource_id, request_id, data)
     select 'RESOURCE_CREATED', 'MEDIUM', 'payout', p.id::text, p.request_id,
       jsonb_build_object('partner_id', p.partner_id, 'batch_id', p.batch_id, 'journal_id', r.journal_id)
     from unnest(?::uuid[], ?::uuid[]) r (payout_id, journal_id) join payouts p on p.id = r.payout_id`,
    [
      textArray(payouts.map(({ id }) => id)),
      textArray(posted.map((id) => must(id, 'a new payout has no reservation'))),
    ],
  );
}

async function decide(
  tx: EntityManager,
  batch: PayoutBatch,
  { partnerId, by, requestId }: BatchDecision,
  { status, at }: { status: 'processing' | 'rejected'; at: Date },
): Promise<void> {
  batch.status = status;
  if ('keyId' in by) batch.decided_by = by.keyId;
  else batch.rejected_by = by.userId;
  batch.decided_at = batch.updated_at = at;
  batch.look_again_at = status === 'processing' ? new Date(at.getTime() + 60_000) : null;
  if (status === 'rejected') batch.finalized_at = at;
  await tx.flush();
  await recordEvent(tx, {
    event: 'RESOURCE_UPDATED',
    impact: 'HIGH',
    resourceType: 'payout_batch',
    resourceId: batch.id,
    actorId: 'userId' in by ? by.userId : null,
    requestId,
    data: { partner_id: partnerId, ...('keyId' in by && { key_id: by.keyId }), status },
  });
}
