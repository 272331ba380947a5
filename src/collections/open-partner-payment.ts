import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../encryption/sealer.ts';
import { recordEvent } from '../events/record-event.ts';
import { claimPartnerKey } from '../partners/idempotency.ts';
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
  const opened = await em.transactional(async (tx) => {
    const existing = await tx.findOne(PartnerPayment, { id: paymentId });
    if (existing !== null || opening === null) return existing;
    const texts: PartnerTexts = JSON.parse(await sealer.open(partnerTextsPlace(paymentId), opening.textsSealed));
    const openedAt = new Date(at);
    const { partnerId } = opening;
    await claimPartnerKey(tx, { ...opening.idempotency, partnerId, resourceType: 'payment', resourceId: paymentId });
    const payment = tx.create(PartnerPayment, {
      id: paymentId,
      partner_id: partnerId,
      organization_id: opening.organizationId,
      external_ref: texts.external_ref,
      channel_id: opening.channelId,
      fee_mode: opening.feeMode,
      amount: opening.gross,
      fee: opening.fee,
      net_amount: opening.net,
      provider_fee: opening.providerFee,
      status: 'PENDING',
      customer_sealed: opening.textsSealed,
      request_id: opening.requestId,
      expires_at: new Date(openedAt.getTime() + opening.lifetimeMinutes * 60_000),
      created_at: openedAt,
      updated_at: openedAt,
    });
    await tx.flush();
    await recordEvent(tx, {
      event: 'RESOURCE_CREATED',
      resourceType: 'partner_payment',
      resourceId: paymentId,
      actorId: null,
      requestId: opening.requestId,
      data: { partner_id: partnerId },
    });
    return payment;
  });
  if (opened === null) refuse('NOT_FOUND', `no partner payment ${paymentId}`);
  await failpoint('open-partner-payment.after');
  return {
    status: opened.status,
    deadline: opened.expires_at.toISOString(),
    final: isFinalPayment(opened.status),
    availableAt: opened.released_at ? null : (opened.available_at?.toISOString() ?? null),
  };
}
