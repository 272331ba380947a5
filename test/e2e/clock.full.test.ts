import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addMembers, createCircle } from '../circles/build-circle.ts';
import { give } from '../giving/donations/build-donations.ts';
import { buildPayer, magicAccount, pay, payoutWhen } from '../money-out/payouts/build-payouts.ts';
import { buildPaid, refund, refundWhen } from '../money-out/refunds/build-refunds.ts';
import { addBankAccount, ask, withdrawalWhen } from '../money-out/withdrawals/build-withdrawals.ts';
import { type BuiltUser, buildIndividual, buildOrganizationAdmin, buildSuperAdmin } from '../support/build.ts';
import { buildActiveCause, buildOrganizationCause } from '../support/build-targets.ts';
import { buildOperators, decide } from '../support/decide.ts';
import { followClock, moveClock } from '../support/moved-clock.ts';
import type { BuiltPartner } from '../support/partner.ts';
import { type ProcessStack, startProcessStack } from '../support/processes.ts';
import { outside, readInstants } from '../support/read-instants.ts';
import { isFullRun } from '../support/run.ts';
import { eventually, expectChecksEmpty } from '../support/stack.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const directory = mkdtempSync(join(tmpdir(), 'amanah-clock-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** Hours by which the clocks of API and worker are ahead. */
const offsets: [number, number][] = [[7, -7]];
if (isFullRun()) offsets.push([-7, 7]);

describe.each(offsets)(
  'With the clock of the API %d and that of the worker %d hours from the correct time',
  (ofApi, ofWorker) => {
    let stack: ProcessStack;
    let payer: BuiltUser;
    let partner: BuiltPartner;
    beforeAll(async () => {
      const ahead = (part: string, hours: number) => {
        const file = join(directory, `${part} ${ofApi} ${ofWorker}`);
        moveClock(file, hours * hourMs);
        return followClock(file);
      };
      stack = await startProcessStack({
        env: { ...ahead('api', ofApi), AUTH_TOKEN_TTL_SECONDS: '86400' },
        workerEnv: ahead('worker', ofWorker),
      });
      payer = await buildIndividual(stack, { balance: '1000000' });
      partner = await buildPayer(stack, {
        settlementDelayHours: 24,
        webhook: { url: `${stack.sandbox.url}/sandbox/webhooks` },
      });
    }, 120_000);
    afterAll(() => stack.stop());
    afterEach(async () => {
      // The template's rows may be as old as the whole test run.
      const from = Date.now() - 6 * hourMs;
      expect(outside(await readInstants(stack.em()), { from, to: Date.now() + minuteMs })).toEqual([]);
      await expectChecksEmpty(stack);
    });

    const token = () => ({ token: payer.token });
    const topUp = async (): Promise<{ payment_order_id: string; payment_code: string }> => {
      const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 };
      const answer = await stack.post('/v1/payments/gateway', body, token());
      expect(answer.status).toBe(201);
      return answer.body.data;
    };
    const orderWhen = (id: string, status: string) =>
      eventually(
        async () => (await stack.get(`/v1/payments/orders/${id}`, token())).body.data,
        (order) => order.status === status,
      );
    const atProvider = (path: string, body: object) => stack.sandbox.post(`/sandbox/${path}`, body);

    it('Payments are settled, declined and put into suspense at the correct time despite wrong clocks', async () => {
      const [paid, wrong, declined] = [await topUp(), await topUp(), await topUp()];
      await atProvider('pay', { payment_code: paid.payment_code });
      await atProvider('pay', { payment_code: wrong.payment_code, amount: 1_234 });
      await atProvider('decline', { payment_code: declined.payment_code });
      await orderWhen(paid.payment_order_id, 'PAID');
      await orderWhen(declined.payment_order_id, 'FAILED');
      await eventually(
        () => stack.em().execute<unknown[]>("select 1 from receipts where state = 'suspended'"),
        (receipts) => receipts.length === 1,
      );
    });

    it('Tokens are revoked at once, and invitations expire after seven days, despite wrong clocks', async () => {
      const person = await buildIndividual(stack);
      expect((await stack.post('/v1/auth/logout-all', undefined, { token: person.token })).status).toBe(200);
      expect((await stack.get('/v1/auth/me', { token: person.token })).status).toBe(401);
      const admin = await buildSuperAdmin(stack);
      const invitation = { email: 'invited@example.org', name: 'Invited', user_type: 'individual' };
      const { body } = await stack.post('/v1/users/invitations', invitation, { token: admin.token });
      const { user, expires_at } = body.data;
      expect(Math.abs(Date.parse(expires_at) - Date.now() - 7 * 24 * hourMs)).toBeLessThan(minuteMs);
      const path = `/v1/users/invitations/${user.id}`;
      expect((await stack.delete(path, undefined, { token: admin.token })).status).toBe(200);
    });

    it('A partner’s money is available after its delay and its webhook sent at once despite wrong clocks', async () => {
      const va = { method: 'virtual_account', channel: 'BCA', amount: '50000' };
      const { body } = await partner.post('/payments', va);
      await atProvider('pay', { payment_code: body.data.payment_code });
      const [payment] = await eventually(
        () =>
          stack.em().execute<{ hours: number }[]>(
            `select extract(epoch from available_at - now())::float8 / 3600 as hours from partner_payments
             where status = 'PAID' and exists (select from webhook_deliveries where status = 'delivered')`,
          ),
        (rows) => rows.length === 1,
      );
      expect(payment?.hours).toBeCloseTo(24, 0);
    });

    it('Payouts complete, become unknown and are queried again at the correct time despite wrong clocks', async () => {
      const succeeded = await pay(partner);
      const failed = await pay(partner, { bank_account_number: magicAccount('999999') });
      const silent = await pay(partner, { bank_account_number: magicAccount('900004') });
      await payoutWhen(partner, succeeded.id, 'succeeded');
      await payoutWhen(partner, failed.id, 'failed');
      await eventually(
        () =>
          stack
            .em()
            .execute<unknown[]>('select 1 from payouts where unknown_since is not null and id = ?', [silent.id]),
        (rows) => rows.length === 1,
        40_000,
      );
      const [looks] = await stack
        .em()
        .execute<{ furthest: number }[]>(
          'select max(extract(epoch from look_again_at - now()))::float8 as furthest from payouts',
        );
      expect(looks?.furthest).toBeLessThan(600);
    }, 60_000);

    it('A wallet refund is sent and a decision is approved before they expire, despite wrong clocks', async () => {
      const refunder = await buildPayer(stack);
      const paymentId = await buildPaid(stack, refunder);
      await refundWhen(refunder, await refund(refunder, paymentId, { amount: '50000' }), 'succeeded', 60_000);
      const order = await topUp();
      await atProvider('pay', { payment_code: order.payment_code, amount: 4_321 });
      const [receipt] = await eventually(
        () =>
          stack.em().execute<{ id: string }[]>("select id from receipts where state = 'suspended' and amount = 4321"),
        (receipts) => receipts.length === 1,
      );
      const credit = { kind: 'settle_receipt', receipt_id: receipt?.id, action: 'credit', account_id: payer.accountId };
      expect(await decide(stack, await buildOperators(stack), credit)).toMatchObject({ status: 'carried_out' });
    }, 120_000);

    it('A donation is refunded within seven days, and a goal releases its savings, despite wrong clocks', async () => {
      const { id: causeId } = await buildActiveCause(stack);
      expect((await give(stack, payer, 10_000, causeId)).status).toBe(201);
      const { items } = (await stack.get('/v1/donations', token())).body.data;
      const [donation] = items.filter(({ cause_id }: { cause_id: string }) => cause_id === causeId);
      expect((await stack.post(`/v1/donations/${donation.id}/refund`, undefined, token())).status).toBe(200);
      const goal = (await stack.post('/v1/saving-goals', { name: 'Hajj', target_amount: '20000' }, token())).body.data;
      const saving = { reference_type: 'saving_goal_contribution', reference_id: goal.id, amount: 20_000 };
      const paid = await stack.post('/v1/payments/balance', { ...saving, source_account_id: payer.accountId }, token());
      expect(paid.status).toBe(201);
      const release = { account_id: payer.accountId };
      expect((await stack.post(`/v1/saving-goals/${goal.id}/release`, release, token())).status).toBe(200);
    });

    it('A cause is disbursed, changed, stopped and reinstated at the correct time despite wrong clocks', async () => {
      const owner = await buildOrganizationAdmin(stack);
      const { id: cause_id } = await buildOrganizationCause(stack, owner);
      expect((await give(stack, payer, 100_000, cause_id)).status).toBe(201);
      const bank_account_id = await addBankAccount(stack, owner);
      const asked = { bank_account_id, amount: '40000', cause_id, purpose_note: 'Two pumps and their pipes' };
      const { id } = (await ask(stack, owner, asked)).body.data;
      await withdrawalWhen(stack, owner, id, 'succeeded');
      const path = `/v1/charitable-causes/${cause_id}`;
      const changed = await stack.patch(path, { description: 'Wells' }, { token: owner.token });
      expect([changed.status, changed.body]).toEqual([200, expect.anything()]);
      const admin = await buildSuperAdmin(stack);
      for (const step of ['stop', 'reinstate']) {
        const answer = await stack.post(`${path}/${step}`, { reason: 'looked at again' }, { token: admin.token });
        expect([step, answer.status]).toEqual([step, 200]);
      }
    });

    it('People and goals are created and changed at the correct time despite wrong clocks', async () => {
      const changed = async (path: string, change: object) => {
        const answer = await stack.patch(path, change, token());
        expect([path, answer.status, answer.body]).toEqual([path, 200, expect.anything()]);
      };
      await changed('/v1/auth/me', { name: 'Another Name' });
      const made = await stack.post('/v1/saving-goals', { name: 'Umrah', target_amount: '1000000' }, token());
      expect([made.status, made.body]).toEqual([201, expect.anything()]);
      await changed(`/v1/saving-goals/${made.body.data.id}`, { name: 'Umrah next year' });
      const signedUp = { email: 'clock@example.org', password: 'a long enough passphrase 7', name: 'New Here' };
      expect((await stack.post('/v1/auth/signup', signedUp)).status).toBe(201);
    });

    it('A subscription starts and stops and a circle starts at the correct time despite wrong clocks', async () => {
      const { id: causeId } = await buildActiveCause(stack);
      const body = { cause_id: causeId, amount: '1000', source_account_id: payer.accountId, interval: 'weekly' };
      const begun = await stack.post('/v1/donations/subscriptions', body, token());
      expect(begun.status).toBe(201);
      const stopped = await stack.delete(`/v1/donations/subscriptions/${begun.body.data.id}`, undefined, token());
      expect([stopped.status, stopped.body.data.status]).toEqual([200, 'stopped']);
      const other = await buildIndividual(stack, { balance: '1000000' });
      const circle = await createCircle(stack, payer, {
        start_date: new Date(Date.now() + 4_000).toISOString(),
        amount: '10000',
      });
      await addMembers(stack, payer, circle.id, [payer, other]);
      const stateOf = async () => {
        const [row] = await stack
          .em()
          .execute<{ status: string; starts_at: Date | string }[]>(
            'select status, starts_at from saving_circles where id = ?',
            [circle.id],
          );
        return { status: row?.status, startsAt: new Date(row?.starts_at ?? 0).getTime() };
      };
      const { startsAt } = await eventually(stateOf, ({ status }) => status === 'active');
      expect(Math.abs(startsAt - Date.now())).toBeLessThan(minuteMs);
    }, 60_000);
  },
);
