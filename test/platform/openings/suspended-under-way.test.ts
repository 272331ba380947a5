import { buildPayer, magicAccount, pay, settleAtProvider, transfersOf } from '../../money-out/payouts/build-payouts.ts';
import {
  type BuiltUser,
  balanceOf,
  buildIndividual,
  buildOrganizationAdmin,
  buildSuperAdmin,
} from '../../support/build.ts';
import { buildOrganizationCause } from '../../support/build-targets.ts';
import { casesOf } from '../../support/full.ts';
import type { BuiltPartner } from '../../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

/** Requests accepted before a suspension are completed. */
let stack: Stack;
let superAdmin: BuiltUser;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  superAdmin = await buildSuperAdmin(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const change = async (path: string, body: object) =>
  expect(await stack.patch(path, body, { token: superAdmin.token })).toMatchObject({ status: 200 });
const suspendOrganization = (id: string) => change(`/v1/organizations/${id}`, { status: 'suspended' });
const suspendUser = (id: string) => change(`/v1/users/${id}`, { status: 'suspended' });
const suspensions: [string, (partner: BuiltPartner) => Promise<unknown>][] = [
  ['the partner is suspended', (partner) => partner.administer('patch', '', { status: 'suspended' })],
  ['the partner’s organization is suspended', ({ organizationId }) => suspendOrganization(organizationId)],
];
const payCode = (payment_code: string) => stack.sandbox.post('/sandbox/pay', { payment_code });
const orderOf = async (payer: BuiltUser, body: object) => {
  const { status, body: answer } = await stack.post(
    '/v1/payments/gateway',
    { payment_id: 1, ...body },
    { token: payer.token },
  );
  expect([200, 201]).toContain(status);
  return answer.data;
};

describe.each(casesOf(suspensions))('While %s', (_, suspend) => {
  it('An accepted payout succeeds during a suspension, and a new one is refused', async () => {
    const partner = await buildPayer(stack);
    const { id } = await pay(partner, { bank_account_number: magicAccount('131313') });
    await eventually(
      () => transfersOf(stack, id),
      (transfers) => transfers.length === 1,
    );
    await suspend(partner);
    expect(
      await partner.post('/payouts', {
        amount: '100000',
        bank_code: 'BRI',
        bank_account_number: magicAccount('111111'),
        beneficiary_name: 'Budi',
      }),
    ).toMatchObject({
      status: 403,
      body: { error: { code: 'AUTH_PARTNER_INACTIVE' } },
    });
    await settleAtProvider(stack, id, 'SUCCEEDED');
    await eventually(
      () => stack.em().execute<{ status: string }[]>('select status from payouts where id = ?', [id]),
      ([row]) => row?.status === 'succeeded',
    );
  });

  it('An accepted payment can still be paid during a suspension, and its net is credited', async () => {
    const partner = await buildPayer(stack, { available: '0' });
    const { body } = await partner.post('/payments', { method: 'virtual_account', channel: 'BNI', amount: '50000' });
    await suspend(partner);
    await payCode(body.data.payment_code);
    await eventually(
      () =>
        stack.em().execute<{ status: string }[]>('select status from partner_payments where id = ?', [body.data.id]),
      ([row]) => row?.status === 'PAID',
    );
    const { pending, available } = partner.account;
    expect([await balanceOf(stack, pending), await balanceOf(stack, available)]).not.toEqual(['0.0000', '0.0000']);
  });
});

describe('While a person is suspended', () => {
  it('An accepted top-up of a suspended person is settled to their account', async () => {
    const payer = await buildIndividual(stack);
    const order = await orderOf(payer, {
      reference_type: 'account_top_up',
      reference_id: payer.accountId,
      amount: 50_000,
    });
    await suspendUser(payer.id);
    expect((await stack.get('/v1/auth/me', { token: payer.token })).status).toBe(401);
    await payCode(order.payment_code);
    await eventually(
      () => balanceOf(stack, payer.accountId),
      (balance) => balance === '50000.0000',
    );
  });
});

describe('While the organization of a cause is suspended', () => {
  it('An accepted donation completes while its cause’s organization is suspended; a new one is refused', async () => {
    const admin = await buildOrganizationAdmin(stack);
    const donor = await buildIndividual(stack);
    const cause = await buildOrganizationCause(stack, admin);
    const donation = { reference_type: 'charitable_cause_donate', reference_id: cause.id, amount: 50_000 };
    const order = await orderOf(donor, donation);
    await suspendOrganization(admin.organizationId ?? '');
    const refused = await stack.post('/v1/payments/gateway', { payment_id: 1, ...donation }, { token: donor.token });
    expect(refused.status).toBe(400);
    await payCode(order.payment_code);
    await eventually(
      () => stack.em().execute<{ status: string }[]>('select status from donations where cause_id = ?', [cause.id]),
      ([row]) => row?.status === 'completed',
    );
  });
});
