import { withinLimit } from '../../../src/platform/database/time-limit.ts';
import { inRounds } from '../../../src/platform/housekeeping/in-rounds.ts';
import { forgetOldRows } from '../../../src/wiring/forget-old-rows.ts';
import { buildIndividual } from '../../support/build.ts';
import { type Stack, startStack } from '../../support/stack.ts';
import { withClient } from '../../support/with-client.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ own: true });
}, 60_000);
afterAll(() => stack?.stop());

const old = "now() - interval '31 days'";
const openings = 10;
const plant = async () => {
  const { id } = await buildIndividual(stack);
  await stack.owner().execute(
    `insert into requests (owner_id, key_hash, fingerprint, resource_id, made, answer_status, answer_body, decided_at)
     select ?, 'key ' || n, 'f', gen_random_uuid(), 1, 201, '{}', ${old} from generate_series(1, 3) n`,
    [id],
  );
  await stack.owner().execute(
    `insert into requests (owner_id, key_hash, fingerprint, resource_id, kind, refused_upto, refusal, decided_at)
     select id, '', '', id, 'payout', 1, '{}', ${old} from (select gen_random_uuid() as id from generate_series(1, ${openings})) o`,
  );
  return id;
};
const left = async () => {
  const [row] = await stack.em().execute<[{ keys: number; openings: number }]>(
    `select (select count(*)::int from requests where answer_body is not null) as keys,
       (select count(*)::int from requests where refusal is not null) as openings`,
  );
  return row;
};
/** Does the work while the rows or tables that the statement locks are locked. */
const whileLocked = <T>(statement: string, work: () => Promise<T>, values: unknown[] = []) =>
  withClient(stack.databaseUrls.owner, async (client) => {
    await client.query('begin');
    await client.query(statement, values);
    return work().finally(() => client.query('rollback'));
  });

describe('Rounds over locked rows', () => {
  it('Locked rows are skipped until the next run, and delay no other row or kind', async () => {
    const id = await plant();
    const hold = "select from requests where owner_id = $1 and key_hash = 'key 1' for update";
    expect(await whileLocked(hold, () => forgetOldRows(stack.em()), [id])).toBe(2 + openings);
    expect(await left()).toEqual({ keys: 1, openings: 0 });
    expect(await forgetOldRows(stack.em())).toBe(1);
  });

  it('A locked table delays no other kind of expired rows, and is reported at the end', async () => {
    await plant();
    const tally = `insert into payout_tallies (owner_id, starts_at, amount, payouts) values (gen_random_uuid(), ${old}, 0, 0)`;
    await stack.owner().execute(tally);
    const run = whileLocked('lock table requests', () => forgetOldRows(stack.em()));
    await expect(run).rejects.toMatchObject({ message: 'not deleted: requests', errors: [{ code: '55P03' }] });
    expect(await stack.em().execute(`select 1 from payout_tallies where starts_at <= ${old}`)).toEqual([]);
    expect(await left()).toEqual({ keys: 3, openings });
    expect(await forgetOldRows(stack.em())).toBe(3 + openings);
  }, 60_000);
});

it('A clean-up run reports every kind of rows that failed, and does not retry it', async () => {
  const called: string[] = [];
  const kind = (name: string, rows: number, error?: Error) => async () => {
    called.push(name);
    if (error !== undefined) throw error;
    return called.filter((other) => other === name).length > 1 ? 0 : rows;
  };
  const [first, second] = [new Error('first'), new Error('second')];
  const run = inRounds(stack.em(), {
    broken: kind('broken', 0, first),
    many: kind('many', 10_000),
    stuck: kind('stuck', 0, second),
    few: kind('few', 3),
  });
  await expect(run).rejects.toMatchObject({ message: 'not deleted: broken, stuck', errors: [first, second] });
  expect(called).toEqual(['broken', 'many', 'stuck', 'few', 'many']);
});

it('A clean-up run repeats a kind of rows as long as its rounds are full, however small their limit', async () => {
  const asked: number[] = [];
  const forget = async (_: unknown, limit: number) => {
    asked.push(limit);
    return asked.length < 3 ? limit : 1;
  };
  expect(await inRounds(stack.em(), { slow: { forget, roundLimit: 10 } })).toBe(21);
  expect(asked).toEqual([10, 10, 10]);
});

const many = 25_000;
const plantMany = () =>
  stack.owner().execute(
    `insert into requests (owner_id, key_hash, fingerprint, resource_id, kind, refused_upto, refusal, decided_at)
     select id, '', '', id, 'payout', 1, '{}', ${old} from (select gen_random_uuid() as id from generate_series(1, ${many})) o`,
  );

describe('Rounds over expired rows', () => {
  it('Expired rows are deleted in one run, however many rounds that takes', async () => {
    await plantMany();
    expect(await forgetOldRows(stack.em())).toBe(many);
    expect(await left()).toMatchObject({ openings: 0 });
  });

  it('Expired rows are kept for the next run when a run’s time is up', async () => {
    await plantMany();
    const run = withinLimit({ endsAt: performance.now() - 1, askUntil: 0 }, () => forgetOldRows(stack.em()));
    expect(await run).toBe(0);
    expect(await left()).toMatchObject({ openings: many });
  });
});
