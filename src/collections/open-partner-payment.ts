import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../encryption/sealer.ts';
import { refuse } from '../shared/errors.ts';
import { failpoint } from '../shared/failpoint.ts';
import { PartnerPayment } from './partner-payment.entity.ts';
import {
  isFinalPayment,
  type OpenedPartnerPayment,
  type PartnerPaymentOpening,
  type PartnerTexts,
  partnerTextsPlace,
} from './partner-payment.ts';

/**
 * The first step of a partner's payment: its row `PENDING` and the idempotency key, in one transaction; its lifetime
 * begins at `at` (ISO 8601), the workflow's clock. A payment that is there already is told as it stands. Refuses a key
 * that is attached to another request; then nothing is left behind.
 */
export async function openPartnerPayment(
  em: EntityManager,
  sealer: Sealer,
  { paymentId, opening, at }: { paymentId: string; opening: PartnerPaymentOpening | null; at: string },
): Promise<OpenedPartnerPayment> {
  if (opening !== null) await insertPayment(em, sealer, paymentId, opening, new Date(at));
  const opened = await em.findOne(PartnerPayment, { id: paymentId });
  if (opened === null && opening !== null) {
    refuse('REQUEST_IDEMPOTENCY_KEY_REUSED', 'X-Idempotency-Key: this key is attached to a different request');
  }
  if (opened === null) refuse('NOT_FOUND', `no partner payment ${paymentId}`);
  await failpoint('open-partner-payment.after');
  return {
    status: opened.status,
    deadline: opened.expires_at.toISOString(),
    final: isFinalPayment(opened.status),
    availableAt: opened.released_at ? null : (opened.available_at?.toISOString() ?? null),
  };
}

/**
 * Key, row and event in one statement, and so in one transaction and one round trip: all of them, or none when the key
 * is taken. A twin that runs meanwhile is waited for.
 */
async function insertPayment(
  em: EntityManager,
  sealer: Sealer,
  paymentId: string,
  opening: PartnerPaymentOpening,
  openedAt: Date,
): Promise<void> {
  const texts: PartnerTexts = JSON.parse(await sealer.open(partnerTextsPlace(paymentId), opening.textsSealed));
  const { partnerId, requestId } = opening;
  await em.execute(
    `with claim as (
       insert into partner_idempotency_keys (partner_id, key_hash, fingerprint, resource_type, resource_id)
       values (?, ?, ?, 'payment', ?) on conflict (partner_id, key_hash) do nothing returning resource_id
     ), payment as (
       insert into partner_payments (id, partner_id, organization_id, external_ref, channel_id, fee_mode, amount, fee,
         net_amount, provider_fee, status, customer_sealed, request_id, expires_at, created_at, updated_at)
       select resource_id, ?::uuid, ?::uuid, ?, ?::integer, ?, ?::numeric, ?::numeric, ?::numeric, ?::numeric,
         'PENDING', ?, ?, ?::timestamptz, ?::timestamptz, ?::timestamptz from claim returning id
     )
     insert into events (event, impact, resource_type, resource_id, request_id, data)
     select 'RESOURCE_CREATED', 'MEDIUM', 'partner_payment', id::text, ?, ?::jsonb from payment`,
    [
      partnerId,
      opening.idempotency.keyHash,
      opening.idempotency.fingerprint,
      paymentId,
      partnerId,
      opening.organizationId,
      texts.external_ref,
      opening.channelId,
      opening.feeMode,
      opening.gross,
      opening.fee,
      opening.net,
      opening.providerFee,
      opening.textsSealed,
      requestId,
      new Date(openedAt.getTime() + opening.lifetimeMinutes * 60_000),
      openedAt,
      openedAt,
      requestId,
      JSON.stringify({ partner_id: partnerId }),
    ],
  );
}
