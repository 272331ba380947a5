import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import type { WebhookEvent } from '../../partners/partner.ts';
import { findPendingWebhooks } from '../../partners/webhooks/record-webhook.ts';
import { tellAgain } from '../../platform/callbacks/tell-again.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordEvent } from '../../platform/events/record-event.ts';
import type { PartnerPayment as Payment } from './partner-payment.entity.ts';
import { PartnerPayment } from './partner-payment.entity.ts';
import type { PartnerPaymentStep } from './partner-payment.ts';
import { recordPaymentWebhook } from './tell-payment.ts';

/** The payment with this id, locked until the transaction ends. */
export function lockPayment(tx: EntityManager, id: string): Promise<Payment> {
  return tx.findOneOrFail(PartnerPayment, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
}

/** A payment's final status, and when it became final by the database's clock. */
interface End {
  status: 'PAID' | 'FAILED' | 'EXPIRED';
  type: WebhookEvent;
  failureCode: string | null;
  data: object;
  at: Date;
}

/**
 * Makes a payment final in the caller's transaction: writes its status, the event, and the webhook, whose payload is
 * frozen. Returns the step's result, with a delivery for each endpoint subscribed to the event.
 */
export async function finishPayment(
  tx: EntityManager,
  sealer: Sealer,
  payment: Payment,
  end: End,
): Promise<PartnerPaymentStep> {
  payment.status = end.status;
  if (end.status === 'PAID') payment.cancelled_at = null;
  payment.failure_code = end.failureCode;
  payment.finalized_at = payment.updated_at = end.at;
  payment.version += 1;
  await tx.flush();
  await tellAgain(tx, payment);
  await recordEvent(tx, {
    event: 'RESOURCE_UPDATED',
    resourceType: 'partner_payment',
    resourceId: payment.id,
    actorId: null,
    requestId: payment.request_id ?? null,
    data: { status: end.status, ...end.data },
  });
  const { type, at } = end;
  const deliveryIds = await recordPaymentWebhook(tx, sealer, payment, { version: payment.version, type, at });
  return stepOf(payment, deliveryIds);
}

/**
 * The result of a step that had nothing to do, such as a retry: the current payment with its pending webhook
 * deliveries, which an earlier run may not have started.
 */
export async function standingOf(em: EntityManager, payment: Payment): Promise<PartnerPaymentStep> {
  return stepOf(payment, await findPendingWebhooks(em, { resourceType: 'payment', resourceId: payment.id }));
}

const stepOf = ({ status, available_at, released_at }: Payment, deliveryIds: string[]): PartnerPaymentStep => ({
  status,
  deliveryIds,
  availableAt: released_at ? null : (available_at?.toISOString() ?? null),
});
