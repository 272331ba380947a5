import { newId } from '../../../src/shared/ids.ts';
import { forgetOldRows } from '../../../src/wiring/forget-old-rows.ts';
import { recountTallies } from '../../support/recount-tallies.ts';
import { isFullRun } from '../../support/run.ts';
import { type Stack, startStack } from '../../support/stack.ts';
import { withoutTriggers } from '../../support/without-triggers.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ own: true });
});
afterAll(() => stack.stop());

/**
 * Inserts this many payouts of a day; returns their owner, who has no others: a partner (including refunds by transfer)
 * or a person (withdrawals including disbursements).
 */
type Plant = (count: number) => Promise<string>;

const columns = `id, kind, source_account_id, reserved_account_id, partner_id, reference, fee_mode, amount, fee, net_amount,
  bank_code, texts_sealed, status, has_left, failure_code, finalized_at, created_at, updated_at`;
/**
 * Every fifth failed. The first three hundred lie on the boundaries of the last 150 intervals, and a microsecond before
 * and after them; the others anywhere in the day.
 */
const rowsOf = (count: number, kind: string, partner: string) =>
  `select uuidv7(), ${kind}, uuidv7(), uuidv7(), ${partner}, 'T-' || uuidv7(), 'DEDUCTED', n, 0, n, 'BCA', 'x',
     case n % 5 when 0 then 'failed' else 'succeeded' end, n % 5 <> 0, case n % 5 when 0 then 'X' end, at, at, at
   from generate_series(1, ${count}) n cross join lateral (select case when n <= 300
     then tally_start(now()) - (n / 2) * interval '10 minutes' + (n % 3 - 1) * interval '1 microsecond'
     else now() - (n * 7919 % 86400) * interval '1 second' end as at) place`;

const plantPartner: Plant = async (count) => {
  const partner = newId();
  const kind = "case n % 7 when 0 then 'payment_refund' else 'partner_payout' end";
  await withoutTriggers(stack, `insert into payouts (${columns}) ${rowsOf(count, kind, `'${partner}'::uuid`)}`, []);
  return partner;
};
const plantPerson: Plant = async (count) => {
  const user = newId();
  await withoutTriggers(
    stack,
    `with made as (insert into payouts (${columns}) ${rowsOf(count, "'withdrawal'", 'null::uuid')} returning id, amount, created_at)
     insert into withdrawals (id, user_id, bank_account_id, transaction_id, cause_id, purpose_note, created_at)
     select id, '${user}', uuidv7(), uuidv7(), case amount % 7 when 0 then uuidv7() end,
       case amount % 7 when 0 then 'Two pumps and their pipes' end, created_at from made`,
    [],
  );
  return user;
};
const many = isFullRun() ? 20_000 : 2_000;
const owners: [string, Plant, string][] = [
  ['a partner', plantPartner, 'p.partner_id = ?'],
  ['a person', plantPerson, 'p.id in (select w.id from withdrawals w where w.user_id = ? and w.cause_id is null)'],
];

describe.each(owners)('Limit tallies of %s', (_, plant, counted) => {
  it('Limit tallies are exact at every interval boundary and at every payout, to the microsecond', async () => {
    const owner = await plant(500);
    await recountTallies(stack);
    await stack.owner().execute('analyze payouts, withdrawals, payout_tallies');
    const edges = await stack.owner().transactional(async (tx) => {
      // A thousand sums take a while on a busy machine.
      await tx.execute("set local statement_timeout = '60s'");
      return tx.execute<{ wrong: number; edges: number }[]>(
        `with mine as materialized (select p.status, p.amount, p.created_at from payouts p where ${counted}),
       edge as (select distinct at + m * interval '1 microsecond' as since
         from (select created_at as at from limited_payouts where owner_id = ?
           union all select tally_start(now()) - n * interval '10 minutes' from generate_series(0, 160) n) place,
         generate_series(-1, 1) m)
       select count(*) filter (where kept is distinct from counted)::int as wrong, count(*)::int as edges from edge
       cross join lateral (select row (r.amount, r.payouts) as kept from reserved_since(?, since) r) kept
       cross join lateral (select row (coalesce(sum(p.amount) filter (where p.status <> 'failed'), 0), count(*)::int) as counted
         from mine p where p.created_at > since) counted`,
        [owner, owner, owner],
      );
    });
    expect(edges).toEqual([{ wrong: 0, edges: expect.any(Number) }]);
    expect(edges[0]?.edges).toBeGreaterThan(900);
    expect(await stack.em().execute('select * from check_payout_tallies_match_payouts')).toEqual([]);
  });

  it(`Limits after ${many} payouts in a day are computed from fewer than a thousand rows`, async () => {
    const owner = await plant(many);
    await recountTallies(stack);
    await stack.owner().execute('analyze payouts, withdrawals, payout_tallies');
    const rows = await rowsRead(owner);
    expect(rows).toBeGreaterThan(100);
    expect(rows).toBeLessThan(1_000);
  });
});

/** How many rows a reservation of this owner reads for its limits. */
function rowsRead(owner: string): Promise<number> {
  return stack.owner().transactional(async (tx) => {
    const soFar = async () => {
      const [row] = await tx.execute<[{ rows: number }]>(
        `select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as rows from pg_stat_xact_user_tables
         where relname in ('payouts', 'withdrawals', 'payout_tallies')`,
      );
      return row.rows;
    };
    const before = await soFar();
    await tx.execute("select * from reserved_since(?, clock_timestamp() - interval '24 hours')", [owner]);
    return (await soFar()) - before;
  });
}

it('Limit tallies are deleted once they are older than two days', async () => {
  await withoutTriggers(
    stack,
    `truncate payout_tallies; insert into payout_tallies
     select uuidv7(), now() - age, 0, 0 from unnest('{0 hours, 47 hours, 49 hours, 300 days}'::interval[]) age`,
    [],
  );
  await forgetOldRows(stack.em());
  expect(await stack.em().execute("select from payout_tallies where starts_at < now() - interval '2 days'")).toEqual(
    [],
  );
  expect(await stack.em().execute('select from payout_tallies')).toHaveLength(2);
});
