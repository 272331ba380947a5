import {
  type BuiltUser,
  balanceOf,
  buildIndividual,
  buildOrganizationAdmin,
  buildSuperAdmin,
} from '../../support/build.ts';
import { approve, buildOperators, type Operators, propose } from '../../support/decide.ts';
import { itInFull } from '../../support/full.ts';
import { type ProcessStack, startProcessStack } from '../../support/processes.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty } from '../../support/stack.ts';
import { buildCause, currentAmountOf } from '../causes/build-cause.ts';
import { give } from './build-donations.ts';

let stack: ProcessStack;
let operators: Operators;
let creator: BuiltUser;
let donor: BuiltUser;
let superAdmin: BuiltUser;
let causeId: string;
beforeAll(async () => {
  stack = await startProcessStack();
  operators = await buildOperators(stack);
  superAdmin = await buildSuperAdmin(stack);
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack?.stop());
afterEach(() => stack.restart());

type Ask = () => ReturnType<ProcessStack['post']>;

/** Creates a donation by a new donor to a new cause, so that no refund waits for another's locks. */
async function given(): Promise<string> {
  creator = await buildOrganizationAdmin(stack);
  causeId = await buildCause(stack, creator, superAdmin);
  donor = await buildIndividual(stack, { balance: '1000' });
  expect((await give(stack, donor, 1000, causeId)).status).toBe(201);
  return (await stack.get('/v1/donations', { token: donor.token })).body.data.items[0].id;
}

/** Calls an API that kills itself at the failpoint, then retries until the restarted API answers. */
async function askThrough(point: string, ask: Ask) {
  stack.arm(`${point}=kill`);
  const asked = ask().catch(() => null);
  await stack.api.exited;
  await asked;
  await stack.restart();
  return until(ask);
}

const until = (ask: Ask) =>
  eventually(
    () => ask().catch(() => null),
    (answer) => answer !== null && answer.status !== 503,
    60_000,
  );

interface Given {
  id: string;
  donor: BuiltUser;
  creator: BuiltUser;
  causeId: string;
}

async function expectRefundedOnce({ id, donor, creator, causeId }: Given): Promise<void> {
  const { items } = (await stack.get('/v1/donations', { token: donor.token })).body.data;
  expect(items).toMatchObject([{ id, status: 'refunded' }]);
  expect(await balanceOf(stack, donor.accountId)).toBe('1000.0000');
  expect(await currentAmountOf(stack, creator, causeId)).toBe(0);
  const events = "select 1 from events where resource_id = ? and data ->> 'status' = 'refunded'";
  expect(await stack.em().execute<unknown[]>(events, [id])).toHaveLength(1);
}

const points = ['refund-donation.marked', 'refund-donation.posted', 'refund-donation.written', 'refund-donation.after'];
const chosen = isFullRun() ? points : points.slice(-2);

it('A donation is refunded once if the API is killed with -9 during the refund', async () => {
  const asked: (Given & { point: string; ask: Ask; first: Promise<unknown> })[] = [];
  for (const point of chosen.toReversed()) {
    const one = { point, id: await given(), donor, creator, causeId };
    const ask = () => stack.post(`/v1/donations/${one.id}/refund`, undefined, { token: one.donor.token });
    await stack.holdAt(point, () => asked.push({ ...one, ask, first: ask().catch(() => null) }));
  }
  await stack.kill('api');
  await Promise.all(asked.map(({ first }) => first));
  await stack.restart();
  for (const one of asked) {
    const answer = await until(one.ask);
    expect(answer?.status).toBe(one.point === 'refund-donation.after' ? 400 : 200);
    await expectRefundedOnce(one);
  }
}, 120_000);

itInFull(
  'A donation is refunded once if the API is killed with -9 while executing the decision',
  async () => {
    const id = await given();
    const proposed = await propose(stack, operators, { kind: 'refund_donation', donation_id: id });
    const decisionId = proposed.body.data.id;
    const answer = await askThrough('refund-donation.written', () => approve(stack, operators, decisionId));
    expect([200, 400]).toContain(answer?.status);
    const read = await stack.get(`/v1/decisions/${decisionId}`, { token: operators.proposer.token });
    expect(read.body.data).toMatchObject({ status: 'carried_out', approved_by: operators.approver.id });
    await expectRefundedOnce({ id, donor, creator, causeId });
  },
  120_000,
);
