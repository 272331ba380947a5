import { type BuiltUser, buildPlatformAdmin } from '../../support/build.ts';
import type { BuiltPartner } from '../../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { askRefund, buildPaid } from '../refunds/build-refunds.ts';
import { addBankAccount, ask, buildOwner } from '../withdrawals/build-withdrawals.ts';
import { buildPayer, magicAccount, payoutBody, setFaults } from './build-payouts.ts';

/** Money sent while the provider reports no outcome: it is resolved once the provider does. */
let stack: Stack;
let admin: BuiltUser;
let partner: BuiltPartner;
let owner: BuiltUser;
let bankAccount: string;
let paymentIds: string[];
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  admin = await buildPlatformAdmin(stack);
  partner = await buildPayer(stack, { available: '2000000' });
  owner = await buildOwner(stack, '2000000');
  bankAccount = await addBankAccount(stack, owner, '900003');
  paymentIds = [await buildPaid(stack, partner), await buildPaid(stack, partner)];
}, 120_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const amount = '900003';
type Outcome = 'SUCCEEDED' | 'FAILED';
const kinds: Record<string, (outcome: Outcome) => Promise<{ status: number; body: { data: { id: string } } }>> = {
  payout: () => partner.post('/payouts', payoutBody({ amount, bank_account_number: magicAccount('900003') })),
  withdrawal: () => ask(stack, owner, { bank_account_id: bankAccount, amount }),
  refund: (outcome) => askRefund(partner, paymentIds[outcome === 'FAILED' ? 0 : 1] ?? '', { amount }),
};
const stuck = async (): Promise<string[]> => {
  const { body } = await stack.get('/v1/payouts/stuck?minutes=0&limit=100', { token: admin.token });
  return body.data.items.map(({ payout_id }: { payout_id: string }) => payout_id);
};
const rowsOf = (ids: string[], which = 'true') =>
  stack
    .em()
    .execute<{ id: string; status: string }[]>(
      `select id, status from payouts where id = any(?::uuid[]) and ${which}`,
      [`{${ids.join(',')}}`],
    );

it('Payouts, withdrawals and refunds with unknown outcomes take the outcome reported later', async () => {
  // The provider executes requests, but neither answers nor lists them.
  await setFaults(stack, { listing: { lag_ms: 3_600_000 } });
  const made = await Promise.all(
    (['SUCCEEDED', 'FAILED'] as const).flatMap((outcome) =>
      Object.entries(kinds).map(async ([kind, make]) => {
        const { status, body } = await make(outcome);
        expect([kind, [200, 201].includes(status)]).toEqual([kind, true]);
        return { kind, outcome, id: body.data.id };
      }),
    ),
  );
  const ids = made.map(({ id }) => id);
  await eventually(
    () => rowsOf(ids, 'unknown_since is not null'),
    (unknown) => unknown.length === ids.length,
    120_000,
  );
  // Operators see each of them, and none is final.
  expect((await stuck()).filter((id) => ids.includes(id)).toSorted()).toEqual(ids.toSorted());
  expect(new Set((await rowsOf(ids)).map(({ status }) => status))).toEqual(new Set(['pending']));
  for (const { kind, outcome, id } of made) {
    const path = kind === 'refund' ? '/sandbox/refunds/settle' : '/sandbox/payouts/settle';
    expect((await stack.sandbox.post(path, { reference_id: id, status: outcome })).status).toBe(200);
  }
  await setFaults(stack, {});
  await eventually(
    () => rowsOf(ids, "status = 'pending'"),
    (pending) => pending.length === 0,
    180_000,
  );
  const ends = new Map((await rowsOf(ids)).map(({ id, status }) => [id, status]));
  expect(made.map(({ id }) => ends.get(id))).toEqual(made.map(({ outcome }) => outcome.toLowerCase()));
  expect((await stuck()).filter((id) => ids.includes(id))).toEqual([]);
  for (const id of ids) {
    const { transfers, refunds } = (await stack.sandbox.get(`/sandbox/records?reference_id=${id}`)).body;
    expect([id, transfers.length + refunds.length]).toEqual([id, 1]);
  }
  // One of each kind was sent, and one was returned.
  const { available } = (await partner.get('/balance')).body.data;
  expect(Number(available)).toBe(2_000_000 + 2 * 2_000_000 - 2 * Number(amount));
  const { body } = await stack.get(`/v1/accounts/${owner.accountId}`, { token: owner.token });
  expect(Number(body.data.balance)).toBe(2_000_000 - Number(amount));
}, 300_000);
