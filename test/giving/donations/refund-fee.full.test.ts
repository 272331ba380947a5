import { addBankAccount, ask, withdrawalWhen } from '../../money-out/withdrawals/build-withdrawals.ts';
import { buildIndividual, buildOrganizationAdmin, buildSuperAdmin } from '../../support/build.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { buildCause } from '../causes/build-cause.ts';
import { give } from './build-donations.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true, env: { WITHDRAWAL_FEE: '1000' } });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

it('A refund is refused if the fee of a returned disbursement leaves the cause too little money', async () => {
  const creator = await buildOrganizationAdmin(stack);
  const donor = await buildIndividual(stack, { balance: '1000000' });
  const { token } = donor;
  const cause_id = await buildCause(stack, creator, await buildSuperAdmin(stack));
  expect((await give(stack, donor, 100_000, cause_id)).status).toBe(201);
  const [{ id }] = (await stack.get('/v1/donations', { token })).body.data.items;
  const bank_account_id = await addBankAccount(stack, creator, '654321');
  const purpose_note = 'Two pumps and their pipes';
  const asked = await ask(stack, creator, { bank_account_id, amount: '100000', cause_id, purpose_note });
  await withdrawalWhen(stack, creator, asked.body.data.id, 'reversed', 30_000);
  expect(await stack.post(`/v1/donations/${id}/refund`, undefined, { token })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('no longer covers it') },
  });
  expect((await give(stack, donor, 1000, cause_id)).status).toBe(201);
  expect((await stack.post(`/v1/donations/${id}/refund`, undefined, { token })).status).toBe(200);
});
