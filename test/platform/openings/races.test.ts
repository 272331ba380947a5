import { allocationBatchIdFor, paymentOrderIdFor, subscriptionIdFor } from '../../../src/shared/ids.ts';
import { buildActiveCircle } from '../../circles/build-circle.ts';
import { buildOpenDonations } from '../../giving/donations/build-donations.ts';
import { asAClient, asAKeyedClient } from '../../support/as-a-client.ts';
import { type BuiltUser, balanceOf, buildIndividual, buildSuperAdmin } from '../../support/build.ts';
import { buildActiveCause, buildGoal } from '../../support/build-targets.ts';
import { whileBurning } from '../../support/burn.ts';
import type { HttpAnswer } from '../../support/http.ts';
import { freshKey } from '../../support/partner.ts';
import { isFullRun } from '../../support/run.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ isImpatient: true, worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const racers = isFullRun() ? 150 : 6;
const winners = isFullRun() ? 30 : 2;

interface Racer {
  id: string;
  ask: () => Promise<HttpAnswer>;
  /** Without a key, a retry after a 503 may get a 400 about the effect of the first request. */
  hasNoKey?: boolean;
}

async function askUntilTold({ id, ask, hasNoKey = false }: Racer) {
  let inDoubt = false;
  const { status } = await (hasNoKey ? asAClient : asAKeyedClient)(async () => {
    const answer = await ask();
    inDoubt ||= hasNoKey && answer.status === 503;
    return answer;
  });
  return { id, status, inDoubt };
}

/** Sends all requests at once, retries each until its outcome is known, and compares outcomes with the final state. */
async function race(table: string, of: Racer[]): Promise<number> {
  const told = await whileBurning(() => Promise.all(of.map(askUntilTold)));
  expect(told.filter(({ status }) => status >= 300 && status !== 400)).toEqual([]);
  const ids = `{${of.map(({ id }) => id).join(',')}}`;
  const rows = await stack.em().execute<{ id: string }[]>(`select id from ${table} where id = any(?::uuid[])`, [ids]);
  const isMade = new Set(rows.map(({ id }) => id));
  const made = told
    .filter(({ id, status, inDoubt }) => status < 300 || (inDoubt && isMade.has(id)))
    .map(({ id }) => id);
  expect([...isMade].sort()).toEqual(made.toSorted());
  // Attempts that are still running find the recorded refusal.
  const refused = await stack
    .em()
    .execute<object[]>('select 1 from requests where resource_id = any(?::uuid[]) and refusal is not null', [ids]);
  expect(refused).toHaveLength(of.length - made.length);
  return made.length;
}

const contributors = (payer: BuiltUser, body: object): Racer[] =>
  Array.from({ length: racers }, () => {
    const key = freshKey();
    const options = { token: payer.token, headers: { 'idempotency-key': key } };
    return {
      id: paymentOrderIdFor(payer.id, key),
      ask: () => stack.post('/v1/payments/gateway', { payment_id: 1, ...body }, options),
    };
  });

describe(`Races of ${racers} requests`, () => {
  it('Of concurrent gateway contributions to one goal, exactly one is accepted', async () => {
    const saver = await buildIndividual(stack);
    const goal = await buildGoal(stack, saver);
    const body = { reference_type: 'saving_goal_contribution', reference_id: goal.id, amount: 10_000 };
    expect(await race('payment_orders', contributors(saver, body))).toBe(1);
  }, 300_000);

  it('Of one member’s concurrent gateway contributions to a round, exactly one is accepted', async () => {
    const { id: circleId, members } = await buildActiveCircle(stack, 2);
    const [member] = members as [BuiltUser];
    const body = { reference_type: 'saving_circle_contribution', reference_id: circleId, amount: 100_000 };
    expect(await race('payment_orders', contributors(member, body))).toBe(1);
  }, 300_000);

  it(`Of concurrent subscriptions from a balance for ${winners}, exactly ${winners} are opened`, async () => {
    const donor = await buildIndividual(stack, { balance: String(winners * 1000) });
    const cause = await buildActiveCause(stack);
    const body = { cause_id: cause.id, amount: '1000', source_account_id: donor.accountId, interval: 'monthly' };
    const of = Array.from({ length: racers }, () => {
      const key = freshKey();
      const options = { token: donor.token, headers: { 'idempotency-key': key } };
      return {
        id: subscriptionIdFor(donor.id, key),
        ask: () => stack.post('/v1/donations/subscriptions', body, options),
      };
    });
    expect(await race('donation_subscriptions', of)).toBe(winners);
    expect(await balanceOf(stack, donor.accountId)).toBe('0.0000');
  }, 300_000);

  it('Of concurrent allocations of one donation to different causes, exactly one is accepted', async () => {
    const { token } = await buildSuperAdmin(stack);
    const ids = await buildOpenDonations(stack, await buildIndividual(stack), 1);
    const owner = await buildIndividual(stack);
    const causes = await Promise.all(Array.from({ length: racers }, () => buildActiveCause(stack, owner)));
    const of = causes.map(({ id }) => ({
      id: allocationBatchIdFor(id, ids),
      hasNoKey: true,
      ask: () => stack.post('/v1/donations/allocate', { donation_ids: ids, cause_id: id }, { token }),
    }));
    expect(await race('donation_allocations', of)).toBe(1);
  }, 300_000);
});
