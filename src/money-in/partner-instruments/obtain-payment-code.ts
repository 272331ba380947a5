import type { EntityManager } from '@mikro-orm/postgresql';
import { openUnlessGone } from '../../platform/encryption/open-unless-gone.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import type { Gateways, ReusableRequest } from '../../platform/gateway/gateway.ts';
import { assert } from '../../shared/assert.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { PaymentChannel } from '../payments/payment-channel.entity.ts';
import { PartnerInstrument } from './partner-instrument.entity.ts';
import { type InstrumentTexts, instrumentTextsPlace, type PartnerInstrumentStatus } from './partner-instrument.ts';

/**
 * Requests the payment code from the provider under the instrument's id and stores it; closes an instrument that the
 * provider refuses. Returns its state. Throws ProviderUnknown; a retry then finds any code already created.
 */
export async function obtainPaymentCode(
  em: EntityManager,
  { gateways, sealer }: { gateways: Gateways; sealer: Sealer },
  { instrumentId, signal }: { instrumentId: string; signal: AbortSignal },
): Promise<PartnerInstrumentStatus> {
  const instrument = await em.findOneOrFail(PartnerInstrument, { id: instrumentId });
  if (instrument.payment_code || instrument.closing_at || instrument.status === 'closed') return instrument.status;
  const channel = await em.findOneOrFail(PaymentChannel, { id: instrument.channel_id });
  const name = await readCustomerName(sealer, instrument);
  assert(channel.method !== 'ewallet', 'an instrument is an account number or a QR code');
  const request: ReusableRequest = {
    reference: instrument.id,
    method: channel.method,
    channelCode: channel.channel_code,
    amount: instrument.amount ?? null,
    ...(instrument.external_ref && { description: instrument.external_ref }),
    ...(name !== null && { customer: { name } }),
  };
  await em.execute('update partner_instruments set asked_at = now() where id = ?', [instrumentId]);
  const answer = await gateways
    .of(instrument.provider)
    .requestReusable(request, { signal, partnerId: instrument.partner_id });
  await failpoint('obtain-payment-code.after');
  const [row] = await em.execute<{ status: PartnerInstrumentStatus }[]>(
    answer.outcome === 'accepted'
      ? `update partner_instruments set provider_payment_method_id = ?, payment_code = ?, updated_at = now()
         where id = ? and payment_code is null and status = 'active' returning status`
      : `update partner_instruments set status = 'closed', failure_code = ?, closed_at = clock_timestamp(),
           look_again_at = null, updated_at = now()
         where id = ? and payment_code is null and status = 'active' returning status`,
    answer.outcome === 'accepted'
      ? [answer.instrument.providerPaymentMethodId, answer.instrument.paymentCode, instrumentId]
      : [answer.code, instrumentId],
  );
  return row?.status ?? (await em.fork().findOneOrFail(PartnerInstrument, { id: instrumentId })).status;
}

async function readCustomerName(
  sealer: Sealer,
  { id, texts_sealed: sealed }: PartnerInstrument,
): Promise<string | null> {
  const opened = sealed ? await openUnlessGone(sealer, instrumentTextsPlace(id), sealed) : null;
  if (opened === null) return null;
  const texts: InstrumentTexts = JSON.parse(opened);
  return texts.customer_name;
}
