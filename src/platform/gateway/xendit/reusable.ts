import {
  type PaymentMethodParameters,
  QRCodeChannelCode,
  VirtualAccountChannelCode,
} from 'xendit-node/payment_method/models/index.js';
import { z } from 'zod';
import {
  type CallOptions,
  type PaymentsRead,
  ProviderUnknown,
  type ReusableInstrument,
  type ReusableOutcome,
  type ReusableRequest,
} from '../gateway.ts';
import { type Client, exchange, lookUp, refusalOf } from './client.ts';
import { channelIn, customerNameOf, unsupportedChannel } from './instrument-request.ts';
import { readPayments } from './instruments.ts';
import type { ClientSettings } from './settings.ts';
import { wireAmount } from './wire-amount.ts';

const methodAnswer = z.object({
  id: z.string().min(1),
  referenceId: z.string().nullish(),
  reusability: z.string().nullish(),
  created: z.date().nullish(),
  virtualAccount: z.object({ channelProperties: z.object({ virtualAccountNumber: z.string().min(1) }) }).nullish(),
  qrCode: z.object({ channelProperties: z.object({ qrString: z.string().min(1) }) }).nullish(),
});

function reusableOf(answer: unknown): ReusableInstrument {
  const { id, virtualAccount, qrCode } = methodAnswer.parse(answer);
  const paymentCode =
    virtualAccount?.channelProperties.virtualAccountNumber ?? qrCode?.channelProperties.qrString ?? null;
  if (paymentCode === null) throw new ProviderUnknown('the provider answered with a payment method without a code');
  return { providerPaymentMethodId: id, paymentCode };
}

/** Builds the request body for a reusable payment method; null for a channel that the provider lacks. */
function bodyOf(request: ReusableRequest): PaymentMethodParameters | null {
  const { reference, method, channelCode, amount, description, customer } = request;
  const common = {
    ...({ reusability: 'MULTIPLE_USE', referenceId: reference, country: 'ID' } as const),
    ...(description !== undefined && { description }),
  };
  const fixed = amount === null ? {} : { amount: wireAmount(amount) };
  if (method === 'virtual_account') {
    const code = channelIn(VirtualAccountChannelCode, channelCode);
    if (!code) return null;
    const channelProperties = { customerName: customerNameOf({ ...(customer && { customer }) }) };
    const virtualAccount = { ...fixed, currency: 'IDR', channelCode: code, channelProperties };
    return { ...common, type: 'VIRTUAL_ACCOUNT', virtualAccount };
  }
  const code = channelIn(QRCodeChannelCode, channelCode || 'QRIS');
  return code && { ...common, type: 'QR_CODE', qrCode: { ...fixed, currency: 'IDR', channelCode: code } };
}

async function search(client: Client, reference: string): Promise<ReusableInstrument | null> {
  const { data } = await client.paymentMethods.getAllPaymentMethods({ referenceId: reference });
  if (!data) throw new ProviderUnknown('find reusable: the provider answered without a list');
  const made = data
    .map((item) => ({ item, method: methodAnswer.parse(item) }))
    .filter(({ method }) => method.referenceId === reference && method.reusability === 'MULTIPLE_USE')
    .toSorted((left, right) => (left.method.created?.getTime() ?? 0) - (right.method.created?.getTime() ?? 0));
  return made[0] === undefined ? null : reusableOf(made[0].item);
}

/** Creates the payment method with this reference, unless the provider has it. */
export async function requestReusable(
  settings: ClientSettings,
  request: ReusableRequest,
  options: CallOptions = {},
): Promise<ReusableOutcome> {
  const data = bodyOf(request);
  if (!data) {
    return { outcome: 'refused', code: unsupportedChannel, message: 'the provider does not have this channel' };
  }
  const known = await findReusable(settings, request.reference, options);
  if (known !== null) return { outcome: 'accepted', instrument: known };
  try {
    const instrument = await exchange(settings, 'request reusable', { ...options, follows: true }, async (client) =>
      reusableOf(await client.paymentMethods.createPaymentMethod({ data })),
    );
    return { outcome: 'accepted', instrument };
  } catch (error) {
    return refusalOf(error);
  }
}

/** Returns the oldest reusable payment method with this reference, or null if the provider has none. */
export const findReusable = (
  settings: ClientSettings,
  reference: string,
  options: CallOptions = {},
): Promise<ReusableInstrument | null> =>
  lookUp(settings, 'find reusable', options, (client) => search(client, reference));

/** Maximum pages per call. */
const pages = 6;

/** Lists the payments under a payment method in a period, newest first, as many as one call reads. */
export async function listPaymentsUnder(
  settings: ClientSettings,
  paymentMethodId: string,
  { since, before, ...options }: CallOptions & { since?: Date | undefined; before?: Date | undefined } = {},
): Promise<PaymentsRead> {
  const found = await lookUp(settings, 'list payments', options, (client) =>
    readPayments(client, paymentMethodId, { since, before, pages, inPart: true }),
  );
  if (found === null) throw new ProviderUnknown('list payments: the provider does not know the payment method');
  return found;
}
