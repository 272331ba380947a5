import {
  EWalletChannelCode,
  type PaymentMethodParameters,
  type PaymentRequestParameters,
  QRCodeChannelCode,
  VirtualAccountChannelCode,
} from 'xendit-node/payment_request/models/index.js';
import { foldForBank } from '../../../shared/bank-text.ts';
import { indonesianMobileOf } from '../../../shared/mobile-number.ts';
import type { InstrumentRequest } from '../gateway.ts';
import { wireAmount } from './wire-amount.ts';

/** The refusal code for a channel or bank that the provider lacks; nothing was sent. */
export const unsupportedChannel = 'CHANNEL_CODE_NOT_SUPPORTED_ERROR';

export function channelIn<T extends string>(codes: Record<string, T>, code: string): T | null {
  return Object.values(codes).find((known) => known === code && known !== 'UNKNOWN_ENUM_VALUE') ?? null;
}

/** Returns the name for the payer's screen, in characters that banks can show; our own name if none remain. */
export function customerNameOf({ customer }: Pick<InstrumentRequest, 'customer'>): string {
  const name = foldForBank(customer?.name ?? '')
    .slice(0, 50)
    .trim();
  return /[A-Za-z]/.test(name) ? name : 'Amanah';
}

function paymentMethodOf(request: InstrumentRequest): PaymentMethodParameters | null {
  const common = { reusability: 'ONE_TIME_USE', referenceId: request.reference } as const;
  switch (request.method) {
    case 'virtual_account': {
      const channelCode = channelIn(VirtualAccountChannelCode, request.channelCode);
      if (!channelCode) return null;
      const channelProperties = { customerName: customerNameOf(request), expiresAt: request.expiresAt };
      return { ...common, type: 'VIRTUAL_ACCOUNT', virtualAccount: { channelCode, channelProperties } };
    }
    case 'qris': {
      const channelCode = channelIn(QRCodeChannelCode, request.channelCode || 'QRIS');
      if (!channelCode) return null;
      return {
        ...common,
        type: 'QR_CODE',
        qrCode: { channelCode, channelProperties: { expiresAt: request.expiresAt } },
      };
    }
    case 'ewallet': {
      const channelCode = channelIn(EWalletChannelCode, request.channelCode);
      if (!channelCode) return null;
      const { returnUrl } = request;
      const mobileNumber = indonesianMobileOf(request.customer?.phone ?? '');
      const channelProperties = {
        successReturnUrl: returnUrl,
        failureReturnUrl: returnUrl,
        cancelReturnUrl: returnUrl,
        ...(mobileNumber !== null && { mobileNumber }),
      };
      return { ...common, type: 'EWALLET', ewallet: { channelCode, channelProperties } };
    }
  }
}

/**
 * Builds the provider's request body for an instrument, the same for every attempt; null for an unknown channel. Throws
 * RangeError when the amount is not a positive whole number of rupiah.
 */
export function buildPaymentRequest(request: InstrumentRequest): PaymentRequestParameters | null {
  const paymentMethod = paymentMethodOf(request);
  if (!paymentMethod) return null;
  return {
    referenceId: request.reference,
    amount: wireAmount(request.amount),
    currency: 'IDR',
    paymentMethod,
    ...(request.description === undefined ? {} : { description: request.description }),
    // Wallet requests have no expiry field; we expire the payment at this time.
    ...(request.method === 'ewallet' && { metadata: { expires_at: request.expiresAt.toISOString() } }),
  };
}
