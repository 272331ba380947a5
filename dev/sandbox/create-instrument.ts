import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { drawAccountNumber, nameAtBank, requirePayableInto, virtualAccountBanks } from './account-number.ts';
import { pushWallets, type SandboxInstrument } from './instrument.ts';
import { insertInstrument, isPaymentCodeTaken } from './instrument-store.ts';
import { buildQris, qrisReference, sandboxMerchant } from './qris.ts';
import type { Store } from './store.ts';
import { invalid } from './wire-error.ts';

/**
 * The default lifetime of an instrument, two days. The provider's protocol has no expiry for e-wallets: they expire at
 * the merchant's `expires_at` in `metadata`.
 */
const defaultLifetimeMs = 48 * 60 * 60 * 1000;
const redirectWallets = ['ASTRAPAY', 'DANA', 'LINKAJA', 'NEXCASH', 'SHOPEEPAY'] as const;

const reference = z.string().min(1).max(255);
const expiresAt = z.iso.datetime({ offset: true }).optional();
/** Https, as the provider requires; http only for a product on this machine. */
const returnUrl = z
  .url()
  .min(11)
  .max(255)
  .refine((url) => /^https:\/\/|^http:\/\/(localhost|127\.0\.0\.1|\[::1\])[:/]/.test(url), 'must be https');
const otherReturns = { failure_return_url: returnUrl.optional(), cancel_return_url: returnUrl.optional() };
const mobileNumber = z.string().regex(/^\+62\d{8,13}$/, 'must be an Indonesian number, +62...');
const common = { reusability: z.literal('ONE_TIME_USE'), reference_id: reference.optional() };

/** The request bodies that the provider accepts, for the methods that the product offers. */
export const createPaymentRequestBody = z.strictObject({
  reference_id: reference.optional(),
  amount: z.number().int().min(1).max(Number.MAX_SAFE_INTEGER),
  currency: z.literal('IDR'),
  description: z.string().max(1000).nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
  payment_method: z.discriminatedUnion('type', [
    z.strictObject({
      ...common,
      type: z.literal('VIRTUAL_ACCOUNT'),
      virtual_account: z.strictObject({
        channel_code: z.enum(virtualAccountBanks),
        channel_properties: z.strictObject({ customer_name: nameAtBank(250), expires_at: expiresAt }),
      }),
    }),
    z.strictObject({
      ...common,
      type: z.literal('QR_CODE'),
      qr_code: z.strictObject({
        channel_code: z.enum(['QRIS', 'DANA', 'LINKAJA', 'XENDIT']).nullish(),
        channel_properties: z.strictObject({ expires_at: expiresAt }).nullish(),
      }),
    }),
    z.strictObject({
      ...common,
      type: z.literal('EWALLET'),
      ewallet: z.discriminatedUnion('channel_code', [
        z.strictObject({
          channel_code: z.literal('OVO'),
          channel_properties: z.strictObject({
            mobile_number: mobileNumber,
            success_return_url: returnUrl.optional(),
            ...otherReturns,
          }),
        }),
        z.strictObject({
          channel_code: z.enum(redirectWallets),
          channel_properties: z.strictObject({
            success_return_url: returnUrl,
            ...otherReturns,
            mobile_number: mobileNumber.optional(),
          }),
        }),
      ]),
    }),
  ]),
});

const multiple = {
  reusability: z.literal('MULTIPLE_USE'),
  reference_id: reference,
  description: z.string().max(1000).nullish(),
  country: z.literal('ID').nullish(),
};
const ofEach = { amount: z.number().int().min(1).max(Number.MAX_SAFE_INTEGER).nullish(), currency: z.literal('IDR') };

/** The body for a reusable payment method. */
export const createPaymentMethodBody = z.discriminatedUnion('type', [
  z.strictObject({
    ...multiple,
    type: z.literal('VIRTUAL_ACCOUNT'),
    virtual_account: z.strictObject({
      ...ofEach,
      channel_code: z.enum(virtualAccountBanks),
      channel_properties: z.strictObject({ customer_name: nameAtBank(250) }),
    }),
  }),
  z.strictObject({
    ...multiple,
    type: z.literal('QR_CODE'),
    qr_code: z.strictObject({ ...ofEach, channel_code: z.enum(['QRIS', 'DANA', 'LINKAJA', 'XENDIT']).nullish() }),
  }),
]);

/** 31 years, the provider's default for reusable methods. */
const reusableLifetimeMs = 31 * 365 * 24 * 60 * 60 * 1000;

type CreatePaymentRequest = z.infer<typeof createPaymentRequestBody>;

function freeAccountNumber(store: Store, bank: string): string {
  for (;;) {
    const number = drawAccountNumber(bank);
    if (!isPaymentCodeTaken(store, number)) return number;
  }
}

type Particulars = Pick<
  SandboxInstrument,
  'type' | 'channelCode' | 'paymentCode' | 'customerName' | 'mobileNumber' | 'returnUrl' | 'status' | 'expiresAt'
>;

function particularsOf(store: Store, body: CreatePaymentRequest, uuid: string, origin: string): Particulars {
  const method = body.payment_method;
  const end = (asked?: string): string => new Date(asked ?? Date.now() + defaultLifetimeMs).toISOString();
  const nobody = { customerName: null, mobileNumber: null, returnUrl: null, status: 'PENDING' } as const;
  switch (method.type) {
    case 'VIRTUAL_ACCOUNT': {
      const { channel_code, channel_properties } = method.virtual_account;
      requirePayableInto(channel_code, body.amount);
      return {
        ...nobody,
        type: method.type,
        channelCode: channel_code,
        paymentCode: freeAccountNumber(store, channel_code),
        customerName: channel_properties.customer_name,
        expiresAt: end(channel_properties.expires_at),
      };
    }
    case 'QR_CODE': {
      const { channel_code, channel_properties } = method.qr_code;
      return {
        ...nobody,
        type: method.type,
        channelCode: channel_code ?? 'QRIS',
        paymentCode: buildQris(sandboxMerchant, {
          amount: body.amount,
          reference: qrisReference(uuid),
          terminal: 'A01',
        }),
        expiresAt: end(channel_properties?.expires_at),
      };
    }
    case 'EWALLET': {
      const { channel_code, channel_properties } = method.ewallet;
      const push = pushWallets.has(channel_code);
      return {
        type: method.type,
        channelCode: channel_code,
        paymentCode: push ? `pr-${uuid}` : `${origin}/checkout/pr-${uuid}`,
        customerName: null,
        mobileNumber: channel_properties.mobile_number ?? null,
        returnUrl: channel_properties.success_return_url ?? null,
        status: push ? 'PENDING' : 'REQUIRES_ACTION',
        expiresAt: end(expiresAt.safeParse(body.metadata?.expires_at).data),
      };
    }
  }
}

/** Issues an instrument; `origin` is the address of its checkout page. */
export function createInstrument(store: Store, body: CreatePaymentRequest, origin: string): SandboxInstrument {
  const uuid = randomUUID();
  const particulars = particularsOf(store, body, uuid, origin);
  if (Date.parse(particulars.expiresAt) <= Date.now()) throw invalid('expires_at must be in the future');
  const now = new Date().toISOString();
  const instrument: SandboxInstrument = {
    ...particulars,
    requestId: `pr-${uuid}`,
    methodId: `pm-${randomUUID()}`,
    referenceId: body.reference_id ?? randomUUID(),
    methodReferenceId: body.payment_method.reference_id ?? randomUUID(),
    amount: body.amount,
    description: body.description ?? null,
    metadata: body.metadata ?? null,
    methodStatus: 'ACTIVE',
    failureCode: null,
    created: now,
    updated: now,
  };
  insertInstrument(store, instrument);
  return instrument;
}

/** Issues a reusable payment method. */
export function createReusable(store: Store, body: z.infer<typeof createPaymentMethodBody>): SandboxInstrument {
  const uuid = randomUUID();
  const now = new Date().toISOString();
  const ofBank = body.type === 'VIRTUAL_ACCOUNT' ? body.virtual_account : null;
  const amount = (ofBank ?? (body.type === 'QR_CODE' ? body.qr_code : null))?.amount ?? 0;
  if (ofBank) requirePayableInto(ofBank.channel_code, amount);
  const instrument: SandboxInstrument = {
    requestId: `pr-${uuid}`,
    methodId: `pm-${randomUUID()}`,
    referenceId: body.reference_id,
    methodReferenceId: body.reference_id,
    type: body.type,
    isReusable: true,
    channelCode: ofBank?.channel_code ?? 'QRIS',
    amount,
    description: body.description ?? null,
    metadata: null,
    paymentCode: ofBank
      ? freeAccountNumber(store, ofBank.channel_code)
      : buildQris(sandboxMerchant, { amount, reference: qrisReference(uuid), terminal: 'A01' }),
    customerName: ofBank?.channel_properties.customer_name ?? null,
    mobileNumber: null,
    returnUrl: null,
    status: 'PENDING',
    methodStatus: 'ACTIVE',
    failureCode: null,
    expiresAt: new Date(Date.now() + reusableLifetimeMs).toISOString(),
    created: now,
    updated: now,
  };
  insertInstrument(store, instrument);
  return instrument;
}
