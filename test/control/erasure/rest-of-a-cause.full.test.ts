import { newId } from '../../../src/shared/ids.ts';
import { balanceOf } from '../../support/build.ts';
import { buildOperators, decide, type Operators, propose } from '../../support/decide.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { buildStrandedCause } from './stranded-cause.ts';

let stack: Stack;
let operators: Operators;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true, env: { WITHDRAWAL_FEE: '2500' } });
  operators = await buildOperators(stack);
}, 120_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack?.stop());

it('Two operators can pay out money returned to an erased person’s cause that covers no donation', async () => {
  const { owner, donationId } = await buildStrandedCause(stack, operators);
  expect(await balanceOf(stack, owner.accountId)).toBe('397500.0000');
  const back = await propose(stack, operators, { kind: 'refund_donation', donation_id: donationId });
  expect([back.status, back.body.message]).toEqual([400, 'donation_id: the account that holds it no longer covers it']);
  const paid = { kind: 'book_external', amount: '-397500', reference: `paid ${newId()}`, account_id: owner.accountId };
  expect(await decide(stack, operators, paid)).toMatchObject({ status: 'carried_out' });
  expect(await balanceOf(stack, owner.accountId)).toBe('0.0000');
}, 60_000);
