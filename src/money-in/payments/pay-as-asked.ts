import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Account } from '../../ledger/accounts/account.entity.ts';
import {
  answerOf,
  arriveUnderKey,
  claimFor,
  findUnderKey,
  type KeyRow,
  keepFirstAnswer,
  type SentAnswer,
} from '../../platform/openings/idempotency-keys.ts';
import { isVerdict, refuseOnce } from '../../platform/openings/open-once.ts';
import { must } from '../../shared/assert.ts';
import { isAway, isLostConnection } from '../../shared/away.ts';
import { budgets } from '../../shared/budgets.ts';
import type { Caller } from '../../shared/caller.ts';
import { DomainError, withFieldNames } from '../../shared/errors.ts';
import { balancePaymentIdFor } from '../../shared/ids.ts';
import { formatMoney, type Money } from '../../shared/money.ts';
import { withPatience } from '../../shared/patience.ts';
import { accountTopUp } from './account-top-up.ts';
import type { BalancePayment, NumberedKey, Paid, PaidAmount } from './balance-payment.ts';
import { getHandler, type HandlingPorts, type PaymentHandler } from './handler.ts';
import { type PayTogether, payAndWake, payFromBalance } from './pay-from-balance.ts';
import type { BalancePaymentRequest } from './present-order.ts';

export interface Asking {
  caller: Caller;
  key: string | undefined;
  requestId: string;
}

export type Answer = (em: EntityManager, paid: PaidAmount & { transactionId: string }) => Promise<string>;

interface Request {
  path: string;
  /** Omits absent fields; amounts as money. */
  body: Record<string, unknown>;
  answer: Answer;
  /** The response contains data that changes later, so the first response is stored under the key. */
  changes?: true;
}

type AskedPayment = Pick<BalancePayment, 'transactionId' | 'requestId' | 'deadline' | 'idempotency'> & {
  payer: Caller;
};

/**
 * Pays from a balance under the request's idempotency key, if any. Returns the stored response of the key's first
 * request, or the `answer` to `pay`, rebuilt from the payment unless it `changes`. Never pays after the request's
 * deadline, by the database's clock. After a lost connection, whose statement may have succeeded or may still reach the
 * database, and after a payment whose answer cannot be read, retries under the same ids until the database answers or
 * the deadline has passed: the journal's business key ensures one payment. A refusal under a key is final, but another
 * request with the key may have paid or be about to, so the refusal is stored under the key's lock before it is
 * returned; if a payment came first, its response is returned. Throws as `pay` does, IDEMPOTENCY_KEY_REUSED for a key
 * of another request, and SERVICE_UNAVAILABLE if the outcome is unknown; without a key that error names the transaction
 * and must not be retried.
 */
export async function payUnderKey(
  em: EntityManager,
  { caller, key, requestId }: Asking,
  { path, body, answer, changes }: Request,
  pay: (payment: AskedPayment) => Promise<Paid>,
): Promise<SentAnswer> {
  const { userId } = caller;
  const transactionId = balancePaymentIdFor(userId, key);
  const deadline = new Date(caller.askedAt.getTime() + budgets.balancePayment.lives).toISOString();
  const claim = claimFor(userId, key, path, body);
  const find = () => findPaid(em.fork(), { userId, transactionId, keyHash: claim?.keyHash });
  const payWith = (idempotency: NumberedKey | null) =>
    pay({ payer: caller, transactionId, requestId, idempotency, deadline });
  let isPaid = false;
  const send = async ({ made, replayed }: Paid): Promise<SentAnswer> => {
    isPaid = true;
    const paid = made ?? must(await find(), 'a replayed payment exists');
    const answered = { status: 201, body: await answer(em.fork(), { ...paid, transactionId }), replayed };
    return changes ? keepFirstAnswer(em.fork(), claim, answered) : answered;
  };
  const sendAgain = (row: KeyRow) => answerOf(row) ?? send({ replayed: true });
  let loss: { cause: unknown } | undefined;
  const payOnce = async (): Promise<SentAnswer> => {
    try {
      if (claim === null) return await send(await payWith(null));
      const { stamp, made } = await arriveUnderKey(em, claim);
      if (made !== null) return await sendAgain(made);
      return await send(await payWith({ ...claim, number: stamp.number }));
    } catch (error) {
      if (!isVerdict(error)) throw error;
      if (claim !== null) {
        const opening = { resourceId: transactionId, kind: null, claim, number: null };
        return sendAgain(await refuseOnce(em, opening, (tx) => findUnderKey(tx, claim), error));
      }
      // The refusal may be due to the payment that the lost connection made or may still make.
      const made = loss && (await find());
      if (made) return send({ replayed: false, made });
      throw loss?.cause ?? error;
    }
  };
  const payThroughLoss = async (signal: AbortSignal): Promise<SentAnswer> => {
    for (;;) {
      try {
        return await payOnce();
      } catch (error) {
        const isLost = isLostConnection(error) || (isPaid && isAway(error));
        if (isLost) loss ??= { cause: error };
        if (loss === undefined) throw error;
        if (!isAway(error)) throw loss.cause;
        await sleep(askedAgainMs, undefined, { signal });
      }
    }
  };
  try {
    return await withPatience(budgets.requests.balancePayment, payThroughLoss);
  } catch (error) {
    if (loss === undefined && !isLostConnection(error)) throw error;
    const unknown =
      key === undefined
        ? `It is not known whether this was paid. If it was, GET /v1/transactions/${transactionId} finds it`
        : 'It is not known whether this was paid; repeat the request under its Idempotency-Key';
    const retry = key === undefined ? {} : { retryAfterSeconds: 2 };
    throw new DomainError('SERVICE_UNAVAILABLE', unknown, { ...retry, cause: error });
  }
}

/** How often to retry an unreachable database, in milliseconds. */
const askedAgainMs = 200;

/**
 * The amount paid, which may exceed the request, and the balance after it: under a key as in the first response,
 * otherwise as in the account statement. Null if unpaid.
 */
async function findPaid(
  em: EntityManager,
  { userId, transactionId, keyHash }: { userId: string; transactionId: string; keyHash: string | undefined },
): Promise<PaidAmount | null> {
  const [row] = await em.execute<PaidAmount[]>(
    `select t.amount::text, coalesce(
       (select k.new_balance from requests k where k.owner_id = t.user_id and k.key_hash = ? and k.resource_id = t.id),
       balance_after(t.source_account_id, t.batch_id))::numeric(20, 4)::text as balance
     from transactions t where t.id = ? and t.user_id = ?`,
    [keyHash ?? null, transactionId, userId],
  );
  return row ?? null;
}

/** The response body of a payment. */
const presentPaid =
  (message: string, reference: { reference_type: string; reference_id: string }): Answer =>
  async (_, { transactionId: transaction_id, amount, balance: new_balance }) => {
    const data = { transaction_id, amount, new_balance, ...reference };
    return JSON.stringify({ status: 'success', statusCode: 201, message, data });
  };

/** Replays the key's response; or checks handler, rail and permission, pays, and signals the waiting workflow. */
export async function payAsAsked(
  em: EntityManager,
  ports: HandlingPorts & { payTogether: PayTogether },
  body: BalancePaymentRequest,
  asking: Asking,
): Promise<SentAnswer> {
  const { reference_type, reference_id, source_account_id: sourceAccountId } = body;
  const amount = formatMoney(body.amount);
  const answer = presentPaid('Payment completed', { reference_type, reference_id });
  return payUnderKey(em, asking, { path: '/v1/payments/balance', body: { ...body, amount }, answer }, (payment) => {
    const handler = getHandler(ports, asking.caller, { referenceType: reference_type, rail: 'balance' });
    return payAndWake(em, ports, handler, { ...payment, referenceId: reference_id, sourceAccountId, amount });
  });
}

/** Both accounts belong to the caller and accept any amount, so only the balance is checked. */
const pocketTransfer: PaymentHandler = {
  ...accountTopUp,
  movement: { kind: 'pocket-transfer', purpose: 'pocket_transfer' },
  together: {
    targets: (payments) => ({
      call: 'targets_at(?::uuid[])',
      params: [payments.map(({ referenceId }) => referenceId)],
    }),
  },
};

/**
 * Moves money between the caller's accounts, as a payment with purpose `pocket_transfer`. Throws
 * 404 for a missing account, 403 for another's, 400 for the same account twice or too low a balance.
 */
export async function transferBetweenPockets(
  em: EntityManager,
  payTogether: PayTogether,
  transfer: { sourceAccountId: string; destinationAccountId: string; amount: Money },
  asking: Asking,
): Promise<SentAnswer> {
  const { sourceAccountId, destinationAccountId: referenceId } = transfer;
  const amount = formatMoney(transfer.amount);
  const { referenceType: reference_type } = pocketTransfer;
  const request = {
    path: `/v1/accounts/${sourceAccountId}/transfers`,
    body: { destination_account_id: referenceId, amount },
    answer: presentPaid('Transfer completed', { reference_type, reference_id: referenceId }),
  };
  return payUnderKey(em, asking, request, async (payment) => {
    // Loads both at once, so that `findTarget` finds them in memory.
    await em.find(Account, { id: { $in: [sourceAccountId, referenceId] } });
    for (const [field, id] of Object.entries({ account_id: sourceAccountId, destination_account_id: referenceId })) {
      const asked = { referenceId: id, caller: asking.caller };
      await withFieldNames({ reference_id: field }, () => accountTopUp.findTarget(em, asked));
    }
    return withFieldNames({ source_account_id: 'account_id' }, () =>
      payFromBalance(em, pocketTransfer, { ...payment, referenceId, sourceAccountId, amount }, payTogether),
    );
  });
}
