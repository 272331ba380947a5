import type { EntityManager } from '@mikro-orm/postgresql';
import { sealForOrder } from '../../partners/open-for-order.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import type { PaymentMethodKind } from '../../platform/gateway/gateway.ts';
import { indonesianMobileOf } from '../../shared/mobile-number.ts';
import type { Money } from '../../shared/money.ts';
import type { Metadata } from '../../shared/plain-text.ts';
import {
  defaultLifetimeMinutes,
  type PartnerPaymentOpening,
  type PartnerTexts,
  partnerMetadataPlace,
  partnerTextsPlace,
} from './partner-payment.ts';
import { priceRequest } from './price-request.ts';

export interface PartnerPaymentRequest {
  method: PaymentMethodKind;
  amount: Money;
  channel?: string | undefined;
  external_ref?: string | undefined;
  organization_id?: string | undefined;
  customer_name?: string | undefined;
  customer_email?: string | undefined;
  customer_phone?: string | undefined;
  expires_in_minutes?: number | undefined;
  return_url?: string | undefined;
  metadata?: Metadata | undefined;
}

/** Runs every check that can refuse a payment before it exists, and returns its workflow's input. */
export async function preparePartnerPayment(
  em: EntityManager,
  sealer: Sealer,
  input: {
    paymentId: string;
    partnerId: string;
    body: PartnerPaymentRequest;
    idempotency: { keyHash: string; fingerprint: string };
    requestId: string;
  },
): Promise<Omit<PartnerPaymentOpening, 'stamp'>> {
  const { paymentId, partnerId, body, idempotency, requestId } = input;
  const { customer_phone: phone } = body;
  const question = { ...body, partnerId, organizationId: body.organization_id };
  const priced = await priceRequest(em, question, { customerPhone: phone });
  const texts: PartnerTexts = {
    external_ref: body.external_ref ?? null,
    customer_name: body.customer_name ?? null,
    customer_email: body.customer_email ?? null,
    customer_phone: phone === undefined ? null : (indonesianMobileOf(phone) ?? phone),
    return_url: body.return_url ?? null,
  };
  return {
    partnerId,
    organizationId: body.organization_id ?? null,
    channelId: priced.channelId,
    feeMode: priced.feeMode,
    gross: priced.gross,
    fee: priced.fee,
    net: priced.net,
    providerFee: priced.providerFee,
    textsSealed: await (namesCustomer(texts)
      ? sealForOrder(sealer, partnerTextsPlace(paymentId), paymentId, texts)
      : sealer.seal(partnerTextsPlace(paymentId), JSON.stringify(texts))),
    metadataSealed: body.metadata
      ? await sealForOrder(sealer, partnerMetadataPlace(paymentId), paymentId, body.metadata)
      : null,
    lifetimeMinutes: body.expires_in_minutes ?? defaultLifetimeMinutes,
    requestId,
    idempotency: { keyHash: idempotency.keyHash, fingerprint: idempotency.fingerprint },
  };
}

const namesCustomer = ({ customer_name, customer_email, customer_phone }: PartnerTexts): boolean =>
  customer_name !== null || customer_email !== null || customer_phone !== null;
