import type { FilterQuery } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { findPage, type ListWindow } from '../../platform/database/find-page.ts';
import { listPage } from '../../platform/database/list-page.ts';
import type { Listed } from '../../platform/database/position.ts';
import { refuse } from '../../shared/errors.ts';
import type { Money } from '../../shared/money.ts';
import type { PayoutStatus } from '../payouts/payout.ts';
import { PayoutBatch } from './payout-batch.entity.ts';
import type { PayoutBatchStatus } from './payout-batch.ts';

export interface PayoutBatchFilter {
  /** Default: all partners. */
  partner_id?: string | undefined;
  status?: PayoutBatchStatus | undefined;
  external_ref?: string | undefined;
  from?: Date | undefined;
  /** Exclusive end of the period. */
  to?: Date | undefined;
}

/** Batches, newest first. */
export function findPayoutBatches(
  em: EntityManager,
  { partner_id, status, external_ref, from, to }: PayoutBatchFilter,
  window: ListWindow,
): Promise<Listed & { items: PayoutBatch[] }> {
  const within = partner_id === undefined ? {} : { partner_id };
  const where: FilterQuery<PayoutBatch> = {
    ...within,
    ...(status && { status }),
    ...(external_ref !== undefined && { external_ref }),
    ...((from ?? to) && { created_at: { ...(from && { $gte: from }), ...(to && { $lt: to }) } }),
  };
  return findPage(em, PayoutBatch, where, window, { within });
}

/** A partner's batch. Throws RESOURCE_NOT_FOUND if it does not exist or belongs to another partner. */
export async function getPayoutBatch(em: EntityManager, partnerId: string, id: string): Promise<PayoutBatch> {
  const batch = await em.findOne(PayoutBatch, { id, partner_id: partnerId });
  return batch ?? refuse('RESOURCE_NOT_FOUND', 'The payout batch was not found');
}

/** A batch of any partner. Throws NOT_FOUND. */
export async function getAnyPayoutBatch(em: EntityManager, id: string): Promise<PayoutBatch> {
  const batch = await em.findOne(PayoutBatch, { id });
  return batch ?? refuse('NOT_FOUND', 'the payout batch was not found', { field: 'id' });
}

/** An item of a batch, with the state of its payout, if there is one. */
export interface BatchItem {
  id: string;
  reference: string;
  external_ref: string;
  amount: Money;
  fee: Money;
  net_amount: Money;
  bank_code: string;
  texts_sealed: string;
  status: PayoutStatus | null;
  failure_code: string | null;
  succeeded_at: Date | string | null;
  finalized_at: Date | string | null;
  booked_at: Date | string | null;
}

/** The items of a batch in their original order. */
export function findBatchItems(
  em: EntityManager,
  batchId: string,
  window: ListWindow,
): Promise<Listed & { rows: BatchItem[] }> {
  const ofPayout = (column: string) => `(select p.${column} from payouts p where p.id = row.id) as ${column}`;
  return listPage<BatchItem>(
    em,
    {
      columns: `row.id, row.reference, row.external_ref, row.amount::text, row.fee::text, row.net_amount::text, row.bank_code,
        row.texts_sealed, ${['status', 'failure_code', 'succeeded_at', 'finalized_at', 'booked_at'].map(ofPayout).join(', ')}`,
      table: 'payout_batch_items row',
      within: [{ sql: 'row.batch_id = ?', params: [batchId] }],
    },
    { ...window, order: 'asc' },
  );
}
