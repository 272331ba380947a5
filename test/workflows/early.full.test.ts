import { releasePartnerPayment } from '../../src/money-in/collections/settle-partner-payment.ts';
import { asAClient } from '../support/as-a-client.ts';
import { type BuiltUser, buildIndividual } from '../support/build.ts';
import { buildActiveCause } from '../support/build-targets.ts';
import { buildPartner } from '../support/partner.ts';
import { eventually, expectChecksEmpty } from '../support/stack.ts';
import { startTimeSkippingStack, type TimeSkippingStack } from '../support/time-skipping.ts';

/**
 * Temporal runs work before it is due: because its clock is ahead (here it skips time and the database does not), or
 * because an attacker starts an activity.
 */
let stack: TimeSkippingStack;
beforeAll(async () => {
  stack = await startTimeSkippingStack({ env: { TEMPORAL_SKIPS_TIME: 'false' } });
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const strict = { skipsTime: false };
const dayMs = 24 * 60 * 60 * 1000;

describe('A subscription period', () => {
  let donor: BuiltUser;
  let causeId: string;
  beforeEach(async () => {
    donor = await buildIndividual(stack, { balance: '10000' });
    causeId = (await buildActiveCause(stack)).id;
  });
  const age = (id: string, column: 'started_at' | 'attempted_at', days: number) =>
    stack
      .owner()
      .execute(`update donation_subscriptions set ${column} = ${column} - make_interval(days => ?) where id = ?`, [
        days,
        id,
      ]);

  it('A subscription period is charged when due, not earlier, although the workflow’s clock is ahead', async () => {
    const body = { cause_id: causeId, amount: '1000', source_account_id: donor.accountId, interval: 'weekly' };
    const begun = await asAClient(() => stack.post('/v1/donations/subscriptions', body, { token: donor.token }));
    const { id } = begun.body.data;
    const paid = async () => {
      const { body } = await stack.get(`/v1/donations/subscriptions/${id}`, { token: donor.token });
      return body.data.periods_paid;
    };
    await stack.time.sleep('10 days');
    expect(await paid()).toBe(1);
    await age(id, 'started_at', 8);
    await stack.time.sleep('10 days');
    expect(await eventually(paid, (periods) => periods > 1)).toBe(2);
    await stack.delete(`/v1/donations/subscriptions/${id}`, undefined, { token: donor.token });
  });
});

describe('The net of a partner’s payment', () => {
  it('The net of a partner’s payment is never released early, whatever a workflow requests', async () => {
    const partner = await buildPartner(stack, { settlementDelayHours: 48 });
    const { body } = await partner.post('/payments', { method: 'virtual_account', channel: 'BNI', amount: '50000' });
    const { id, payment_code } = body.data;
    await stack.sandbox.post('/sandbox/pay', { payment_code });
    const read = async () => {
      const [row] = await stack
        .em()
        .execute<{ status: string; released: boolean }[]>(
          'select status, released_at is not null as released from partner_payments where id = ?',
          [id],
        );
      return row;
    };
    await eventually(read, (row) => row?.status === 'PAID');
    const release = () => releasePartnerPayment(stack.em(), stack.deps.sealer, { paymentId: id }, strict);
    expect((await release()).earlyByMs).toBeGreaterThan(1.9 * dayMs);
    await stack.time.sleep('3 days');
    expect(await read()).toMatchObject({ released: false });
    await stack
      .owner()
      .execute("update partner_payments set available_at = available_at - interval '3 days' where id = ?", [id]);
    await stack.time.sleep('3 days');
    expect(await eventually(read, (row) => row?.released === true)).toMatchObject({ status: 'PAID' });
    expect(await release()).not.toHaveProperty('earlyByMs');
  });
});
