import { newId } from '../../src/shared/ids.ts';
import { settleAtProvider } from '../payouts/build-payouts.ts';
import { balanceOf, buildIndividual, buildSuperAdmin } from '../support/build.ts';
import { buildActiveCause } from '../support/build-targets.ts';
import { buildOperators, decide, type Operators, propose } from '../support/decide.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { buildStrandedCause, erase } from './stranded-cause.ts';

let stack: Stack;
let operators: Operators;
beforeAll(async () => {
  const env = { ERASURE_WAIT_HOURS: '0', WITHDRAWAL_FEE: '2500' };
  stack = await startStack({ worker: true, sandbox: true, env });
  operators = await buildOperators(stack);
}, 120_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack?.stop());

it('What came back to the cause of somebody erased and covers no donation of it is paid out by two people', async () => {
  const { owner, donationId } = await buildStrandedCause(stack, operators);
  expect(await balanceOf(stack, owner.accountId)).toBe('397500.0000');
  const back = await propose(stack, operators, { kind: 'refund_donation', donation_id: donationId });
  expect([back.status, back.body.message]).toEqual([
    400,
    'donation_id: what its charitable cause still has does not cover it',
  ]);
  const paid = { kind: 'book_external', amount: '-397500', reference: `paid ${newId()}`, account_id: owner.accountId };
  expect(await decide(stack, operators, paid)).toMatchObject({ status: 'carried_out' });
  expect(await balanceOf(stack, owner.accountId)).toBe('0.0000');
}, 60_000);

it('What two people paid out of such a cause has left it: what the bank returns later is judged without it', async () => {
  const { owner, causeId, donationId, disbursements } = await buildStrandedCause(stack, operators, 240_000);
  const book = (amount: string) =>
    decide(stack, operators, {
      kind: 'book_external',
      amount,
      reference: `paid ${newId()}`,
      account_id: owner.accountId,
    });
  expect(await balanceOf(stack, owner.accountId)).toBe('237500.0000');
  expect(await book('-200000')).toMatchObject({ status: 'carried_out' });
  await settleAtProvider(stack, disbursements[1] ?? '', 'REVERSED');
  await eventually(
    () => balanceOf(stack, owner.accountId),
    (balance) => balance === '195000.0000',
  );
  await expectChecksEmpty(stack);
  const [left] = await stack.em().execute('select disbursable_of_cause(?)::text as amount', [causeId]);
  expect(left).toEqual({ amount: '195000.0000' });
  const back = await propose(stack, operators, { kind: 'refund_donation', donation_id: donationId });
  expect(back.body.message).toBe('donation_id: what its charitable cause still has does not cover it');
  expect(await book('-195000')).toMatchObject({ status: 'carried_out' });
  expect(await balanceOf(stack, owner.accountId)).toBe('0.0000');
}, 60_000);

it('A cause that the platform had stopped is not opened again once its owner was erased', async () => {
  const owner = await buildIndividual(stack);
  const { id } = await buildActiveCause(stack, owner);
  const { token } = await buildSuperAdmin(stack);
  const decideOn = (what: string) =>
    stack.post(`/v1/charitable-causes/${id}/${what}`, { reason: 'A mistake' }, { token });
  expect((await decideOn('stop')).status).toBe(200);
  await erase(stack, operators, owner);
  const { status, body } = await decideOn('reinstate');
  expect([status, body.message]).toEqual([403, expect.stringContaining('the user has been erased')]);
}, 60_000);
