import { AsyncLocalStorage } from 'node:async_hooks';
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { lockSource } from '../../ledger/lock-order.ts';
import { must } from '../../shared/assert.ts';
import { budgets } from '../../shared/budgets.ts';
import { createSemaphore } from '../../shared/concurrency.ts';
import { errorCodeOf } from '../../shared/errors.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { createGathering } from '../../shared/gather.ts';
import { formatMoney } from '../../shared/money.ts';
import {
  type BalancePayment,
  handledOf,
  type MadeRow,
  makePayments,
  type Paid,
  paidOnes,
  readRow,
  refusing,
} from './balance-payment.ts';
import type { PaymentHandler, WakingPort } from './handler.ts';

/** Batches a payment with concurrent ones, for a handler that allows it; returns its outcome. */
export type PayTogether = (handler: PaymentHandler, payment: BalancePayment) => Promise<MadeRow>;

/**
 * Pays a handler's target from a balance: ownership, idempotency key, journal, transaction row, event and effect in one
 * database transaction, batched with concurrent payments if `payTogether` is given and the handler allows it. The
 * caller checks permission and rail. Throws, without effect, the handler's refusals, NOT_FOUND for a missing source
 * account, FORBIDDEN for another's, 400 for the same account twice or too low a balance, IDEMPOTENCY_KEY_REUSED, the
 * refusal stored under the key, and SERVICE_UNAVAILABLE if it gets no lock in time.
 */
export async function payFromBalance(
  em: EntityManager,
  handler: PaymentHandler,
  payment: BalancePayment,
  payTogether?: PayTogether,
): Promise<Paid> {
  if (handler.together && payTogether) {
    const soon = await refusing(() => payTogether(handler, payment));
    if (soon.outcome !== 'busy') return announce(readRow(soon));
  }
  // The caller's transaction already holds a connection, so it needs no slot.
  if (em.isInTransaction()) return payAlone(em, handler, payment);
  const key = handler.together ? payment.sourceAccountId : payment.referenceId;
  const leave = await waiting.enter({ key, waitMs: budgets.database.role.lock });
  try {
    return await payAlone(em, handler, payment);
  } finally {
    leave();
  }
}

/** `payFromBalance` in its own transaction; then signals the workflow that waits for the payment, if any. */
export async function payAndWake(
  em: EntityManager,
  { workflows, payTogether }: { workflows: WakingPort; payTogether?: PayTogether },
  handler: PaymentHandler,
  payment: BalancePayment,
): Promise<Paid> {
  const paid = await payFromBalance(em, handler, payment, payTogether);
  if (!paid.replayed) void handler.wake?.(workflows, payment);
  return paid;
}

// A payment waiting for a lock holds a connection, usually one of 16. These limits leave some for other payments.
const waiting = createSemaphore(8, { perKey: 3, mostWaiting: 500 });

/** Makes a payment alone, so that no other waits with it: locks source and target, then checks them. */
async function payAlone(em: EntityManager, handler: PaymentHandler, asked: BalancePayment): Promise<Paid> {
  const { effect } = handler;
  const { payer: caller, referenceId, onBehalfOf = null } = asked;
  const paid = await em.transactional((tx) =>
    refusing(async () => {
      await lockSource(tx, asked);
      await effect?.hold?.(tx, handledOf(asked));
      const amount = formatMoney(asked.amount);
      const target = await handler.findTarget(tx, { referenceId, amount, rail: 'balance', caller, onBehalfOf });
      const payment = { ...asked, amount: target.amount ?? amount };
      const targets = { call: 'targets_at(array[?::uuid])', params: [target.accountId] };
      const [row] = await makePayments(tx, handler, { payments: [payment], targets });
      const paid = readRow(must(row, 'a payment has an outcome'));
      if (paid.replayed || effect === undefined) return paid;
      await effect.inTransaction(tx, handledOf(payment), payment.transactionId);
      // The effect may also have waited.
      await tx.execute('select in_time(?::timestamptz, 0)', [payment.deadline ?? null]);
      return paid;
    }),
  );
  return announce(paid);
}

async function announce(paid: Paid): Promise<Paid> {
  await failpoint('pay-from-balance.after');
  return paid;
}

/** Group commit of a handler's concurrent payments; a group never has two payments from one source or with one key. */
export function createPayTogether(orm: MikroORM): PayTogether {
  // Run outside any request context, which would otherwise stay that of the first request.
  const asNobody = AsyncLocalStorage.snapshot();
  // Each run is a single statement that loads no entities, so one entity manager serves all.
  const em = orm.em.fork();
  const gatherings = new Map<PaymentHandler, (payment: BalancePayment) => Promise<MadeRow>>();
  const gatherFor = (handler: PaymentHandler) =>
    createGathering<BalancePayment, MadeRow>({
      run: (payments) => payAll(em, handler, payments),
      apart: ({ payer, sourceAccountId, idempotency }) =>
        [sourceAccountId, ...(idempotency ? [idempotency.keyHash] : [])].map((held) => `${payer.userId}/${held}`),
      isOfOne: isRolledBack,
      ...budgets.balancePayment,
    });
  return (handler, payment) => {
    const pay = gatherings.get(handler) ?? asNobody(() => gatherFor(handler));
    gatherings.set(handler, pay);
    return pay(payment);
  };
}

const lockNotAvailable = '55P03';

/** Makes payments in one statement with a short lock time-out; a single payment that times out is `busy`. */
async function payAll(
  em: EntityManager,
  handler: PaymentHandler,
  payments: readonly BalancePayment[],
): Promise<MadeRow[]> {
  const together = must(handler.together, 'only a handler with `together` is batched');
  try {
    return await makePayments(em, handler, {
      payments,
      targets: together.targets(payments),
      effect: together.effect?.(paidOnes),
      lockMs: budgets.balancePayment.briefMs,
    });
  } catch (error) {
    if (payments.length > 1 || errorCodeOf(error) !== lockNotAvailable) throw error;
    return [{ outcome: 'busy', amount: '0', new_balance: '0', refusal: null }];
  }
}

/**
 * Whether the SQLSTATE was raised before the commit and a single payment may have caused it: values, constraints,
 * deadlocks, lock and statement time-outs, refusals and faults of our functions. Then nothing was done.
 */
const isRolledBack = (error: unknown): boolean =>
  /^(22...|23...|40...|55P03|57014|AM\d{3}|P0...|XX000)$/.test(String(errorCodeOf(error)));
