import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { doCallbacksCome } from '../../platform/callbacks/do-callbacks-come.ts';
import { tellAgain } from '../../platform/callbacks/tell-again.ts';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordEvent } from '../../platform/events/record-event.ts';
import {
  type Gateway,
  type Gateways,
  type PaymentsRead,
  type ProviderPayment,
  ProviderUnknown,
} from '../../platform/gateway/gateway.ts';
import { refuse } from '../../shared/errors.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { instrumentPaymentIdFor } from '../../shared/ids.ts';
import { compareMoney } from '../../shared/money.ts';
import { textArray } from '../../shared/postgres.ts';
import { PartnerPayment } from '../collections/partner-payment.entity.ts';
import { settleOpenPayment } from '../collections/settle-partner-payment.ts';
import { strayOf } from '../payments/confirm-payment.ts';
import { hasReceipt } from '../payments/find-receipts.ts';
import { mayYetAppear } from '../payments/obtain-instrument.ts';
import type { StrayPayment } from '../payments/payment-contract.ts';
import { PartnerInstrument } from './partner-instrument.entity.ts';
import type { InstrumentLook } from './partner-instrument.ts';
import { priceReceived } from './price-received.ts';

/** Maximum payments recorded per poll. */
const mostAtOnce = 50;
/** The maximum lag of the provider's list: each poll starts this long before the end of the last. */
const readAgainMs = 3_600_000;
/** How long after a poll the sweep restarts the workflow: longer than the longest wait between polls. */
const overdueMs = 5 * 3_600_000;

interface Looking {
  gateways: Gateways;
  sealer: Sealer;
}

/**
 * Asks the provider for payments to an instrument. Records each payment that fits, once by its provider id, as a
 * payment of the partner; others (a wrong amount, outside the channel's limits, after closing) are strays. An
 * instrument that is being closed is first expired at the provider; earlier payments are still collected. Throws
 * ProviderUnknown.
 */
export async function collectInstrumentPayments(
  em: EntityManager,
  { gateways, sealer }: Looking,
  { instrumentId, signal }: { instrumentId: string; signal: AbortSignal },
): Promise<InstrumentLook> {
  const instrument = await em.findOne(PartnerInstrument, { id: instrumentId });
  if (instrument === null) refuse('NOT_FOUND', 'The instrument was not found');
  const options = { signal, partnerId: instrument.partner_id };
  const gateway = gateways.of(instrument.provider);
  const methodId = await findMethod(em, gateway, instrument, options);
  const isClosing = instrument.status === 'active' && Boolean(instrument.closing_at);
  if (methodId !== null && isClosing) await gateway.expireInstrument(methodId, options);
  const askedAt = await readDatabaseClock(em);
  const since = instrument.seen_until ? new Date(instrument.seen_until.getTime() - readAgainMs) : undefined;
  const before = instrument.read_before ?? undefined;
  const { payments, rest } =
    methodId === null ? nothingPaid : await gateway.listPaymentsUnder(methodId, { ...options, since, before });
  const fresh = await withoutReceipt(em, instrumentId, payments);
  const look: InstrumentLook = {
    status: instrument.status,
    deliveryIds: [],
    strays: [],
    waiting: [],
    hasMore: fresh.length > mostAtOnce || rest !== null,
    callbacksCome: await doCallbacksCome(em),
    ...(!instrument.payment_code && !instrument.closing_at && { lacksCode: true as const }),
  };
  for (const payment of fresh.slice(0, mostAtOnce)) {
    const taken = await em.fork().transactional((tx) => take(tx, sealer, { instrumentId, payment }));
    await failpoint('collect-instrument-payments.taken');
    if ('stray' in taken) look.strays.push(taken.stray);
    else {
      look.deliveryIds.push(...taken.deliveryIds);
      if (taken.isWaiting) look.waiting.push(taken.paymentId);
    }
  }
  const seen: Seen = {
    before: instrument.seen_until ?? null,
    from: payments.some(({ status }) => status === 'pending')
      ? (instrument.seen_until ?? instrument.created_at)
      : askedAt,
    // The next poll lists the rest of these again.
    until: fresh.length > mostAtOnce ? undefined : rest,
  };
  look.status = await em
    .fork()
    .transactional((tx) => finishLook(tx, { instrumentId, isClosing, hasMore: look.hasMore, seen }));
  return look;
}

const nothingPaid: PaymentsRead = { payments: [], rest: null };

/** Progress of the polls: a pass over more payments than one poll reads goes back in time step by step. */
interface Seen {
  /** `seen_until` when the poll began. If a callback moves it back during the poll, the next poll begins there. */
  before: Date | null;
  /** Once the pass is complete, all payments before this have been seen. */
  from: Date;
  /** How far back the pass has come; null: complete; undefined: no progress. */
  until: Date | null | undefined;
}

/** The provider's id of the payment method; null if it has created none. */
async function findMethod(
  em: EntityManager,
  gateway: Gateway,
  { id, provider_payment_method_id: known, asked_at }: PartnerInstrument,
  options: { signal: AbortSignal; partnerId: string },
): Promise<string | null> {
  if (known) return known;
  const made = await gateway.findReusable(id, options);
  if (made !== null) return made.providerPaymentMethodId;
  if (mayYetAppear(asked_at, await readDatabaseClock(em))) {
    throw new ProviderUnknown('find instrument: it may still appear');
  }
  return null;
}

/** Successful payments without a receipt, oldest first; includes money in suspense that arrived unidentified. */
async function withoutReceipt(
  em: EntityManager,
  instrumentId: string,
  payments: readonly ProviderPayment[],
): Promise<ProviderPayment[]> {
  const succeeded = payments.filter(({ status }) => status === 'succeeded');
  if (succeeded.length === 0) return [];
  const rows = await em.execute<{ id: string }[]>(
    `select provider_payment_id as id from receipts where provider_payment_id = any(?::text[])
       and not (state = 'suspended' and reason = 'unknown' and reference = ?)`,
    [textArray(succeeded.map(({ providerPaymentId }) => providerPaymentId)), instrumentId],
  );
  const known = new Set(rows.map(({ id }) => id));
  return succeeded
    .filter(({ providerPaymentId }) => !known.has(providerPaymentId))
    .toSorted((left, right) => (left.paidAt?.getTime() ?? 0) - (right.paidAt?.getTime() ?? 0));
}

type Taken = { stray: StrayPayment } | { paymentId: string; deliveryIds: string[]; isWaiting: boolean };

/**
 * Records one of the provider's payments as a payment of the partner and settles it, in one transaction; or returns it
 * as a stray.
 */
async function take(
  tx: EntityManager,
  sealer: Sealer,
  { instrumentId, payment }: { instrumentId: string; payment: ProviderPayment },
): Promise<Taken> {
  const instrument = await lockInstrument(tx, instrumentId);
  const { id, partner_id: partnerId, channel_id: channelId, amount: fixed } = instrument;
  const { providerPaymentId, providerPaymentMethodId, amount: gross } = payment;
  const paymentId = instrumentPaymentIdFor(providerPaymentId);
  if (await hasReceipt(tx, providerPaymentId, { reference: id, amount: gross })) {
    return { paymentId, deliveryIds: [], isWaiting: false };
  }
  const priced = await priceReceived(tx, { partnerId, channelId, gross });
  const fits = payment.reference === id && (!fixed || compareMoney(fixed, gross) === 0);
  if (!wasOpen(instrument, payment) || !fits || 'complaint' in priced)
    return { stray: strayOf(instrument.provider, payment) };
  const now = await readDatabaseClock(tx);
  const made = tx.create(PartnerPayment, {
    id: paymentId,
    partner_id: partnerId,
    channel_id: channelId,
    instrument_id: id,
    fee_mode: 'DEDUCTED',
    amount: gross,
    fee: priced.price.fee,
    net_amount: priced.price.net,
    provider_fee: priced.price.providerFee,
    status: 'PENDING',
    provider_payment_request_id: payment.providerPaymentRequestId,
    provider_payment_method_id: providerPaymentMethodId,
    payment_code: instrument.payment_code ?? null,
    expires_at: now,
    created_at: now,
    updated_at: now,
  });
  await tx.flush();
  await recordEvent(tx, {
    event: 'RESOURCE_CREATED',
    resourceType: 'partner_payment',
    resourceId: paymentId,
    actorId: null,
    requestId: null,
    data: { partner_id: partnerId, instrument_id: id },
  });
  const received = { providerPaymentId, providerPaymentMethodId, amount: gross };
  const { step } = await settleOpenPayment(tx, sealer, made, received);
  return { paymentId, deliveryIds: step.deliveryIds, isWaiting: step.availableAt !== null };
}

/**
 * Whether the instrument was open when this was paid. Money paid before closing belongs to it, however late it is
 * listed.
 */
const wasOpen = ({ status, closed_at: closedAt }: PartnerInstrument, { paidAt }: ProviderPayment): boolean =>
  status === 'active' || Boolean(closedAt && paidAt && paidAt <= closedAt);

const lockInstrument = (tx: EntityManager, id: string): Promise<PartnerInstrument> =>
  tx.findOneOrFail(PartnerInstrument, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });

/** Records what was read, and closes the instrument if requested. */
async function finishLook(
  tx: EntityManager,
  look: { instrumentId: string; isClosing: boolean; hasMore: boolean; seen: Seen },
): Promise<InstrumentLook['status']> {
  const { instrumentId, isClosing, hasMore, seen } = look;
  const { before, from, until } = seen;
  const instrument = await lockInstrument(tx, instrumentId);
  // Poll an instrument that is closing once more, after the provider stopped accepting money for it.
  if (instrument.closing_at && instrument.status === 'active' && !isClosing) return instrument.status;
  const now = await readDatabaseClock(tx);
  const { read_from: began } = instrument;
  instrument.read_from = began && began < from ? began : from;
  if (until !== undefined) instrument.read_before = until;
  if (until === null) {
    if (instrument.seen_until?.getTime() === before?.getTime()) instrument.seen_until = instrument.read_from;
    instrument.read_from = null;
  }
  if (instrument.status === 'active') instrument.look_again_at = new Date(now.getTime() + overdueMs);
  if (isClosing && !hasMore && instrument.status === 'active') {
    instrument.status = 'closed';
    instrument.closed_at = instrument.updated_at = now;
    instrument.look_again_at = null;
    await tx.flush();
    // Payments that the provider lists later get their own cases.
    await tellAgain(tx, instrument);
    await recordEvent(tx, {
      event: 'RESOURCE_UPDATED',
      resourceType: 'partner_instrument',
      resourceId: instrumentId,
      actorId: null,
      requestId: instrument.request_id ?? null,
      data: { partner_id: instrument.partner_id, status: 'closed' },
    });
  }
  await tx.flush();
  return instrument.status;
}
