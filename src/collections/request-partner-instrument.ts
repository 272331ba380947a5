import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../database/database-clock.ts';
import type { Sealer } from '../encryption/sealer.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { obtainInstrument } from '../payments/obtain-instrument.ts';
import { returnUrlOf } from '../payments/return-url.ts';
import { must } from '../shared/assert.ts';
import { closePartnerPayment } from './close-partner-payment.ts';
import { findPartnerPayment } from './find-partner-payments.ts';
import { standingOf } from './finish-partner-payment.ts';
import { PartnerPayment } from './partner-payment.entity.ts';
import { type PartnerPaymentStep, type PartnerTexts, partnerTextsPlace } from './partner-payment.ts';

/**
 * Asks the provider for the payment's instrument and stores the result: `WAITING_PAYMENT` with its code, or `FAILED`.
 * Throws ProviderUnknown when the outcome is unknown, as `obtainInstrument`.
 */
export async function requestPartnerInstrument(
  em: EntityManager,
  { gateway, sealer, publicUrl }: { gateway: Gateway; sealer: Sealer; publicUrl: string },
  { paymentId, signal }: { paymentId: string; signal: AbortSignal },
): Promise<PartnerPaymentStep> {
  const { payment, channel } = must(await findPartnerPayment(em, paymentId), 'the first step made the row');
  if (payment.status !== 'PENDING' || payment.cancelled_at) return standingOf(em, payment);
  const { customer, returnUrl } = await openTexts(sealer, payment);
  const request = {
    reference: payment.id,
    method: channel.method,
    channelCode: channel.channel_code,
    amount: payment.amount,
    expiresAt: payment.expires_at,
    customer,
    returnUrl: returnUrl ?? returnUrlOf(publicUrl, payment.id),
  };
  const after = 'request-partner-instrument.after';
  const answer = await obtainInstrument(em, gateway, { table: 'partner_payments', request, signal, after });
  if (answer.outcome === 'refused') {
    return closePartnerPayment(em, sealer, { paymentId, status: 'FAILED', failureCode: answer.code });
  }
  const now = await readDatabaseClock(em);
  const written = await em.nativeUpdate(
    PartnerPayment,
    { id: paymentId, status: 'PENDING' },
    {
      status: 'WAITING_PAYMENT',
      provider_payment_request_id: answer.instrument.providerPaymentRequestId,
      provider_payment_method_id: answer.instrument.providerPaymentMethodId,
      payment_code: answer.instrument.paymentCode,
      instrument_at: now,
      updated_at: now,
    },
  );
  if (written > 0) return { status: 'WAITING_PAYMENT', deliveryIds: [], availableAt: null };
  return standingOf(em, await em.findOneOrFail(PartnerPayment, { id: paymentId }, { refresh: true }));
}

async function openTexts(sealer: Sealer, { id, customer_sealed: sealed }: PartnerPayment) {
  if (!sealed) return { customer: {} };
  const texts: PartnerTexts = JSON.parse(await sealer.open(partnerTextsPlace(id), sealed));
  const { customer_name: name, customer_email: email, customer_phone: phone, return_url: returnUrl } = texts;
  return { customer: { ...(name && { name }), ...(email && { email }), ...(phone && { phone }) }, returnUrl };
}
