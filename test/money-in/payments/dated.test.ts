import { type BuiltUser, buildIndividual } from '../../support/build.ts';
import { buildActiveCause } from '../../support/build-targets.ts';
import { untilLocked } from '../../support/lock-waits.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

/** Balance payments are dated so that no statement shows a balance below zero that never existed. */
let stack: Stack;
let payer: BuiltUser;
let pocket: string;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  payer = await buildIndividual(stack, { balance: '1000' });
  const { body } = await stack.post('/v1/accounts', { name: 'Pocket' }, { token: payer.token });
  pocket = body.data.id;
});

const transfer = (source: string, destination: string, amount: number) =>
  stack.post(
    `/v1/accounts/${source}/transfers`,
    { destination_account_id: destination, amount: `${amount}` },
    { token: payer.token },
  );
const give = (causeId: string, amount: number) =>
  stack.post(
    '/v1/payments/balance',
    { reference_type: 'charitable_cause_donate', reference_id: causeId, source_account_id: pocket, amount },
    { token: payer.token },
  );
const balancesOf = async (account: string): Promise<string[]> => {
  const { body } = await stack.get(`/v1/accounts/${account}/statement`, { token: payer.token });
  return body.data.postings.map(({ running_balance }: { running_balance: string }) => running_balance);
};

describe('A payment from a balance', () => {
  it('In the statement, a balance payment comes after the credit that it waited for', async () => {
    const cause = await buildActiveCause(stack);
    const sent = await stack.owner().transactional(async (tx) => {
      await tx.execute('select from account_balances where account_id = ? and shard = 0 for update', [pocket]);
      const sending = give(cause.id, 100);
      await untilLocked(stack, { text: 'lock_source' });
      expect((await transfer(payer.accountId, pocket, 100)).status).toBe(201);
      return [sending];
    });
    expect(await sent[0]).toMatchObject({ status: 201, body: { data: { new_balance: '0.0000' } } });
    expect(await balancesOf(pocket)).toEqual(['100.0000', '0.0000']);
  });

  it('Concurrent payments into and out of an account never make its statement show a balance below zero', async () => {
    const cause = await buildActiveCause(stack);
    await transfer(payer.accountId, pocket, 500);
    const moves = [
      () => transfer(payer.accountId, pocket, 450),
      () => transfer(pocket, payer.accountId, 450),
      () => give(cause.id, 1),
    ];
    const answers = await Promise.all(Array.from({ length: 90 }, (_, index) => moves[index % moves.length]?.()));
    const statuses = new Set(answers.map((answer) => answer?.status));
    expect([...statuses].toSorted()).toEqual([201, 400]);
    const balances = [...(await balancesOf(payer.accountId)), ...(await balancesOf(pocket))];
    expect(balances.filter((balance) => balance.startsWith('-'))).toEqual([]);
  });
});
