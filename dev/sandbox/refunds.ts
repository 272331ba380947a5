import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { SandboxInstrument } from './instrument.ts';
import { findInstrumentByRequest, listPayments } from './instrument-store.ts';
import { queueCallback } from './outbox.ts';
import { presentRefund, refundFateOf, type SandboxRefund } from './refund.ts';
import type { Job } from './scheduler.ts';
import { dueAt, listForPage, stepJob } from './steps.ts';
import type { Row, Store } from './store.ts';
import { notFound, WireError } from './wire-error.ts';

/** The request body that the provider accepts, without any other field. */
export const createRefundBody = z.strictObject({
  payment_request_id: z.string().min(1).max(255),
  reference_id: z.string().min(1).max(255),
  amount: z.number().int().min(1).max(Number.MAX_SAFE_INTEGER),
  currency: z.literal('IDR'),
  reason: z.enum(['FRAUDULENT', 'DUPLICATE', 'REQUESTED_BY_CUSTOMER', 'CANCELLATION', 'OTHERS']),
  metadata: z.record(z.string(), z.unknown()).nullish(),
});

/** The statuses that a refund can be set to by hand. */
export const refundSettlement = z.enum(['SUCCEEDED', 'FAILED']);

const everything = 1_000_000;
/** Wallets that refund a payment in full or not at all. */
const wholeOnly = new Set(['LINKAJA']);

const refundIn = (row: Row): SandboxRefund => JSON.parse(String(row.document));

function save(store: Store, refund: SandboxRefund): void {
  store.run(
    `insert into refunds (id, request_id, reference_id, next_at, document) values (?, ?, ?, ?, ?)
     on conflict (id) do update set next_at = excluded.next_at, document = excluded.document`,
    refund.id,
    refund.requestId,
    refund.referenceId,
    dueAt(refund),
    JSON.stringify(refund),
  );
}

function become(store: Store, refund: SandboxRefund, changes: Partial<SandboxRefund>): SandboxRefund {
  const changed = { ...refund, ...changes, updated: new Date().toISOString() };
  save(store, changed);
  queueCallback(store, `refund.${changed.status.toLowerCase()}`, presentRefund(changed));
  return changed;
}

/** The unrefunded rest of a payment request, whole rupiah. */
function refundableOf(store: Store, { requestId, methodId }: SandboxInstrument): number {
  const paid = listPayments(store, methodId, { limit: everything })
    .filter(({ status }) => status === 'SUCCEEDED')
    .reduce((sum, { amount }) => sum + amount, 0);
  const row = store.get(
    `select coalesce(sum(document ->> 'amount'), 0) as total from refunds
     where request_id = ? and document ->> 'status' in ('PENDING', 'SUCCEEDED')`,
    requestId,
  );
  return paid - Number(row?.total ?? 0);
}

/** Accepts a refund and schedules its outcome; refuses what the provider refuses. */
export function createRefund(store: Store, body: z.infer<typeof createRefundBody>, key: string): SandboxRefund {
  const instrument = findInstrumentByRequest(store, body.payment_request_id);
  if (!instrument) throw notFound('payment request');
  if (instrument.type !== 'EWALLET')
    throw new WireError(400, 'REFUND_NOT_SUPPORTED', 'the channel does not support refunds');
  const left = refundableOf(store, instrument);
  if (body.amount > left) {
    throw new WireError(400, 'MAXIMUM_REFUND_AMOUNT_REACHED', `only ${left} of the payment can be refunded`);
  }
  if (wholeOnly.has(instrument.channelCode) && body.amount !== instrument.amount) {
    throw new WireError(400, 'PARTIAL_REFUND_NOT_SUPPORTED', 'the channel refunds whole payments only');
  }
  const now = new Date().toISOString();
  const refund: SandboxRefund = {
    id: `rfd-${randomUUID()}`,
    requestId: instrument.requestId,
    referenceId: body.reference_id,
    idempotencyKey: key,
    channelCode: instrument.channelCode,
    amount: body.amount,
    reason: body.reason,
    metadata: body.metadata ?? null,
    status: 'PENDING',
    failureCode: null,
    steps: refundFateOf(body.amount).steps,
    created: now,
    updated: now,
  };
  save(store, refund);
  return refund;
}

export function findRefund(store: Store, id: string): SandboxRefund | null {
  const row = store.get('select document from refunds where id = ?', id);
  return row ? refundIn(row) : null;
}

/** Newest first, with one row more than `limit`. */
export function listRefunds(
  store: Store,
  filter: {
    requestId?: string | undefined;
    referenceId?: string | undefined;
    afterId?: string | undefined;
    limit: number;
  },
): SandboxRefund[] {
  const { requestId, referenceId, afterId, limit } = filter;
  const conditions = [
    ...(requestId === undefined ? [] : ['request_id = ?']),
    ...(referenceId === undefined ? [] : ['reference_id = ?']),
    ...(afterId === undefined ? [] : ['seq < (select seq from refunds where id = ?)']),
  ];
  const where = conditions.length > 0 ? `where ${conditions.join(' and ')}` : '';
  const values = [requestId, referenceId, afterId].filter((value) => value !== undefined);
  return store
    .all(`select document from refunds ${where} order by seq desc limit ?`, ...values, limit + 1)
    .map(refundIn);
}

/** Cancels a refund that has not been sent yet. */
export function cancelRefund(store: Store, id: string): SandboxRefund {
  return store.transaction(() => {
    const refund = findRefund(store, id);
    if (!refund) throw notFound('refund');
    if (refund.status !== 'PENDING') {
      throw new WireError(400, 'INELIGIBLE_TRANSACTION', `a refund that is ${refund.status} cannot be cancelled`);
    }
    return become(store, refund, { status: 'CANCELLED', failureCode: 'CANCELLED', steps: [] });
  });
}

/** Sets every refund of this reference by hand, whatever its status; its scheduled steps are dropped. */
export function settleRefunds(
  store: Store,
  referenceId: string,
  status: z.infer<typeof refundSettlement>,
): SandboxRefund[] {
  return store.transaction(() =>
    listRefunds(store, { referenceId, limit: 100 }).map((refund) =>
      become(store, refund, { status, failureCode: status === 'FAILED' ? 'REFUND_FAILED' : null, steps: [] }),
    ),
  );
}

/** The refunds shown on the page. */
export const listRefundsForPage = (store: Store, limit: number) => listForPage(store, 'refunds', limit, refundIn);

/** The job that completes accepted refunds. */
export const refundJob = (store: Store): Job => stepJob(store, 'refunds', refundIn, become);
