import { reconcileDay } from '../../src/reconciliation/reconcile-day.ts';
import { westernIndonesiaDay } from '../../src/shared/clock.ts';
import { newId } from '../../src/shared/ids.ts';
import { ageAttempts, setFaults, settleAtProvider, transfersOf } from '../payouts/build-payouts.ts';
import { type BuiltUser, balanceOf } from '../support/build.ts';
import { buildOperators, decide, type Operators } from '../support/decide.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { withoutTriggers } from '../support/without-triggers.ts';
import { addBankAccount, ask, buildOwner, transactionsOf, withdraw, withdrawalWhen } from './build-withdrawals.ts';

let stack: Stack;
let owner: BuiltUser;
let operators: Operators;
beforeAll(async () => {
  const env = { WITHDRAWAL_FEE: '2500', PAYOUT_RESEND_HOURS: '0' };
  stack = await startStack({ worker: true, sandbox: true, env });
  operators = await buildOperators(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  owner = await buildOwner(stack);
});

const revenue = async () => {
  const [row] = await stack.em().execute<[{ id: string }]>("select id from accounts where kind = 'fee_revenue'");
  return Number(await balanceOf(stack, row.id));
};
const tellOf = async (id: string) =>
  ((await transactionsOf(stack, id)) as { type: string; amount: string; status: string }[]).map(
    ({ type, amount, status }) => `${status} ${type} ${amount}`,
  );
/** Waits until the provider does not know the transfer, and makes the attempt old enough to be ended by hand. */
async function unknownWithdrawal(): Promise<string> {
  const { id } = await withdraw(stack, owner, { digits: '900004' });
  await eventually(
    () => stack.em().execute<unknown[]>('select 1 from payouts where id = ? and unknown_since is not null', [id]),
    (rows) => rows.length === 1,
  );
  await ageAttempts(stack, id, 2);
  return id;
}

describe('The fee of a withdrawal', () => {
  it('is taken from the amount: the net reaches the bank, and the fee is a row of its own', async () => {
    const before = await revenue();
    const { id, ...answer } = await withdraw(stack, owner);
    expect(answer).toMatchObject({ amount: '100000.0000', fee: '2500.0000', net_amount: '97500.0000' });
    await withdrawalWhen(stack, owner, id, 'succeeded');
    expect(await transfersOf(stack, id)).toMatchObject([{ amount: 97_500 }]);
    expect(await balanceOf(stack, owner.accountId)).toBe('900000.0000');
    expect((await revenue()) - before).toBe(2500);
    expect(await tellOf(id)).toEqual(['successful price 97500.0000', 'successful fee 2500.0000']);
  });

  it('is returned when it fails, and kept when the bank returns a transfer it had accepted', async () => {
    const failing = await withdraw(stack, owner, { digits: '121212' });
    await withdrawalWhen(stack, owner, failing.id, 'failed');
    expect(await balanceOf(stack, owner.accountId)).toBe('1000000.0000');
    expect(await tellOf(failing.id)).toEqual([
      'successful price 97500.0000',
      'successful fee 2500.0000',
      'reversed price 97500.0000',
      'reversed fee 2500.0000',
    ]);
    const returned = await withdraw(stack, owner);
    await withdrawalWhen(stack, owner, returned.id, 'succeeded');
    await settleAtProvider(stack, returned.id, 'REVERSED');
    await withdrawalWhen(stack, owner, returned.id, 'reversed');
    expect(await balanceOf(stack, owner.accountId)).toBe('997500.0000');
    expect(await tellOf(returned.id)).toEqual([
      'successful price 97500.0000',
      'successful fee 2500.0000',
      'reversed price 97500.0000',
    ]);
  });

  it('is quoted beforehand, and an amount that does not cover it is refused', async () => {
    const bank_account_id = await addBankAccount(stack, owner);
    const { token } = owner;
    const { body } = await stack.post('/v1/withdrawals/quotes', { bank_account_id, amount: '12500' }, { token });
    expect(body.data).toEqual({ bank_account_id, amount: '12500.0000', fee: '2500.0000', net_amount: '10000.0000' });
    const refused = await ask(stack, owner, { bank_account_id, amount: '2500' });
    expect([refused.status, refused.body.message]).toEqual([400, 'amount: does not cover the fee, IDR 2500.0000']);
  });
});

describe('A withdrawal with an unknown outcome', () => {
  it('keeps its money reserved, is listed as stuck, and two people end it', async () => {
    const id = await unknownWithdrawal();
    const { token } = operators.proposer;
    const { body } = await stack.get('/v1/payouts/stuck?minutes=0&limit=100', { token });
    expect(body.data.items.find(({ payout_id }: { payout_id: string }) => payout_id === id)).toMatchObject({
      kind: 'withdrawal',
      partner_id: null,
      amount: '100000.0000',
      reason: expect.stringContaining('unknown'),
    });
    expect(await balanceOf(stack, owner.accountId)).toBe('900000.0000');
    const decided = await decide(stack, operators, { kind: 'settle_payout', payout_id: id, outcome: 'failed' });
    expect(decided.status).toBe('carried_out');
    const ended = await withdrawalWhen(stack, owner, id, 'failed');
    expect(ended).toMatchObject({ failure_code: 'SETTLED_BY_OPERATOR' });
    expect(await balanceOf(stack, owner.accountId)).toBe('1000000.0000');
    const events = await stack.get(`/v1/events?event=PAYOUT_SETTLED&resource_id=${id}`, { token });
    expect(events.body.data.items).toMatchObject([{ resource_type: 'withdrawal', actor_id: operators.approver.id }]);
  });

  it('is shown as such, with what happens next', async () => {
    const id = await unknownWithdrawal();
    const { body } = await stack.get(`/v1/withdrawals/${id}/timeline`, { token: owner.token });
    expect(body.data.items.at(-1).text).toMatch(/The outcome is unknown/);
    expect(body.data.next.text).toMatch(/the money stays reserved/);
    await decide(stack, operators, { kind: 'settle_payout', payout_id: id, outcome: 'failed' });
  });
});

describe('A withdrawal whose workflow was lost', () => {
  it('continues when the provider calls back', async () => {
    const { id } = await withdraw(stack, owner, { digits: '131313' });
    await eventually(
      () => stack.em().execute<{ word: string }[]>('select last_word as word from payouts where id = ?', [id]),
      ([row]) => row?.word === 'accepted',
    );
    await stack.deps.workflows.client.workflow.getHandle(`withdrawal/${id}`).terminate('lost');
    await settleAtProvider(stack, id, 'SUCCEEDED');
    await withdrawalWhen(stack, owner, id, 'succeeded');
  });

  it('continues when the sweep finds its row', async () => {
    await setFaults(stack, { callbacks: { drop: true } });
    const { id } = await withdraw(stack, owner, { digits: '131313' });
    await eventually(
      () => stack.em().execute<{ word: string }[]>('select last_word as word from payouts where id = ?', [id]),
      ([row]) => row?.word === 'accepted',
    );
    const { client, taskQueue } = stack.deps.workflows;
    await client.workflow.getHandle(`withdrawal/${id}`).terminate('lost');
    await settleAtProvider(stack, id, 'SUCCEEDED');
    await withoutTriggers(stack, "update payouts set look_again_at = now() - interval '1 minute' where id = ?", [id]);
    await client.workflow.execute('sweepPayouts', { workflowId: `test/${newId()}`, taskQueue, args: [] });
    await withdrawalWhen(stack, owner, id, 'succeeded');
    await setFaults(stack, {});
  });
});

describe('Reconciliation', () => {
  it('finds no difference in a withdrawal that both sides report alike', async () => {
    const { id } = await withdraw(stack, owner);
    await withdrawalWhen(stack, owner, id, 'succeeded');
    const { gateway, workflows } = stack.deps;
    const failed = (_: string, subject: string, error: unknown) => {
      throw new Error(`the owner of ${subject} was not woken`, { cause: error });
    };
    const day = westernIndonesiaDay(new Date());
    await reconcileDay(stack.em(), { gateway, workflows, failed }, { day, takenBy: newId() });
    const open = async () =>
      (await stack.get(`/v1/reconciliations?limit=100&state=open`, { token: operators.proposer.token })).body.data
        .items;
    expect((await open()).filter(({ resource_id }: { resource_id: string | null }) => resource_id === id)).toEqual([]);
  });
});
