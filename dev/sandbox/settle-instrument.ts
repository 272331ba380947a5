import { randomUUID } from 'node:crypto';
import { requirePayableInto } from './account-number.ts';
import { readCosts } from './costs.ts';
import {
  isOpen,
  presentMethodResource,
  presentPayment,
  type SandboxInstrument,
  type SandboxPayment,
} from './instrument.ts';
import {
  findDueInstruments,
  findInstrumentByRequest,
  findPayment,
  insertPayment,
  nextExpiry,
  updateInstrument,
  updatePayment,
} from './instrument-store.ts';
import { queueCallback } from './outbox.ts';
import type { Job } from './scheduler.ts';
import type { Store } from './store.ts';
import { invalid, notFound } from './wire-error.ts';

const expiriesPerTurn = 200;
const declineCode = 'DECLINED_BY_ISSUER';

export interface Settled {
  instrument: SandboxInstrument;
  payment: SandboxPayment;
}

function change(store: Store, instrument: SandboxInstrument, changes: Partial<SandboxInstrument>): SandboxInstrument {
  const changed = { ...instrument, ...changes, updated: new Date().toISOString() };
  updateInstrument(store, changed, isOpen(changed));
  return changed;
}

function expireNow(store: Store, instrument: SandboxInstrument): SandboxInstrument {
  const expired = change(store, instrument, { status: 'EXPIRED', methodStatus: 'EXPIRED' });
  queueCallback(store, 'payment_method.expired', presentMethodResource(expired));
  return expired;
}

/** Expires the instrument if its time has passed, and returns its current state. */
export function upToDate(store: Store, instrument: SandboxInstrument): SandboxInstrument {
  if (!isOpen(instrument) || Date.parse(instrument.expiresAt) > Date.now()) return instrument;
  return store.transaction(() => expireNow(store, instrument));
}

function current(store: Store, requestId: string): SandboxInstrument {
  const instrument = findInstrumentByRequest(store, requestId);
  if (!instrument) throw notFound('payment request');
  return upToDate(store, instrument);
}

function record(
  store: Store,
  instrument: SandboxInstrument,
  payment: Omit<SandboxPayment, 'id' | 'created' | 'cost'>,
): Settled {
  const cost = payment.status === 'SUCCEEDED' ? readCosts(store).payment : 0;
  const made: SandboxPayment = { ...payment, cost, id: `py-${randomUUID()}`, created: new Date().toISOString() };
  insertPayment(store, instrument.methodId, made);
  queueCallback(store, `payment.${made.status.toLowerCase()}`, presentPayment(instrument, made));
  return { instrument, payment: made };
}

/**
 * Accepts money in any state of the instrument and any number of times, each as a new payment. Only the right amount in
 * time completes the request, and a pending payment does so only when it is settled.
 */
export function payInstrument(
  store: Store,
  requestId: string,
  { amount, status = 'SUCCEEDED' }: { amount?: number | undefined; status?: 'SUCCEEDED' | 'PENDING' | undefined } = {},
): Settled {
  return store.transaction(() => {
    const instrument = current(store, requestId);
    const paid = amount ?? instrument.amount;
    if (paid === 0) throw invalid('amount is required: this instrument accepts any amount');
    if (instrument.type === 'VIRTUAL_ACCOUNT') requirePayableInto(instrument.channelCode, paid);
    const completes =
      !instrument.isReusable && status === 'SUCCEEDED' && isOpen(instrument) && paid === instrument.amount;
    const after = completes ? change(store, instrument, { status: 'SUCCEEDED', methodStatus: 'INACTIVE' }) : instrument;
    return record(store, after, { amount: paid, status, failureCode: null });
  });
}

/**
 * Settles a pending payment; returns null if there is none with this id. A successful payment of the right amount
 * completes the request, even an expired or failed one, unless another payment has completed it.
 */
export function settlePayment(store: Store, paymentId: string, status: 'SUCCEEDED' | 'FAILED'): Settled | null {
  return store.transaction(() => {
    const found = findPayment(store, paymentId);
    if (found?.payment.status !== 'PENDING') return null;
    const payment = { ...found.payment, status, failureCode: status === 'FAILED' ? declineCode : null };
    updatePayment(store, payment);
    const { requestId, amount } = found.instrument;
    const before = current(store, requestId);
    const completes =
      !before.isReusable && status === 'SUCCEEDED' && payment.amount === amount && before.status !== 'SUCCEEDED';
    const instrument = completes ? change(store, before, { status: 'SUCCEEDED', methodStatus: 'INACTIVE' }) : before;
    queueCallback(store, `payment.${status.toLowerCase()}`, presentPayment(instrument, payment));
    return { instrument, payment };
  });
}

/** The payer declines: records a failed payment, and fails the request unless it is already final. */
export function declineInstrument(store: Store, requestId: string): Settled {
  return store.transaction(() => {
    const instrument = current(store, requestId);
    const after =
      isOpen(instrument) && !instrument.isReusable
        ? change(store, instrument, { status: 'FAILED', methodStatus: 'FAILED', failureCode: declineCode })
        : instrument;
    return record(store, after, { amount: instrument.amount, status: 'FAILED', failureCode: declineCode });
  });
}

/** Expires an instrument early; a final one is unchanged. */
export function expireInstrument(store: Store, requestId: string): SandboxInstrument {
  return store.transaction(() => {
    const instrument = current(store, requestId);
    return isOpen(instrument) ? expireNow(store, instrument) : instrument;
  });
}

/** The job that expires instruments. */
export function expiryJob(store: Store): Job {
  return {
    run: (now) =>
      store.transaction(() => {
        for (const instrument of findDueInstruments(store, now, expiriesPerTurn)) expireNow(store, instrument);
      }),
    nextAt: () => nextExpiry(store),
  };
}
