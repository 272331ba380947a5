import { type LockedRows, lockOrder } from '../../src/ledger/lock-order.ts';
import { generous } from '../money-out/payouts/build-payouts.ts';
import { buildIndividual, buildOrganizationAdmin, buildSuperAdmin } from '../support/build.ts';
import { buildOrganizationCause } from '../support/build-targets.ts';
import { buildOperators, secureSession } from '../support/decide.ts';
import { casesOf } from '../support/full.ts';
import { writeInOneShard } from '../support/one-shard.ts';
import { buildPartner } from '../support/partner.ts';
import { expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { type LockTrace, type TracedLock, traceLocks } from '../support/trace-locks.ts';
import { waitLongForLocks } from '../support/wait-long.ts';
import { withoutTriggers } from '../support/without-triggers.ts';
import { at } from './money-place.ts';
import { donateTogether, pathsOfPayments } from './paths-of-payments.ts';
import { pathsOfPayouts } from './paths-of-payouts.ts';

let stack: Stack;
waitLongForLocks();
beforeAll(async () => {
  stack = await startStack({
    own: true,
    worker: true,
    sandbox: true,
    env: { DISBURSEMENT_APPROVAL_ABOVE: '300000' },
  });
  const superAdmin = await buildSuperAdmin(stack);
  Object.assign(at, {
    stack,
    superAdmin,
    operators: await buildOperators(stack),
    second: { token: await secureSession(stack, superAdmin.id) },
    partner: await buildPartner(stack, { limits: generous }),
  });
  await writeInOneShard(stack);
  await stack.owner().execute("alter function hold_causes set lock_timeout = '30s'");
  await stack.owner().execute("alter function hold_open_cause set lock_timeout = '30s'");
  await plantCounts(1);
}, 120_000);
afterAll(async () => {
  try {
    await plantCounts(-1);
    await expectChecksEmpty(stack);
  } finally {
    await stack.stop();
  }
});
beforeEach(async () => {
  const person = await buildIndividual(stack, { balance: '10000000' });
  const organization = await buildOrganizationAdmin(stack, { balance: '1000000' });
  Object.assign(at, { person, organization, cause: await buildOrganizationCause(stack, organization) });
});

/** Adds to every count, so that its row exists and can be locked. */
async function plantCounts(by: 1 | -1): Promise<void> {
  const counted =
    by === 1
      ? `insert into transaction_counts (reference_type, type, shard, count)
         select r, t, 1, 1 from unnest(array['donation', 'saving_goal', 'saving_circle', 'investment',
           'commodity_financing', 'account_top_up']) r, unnest(array['price', 'fee']) t
         on conflict (reference_type, type, shard) do update set count = transaction_counts.count + 1`
      : `with alone as (delete from transaction_counts where shard = 1 and count = 1)
         update transaction_counts set count = count - 1 where shard = 1 and count > 1`;
  await withoutTriggers(stack, counted, []);
}
/** Inserts missing shards of balances and totals, and tallies of limits, with amount zero. */
async function plantShards(): Promise<void> {
  for (const planted of [
    `insert into account_balances (account_id, shard, balance) select id, 2, 0 from accounts on conflict do nothing`,
    `insert into cause_totals (cause_id, shard, donated, donations)
     select id, shard, 0, 0 from charitable_causes, unnest(array[0, 2]) shard on conflict do nothing`,
    `insert into payout_tallies (owner_id, starts_at, amount, payouts)
     select id, tally_start(now() + later), 0, 0 from (select id from partners union all select id from users) owner,
       unnest('{0 minutes, 10 minutes}'::interval[]) later on conflict do nothing`,
  ])
    await withoutTriggers(stack, planted, []);
}

const selectOf = ({ table, where }: LockedRows) => `select * from ${table} where ${where ?? 'true'}`;
/** Referenced rows, which may be share-locked at any time. */
const referredTo = ['users', 'organizations', 'partners'];

/** Returns the locks taken during the work, by connections that all write to the same shards. */
async function trace(work: () => Promise<unknown>, unless: readonly string[] = []): Promise<LockTrace[]> {
  await plantShards();
  const named = new Map(
    [...lockOrder.map(selectOf), ...referredTo.map((table) => selectOf({ name: table, table }))].map((select) => [
      select,
      select,
    ]),
  );
  for (const select of unless) named.delete(select);
  return traceLocks(stack, Object.fromEntries(named), work);
}

const placeOf = ({ kind, mode }: TracedLock): number =>
  lockOrder.findIndex(
    (rows) => selectOf(rows) === kind && (rows.modes === undefined || (mode !== null && rows.modes.includes(mode))),
  );

/** Returns the steps that violate the order. */
const outOfOrder = (traces: readonly LockTrace[]): string[] =>
  traces.flatMap((locks) => {
    let last: TracedLock | undefined;
    return locks.flatMap((lock) => {
      const place = placeOf(lock);
      const whole =
        last !== undefined &&
        referredTo.some((table) => last?.kind === selectOf({ name: table, table }) && last.mode === 'update');
      if (place < 0 && lock.mode !== 'update') return [];
      const before = last;
      last = lock;
      return before !== undefined && (whole || place < placeOf(before))
        ? [`${before.kind} (${before.mode}), then ${lock.kind} (${lock.mode}): ${lock.statement}`]
        : [];
    });
  });

const movesMoney = (traces: readonly LockTrace[]): boolean =>
  traces.flat().some(({ kind }) => kind.includes('account_balances'));

/** Paths that share all or most steps with a path that always runs. */
const variants = [
  'the last pot',
  'a round that guarantees cover',
  'a payout that fails',
  'a payout that is reversed',
  'a payout settled by decision',
  'a withdrawal',
  'a disbursement that is decided',
  'a disbursement that fails',
  'an open donation refunded by decision',
  'a released goal by gateway',
  'a goal by gateway',
  'an open donation by gateway',
  'an open donation from a balance',
  'a product with target from a balance',
];
it.each(casesOf([...pathsOfPayments, ...pathsOfPayouts], ([name]) => !variants.includes(name)))(
  'A transaction takes locks in order: %s',
  async (_, prepare) => {
    const traces = await trace(await prepare());
    expect(outOfOrder(traces)).toEqual([]);
    expect(movesMoney(traces)).toBe(true);
  },
  100_000,
);

it('Payments written together take locks in order, and only try to lock sources and payers', async () => {
  const sources = lockOrder.filter(({ where }) => where?.startsWith('shard = 0 and'));
  const payers = ['users', 'organizations'].map((table) => ({ name: table, table }));
  const [, prepare] = donateTogether;
  const traces = await trace(await prepare(), [...sources, ...payers].map(selectOf));
  expect(outOfOrder(traces)).toEqual([]);
  expect(movesMoney(traces)).toBe(true);
}, 100_000);

it('A transaction that locks in reverse order is detected', async () => {
  const traces = await trace(() =>
    stack.em().transactional(async (tx) => {
      await tx.execute('select from saving_circles for share');
      await tx.execute('select from charitable_causes where id = ? for key share', [at.cause.id]);
      await tx.execute('select from donations for no key update');
    }),
  );
  expect(outOfOrder(traces)).toMatchObject([expect.stringContaining('donations')]);
}, 100_000);
