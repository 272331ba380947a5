import { AsyncLocalStorage } from 'node:async_hooks';
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { lockSource } from '../../ledger/lock-order.ts';
import { keepAnswer } from '../../platform/openings/idempotency-keys.ts';
import { must } from '../../shared/assert.ts';
import { budgets } from '../../shared/budgets.ts';
import { createSemaphore, type Semaphore } from '../../shared/concurrency.ts';
import { errorCodeOf } from '../../shared/errors.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { createGathering } from '../../shared/gather.ts';
import { formatMoney } from '../../shared/money.ts';
import {
  type BalancePayment,
  handledOf,
  type MadeRow,
  type Making,
  type Movement,
  makePayments,
  type Paid,
  type PaidAmount,
  paidOnes,
  readRow,
  refuseLate,
  refusing,
  targetAt,
} from './balance-payment.ts';
import type { HandledPayment, PaymentHandler, Together, WakingPort } from './handler.ts';

/** A kind of payment from balances; those that arrive together are made together. */
export interface GatheredKind {
  /** How they appear in the ledger; `movement.kind` is the kind's name. */
  movement: Movement;
  together: Together;
  /** Waits for the lock of a target that others hold. */
  hold?(tx: EntityManager, payment: HandledPayment): Promise<void>;
}

/** Makes a payment, together with those that arrive at the same time; returns its outcome. */
export type PayTogether = (kind: GatheredKind, payment: BalancePayment) => Promise<MadeRow>;

/**
 * Pays for a handler's target from a balance: ownership, idempotency key, journal, transaction row, event and the
 * handler's effect in one database transaction; together with others that arrive at the same time, if `payTogether` is
 * given and the handler allows it. The caller checks permission and rail. Throws what the handler refuses, NOT_FOUND
 * for a missing source account, FORBIDDEN for another's, 400 for the target itself as the source and for a balance too
 * low, IDEMPOTENCY_KEY_REUSED for a key of another request, and the stored refusal of its key; then nothing is left
 * behind.
 */
export async function payFromBalance(
  em: EntityManager,
  handler: PaymentHandler,
  payment: BalancePayment,
  payTogether?: PayTogether,
): Promise<Paid> {
  const kind = gatheredKindOf(handler);
  return kind === null ? payAlone(em, handler, payment) : moveTogether(em, kind, payment, payTogether);
}

/** A handler's kind; null when its payments are made one by one. */
export function gatheredKindOf(handler: PaymentHandler): GatheredKind | null {
  const { together, effect } = handler;
  const hold = effect?.hold;
  return together === undefined ? null : { movement: movementOf(handler), together, ...(hold && { hold }) };
}

const movementOf = (handler: PaymentHandler): Movement => ({
  kind: `balance-payment.${handler.referenceType}`,
  referenceType: handler.ledgerReferenceType,
  purpose: 'product_transfer',
});

/** `payFromBalance` in its own transaction; afterwards wakes the workflow that waits for the payment, if any. */
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

/** Makes a payment with others that arrive at the same time, or, where something is locked, after the wait for it. */
export async function moveTogether(
  em: EntityManager,
  kind: GatheredKind,
  payment: BalancePayment,
  payTogether: PayTogether = async (_, alone) => must((await runAll(em, kind, [alone]))[0], 'a payment has an outcome'),
): Promise<Paid> {
  const soon = em.isInTransaction() ? null : await refusing(() => payTogether(kind, payment));
  if (soon !== null && soon.outcome !== 'busy') return announce(readRow(soon));
  // This payment waits by itself, so that no other payment waits with it: the target is judged after the wait.
  const { movement, together, hold } = kind;
  const work = { movement, targets: together.targets([payment]), effect: together.effect(paidOnes), hold };
  return inTurn(em, busySources, payment.sourceAccountId, () => payWaiting(em, payment, work));
}

/** What a payment that is made alone does. */
interface Work extends Pick<Making, 'targets' | 'effect'> {
  movement: Movement;
  hold?: GatheredKind['hold'] | undefined;
  /** What further statements do of the effect. Returns the body of the answer, where that is made then. */
  further?: ((tx: EntityManager, paid: PaidAmount) => Promise<string | undefined>) | undefined;
}

/** Makes a payment alone, in a transaction that waits for what others hold. */
async function payWaiting(
  em: EntityManager,
  payment: BalancePayment,
  { movement, hold, further, ...making }: Work,
): Promise<Paid> {
  const paid = await em.transactional((tx) =>
    refusing(async () => {
      await lockSource(tx, payment);
      await hold?.(tx, handledOf(payment));
      const [row] = await makePayments(tx, movement, { payments: [payment], ...making });
      const paid = readRow(must(row, 'a payment has an outcome'));
      return paid.made === undefined || further === undefined ? paid : { ...paid, body: await further(tx, paid.made) };
    }),
  );
  return announce(paid);
}

/** Payments of one kind, in one statement that waits for no lock for long. */
function payAll(
  em: EntityManager,
  { movement, together }: GatheredKind,
  payments: readonly BalancePayment[],
): Promise<MadeRow[]> {
  const effect = together.effect(paidOnes);
  const lockMs = budgets.balancePayment.briefMs;
  return makePayments(em, movement, { payments, targets: together.targets(payments), effect, lockMs });
}

/**
 * Group commit of payments from balances: for each kind, payments that arrive while others are being written wait and
 * are then written together. Payments of a user from one source, or under one key, never share a group.
 */
export function createPayTogether(orm: MikroORM): PayTogether {
  // Outside any request context: otherwise it would keep that of the first request of its kind.
  const asNobody = AsyncLocalStorage.snapshot();
  // Each run is a single statement that loads no entities, so one entity manager serves all.
  const em = orm.em.fork();
  const kinds = new Map<string, (payment: BalancePayment) => Promise<MadeRow>>();
  const gatherFor = (kind: GatheredKind) =>
    createGathering<BalancePayment, MadeRow>({
      run: (payments) => runAll(em, kind, payments),
      apart: ({ payer, sourceAccountId, idempotency }) =>
        [sourceAccountId, ...(idempotency ? [idempotency.keyHash] : [])].map((held) => `${payer.userId}/${held}`),
      isOfOne: isRolledBack,
      ...budgets.balancePayment,
    });
  return (kind, payment) => {
    const { kind: name } = kind.movement;
    const pay = kinds.get(name) ?? asNobody(() => gatherFor(kind));
    kinds.set(name, pay);
    return pay(payment);
  };
}

/** SQLSTATE lock_not_available. */
const lockNotAvailable = '55P03';

/** `payAll`; one that is alone and waited for a lock in vain is busy. */
async function runAll(em: EntityManager, kind: GatheredKind, payments: readonly BalancePayment[]): Promise<MadeRow[]> {
  try {
    return await payAll(em, kind, payments);
  } catch (error) {
    if (payments.length > 1 || errorCodeOf(error) !== lockNotAvailable) throw error;
    return [{ outcome: 'busy', amount: '0', new_balance: '0', refusal: null }];
  }
}

/**
 * SQLSTATEs raised before the commit that a single payment may have caused: values, constraints, deadlocks, a lock not
 * acquired, a statement that took too long, refusals and faults of our functions. It is certain that nothing was done.
 */
const isRolledBack = (error: unknown): boolean =>
  /^(22...|23...|40...|55P03|57014|AM\d{3}|P0...|XX000)$/.test(String(errorCodeOf(error)));

// A payment that waits for a lock holds a connection meanwhile, of the 16 that a process usually has: these leave a few to
// everybody else. Most wait for the lock of their source, or for that of their target, but not all do.
const busySources = createSemaphore(4, { perKey: 2, mostWaiting: 500 });
const heldTargets = createSemaphore(8, { perKey: 3, mostWaiting: 500 });

/**
 * Runs a transaction that may wait for a lock when its turn comes. Throws SERVICE_UNAVAILABLE, with nothing done, when
 * that takes as long as a lock may. A transaction of the caller's has its connection already.
 */
async function inTurn<T>(em: EntityManager, turns: Semaphore, key: string, work: () => Promise<T>): Promise<T> {
  if (em.isInTransaction()) return work();
  const leave = await turns.enter({ key, waitMs: budgets.database.role.lock });
  try {
    return await work();
  } finally {
    leave();
  }
}

async function announce(paid: Paid): Promise<Paid> {
  await failpoint('pay-from-balance.after');
  return paid;
}

/** Pays for a target that its handler judges, in a transaction that waits for what others hold. */
async function payAlone(em: EntityManager, handler: PaymentHandler, asked: BalancePayment): Promise<Paid> {
  const { effect } = handler;
  const { payer, referenceId, onBehalfOf = null } = asked;
  const amount = formatMoney(asked.amount);
  const target = await handler.findTarget(em, { referenceId, amount, rail: 'balance', caller: payer, onBehalfOf });
  const payment = { ...asked, amount: target.amount ?? amount };
  const handled = handledOf(payment);
  const further = async (tx: EntityManager, paid: PaidAmount): Promise<string | undefined> => {
    await effect?.inTransaction(tx, handled, payment.transactionId);
    const body = await payment.answer?.(tx, paid);
    const { idempotency } = payment;
    if (body && idempotency) await keepAnswer(tx, { ...idempotency, userId: payer.userId }, { status: 201, body });
    await refuseLate(tx, payment);
    return body;
  };
  const work = {
    movement: movementOf(handler),
    targets: targetAt(target.accountId),
    hold: effect?.hold,
    further,
  };
  return inTurn(em, heldTargets, referenceId, () => payWaiting(em, payment, work));
}
