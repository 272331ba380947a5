import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import type { Sealer } from '../encryption/sealer.ts';
import { recordEvent } from '../events/record-event.ts';
import type { WebhookEvent } from '../partners/partner.ts';
import { PaymentChannel } from '../payments/payment-channel.entity.ts';
import { recordWebhook } from '../webhooks/record-webhook.ts';
import type { PartnerPayment as Payment } from './partner-payment.entity.ts';
import { PartnerPayment } from './partner-payment.entity.ts';
import { presentPartnerPayment } from './present-partner-payment.ts';

/** The payment of this id, locked until the transaction ends. */
export function lockPayment(tx: EntityManager, id: string): Promise<Payment> {
  return tx.findOneOrFail(PartnerPayment, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
}

/**
 * Ends a payment in the caller's transaction: its state as given, the event of the change, and the webhook that tells
 * it, frozen as it is now. Returns the webhook's delivery, or null when the partner has not asked for it.
 */
export async function finishPayment(
  tx: EntityManager,
  sealer: Sealer,
  payment: Payment,
  end: { status: 'PAID' | 'FAILED' | 'EXPIRED'; type: WebhookEvent; failureCode: string | null; data: object },
): Promise<string | null> {
  const now = new Date();
  payment.status = end.status;
  payment.failure_code = end.failureCode;
  payment.finalized_at = payment.updated_at = now;
  payment.version += 1;
  await tx.flush();
  await recordEvent(tx, {
    event: 'RESOURCE_UPDATED',
    resourceType: 'partner_payment',
    resourceId: payment.id,
    actorId: null,
    requestId: payment.request_id ?? null,
    data: { status: end.status, ...end.data },
  });
  const channel = await tx.findOneOrFail(PaymentChannel, { id: payment.channel_id });
  return recordWebhook(tx, sealer, {
    partnerId: payment.partner_id,
    resourceType: 'payment',
    resourceId: payment.id,
    version: payment.version,
    type: end.type,
    at: now,
    data: presentPartnerPayment({ payment, channel }),
  });
}
