import { AsyncLocalStorage } from 'node:async_hooks';
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { must } from '../shared/assert.ts';
import { budgets } from '../shared/budgets.ts';
import { createSemaphore, type Semaphore } from '../shared/concurrency.ts';
import { errorCodeOf, refuse } from '../shared/errors.ts';
import { failpoint } from '../shared/failpoint.ts';
import { createGathering } from '../shared/gather.ts';
import { formatMoney } from '../shared/money.ts';
import { type BalancePaymentOutcome, readRow, withAmount } from './balance-payment-outcome.ts';
import type { EffectPayment, PaymentEffect, PaymentHandler, Together, WakingPort } from './handler.ts';
import {
  type BalancePayment,
  lockSource,
  type MadeRow,
  type Movement,
  makePayment,
  makePayments,
  type Patience,
  paidOnes,
  type SqlEffect,
} from './make-payments.ts';
import { paidDespiteLoss } from './paid-despite-loss.ts';

/** SQLSTATE of a refusal by the target. */
const targetRefuses = 'AM004';

/**
 * Pays for a handler's target from a balance: ownership, idempotency key, journal, transaction row, event and the
 * handler's effect in one database transaction; together with others that arrive at the same time, if `payTogether` is
 * given and the handler allows it. The caller checks permission and rail. Throws what the handler refuses, NOT_FOUND
 * for a missing source account, FORBIDDEN for another's, 400 for the target itself as the source and for a balance too
 * low, IDEMPOTENCY_KEY_REUSED for a key of another request, and the stored refusal of its key; then nothing is left
 * behind. A connection that is lost under the payment does not leave its caller without an answer.
 */
export function payFromBalance(
  em: EntityManager,
  handler: PaymentHandler,
  payment: BalancePayment,
  payTogether?: PayTogether,
): Promise<BalancePaymentOutcome> {
  return paidDespiteLoss(em, payment, () => payOnce(em, handler, payment, payTogether));
}

async function payOnce(
  em: EntityManager,
  handler: PaymentHandler,
  payment: BalancePayment,
  payTogether: PayTogether | undefined,
): Promise<BalancePaymentOutcome> {
  const { payer, referenceId } = payment;
  const amount = formatMoney(payment.amount);
  const kind = gatheredKindOf(handler);
  const paid = kind === null ? null : await payGathered(em, kind, payment, payTogether);
  if (paid !== null) return paid;
  const { onBehalfOf = null } = payment;
  const target = await handler.findTarget(em, { referenceId, amount, rail: 'balance', caller: payer, onBehalfOf });
  const { accountId } = target;
  const due = target.amount === undefined ? payment : withAmount(payment, target.amount);
  return moveFromBalance(em, due, movementOf(handler), { accountId, effect: handler.effect, handled: handledOf(due) });
}

/** A kind of payment from balances, of which those that arrive together are made together. */
export interface GatheredKind {
  /** How they appear in the ledger; `movement.kind` is the kind's name. */
  movement: Movement;
  together: Together;
  effect?: PaymentEffect | undefined;
}

/** A handler's kind; null when its payments are made one by one. */
export function gatheredKindOf(handler: PaymentHandler): GatheredKind | null {
  const { together, effect } = handler;
  return together === undefined ? null : { movement: movementOf(handler), together, effect };
}

/** Makes a payment for which nobody has to look closer at its target, with others that arrive at the same time. */
export function moveTogether(
  em: EntityManager,
  kind: GatheredKind,
  payment: BalancePayment,
  payTogether: PayTogether | undefined,
): Promise<BalancePaymentOutcome> {
  return paidDespiteLoss(em, payment, async () =>
    must(await payGathered(em, kind, payment, payTogether), 'its target is clear'),
  );
}

/** Null when its target has to be looked at. */
async function payGathered(
  em: EntityManager,
  kind: GatheredKind,
  payment: BalancePayment,
  payTogether: PayTogether | undefined,
): Promise<BalancePaymentOutcome | null> {
  const pay = payTogether ?? ((_, alone) => payAlone(em, kind, alone, em.isInTransaction() ? 'skip' : 'brief'));
  const soon = await refusing(() => pay(kind, payment));
  // This payment waits by itself, so that no other payment waits with it.
  const wait = () => refusing(() => payWhenFree(em, kind, payment));
  const row = soon.outcome === 'busy' ? await inTurn(em, busySources, payment.sourceAccountId, wait) : soon;
  return row.outcome === 'unclear' ? null : announce(await readRow(em, row, payment, kind.movement));
}

const movementOf = (handler: PaymentHandler): Movement => ({
  kind: `balance-payment.${handler.referenceType}`,
  referenceType: handler.ledgerReferenceType,
  purpose: 'product_transfer',
  sourceField: 'source_account_id',
});

/** `payFromBalance` in its own transaction; afterwards wakes the workflow that waits for the payment, if any. */
export async function payAndWake(
  em: EntityManager,
  { workflows, payTogether }: { workflows: WakingPort; payTogether?: PayTogether },
  handler: PaymentHandler,
  payment: BalancePayment,
): Promise<BalancePaymentOutcome> {
  const paid = await payFromBalance(em, handler, payment, payTogether);
  if (paid.outcome === 'paid') void handler.wake?.(workflows, payment);
  return paid;
}

/** Makes a payment, together with those that arrive at the same time; returns its outcome. */
export type PayTogether = (kind: GatheredKind, payment: BalancePayment) => Promise<MadeRow>;

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
      run: (payments) => payAllOf(em, kind, payments),
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

/**
 * SQLSTATEs raised before the commit that a single payment may have caused: values, constraints, deadlocks, a lock not
 * acquired, a statement that took too long, refusals and faults of our functions. It is certain that nothing was done.
 */
const isRolledBack = (error: unknown): boolean =>
  /^(22...|23...|40...|55P03|57014|AM\d{3}|P0...|XX000)$/.test(String(errorCodeOf(error)));

/** Makes payments of one kind in one statement; those whose target needs a closer look come back `unclear`. */
async function payAllOf(
  em: EntityManager,
  kind: GatheredKind,
  payments: readonly BalancePayment[],
): Promise<MadeRow[]> {
  const [first, ...others] = payments;
  if (first !== undefined && others.length === 0) return [await payAlone(em, kind, first, 'brief')];
  const { movement, together } = kind;
  return makePayments(em, movement, {
    payments,
    targets: together.targets(payments),
    effect: together.effect(paidOnes),
  });
}

function payAlone(
  em: EntityManager,
  { movement, together, effect }: GatheredKind,
  payment: BalancePayment,
  patience: Patience,
): Promise<MadeRow> {
  const { call, params } = together.targets([payment]);
  const target = { call: `(${call})[1]`, params };
  return makePayment(em, payment, movement, { target, patience, effectOn: sqlOf(effect, handledOf(payment)) });
}

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

/** Waits for the source's lock, then pays: the target is judged after the wait. */
async function payWhenFree(em: EntityManager, kind: GatheredKind, payment: BalancePayment): Promise<MadeRow> {
  let row: MadeRow | undefined;
  const undone = new Error('nothing of this transaction is kept');
  await em
    .transactional(async (tx) => {
      await lockSource(tx, payment);
      row = await payAlone(tx, kind, payment, 'wait');
      if (row.outcome === 'insufficient' || row.outcome === 'refused') throw undone;
    })
    .catch((error: unknown) => {
      if (error !== undone) throw error;
    });
  return must(row, 'a payment has an outcome');
}

/** A payment from a balance as its handler sees it. */
const handledOf = (payment: BalancePayment): EffectPayment => {
  const { payer, referenceId, sourceAccountId, amount, onBehalfOf, requestId } = payment;
  return {
    orderId: null,
    userId: payer.userId,
    organizationId: payer.organizationId,
    referenceId,
    sourceAccountId,
    amount: formatMoney(amount),
    onBehalfOf: onBehalfOf ?? null,
    requestId,
  };
};

/** The effect as an SQL call in the journal's statement, if it is one. */
const sqlOf =
  (effect: PaymentEffect | undefined, handled: EffectPayment | undefined): SqlEffect =>
  (settledIn) =>
    effect && handled && 'sql' in effect ? effect.sql(handled, settledIn) : undefined;

async function announce(outcome: BalancePaymentOutcome): Promise<BalancePaymentOutcome> {
  await failpoint('pay-from-balance.after');
  return outcome;
}

/** The account that is credited, and the payment's effect, if any. */
interface Destination {
  accountId: string;
  effect?: PaymentEffect | undefined;
  handled?: EffectPayment;
}

/** Moves money from a balance of the payer into an account, with everything that belongs to the payment. */
async function moveFromBalance(
  em: EntityManager,
  payment: BalancePayment,
  movement: Movement,
  { accountId, effect, handled }: Destination,
): Promise<BalancePaymentOutcome> {
  const own = effect && 'inTransaction' in effect ? effect : undefined;
  const making = { target: { call: '?::uuid', params: [accountId] }, effectOn: sqlOf(effect, handled) };
  /** Null when another transaction has locked the source, its payer or their organization, which are to be skipped. */
  const move = async (tx: EntityManager, patience: 'wait' | 'skip'): Promise<BalancePaymentOutcome | null> => {
    if (patience === 'wait') await lockSource(tx, payment);
    if (handled) await effect?.hold?.(tx, { ...handled, accountId });
    const row = await refusing(() => makePayment(tx, payment, movement, { ...making, patience }));
    if (row.outcome === 'busy' && patience === 'skip') return null;
    const moved = await readRow(tx, row, payment, movement);
    if (moved.outcome !== 'paid' || own === undefined || !handled) return moved;
    await own.inTransaction(tx, { ...handled, accountId }, moved);
    return typeof payment.answer === 'function'
      ? { ...moved, body: await keepAnswer(tx, payment, payment.answer) }
      : moved;
  };
  const holds = own !== undefined || effect?.hold !== undefined;
  const inOne = (patience: 'wait' | 'skip') => em.transactional((tx) => move(tx, patience));
  const moved = holds
    ? await inTurn(em, heldTargets, payment.referenceId, async () => (await inOne('skip')) ?? (await inOne('wait')))
    : ((await move(em, 'skip')) ?? (await inOne('wait')));
  return announce(must(moved, 'a source that is waited for is not skipped'));
}

/** Makes the body of the answer and stores it under the key, whose row this transaction has locked. */
async function keepAnswer(
  tx: EntityManager,
  { payer, idempotency }: BalancePayment,
  present: (tx: EntityManager) => Promise<string>,
): Promise<string> {
  const body = await present(tx);
  if (idempotency) {
    await tx.execute('update idempotency_keys set answer_body = ? where user_id = ? and key_hash = ?', [
      body,
      payer.userId,
      idempotency.keyHash,
    ]);
  }
  return body;
}

/** Turns a refusal by the target into REQUEST_INVALID. */
async function refusing<T>(move: () => Promise<T>): Promise<T> {
  try {
    return await move();
  } catch (error) {
    if (errorCodeOf(error) === targetRefuses && Error.isError(error)) {
      const { column: field = 'reference_id' } = error as { column?: string };
      refuse('REQUEST_INVALID', error.message, { field, cause: error });
    }
    throw error;
  }
}
