import type { EntityManager } from '@mikro-orm/postgresql';
import type { z } from 'zod';
import { sealForOrder } from '../../partners/open-for-order.ts';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordEvent } from '../../platform/events/record-event.ts';
import { openOnce } from '../../platform/openings/open-once.ts';
import { must } from '../../shared/assert.ts';
import { refuseField } from '../../shared/errors.ts';
import { batchPayoutIdFor, payoutBatchIdFor, payoutReferenceOf } from '../../shared/ids.ts';
import { addMoney, formatMoney, type Money } from '../../shared/money.ts';
import type { KeyedRequest } from '../../shared/opening.ts';
import type { Metadata } from '../../shared/plain-text.ts';
import { type PayoutTexts, payoutTextsPlace } from '../payouts/payout.ts';
import { type BatchItemRequest, type JudgedItem, judgeItems } from './judge-items.ts';
import { PayoutBatch } from './payout-batch.entity.ts';
import { batchLivesHours, batchMetadataPlace, mostOpenBatches, type PayoutBatchWorkflows } from './payout-batch.ts';

export interface PayoutBatchCreation {
  partnerId: string;
  /** The key that makes it: another one has to approve it. */
  keyId: string;
  body: { items: readonly unknown[]; external_ref?: string | undefined; metadata?: Metadata | undefined };
  idempotency: KeyedRequest;
  requestId: string;
}

/**
 * Writes a batch down, with its items and what each costs: nothing is reserved until it is approved. Throws
 * REQUEST_INVALID_PAYLOAD with every complaint about its items, and for a partner that has ten open batches.
 */
export async function createPayoutBatch(
  em: EntityManager,
  { sealer, workflows }: { sealer: Sealer; workflows: Pick<PayoutBatchWorkflows, 'wakePayoutBatch'> },
  itemSchema: z.ZodType<BatchItemRequest>,
  creation: PayoutBatchCreation,
): Promise<PayoutBatch> {
  const { partnerId, idempotency } = creation;
  const id = payoutBatchIdFor(partnerId, idempotency.key);
  if (idempotency.resourceId !== null) {
    return must(await em.findOne(PayoutBatch, { id }), 'a key that has made a batch names it');
  }
  const judged = await judgeItems(em, itemSchema, { partnerId, items: creation.body.items });
  const items = await Promise.all(judged.map((item, place) => writeItem(sealer, batchPayoutIdFor(id, place), item)));
  const { metadata } = creation.body;
  const metadataSealed = metadata ? await sealForOrder(sealer, batchMetadataPlace(id), id, metadata) : null;
  const { keyHash, fingerprint, stamp } = idempotency;
  const claim = { partnerId, keyHash, fingerprint };
  const batch = await openOnce(
    em,
    { resourceId: id, kind: 'payout_batch', claim, stamp },
    {
      find: (tx) => tx.findOne(PayoutBatch, { id }),
      make: (tx) => insertBatch(tx, { id, creation, judged, items, metadataSealed }),
    },
  );
  void workflows.wakePayoutBatch(id);
  return batch;
}

interface NewItem {
  id: string;
  reference: string;
  external_ref: string;
  amount: Money;
  fee: Money;
  net_amount: Money;
  provider_fee: Money;
  bank_code: string;
  texts_sealed: string;
}

async function writeItem(sealer: Sealer, id: string, { request, price }: JudgedItem): Promise<NewItem> {
  const texts: PayoutTexts = {
    bank_account_number: request.bank_account_number,
    beneficiary_name: request.beneficiary_name ?? null,
    external_ref: request.external_ref,
    metadata: request.metadata ?? null,
  };
  return {
    id,
    reference: payoutReferenceOf(id),
    external_ref: request.external_ref,
    amount: formatMoney(request.amount),
    fee: price.fee,
    net_amount: price.net,
    provider_fee: price.providerFee,
    bank_code: request.bank_code,
    texts_sealed: await sealForOrder(sealer, payoutTextsPlace(id), id, texts),
  };
}

async function insertBatch(
  tx: EntityManager,
  written: {
    id: string;
    creation: PayoutBatchCreation;
    judged: JudgedItem[];
    items: NewItem[];
    metadataSealed: string | null;
  },
): Promise<PayoutBatch> {
  const { id, creation, judged, items, metadataSealed } = written;
  const { partnerId, keyId, body, requestId } = creation;
  await tx.execute('select 1 from partners where id = ? for no key update', [partnerId]);
  const open = await tx.count(PayoutBatch, { partner_id: partnerId, look_again_at: { $ne: null } });
  if (open >= mostOpenBatches) refuseField('items', `${mostOpenBatches} batches are open already, the maximum`);
  const now = await readDatabaseClock(tx);
  const lapsesAt = new Date(now.getTime() + batchLivesHours * 3_600_000);
  const batch = tx.create(PayoutBatch, {
    id,
    partner_id: partnerId,
    external_ref: body.external_ref ?? null,
    metadata_sealed: metadataSealed,
    fee_mode: must(judged[0], 'a batch has an item').price.feeMode,
    item_count: items.length,
    total_amount: addMoney(...items.map(({ amount }) => amount)),
    total_fee: addMoney(...items.map(({ fee }) => fee)),
    status: 'needs_approval',
    made_by: keyId,
    lapses_at: lapsesAt,
    look_again_at: new Date(now.getTime() + 60_000),
    request_id: requestId,
    created_at: now,
    updated_at: now,
  });
  await tx.flush();
  await tx.execute(
    `insert into payout_batch_items (id, batch_id, place, reference, external_ref, amount, fee, net_amount, provider_fee,
       bank_code, texts_sealed, created_at)
     select i.id, ?::uuid, i.place, i.reference, i.external_ref, i.amount, i.fee, i.net_amount, i.provider_fee,
       i.bank_code, i.texts_sealed, ?::timestamptz + i.place * interval '1 microsecond'
     from jsonb_to_recordset(?::jsonb) as i (id uuid, place integer, reference text, external_ref text, amount numeric,
       fee numeric, net_amount numeric, provider_fee numeric, bank_code text, texts_sealed text)`,
    [id, now, JSON.stringify(items.map((item, index) => ({ ...item, place: index + 1 })))],
  );
  await recordEvent(tx, {
    event: 'RESOURCE_CREATED',
    resourceType: 'payout_batch',
    resourceId: id,
    actorId: null,
    requestId,
    data: { partner_id: partnerId, key_id: keyId, count: items.length, total_amount: batch.total_amount },
  });
  return batch;
}
