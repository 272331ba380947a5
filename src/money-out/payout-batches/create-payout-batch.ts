import type { EntityManager } from '@mikro-orm/postgresql';
import { sealForOrder } from '../../partners/open-for-order.ts';
import type { FeeMode } from '../../partners/partner.ts';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { executePrepared } from '../../platform/database/prepared-statements.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordEvent } from '../../platform/events/record-event.ts';
import { openOnce } from '../../platform/openings/open-once.ts';
import { must } from '../../shared/assert.ts';
import { refuse, refuseField } from '../../shared/errors.ts';
import { batchPayoutIdFor, payoutBatchIdFor, payoutReferenceOf } from '../../shared/ids.ts';
import { addMoney, formatMoney, type Money } from '../../shared/money.ts';
import type { KeyClaim, KeyedRequest, OpeningStamp } from '../../shared/opening.ts';
import type { Metadata } from '../../shared/plain-text.ts';
import { type PayoutTexts, payoutTextsPlace } from '../payouts/payout.ts';
import { type BatchItemSchema, type JudgedItem, judgeItems } from './judge-items.ts';
import { PayoutBatch } from './payout-batch.entity.ts';
import { batchLivesHours, batchMetadataPlace, mostOpenBatches, type PayoutBatchWorkflows } from './payout-batch.ts';

export interface PayoutBatchCreation {
  partnerId: string;
  /** The key that creates the batch; another key must approve it. */
  keyId: string;
  body: { items: readonly unknown[]; external_ref?: string | undefined; metadata?: Metadata | undefined };
  idempotency: KeyedRequest;
  requestId: string;
}

/**
 * Creates a batch for an API key. Throws REQUEST_INVALID_PAYLOAD with all errors in its items, and for a partner that
 * has ten open batches.
 */
export async function createPayoutBatch(
  em: EntityManager,
  ports: BatchPorts,
  itemSchema: BatchItemSchema,
  { partnerId, keyId, body, idempotency, requestId }: PayoutBatchCreation,
): Promise<PayoutBatch> {
  const id = payoutBatchIdFor(partnerId, idempotency.key);
  if (idempotency.resourceId !== null) {
    return must(await em.findOne(PayoutBatch, { id }), 'a used idempotency key has a batch');
  }
  const judge = async () => {
    const items = body.items.map((item, place) => ({ name: `items.${place}`, item }));
    const { judged, complaints } = await judgeItems(em, itemSchema, { partnerId, items });
    const [first] = complaints;
    if (first !== undefined) refuse('REQUEST_INVALID_PAYLOAD', first.message, { details: complaints });
    return judged;
  };
  const { keyHash, fingerprint, stamp } = idempotency;
  return writePayoutBatch(em, ports, {
    ...{ id, partnerId, judge, requestId, stamp },
    maker: { made_by: keyId, imported_by: null },
    claim: { partnerId, keyHash, fingerprint },
    externalRef: body.external_ref,
    metadata: body.metadata,
    refuseTooMany: (complaint) => refuseField('items', complaint),
  });
}

export interface BatchPorts {
  sealer: Sealer;
  workflows: Pick<PayoutBatchWorkflows, 'wakePayoutBatch'>;
}

export interface NewBatch {
  id: string;
  partnerId: string;
  maker: { made_by: string; imported_by: null } | { made_by: null; imported_by: string };
  /** Throws with all errors in the items. */
  judge: () => Promise<JudgedItem[]>;
  claim: KeyClaim | null;
  stamp: OpeningStamp;
  externalRef: string | undefined;
  metadata?: Metadata | undefined;
  requestId: string;
  refuseTooMany: (complaint: string) => never;
}

/** Records a batch once, with its items and their costs. Reserves nothing until approval. */
export async function writePayoutBatch(
  em: EntityManager,
  { sealer, workflows }: BatchPorts,
  batch: NewBatch,
): Promise<PayoutBatch> {
  const { id, claim, stamp } = batch;
  const written = await openOnce(
    em,
    { resourceId: id, kind: 'payout_batch', claim, stamp },
    {
      find: (tx) => tx.findOne(PayoutBatch, { id }),
      prepare: () => prepareBatch(em, sealer, batch),
      make: (tx, prepared) => insertBatch(tx, batch, prepared),
    },
  );
  void workflows.wakePayoutBatch(id);
  return written;
}

interface PreparedBatch {
  feeMode: FeeMode;
  items: NewItem[];
  metadataSealed: string | null;
}

async function prepareBatch(em: EntityManager, sealer: Sealer, batch: NewBatch): Promise<PreparedBatch> {
  const { id, metadata } = batch;
  const judged = await batch.judge();
  // Check before creating the batch's encryption key, which would remain.
  await refuseManyOpen(em, batch);
  const metadataSealed = metadata ? await sealForOrder(sealer, batchMetadataPlace(id), id, metadata) : null;
  const items: NewItem[] = [];
  for (const [place, item] of judged.entries()) items.push(await writeItem(sealer, { batchId: id, place }, item));
  return { feeMode: must(judged[0], 'a batch has an item').price.feeMode, items, metadataSealed };
}

async function refuseManyOpen(
  em: EntityManager,
  { id, partnerId, refuseTooMany }: Pick<NewBatch, 'id' | 'partnerId' | 'refuseTooMany'>,
): Promise<void> {
  const open = await em.count(PayoutBatch, { id: { $ne: id }, partner_id: partnerId, look_again_at: { $ne: null } });
  if (open >= mostOpenBatches) refuseTooMany(`${mostOpenBatches} batches are open already, the maximum`);
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

/** Seals an item under its batch's key: a key per item would cost as much as all other work together. */
async function writeItem(
  sealer: Sealer,
  { batchId, place }: { batchId: string; place: number },
  { request, price }: JudgedItem,
): Promise<NewItem> {
  const id = batchPayoutIdFor(batchId, place);
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
    texts_sealed: await sealForOrder(sealer, payoutTextsPlace(id), batchId, texts),
  };
}

async function insertBatch(
  tx: EntityManager,
  { id, partnerId, maker, externalRef, requestId, refuseTooMany }: NewBatch,
  { feeMode, items, metadataSealed }: PreparedBatch,
): Promise<PayoutBatch> {
  await tx.execute('select 1 from partners where id = ? for no key update', [partnerId]);
  await refuseManyOpen(tx, { id, partnerId, refuseTooMany });
  const now = await readDatabaseClock(tx);
  const lapsesAt = new Date(now.getTime() + batchLivesHours * 3_600_000);
  const batch = tx.create(PayoutBatch, {
    id,
    partner_id: partnerId,
    external_ref: externalRef ?? null,
    metadata_sealed: metadataSealed,
    fee_mode: feeMode,
    item_count: items.length,
    total_amount: addMoney(...items.map(({ amount }) => amount)),
    total_fee: addMoney(...items.map(({ fee }) => fee)),
    status: 'needs_approval',
    ...maker,
    lapses_at: lapsesAt,
    look_again_at: new Date(now.getTime() + 60_000),
    request_id: requestId,
    created_at: now,
    updated_at: now,
  });
  await tx.flush();
  // Prepared: otherwise the statement's text would contain every item.
  await executePrepared(
    tx,
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
    actorId: maker.imported_by,
    requestId,
    data: { partner_id: partnerId, key_id: maker.made_by, count: items.length, total_amount: batch.total_amount },
  });
  return batch;
}
