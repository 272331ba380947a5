import { createWithdrawal } from '../../../src/money-out/withdrawals/create-withdrawal.ts';
import { stampOpening } from '../../../src/platform/openings/idempotency-keys.ts';
import type { Caller } from '../../../src/shared/caller.ts';
import type { OpeningStamp } from '../../../src/shared/opening.ts';
import { addBankAccount, buildOwner } from '../../money-out/withdrawals/build-withdrawals.ts';
import type { BuiltUser } from '../../support/build.ts';
import { eventually, type Stack, startStack } from '../../support/stack.ts';
import { callerOf } from './caller-of.ts';

let stack: Stack;
let user: BuiltUser;
let caller: Caller;
beforeAll(async () => {
  stack = await startStack({ sandbox: true });
  user = await buildOwner(stack);
  caller = callerOf(user);
}, 60_000);
afterAll(() => stack.stop());

const requestId = 'test';

describe('The number of a request', () => {
  const held = () => {
    const { promise: until, resolve: release } = Promise.withResolvers<void>();
    return { until, release };
  };
  const lastNumber = async () => {
    const rows = await stack
      .owner()
      .execute<[{ last: string }]>('select last_value::text as last from opening_numbers');
    return BigInt(rows[0].last);
  };
  /** Waits until a number after this one has been drawn; then draws another and returns it. */
  const drawnAfter = async (number: bigint): Promise<bigint> => {
    await eventually(lastNumber, (last) => last > number);
    return BigInt((await stampOpening(stack.em())).number);
  };
  /** Fills all slots; returns the number of the next request, which waits, and that of one sent after it. */
  async function numbersOf(
    holders: number,
    create: (start: (stamp: OpeningStamp | undefined) => Promise<null>) => Promise<unknown>,
  ) {
    const { until, release } = held();
    const numbers: bigint[] = [];
    const start = async (stamp: OpeningStamp | undefined) => {
      numbers.push(BigInt(stamp?.number ?? 0));
      await until;
      return null;
    };
    const told: Promise<unknown>[] = [];
    try {
      for (let holder = 1; holder <= holders; holder += 1) {
        told.push(create(start).catch(() => null));
        await eventually(
          async () => numbers.length,
          (begun) => begun === holder,
        );
      }
      const before = await lastNumber();
      told.push(create(start).catch(() => null));
      const meanwhile = await drawnAfter(before);
      release();
      await Promise.all(told);
      return { waiting: numbers.at(-1) ?? 0n, before, meanwhile };
    } finally {
      release();
      await Promise.all(told);
    }
  }

  it('A withdrawal’s request number is assigned on arrival, not when it gets a slot', async () => {
    const body = { bank_account_id: await addBankAccount(stack, user), amount: '10000' };
    const asking = { caller, accountId: user.accountId, body, key: undefined, requestId };
    const { waiting, before, meanwhile } = await numbersOf(8, (start) =>
      createWithdrawal(
        stack.em(),
        { ...stack.deps, workflows: { startWithdrawal: (_, { stamp }) => start(stamp) } },
        asking,
      ),
    );
    expect([waiting > before, waiting < meanwhile]).toEqual([true, true]);
  }, 60_000);
});
