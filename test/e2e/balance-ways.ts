import { buildActiveCircle } from '../circles/build-circle.ts';
import { buildCause } from '../giving/causes/build-cause.ts';
import {
  type BuiltUser,
  balanceOf,
  buildIndividual,
  buildOrganizationAdmin,
  buildSuperAdmin,
} from '../support/build.ts';
import type { HttpAnswer } from '../support/http.ts';
import type { ProcessStack } from '../support/processes.ts';
import type { Stack } from '../support/stack.ts';

/** Where balance payments are sent: a stack in this process, or one of processes. */
export type BalancePlace = Pick<
  Stack & ProcessStack,
  'get' | 'post' | 'patch' | 'put' | 'delete' | 'em' | 'owner' | 'deps'
>;

/** IDR of each payment, of the million that its payer has. */
const amount = 100_000;

/** One balance payment, as a client requests it. */
export interface BalanceRequest {
  payer: BuiltUser;
  path: string;
  body: { amount: number | string };
  /** Selects the rows that the payment creates beside the postings. */
  effects: string;
}

/** A kind of balance payment, and whether a single statement writes it. */
export interface BalanceWay {
  isOneStatement: boolean;
  build(stack: BalancePlace): Promise<BalanceRequest>;
}

const buildPayer = (stack: BalancePlace) => buildIndividual(stack, { balance: '1000000' });

export const balanceWays: Record<string, BalanceWay> = {
  'a transfer between pockets': {
    isOneStatement: true,
    async build(stack) {
      const payer = await buildPayer(stack);
      const pocket = await stack.post('/v1/accounts', { name: 'Pocket' }, { token: payer.token });
      const body = { destination_account_id: pocket.body.data.id, amount: String(amount) };
      const effects = "select id from transactions where user_id = ? and type = 'price'";
      return { payer, path: `/v1/accounts/${payer.accountId}/transfers`, body, effects };
    },
  },
  'a donation': {
    isOneStatement: true,
    async build(stack) {
      const payer = await buildPayer(stack);
      const cause = await buildCause(stack, await buildOrganizationAdmin(stack), await buildSuperAdmin(stack));
      const to = { reference_type: 'charitable_cause_donate', reference_id: cause };
      const body = { ...to, source_account_id: payer.accountId, amount };
      const effects = "select id from donations where user_id = ? and status = 'completed'";
      return { payer, path: '/v1/payments/balance', body, effects };
    },
  },
  'a contribution to a circle': {
    isOneStatement: false,
    async build(stack) {
      const { id, creator: payer } = await buildActiveCircle(stack, 2);
      const to = { reference_type: 'saving_circle_contribution', reference_id: id };
      const body = { ...to, source_account_id: payer.accountId, amount };
      const effects = "select id from saving_circle_contributions where user_id = ? and status = 'completed'";
      return { payer, path: '/v1/payments/balance', body, effects };
    },
  },
};

export const askFor = (
  stack: BalancePlace,
  { path, body, payer: { token } }: BalanceRequest,
  key: string,
  changes: object = {},
): Promise<HttpAnswer> => stack.post(path, { ...body, ...changes }, { token, headers: { 'idempotency-key': key } });

/** Counts what exists of a payment; either every field should be 0, or every field 1. */
export async function readPaid(stack: BalancePlace, { payer: { id, accountId }, effects }: BalanceRequest) {
  const count = async (sql: string) => (await stack.em().execute<unknown[]>(sql, [id])).length;
  return {
    moved: (1_000_000 - Number(await balanceOf(stack, accountId))) / amount,
    effects: await count(effects),
    transactions: await count("select 1 from transactions where user_id = ? and type = 'price'"),
    events: await count("select 1 from events where actor_id = ? and resource_type = 'transaction'"),
    keys: await count('select 1 from requests where owner_id = ?'),
  };
}

const times = (count: number) => ({ moved: count, effects: count, transactions: count, events: count, keys: count });
/** All of it exists, once. */
export const wholly = times(1);
/** None of it exists. */
export const notAtAll = times(0);

/** Retries a request under its key, twice at once and again, and expects one payment and one answer. */
export async function expectOneUnder(stack: BalancePlace, key: string, request: BalanceRequest): Promise<void> {
  const [first, second] = await Promise.all([askFor(stack, request, key), askFor(stack, request, key)]);
  const third = await askFor(stack, request, key);
  expect([first.status, second.status, third.status]).toEqual([201, 201, 201]);
  expect([second.body, third.body]).toEqual([first.body, first.body]);
  expect(await readPaid(stack, request)).toEqual(wholly);
  const other = { amount: typeof request.body.amount === 'string' ? '1' : 1 };
  expect((await askFor(stack, request, key, other)).status).toBe(400);
}
