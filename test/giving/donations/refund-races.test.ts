import { addBankAccount, ask, someKey } from '../../money-out/withdrawals/build-withdrawals.ts';
import { asAClient } from '../../support/as-a-client.ts';
import {
  type BuiltUser,
  balanceOf,
  buildIndividual,
  buildOrganizationAdmin,
  buildSuperAdmin,
} from '../../support/build.ts';
import { approve, buildOperators, propose } from '../../support/decide.ts';
import { itInFull } from '../../support/full.ts';
import type { HttpAnswer } from '../../support/http.ts';
import { untilLocked } from '../../support/lock-waits.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { buildCause, currentAmountOf } from '../causes/build-cause.ts';
import { give } from './build-donations.ts';

const racers = isFullRun() ? 50 : 16;
/** IDR of each donation and each disbursement. */
const each = 10_000;

let stack: Stack;
let superAdmin: BuiltUser;
let creator: BuiltUser;
let donor: BuiltUser;
let causeId: string;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  superAdmin = await buildSuperAdmin(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  creator = await buildOrganizationAdmin(stack);
  donor = await buildIndividual(stack, { balance: String(racers * each) });
  causeId = await buildCause(stack, creator, superAdmin);
});

const refund = (id: string) =>
  asAClient(() => stack.post(`/v1/donations/${id}/refund`, undefined, { token: donor.token }));
const okays = (answers: HttpAnswer[]) => answers.filter(({ status }) => status === 200 || status === 201).length;
const statuses = (answers: HttpAnswer[]) => [...new Set(answers.map(({ status }) => status))].sort();

/** Makes this many donations to the cause; returns their ids. */
async function giveMany(count: number): Promise<string[]> {
  for (let given = 0; given < count; given++) expect((await give(stack, donor, each, causeId)).status).toBe(201);
  const { items } = (await stack.get('/v1/donations?limit=100', { token: donor.token })).body.data;
  return items.map(({ id }: { id: string }) => id);
}

it(`Of ${racers} concurrent refunds of one donation, one succeeds`, async () => {
  const [id = ''] = await giveMany(1);
  const answers = await Promise.all(Array.from({ length: racers }, () => refund(id)));
  expect([okays(answers), statuses(answers)]).toEqual([1, [200, 400]]);
  expect(await balanceOf(stack, donor.accountId)).toBe(`${racers * each}.0000`);
  expect(await currentAmountOf(stack, creator, causeId)).toBe(0);
}, 120_000);

itInFull(
  `Concurrent refunds of a donation by its donor and by a decision refund it once`,
  async () => {
    const operators = await buildOperators(stack);
    const ids = await giveMany(5);
    const decisions = await Promise.all(
      ids.map(async (donation_id) => {
        const { body } = await propose(stack, operators, { kind: 'refund_donation', donation_id });
        return body.data.id as string;
      }),
    );
    await Promise.all([...ids.map(refund), ...decisions.map((id) => asAClient(() => approve(stack, operators, id)))]);
    expect(await balanceOf(stack, donor.accountId)).toBe(`${racers * each}.0000`);
    expect(await currentAmountOf(stack, creator, causeId)).toBe(0);
  },
  120_000,
);

it(`${racers} concurrent refunds and disbursements of one cause pay out each rupiah once`, async () => {
  const count = racers / 2;
  const asked = (await giveMany(count)).slice(0, Math.floor(count / 2));
  const bank_account_id = await addBankAccount(stack, creator);
  const disburse = () => {
    const key = someKey();
    const body = { bank_account_id, amount: String(each), cause_id: causeId, purpose_note: 'Two pumps and pipes' };
    return asAClient(() => ask(stack, creator, body, key));
  };
  const racing: Promise<HttpAnswer[]>[] = [];
  await stack.owner().transactional(async (tx) => {
    await tx.execute('select 1 from account_balances where account_id = ? and shard = 0 for update', [
      creator.accountId,
    ]);
    racing.push(Promise.all(asked.map(refund)));
    racing.push(Promise.all(Array.from({ length: racers - asked.length }, disburse)));
    await untilLocked(stack, { text: 'lock_refund' });
    await untilLocked(stack, { text: 'lock_source' });
  });
  const [refunds = [], disbursements = []] = await Promise.all(racing);
  expect([...statuses(refunds), ...statuses(disbursements)].every((status) => [200, 201, 400].includes(status))).toBe(
    true,
  );
  const [refunded, out] = [okays(refunds), okays(disbursements)];
  expect(refunded + out).toBe(count);
  expect(await balanceOf(stack, donor.accountId)).toBe(`${(racers - count + refunded) * each}.0000`);
  expect(await balanceOf(stack, creator.accountId)).toBe('0.0000');
  expect(await currentAmountOf(stack, creator, causeId)).toBe((count - refunded) * each);
  await eventually(
    () =>
      stack
        .em()
        .execute<unknown[]>("select 1 from payouts where status = 'pending' and source_account_id = ?", [
          creator.accountId,
        ]),
    (pending) => pending.length === 0,
    120_000,
  );
}, 240_000);

itInFull(
  `${racers} refunds succeed once per donation while their cause is stopped and donated to`,
  async () => {
    const half = racers / 2;
    const ids = await giveMany(half);
    const reason = 'Reported by neighbours';
    const decide = (what: string) =>
      asAClient(() => stack.post(`/v1/charitable-causes/${causeId}/${what}`, { reason }, { token: superAdmin.token }));
    const [refunds, stops, gifts] = await Promise.all([
      Promise.all(ids.flatMap((id) => [refund(id), refund(id)])),
      Promise.all([decide('stop'), decide('stop'), decide('stop')]),
      Promise.all(Array.from({ length: 5 }, () => asAClient(() => give(stack, donor, each, causeId)))),
    ]);
    expect([okays(refunds), okays(stops)]).toEqual([half, 1]);
    const left = okays(gifts);
    expect(await balanceOf(stack, donor.accountId)).toBe(`${(racers - left) * each}.0000`);
    expect(await currentAmountOf(stack, creator, causeId)).toBe(left * each);
    expect((await decide('reinstate')).status).toBe(200);
  },
  240_000,
);

itInFull(
  `${racers} concurrent refunds and allocations of open donations leave each either refunded or allocated`,
  async () => {
    const count = racers / 2;
    for (let given = 0; given < count; given++) expect((await give(stack, donor, each)).status).toBe(201);
    const { items } = (await stack.get('/v1/donations?limit=100', { token: donor.token })).body.data;
    const ids: string[] = items.map(({ id }: { id: string }) => id);
    const allocate = (id: string) =>
      asAClient(() =>
        stack.post('/v1/donations/allocate', { donation_ids: [id], cause_id: causeId }, { token: superAdmin.token }),
      );
    const [refunds, allocations] = await Promise.all([Promise.all(ids.map(refund)), Promise.all(ids.map(allocate))]);
    expect(okays(refunds) + okays(allocations)).toBe(count);
    expect(await balanceOf(stack, donor.accountId)).toBe(`${(racers - count + okays(refunds)) * each}.0000`);
    expect(await currentAmountOf(stack, creator, causeId)).toBe(okays(allocations) * each);
  },
  240_000,
);
