import { z } from 'zod';
import { openUnlessGone } from '../../platform/encryption/open-unless-gone.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { amount, timestamp, uuid } from '../../platform/http/fields.ts';
import { shownMetadata } from '../../platform/http/metadata.ts';
import type { Metadata } from '../../shared/plain-text.ts';
import { showPayoutTexts } from '../payouts/open-payout-texts.ts';
import { isFinalPayout, payoutLaw } from '../payouts/payout.ts';
import type { BatchItem } from './find-payout-batches.ts';
import type { PayoutBatch } from './payout-batch.entity.ts';
import { batchMetadataPlace, isFinalBatch, payoutBatchLaw } from './payout-batch.ts';

/** A batch as partners read it (docs/contract.md 8). */
export const presentPayoutBatch = async (sealer: Sealer, batch: PayoutBatch) => ({
  id: batch.id,
  external_ref: batch.external_ref ?? null,
  status: batch.status,
  is_final: isFinalBatch(batch.status),
  count: batch.item_count,
  total_amount: batch.total_amount,
  total_fee: batch.total_fee,
  currency: 'IDR' as const,
  metadata: await showMetadata(sealer, batch),
  lapses_at: batch.lapses_at.toISOString(),
  created_at: batch.created_at.toISOString(),
  decided_at: batch.decided_at?.toISOString() ?? null,
  finalized_at: batch.finalized_at?.toISOString() ?? null,
});

/** The metadata as sent; null if there is none or its key is destroyed. */
async function showMetadata(sealer: Sealer, { id, metadata_sealed: sealed }: PayoutBatch): Promise<Metadata | null> {
  const opened = sealed ? await openUnlessGone(sealer, batchMetadataPlace(id), sealed) : null;
  return opened === null ? null : JSON.parse(opened);
}

export const PayoutBatchShape = z
  .object({
    id: uuid().meta({ description: "The batch's id." }),
    external_ref: z
      .string()
      .nullable()
      .meta({ description: "The partner's own reference, as sent; null if there is none." }),
    status: z.enum(payoutBatchLaw.statuses).meta({
      description:
        '`needs_approval` until it is approved or rejected, or 72 hours have passed; then ' +
        '`processing`, `rejected` or `lapsed`. `completed` once every item is final.',
    }),
    is_final: z.boolean().meta({ description: 'Whether the status is final.' }),
    count: z.int().meta({ description: 'The number of items.' }),
    total_amount: amount().meta({ description: "The sum of its items' amounts, in IDR." }),
    total_fee: amount().meta({ description: "The sum of the items' fees in IDR, as of creation." }),
    currency: z.literal('IDR'),
    metadata: shownMetadata(),
    lapses_at: timestamp().meta({ description: 'When it lapses without approval.' }),
    created_at: timestamp(),
    decided_at: timestamp().nullable().meta({ description: 'When it was approved or rejected; null before.' }),
    finalized_at: timestamp().nullable().meta({ description: 'When it reached its final status; null before.' }),
    status_url: z.string().optional().meta({ description: 'The path to poll; only in the create response.' }),
  })
  .meta({ id: 'PayoutBatch' });

const unpaid = ['needs_approval', 'rejected', 'lapsed'] as const;

/** An item of a batch; until the batch is approved it has the batch's status. */
export async function presentBatchItem(sealer: Sealer, batch: PayoutBatch, item: BatchItem) {
  const { bank_account_number, beneficiary_name, metadata } = await showPayoutTexts(sealer, item);
  const at = (instant: Date | string | null) => (instant === null ? null : new Date(instant).toISOString());
  return {
    id: item.id,
    batch_id: batch.id,
    reference: item.reference,
    external_ref: item.external_ref,
    status: item.status ?? (batch.status as (typeof unpaid)[number]),
    is_final: item.status === null ? isFinalBatch(batch.status) : isFinalPayout(item.status),
    amount: item.amount,
    fee: item.fee,
    net_amount: item.net_amount,
    currency: 'IDR' as const,
    bank_code: item.bank_code,
    bank_account_number,
    beneficiary_name,
    metadata: metadata ?? null,
    failure_code: item.failure_code,
    created_at: (batch.decided_at && item.status !== null ? batch.decided_at : batch.created_at).toISOString(),
    succeeded_at: at(item.succeeded_at),
    finalized_at: at(item.finalized_at),
    booked_at: at(item.booked_at),
  };
}

export const PayoutBatchItemShape = z
  .object({
    id: uuid().meta({ description: 'The id of its payout, which exists once the batch is approved.' }),
    batch_id: uuid().meta({ description: 'The batch.' }),
    reference: z.string().meta({ description: "The platform's own reference." }),
    external_ref: z.string().meta({ description: "The partner's own reference, as sent." }),
    status: z.enum([...unpaid, ...payoutLaw.statuses]).meta({
      description: "The batch's status until it is approved, then the payout's.",
    }),
    is_final: z
      .boolean()
      .meta({ description: 'Whether the status is final; a bank can still return a successful payout.' }),
    amount: amount().meta({ description: 'As requested, in IDR.' }),
    fee: amount(),
    net_amount: amount().meta({ description: 'The amount that reaches the bank.' }),
    currency: z.literal('IDR'),
    bank_code: z.string(),
    bank_account_number: z.string(),
    beneficiary_name: z.string().nullable().meta({ description: "The account holder's name, as sent; null if none." }),
    metadata: shownMetadata(),
    failure_code: z
      .string()
      .nullable()
      .meta({ description: 'Why the payout failed, such as `INVALID_DESTINATION`; otherwise null.' }),
    created_at: timestamp().meta({ description: 'When the payout was created; before that, when the batch was.' }),
    succeeded_at: timestamp().nullable().meta({ description: 'When the money was sent to the bank; otherwise null.' }),
    finalized_at: timestamp()
      .nullable()
      .meta({ description: 'When the payout reached its final status; null before.' }),
    booked_at: timestamp().nullable().meta({
      description: 'When a failed or reversed payout was booked because the provider had paid it; otherwise null.',
    }),
  })
  .meta({ id: 'PayoutBatchItem' });
