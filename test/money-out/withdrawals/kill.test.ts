import { type BuiltUser, balanceOf } from '../../support/build.ts';
import { casesOf, itInFull } from '../../support/full.ts';
import { type ProcessStack, startProcessStack } from '../../support/processes.ts';
import { eventually, expectChecksEmpty } from '../../support/stack.ts';
import { ageAttempts, setFaults, settleAtProvider, sharedFailpoints, transfersOf } from '../payouts/build-payouts.ts';
import {
  addBankAccount,
  ask,
  buildOwner,
  readWithdrawal,
  someKey,
  transactionsOf,
  withdrawalWhen,
} from './build-withdrawals.ts';

let stack: ProcessStack;
let owner: BuiltUser;
beforeAll(async () => {
  stack = await startProcessStack();
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  owner = await buildOwner(stack);
});
afterEach(async () => {
  await stack.restart();
  await setFaults(stack, {});
});

/** A client that retries with its key until it gets a 201. */
async function withdrawWithPatience(digits: string): Promise<string> {
  const key = someKey();
  const bank_account_id = await addBankAccount(stack, owner, digits);
  const answer = await eventually(
    () => ask(stack, owner, { bank_account_id, amount: '100000' }, key).catch(() => null),
    (got) => got?.status === 201,
    180_000,
  );
  return answer?.body.data.id;
}

/** Waits until the withdrawal is final, or the provider was queried and does not have it. */
const settled = (id: string) =>
  eventually(
    async () => {
      const withdrawal = await readWithdrawal(stack, owner, id).catch(() => undefined);
      const [row] = await stack
        .em()
        .execute<{ last_word: string | null }[]>('select last_word from payouts where id = ?', [id]);
      return { status: withdrawal?.status ?? 'away', word: row?.last_word ?? '' };
    },
    ({ status, word }) =>
      status === 'succeeded' || status === 'failed' || (status === 'pending' && word === 'not known'),
    120_000,
  );

/** Each failpoint of a withdrawal's own first activity, and of the activities that all payouts share. */
const failpoints = ['reserve-withdrawal.before', 'reserve-withdrawal.after', ...sharedFailpoints];

describe('A withdrawal whose worker is killed with -9', () => {
  it('A withdrawal whose worker is killed with -9 at any step is reserved once and paid once', async () => {
    const asked: Promise<string>[] = [];
    for (const failpoint of failpoints.toReversed()) {
      await stack.holdAt(failpoint, () => asked.push(withdrawWithPatience('111111')));
    }
    await stack.kill('worker');
    await stack.restart();
    const ids = await Promise.all(asked);
    const paid = await Promise.all(
      ids.map(async (id) => {
        const { status } = await settled(id);
        if ((await transfersOf(stack, id)).length === 0) {
          // The outcome is unknown until the provider, two minutes after the attempt, still lacks the transfer.
          expect(status).toBe('pending');
          await ageAttempts(stack, id, 2);
        }
        await withdrawalWhen(stack, owner, id, 'succeeded', 120_000);
        return transfersOf(stack, id);
      }),
    );
    expect(paid).toMatchObject(ids.map((id) => [{ status: 'SUCCEEDED', idempotency_key: id }]));
    expect(await balanceOf(stack, owner.accountId)).toBe(`${1_000_000 - ids.length * 100_000}.0000`);
  }, 400_000);

  itInFull.each(casesOf(['ask-transfer.after', 'resolve-payout.before', 'resolve-payout.after']))(
    'A returned withdrawal is credited once when its worker is killed with -9 at %s',
    async (failpoint) => {
      const id = await withdrawWithPatience('111111');
      await withdrawalWhen(stack, owner, id, 'succeeded', 60_000);
      stack.arm(`${failpoint}=kill`);
      const dying = stack.worker.exited;
      await settleAtProvider(stack, id, 'REVERSED');
      await dying;
      await stack.restart();
      await withdrawalWhen(stack, owner, id, 'reversed', 60_000);
      expect(await balanceOf(stack, owner.accountId)).toBe('1000000.0000');
      const returned = (await transactionsOf(stack, id)).filter((row) => 'status' in row && row.status === 'reversed');
      expect(returned).toMatchObject([{ amount: '100000.0000' }]);
      expect(await transfersOf(stack, id)).toMatchObject([{ status: 'REVERSED' }]);
    },
    120_000,
  );

  itInFull(
    'A refused withdrawal is released once when its worker is killed with -9 while resolving it',
    async () => {
      await setFaults(stack, { callbacks: { drop: true } });
      stack.arm('resolve-payout.before=kill');
      const dying = stack.worker.exited.then(() => stack.restart());
      const id = await withdrawWithPatience('121212');
      await dying;
      // As above: if its request was never sent, its outcome stays unknown for two minutes.
      if ((await settled(id)).status === 'pending') await ageAttempts(stack, id, 2);
      await withdrawalWhen(stack, owner, id, 'failed', 60_000);
      expect(await balanceOf(stack, owner.accountId)).toBe('1000000.0000');
    },
    120_000,
  );
});
