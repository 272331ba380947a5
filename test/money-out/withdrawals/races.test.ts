import { withdrawalIdFor } from '../../../src/shared/ids.ts';
import { asAKeyedClient } from '../../support/as-a-client.ts';
import { type BuiltUser, balanceOf, fund } from '../../support/build.ts';
import { whileBurning } from '../../support/burn.ts';
import { itInFull } from '../../support/full.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { addBankAccount, ask, buildOwner, someKey } from './build-withdrawals.ts';

/** Simultaneous withdrawals, and how many of them may succeed. */
const racers = isFullRun() ? 250 : 15;
const winners = isFullRun() ? 50 : 5;
/** IDR of each: `winners` of them reach the daily limit. */
const each = 50_000_000 / winners;

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

/** Withdraws from each account in turn, concurrently, each with one key across its retries. */
async function race(owner: BuiltUser, accounts: string[]) {
  const bank_account_id = await addBankAccount(stack, owner);
  const answers = await whileBurning(() =>
    Promise.all(
      Array.from({ length: racers }, async (_, place) => {
        const key = someKey();
        const from = { token: owner.token, accountId: accounts[place % accounts.length] ?? '' };
        const { status } = await asAKeyedClient(() => ask(stack, from, { bank_account_id, amount: String(each) }, key));
        return { status, id: withdrawalIdFor(owner.id, key) };
      }),
    ),
  );
  const told = answers.filter(({ status }) => status === 201).map(({ id }) => id);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 400]));
  const rows = async () =>
    (await stack.em().execute<{ id: string }[]>('select id from withdrawals where user_id = ?', [owner.id])).map(
      ({ id }) => id,
    );
  expect((await rows()).sort()).toEqual(told.sort());
  await eventually(
    () =>
      stack
        .em()
        .execute<unknown[]>(
          "select 1 from payouts where status = 'pending' and id in (select id from withdrawals where user_id = ?)",
          [owner.id],
        ),
    (pending) => pending.length === 0,
    180_000,
  );
  expect((await rows()).sort()).toEqual(told.sort());
  return told.length;
}

describe(`${racers} concurrent withdrawals`, () => {
  itInFull(
    `Concurrent withdrawals with a balance for ${winners - 1} reserve exactly ${winners - 1}`,
    async () => {
      const owner = await buildOwner(stack, String((winners - 1) * each));
      expect(await race(owner, [owner.accountId])).toBe(winners - 1);
      expect(await balanceOf(stack, owner.accountId)).toBe('0.0000');
    },
    300_000,
  );

  it(`Concurrent withdrawals from two accounts with a daily limit for ${winners} reserve exactly ${winners}`, async () => {
    const owner = await buildOwner(stack, String(racers * each));
    const pocket = (await stack.post('/v1/accounts', { name: 'Pocket' }, { token: owner.token })).body.data.id;
    await fund(stack, pocket, String(racers * each));
    expect(await race(owner, [owner.accountId, pocket])).toBe(winners);
  }, 300_000);

  it('Concurrent withdrawals of different people without an Idempotency-Key are all created', async () => {
    const owners = await Promise.all(Array.from({ length: isFullRun() ? 20 : 5 }, () => buildOwner(stack, '10000')));
    const asked = await Promise.all(
      owners.map(async (owner) => ({ owner, bank_account_id: await addBankAccount(stack, owner) })),
    );
    const answers = await Promise.all(
      asked.map(({ owner, bank_account_id }) => ask(stack, owner, { bank_account_id, amount: '10000' })),
    );
    expect(answers.map(({ status }) => status)).toEqual(owners.map(() => 201));
    const references = await stack
      .em()
      .execute<{ reference: string }[]>('select reference from payouts where id in (?)', [
        answers.map(({ body }) => body.data.id),
      ]);
    expect(references.map(({ reference }) => reference)).toEqual(
      owners.map(() => expect.stringMatching(/^WD-[0-9A-F]{20}$/)),
    );
  }, 120_000);
});
