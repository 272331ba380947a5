import { systemAccounts } from '../../../src/ledger/accounts/account.ts';
import { newId } from '../../../src/shared/ids.ts';
import { asAClient } from '../../support/as-a-client.ts';
import {
  type BuiltUser,
  balanceOf,
  buildIndividual,
  buildOrganizationAdmin,
  buildPlatformAdmin,
  buildSuperAdmin,
} from '../../support/build.ts';
import { itInFull } from '../../support/full.ts';
import { isFullRun } from '../../support/run.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { buildCause, currentAmountOf } from '../causes/build-cause.ts';
import { buildOpenDonations, give } from './build-donations.ts';

let stack: Stack;
let creator: BuiltUser;
let donor: BuiltUser;
let superAdmin: BuiltUser;
let causeId: string;
beforeAll(async () => {
  stack = await startStack({ isImpatient: true, worker: true, sandbox: true });
  superAdmin = await buildSuperAdmin(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  creator = await buildOrganizationAdmin(stack);
  donor = await buildIndividual(stack, { balance: '1000000' });
  causeId = await buildCause(stack, creator, superAdmin);
});

const allocate = (donationIds: unknown, to = causeId, user = superAdmin) =>
  stack.post('/v1/donations/allocate', { donation_ids: donationIds, cause_id: to }, { token: user.token });
const preview = (donationIds: unknown, to = causeId, user = superAdmin) =>
  stack.post('/v1/donations/allocate/preview', { donation_ids: donationIds, cause_id: to }, { token: user.token });
const pool = () => balanceOf(stack, systemAccounts.openDonationPool);
const latestOf = async (user: BuiltUser) =>
  (await stack.get('/v1/donations', { token: user.token })).body.data.items[0];
const openIds = (count: number) => buildOpenDonations(stack, donor, count);

/**
 * Creates a specific, a pending and an allocated donation: none can be allocated. Each comes with a part of its error.
 */
async function buildBadMembers(): Promise<[id: string, reason: RegExp][]> {
  await give(stack, donor, 5, causeId);
  const specific = (await latestOf(donor)).id;
  await stack.post(
    '/v1/payments/gateway',
    {
      reference_type: 'charitable_cause_open_donate',
      reference_id: systemAccounts.openDonationPool,
      payment_id: 1,
      amount: 20_000,
    },
    { token: donor.token },
  );
  const pending = (await latestOf(donor)).id;
  const [allocated = ''] = await openIds(1);
  await allocate([allocated]);
  return [
    [specific, /not an open donation/],
    [pending, /not received/],
    [allocated, /already allocated/],
  ];
}

describe('POST /v1/donations/allocate', () => {
  it('An allocation moves money from the pool to the cause’s account and records RESOURCE_UPDATED', async () => {
    const ids = await openIds(3);
    const before = await pool();
    const { status, body } = await allocate(ids);
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { message: expect.any(String), data: { allocated_count: 3, cause_id: causeId } },
    });
    expect(Number(before) - Number(await pool())).toBe(3000);
    expect(await balanceOf(stack, creator.accountId)).toBe('3000.0000');
    expect(await currentAmountOf(stack, creator, causeId)).toBe(3000);
    expect(await latestOf(donor)).toMatchObject({
      type: 'open',
      cause_id: causeId,
      allocation_batch_id: body.data.allocation_batch_id,
    });
    const events = await stack.get(`/v1/events?resource_id=${body.data.allocation_batch_id}`, {
      token: superAdmin.token,
    });
    expect(events.body.data.items).toMatchObject([{ event: 'RESOURCE_UPDATED', actor_id: superAdmin.id }]);
    for (const id of ids) {
      const { body: ofOne } = await stack.get(`/v1/events?event=RESOURCE_UPDATED&resource_id=${id}`, {
        token: superAdmin.token,
      });
      expect(ofOne.data.items).toMatchObject([
        { resource_type: 'donation', actor_id: superAdmin.id, data: { cause_id: causeId } },
      ]);
    }
  });

  it('An allocation with invalid donations is refused as a whole, with a reason for each', async () => {
    const bad = await buildBadMembers();
    const good = await openIds(2);
    const before = [await pool(), await balanceOf(stack, creator.accountId)];
    const { status, body } = await allocate([...good, ...bad.map(([id]) => id)]);
    expect(status).toBe(400);
    expect(body.message).toHaveLength(bad.length);
    for (const [id, reason] of bad) {
      expect(body.message).toContainEqual(expect.stringMatching(new RegExp(`${id}.*${reason.source}`)));
    }
    expect([await pool(), await balanceOf(stack, creator.accountId)]).toEqual(before);
    expect((await allocate(good)).status).toBe(200);
  });

  it('An allocation with an unknown donation or cause returns 404 with every error', async () => {
    const [good = ''] = await openIds(1);
    const unknown = newId();
    const alone = await allocate([good, unknown]);
    expect(alone).toMatchObject({ status: 404, body: { statusCode: 404, message: expect.stringContaining(unknown) } });
    const [[bad]] = (await buildBadMembers()) as [[string, RegExp]];
    const both = await allocate([bad, unknown], newId());
    expect(both.status).toBe(404);
    expect(both.body.message).toHaveLength(3);
    expect(both.body.message.join()).toEqual(expect.stringContaining(bad));
    expect((await allocate([good], newId())).status).toBe(404);
  });

  it('An allocation to a cause that is not active returns 400', async () => {
    const ids = await openIds(1);
    const { status, body } = await allocate(ids, await buildCause(stack, creator));
    expect({ status, message: body.message }).toMatchObject({ status: 400, message: expect.stringMatching(/pending/) });
    expect((await allocate(ids)).status).toBe(200);
  });

  it.each([
    ['no donations', []],
    ['ids that are not UUIDs', ['x']],
    ['ids that are not a list', 'x'],
    ['more than 10,000', Array.from({ length: 10_001 }, () => newId())],
  ])('An allocation with %s returns 400', async (_, ids) => {
    const { status, body } = await allocate(ids);
    expect(status).toBe(400);
    expect(String(body.message)).toContain('donation_ids');
  });

  it('An allocation that lists an id twice returns 400, even in different case', async () => {
    const [id = ''] = await openIds(1);
    const { status, body } = await allocate([id, id.toUpperCase()]);
    expect({ status, message: body.message }).toMatchObject({ status: 400, message: expect.stringContaining(id) });
  });

  it('Only the platform super admin may allocate (403 otherwise, 401 without a token)', async () => {
    const ids = [newId()];
    for (const user of [donor, creator, await buildPlatformAdmin(stack)]) {
      expect((await allocate(ids, causeId, user)).status).toBe(403);
      expect((await preview(ids, causeId, user)).status).toBe(403);
    }
    expect((await stack.post('/v1/donations/allocate', {})).status).toBe(401);
    expect((await stack.post('/v1/donations/allocate/preview', {})).status).toBe(401);
  });

  it('The same batch of donations is allocated once, even by concurrent requests', async () => {
    const first = await openIds(2);
    expect((await allocate(first)).status).toBe(200);
    const again = await allocate(first.toReversed());
    expect(again).toMatchObject({ status: 400, body: { message: [expect.any(String), expect.any(String)] } });
    const second = await openIds(2);
    const atOnce = await Promise.all(Array.from({ length: 6 }, () => allocate(second)));
    expect(atOnce.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400, 400]);
    expect(await balanceOf(stack, creator.accountId)).toBe('4000.0000');
  });
});

describe('POST /v1/donations/allocate/preview', () => {
  it('An allocation preview sums the allocatable donations and lists the rest, without effect', async () => {
    const bad = await buildBadMembers();
    const good = await openIds(2);
    const unknown = newId();
    const before = await pool();
    const { status, body } = await preview([...good, unknown, ...bad.map(([id]) => id)]);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ allocatable_count: 2, total_amount: '2000.0000' });
    expect(body.data.refused).toEqual([
      { donation_id: unknown, reason: 'no such donation' },
      ...bad.map(([id, reason]) => ({ donation_id: id, reason: expect.stringMatching(reason) })),
    ]);
    expect(await pool()).toBe(before);
    expect((await preview(good)).body.data).toEqual({ allocatable_count: 2, total_amount: '2000.0000', refused: [] });
  });

  it('An allocation preview refuses the same bodies and causes as the allocation', async () => {
    const ids = await openIds(1);
    expect((await preview(ids, newId())).status).toBe(404);
    expect((await preview(ids, await buildCause(stack, creator))).status).toBe(400);
    expect((await preview([])).status).toBe(400);
    expect((await preview([ids[0], ids[0]])).status).toBe(400);
  });
});

describe('Many allocations', () => {
  const size = isFullRun()
    ? { calls: 200, batch: 1000, donations: 20_000, causes: 4 }
    : { calls: 9, batch: 50, donations: 200, causes: 3 };

  it(
    `Concurrent overlapping allocations (${size.calls} of ${size.batch}) allocate each donation once`,
    async () => {
      const ids = await openIds(size.donations);
      const before = await pool();
      const causes = [
        causeId,
        ...(await Promise.all(Array.from({ length: size.causes - 1 }, () => buildCause(stack, creator, superAdmin)))),
      ];
      // Batches start anywhere, so that most overlap but some can be allocated in parallel.
      const batches = Array.from({ length: size.calls }, (_, index) => {
        const start = (index * 7919 * size.batch) % size.donations;
        return Array.from(
          { length: size.batch },
          (__, place) => ids[(start + place * (index % 3 === 0 ? 1 : 3)) % size.donations],
        );
      });
      const unsure = new Set<number>();
      const answers = await Promise.all(
        batches.map((batch, index) =>
          asAClient(async () => {
            const answer = await allocate(batch, causes[index % causes.length]);
            if (answer.status === 503) unsure.add(index);
            return answer;
          }),
        ),
      );
      expect(answers.filter(({ status }) => status !== 200 && status !== 400)).toEqual([]);
      const told = answers.flatMap(({ status }, index) => (status === 200 ? [index] : []));
      // Requests have no key, so a retry after a 503 may be refused because of the first attempt's effect. Then an
      // allocation of exactly its donations to its cause counts as its own, unless another request claims it.
      const allocationOf = async (index: number) => {
        const [row, ...others] = await stack.em().execute<{ allocation: string | null; whole: boolean }[]>(
          `select d.allocation_batch_id as allocation, d.cause_id = ? and count(*) = ? and (select count(*) from donations o
             where o.allocation_batch_id = d.allocation_batch_id) = ? as whole
           from donations d where d.id = any(?::uuid[]) group by d.allocation_batch_id, d.cause_id`,
          [causes[index % causes.length], size.batch, size.batch, `{${batches[index]?.join(',')}}`],
        );
        return others.length === 0 && row?.whole ? row.allocation : null;
      };
      const claimed = new Set(await Promise.all(told.map(allocationOf)));
      expect([claimed.has(null), claimed.size]).toEqual([false, told.length]);
      const made = [...told];
      for (const index of unsure) {
        const allocation = told.includes(index) ? null : await allocationOf(index);
        if (allocation === null || claimed.has(allocation)) continue;
        claimed.add(allocation);
        made.push(index);
      }
      const won = made.flatMap((index) => batches[index] ?? []);
      expect(won.length).toBeGreaterThanOrEqual(size.batch);
      expect(new Set(won).size).toBe(won.length);
      const rows = await stack
        .em()
        .execute<{ id: string }[]>('select id from donations where id = any(?::uuid[]) and cause_id is not null', [
          `{${ids.join(',')}}`,
        ]);
      expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(won));
      expect(Number(before) - Number(await pool())).toBe(won.length * 1000);
      const received = await Promise.all(causes.map((id) => currentAmountOf(stack, creator, id)));
      expect(received.reduce((sum, amount) => sum + amount, 0)).toBe(won.length * 1000);
      const batchesKept = await stack
        .em()
        .execute<{ count: string }[]>('select count(*) from donation_allocations where cause_id = any(?::uuid[])', [
          `{${causes.join(',')}}`,
        ]);
      expect(Number(batchesKept[0]?.count)).toBe(made.length);
    },
    isFullRun() ? 240_000 : 60_000,
  );

  const largest = isFullRun() ? 10_000 : 200;
  itInFull(
    `An allocation of ${largest} donations takes less than ten seconds`,
    async () => {
      const ids = await openIds(largest);
      const begun = performance.now();
      const { status, body } = await allocate(ids);
      const tookMs = Math.round(performance.now() - begun);
      expect({ status, count: body.data?.allocated_count }).toEqual({ status: 200, count: largest });
      if (isFullRun()) process.stderr.write(`An allocation of ${largest} donations took ${tookMs} ms.\n`);
      expect(tookMs).toBeLessThan(10_000);
    },
    120_000,
  );
});
