import type { EntityManager } from '@mikro-orm/postgresql';
import { columnsOf, executePrepared } from '../../platform/database/prepared-statements.ts';
import { openUnlessGone } from '../../platform/encryption/open-unless-gone.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import type { Gateways } from '../../platform/gateway/gateway.ts';
import { must } from '../../shared/assert.ts';
import { type Attempt, attemptNoted, forgetAttempt, obtainInstrument } from '../payments/obtain-instrument.ts';
import type { PaymentChannel } from '../payments/payment-channel.entity.ts';
import { returnUrlOf } from '../payments/return-url.ts';
import { closePartnerPayment } from './close-partner-payment.ts';
import { findPartnerPayment } from './find-partner-payments.ts';
import { standingOf } from './finish-partner-payment.ts';
import { PartnerPayment } from './partner-payment.entity.ts';
import { type PartnerPaymentStep, type PartnerTexts, partnerTextsPlace } from './partner-payment.ts';

/**
 * Requests the payment's instrument from the provider and stores the result: `WAITING_PAYMENT` with its code, or
 * `FAILED`. Throws ProviderUnknown while the outcome is unknown, as `obtainInstrument` does.
 */
export async function requestPartnerInstrument(
  em: EntityManager,
  { gateways, sealer, publicUrl }: { gateways: Gateways; sealer: Sealer; publicUrl: string },
  { paymentId, signal }: { paymentId: string; signal: AbortSignal },
): Promise<PartnerPaymentStep> {
  const asking = await beginAsking(em, paymentId);
  if (asking === null) {
    return standingOf(em, must(await findPartnerPayment(em, paymentId), 'the first step inserted the row').payment);
  }
  const { payment, channel, attempt } = asking;
  const table = 'partner_payments';
  const { customer, returnUrl } = await openTexts(sealer, payment).catch(async (error: unknown) => {
    await forgetAttempt(em, table, paymentId, attempt);
    throw error;
  });
  const request = {
    reference: payment.id,
    method: channel.method,
    channelCode: channel.channel_code,
    amount: payment.amount,
    expiresAt: payment.expires_at,
    ...(payment.external_ref && { description: payment.external_ref }),
    customer,
    returnUrl: returnUrl ?? returnUrlOf(publicUrl, payment.id),
  };
  const after = 'request-partner-instrument.after';
  const search = { table, attempt, request, signal, after, partnerId: payment.partner_id } as const;
  const answer = await obtainInstrument(em, gateways.of(payment.provider), search);
  if (answer.outcome === 'refused') {
    const end = { paymentId, status: 'FAILED', failureCode: answer.code, refused: attempt } as const;
    return closePartnerPayment(em, sealer, end);
  }
  const { providerPaymentRequestId, providerPaymentMethodId, paymentCode } = answer.instrument;
  const written = await executePrepared(
    em,
    `update partner_payments set status = 'WAITING_PAYMENT', provider_payment_request_id = ?,
       provider_payment_method_id = ?, payment_code = ?, instrument_at = now(), updated_at = now()
     where id = ? and status = 'PENDING' returning id`,
    [providerPaymentRequestId, providerPaymentMethodId, paymentCode, paymentId],
  );
  if (written.length > 0) return { status: 'WAITING_PAYMENT', deliveryIds: [], availableAt: null };
  return standingOf(em, await em.findOneOrFail(PartnerPayment, { id: paymentId }, { refresh: true }));
}

interface Asking {
  payment: PartnerPayment;
  channel: Pick<PaymentChannel, 'method' | 'channel_code'>;
  attempt: Attempt;
}

/**
 * Records an attempt, as `noteAttempt` does, and reads the payment, in one round trip because a request waits for it.
 * Null if nothing may be sent because the payment is cancelled or no longer `PENDING`.
 */
async function beginAsking(em: EntityManager, paymentId: string): Promise<Asking | null> {
  const [row] = await executePrepared<Record<string, unknown> & Asking['channel'] & Attempt>(
    em,
    `update partner_payments p set instrument_asked_at = now() from payment_channels c
     where p.id = ? and p.status = 'PENDING' and p.cancelled_at is null and c.id = p.channel_id
     returning ${columnsOf(em, PartnerPayment, 'p')}, c.method, c.channel_code, ${attemptNoted}`,
    [paymentId],
  );
  if (row === undefined) return null;
  const { method, channel_code, mine, at, age, ...columns } = row;
  const payment = em.fork().map(PartnerPayment, columns);
  return { payment, channel: { method, channel_code }, attempt: { mine, at, age } };
}

async function openTexts(sealer: Sealer, { id, customer_sealed: sealed }: PartnerPayment) {
  const opened = sealed ? await openUnlessGone(sealer, partnerTextsPlace(id), sealed) : null;
  if (opened === null) return { customer: {} };
  const texts: PartnerTexts = JSON.parse(opened);
  const { customer_name: name, customer_email: email, customer_phone: phone, return_url: returnUrl } = texts;
  return { customer: { ...(name && { name }), ...(email && { email }), ...(phone && { phone }) }, returnUrl };
}
