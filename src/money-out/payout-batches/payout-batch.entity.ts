import { defineEntity, p } from '@mikro-orm/core';
import type { FeeMode } from '../../partners/partner.ts';
import type { PayoutBatchStatus } from './payout-batch.ts';

const PayoutBatchSchema = defineEntity({
  name: 'PayoutBatch',
  tableName: 'payout_batches',
  properties: {
    id: p.uuid().primary(),
    partner_id: p.uuid(),
    external_ref: p.string().length(128).nullable(),
    metadata_sealed: p.text().nullable(),
    fee_mode: p.text().$type<FeeMode>(),
    item_count: p.integer(),
    total_amount: p.decimal().precision(20).scale(4),
    total_fee: p.decimal().precision(20).scale(4),
    status: p.text().$type<PayoutBatchStatus>(),
    /**
     * `made_by`: the key that created the batch. `imported_by`: the operator who imported it. `decided_by`: the key
     * that approved or rejected it. `rejected_by`: the operator who rejected it.
     */
    made_by: p.uuid().nullable(),
    imported_by: p.uuid().nullable(),
    decided_by: p.uuid().nullable(),
    rejected_by: p.uuid().nullable(),
    decided_at: p.datetime().nullable(),
    lapses_at: p.datetime(),
    /** When the sweep wakes the workflow if it has not checked by then; null once final. */
    look_again_at: p.datetime().nullable(),
    version: p.integer().default(0),
    request_id: p.text().nullable(),
    finalized_at: p.datetime().nullable(),
    created_at: p.datetime(),
    updated_at: p.datetime(),
  },
});

/** Payouts approved together, all or none. */
export class PayoutBatch extends PayoutBatchSchema.class {}
PayoutBatchSchema.setClass(PayoutBatch);
