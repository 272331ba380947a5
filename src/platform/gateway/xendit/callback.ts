import { z } from 'zod';
import type { CallbackHint, CallbackReading } from '../gateway.ts';

/** A text that the database can store: no lone surrogates, and no NUL, which PostgreSQL's text cannot hold. */
const text = (longest: number) =>
  z
    .string()
    .min(1)
    .max(longest)
    .refine((value) => value.isWellFormed() && !value.includes('\u0000'));

const envelope = z.object({ event: text(100), data: z.unknown() });

const id = text(255);

const paymentData = z.object({
  id,
  payment_request_id: id.nullish(),
  reference_id: id,
  payment_method: z.object({ id }).nullish(),
});
const paymentRequestData = z.object({ id, reference_id: id, payment_method: z.object({ id }).nullish() });
const identified = z.object({ id, reference_id: id });
const refundData = identified.extend({ payment_request_id: id.nullish() });

const unnamed = {
  providerPaymentId: null,
  providerPaymentRequestId: null,
  providerPaymentMethodId: null,
  providerTransferId: null,
} as const;

function readTransfer(event: string, data: unknown): CallbackHint {
  const { id: providerTransferId, reference_id: reference } = identified.parse(data);
  return { ...unnamed, kind: 'transfer', event, reference, providerTransferId };
}

/** A reader for each family of events; the family is the part before the first dot. */
const readers: Record<string, (event: string, data: unknown) => CallbackHint> = {
  payment: (event, data) => {
    const payment = paymentData.parse(data);
    return {
      ...unnamed,
      kind: 'payment',
      event,
      reference: payment.reference_id,
      providerPaymentId: payment.id,
      providerPaymentRequestId: payment.payment_request_id ?? null,
      providerPaymentMethodId: payment.payment_method?.id ?? null,
    };
  },
  payment_request: (event, data) => {
    const request = paymentRequestData.parse(data);
    return {
      ...unnamed,
      kind: 'payment',
      event,
      reference: request.reference_id,
      providerPaymentRequestId: request.id,
      providerPaymentMethodId: request.payment_method?.id ?? null,
    };
  },
  payment_method: (event, data) => {
    const method = identified.parse(data);
    return {
      ...unnamed,
      kind: 'payment_method',
      event,
      reference: method.reference_id,
      providerPaymentMethodId: method.id,
    };
  },
  payout: readTransfer,
  refund: (event, data) => ({
    ...readTransfer(event, data),
    providerPaymentRequestId: refundData.parse(data).payment_request_id ?? null,
  }),
};

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Parses the bytes as JSON, or returns why they cannot be read. */
function parse(bytes: Buffer): { json: unknown } | { unread: string } {
  if (bytes.length === 0) return { unread: 'the body is empty' };
  let decoded: string;
  try {
    decoded = utf8.decode(bytes);
  } catch {
    return { unread: 'the body is not UTF-8' };
  }
  try {
    return { json: JSON.parse(decoded) };
  } catch {
    return { unread: 'the body is not JSON' };
  }
}

/** Names the fields, not their values. */
function misshapen({ issues }: z.ZodError, under: readonly string[]): CallbackReading {
  const fields = new Set(issues.map(({ path }) => [...under, ...path].join('.') || 'body'));
  return { hint: null, unread: `misshapen: ${[...fields].join(', ')}` };
}

/** Reads a callback's claim, or returns why it cannot be read. Never throws. */
export function readCallback(bytes: Buffer): CallbackReading {
  const parsed = parse(bytes);
  if ('unread' in parsed) return { hint: null, unread: parsed.unread };
  const opened = envelope.safeParse(parsed.json);
  if (!opened.success) return misshapen(opened.error, []);
  const { event, data } = opened.data;
  const reader = Object.entries(readers).find(([family]) => event.startsWith(`${family}.`));
  if (reader === undefined) return { hint: null, unread: `unknown event: ${event}` };
  try {
    return { hint: reader[1](event, data) };
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    return misshapen(error, ['data']);
  }
}
