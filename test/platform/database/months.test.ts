import { runCheck } from '../../../src/ledger/run-checks.ts';
import { forgetRows } from '../../../src/platform/housekeeping/forget-rows.ts';
import { makeComingMonths } from '../../../src/platform/housekeeping/make-months.ts';
import { newId } from '../../../src/shared/ids.ts';
import { makeMonthsSince } from '../../support/make-months.ts';
import { buildPartner } from '../../support/partner.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ own: true, env: { LOG_LEVEL: 'silent' } });
  await makeMonthsSince(stack.owner(), '1 year');
}, 60_000);
afterAll(() => stack?.stop());

const monthOf = async (interval: string): Promise<string> => {
  const [row] = await stack
    .owner()
    .execute<[{ name: string }]>(
      `select month_name('events', date_trunc('month', (now() + interval '${interval}') at time zone 'UTC')::date) as name`,
    );
  return row.name;
};
const problems = async () => (await runCheck(stack.em(), 'check_months_are_made')).sample;
/** A time in the middle of next month. */
const soon = "date_trunc('month', now()) + interval '1 month 10 days'";
const comingEvent = (id: string) => `insert into events (id, event, impact, resource_type, resource_id, created_at)
  values (uuidv7(${soon} - now()), 'COMING', 'MEDIUM', 'thing', '${id}', ${soon})`;
const placeOf = async (resourceId: string): Promise<string | undefined> => {
  const rows = await stack
    .owner()
    .execute<{ place: string }[]>('select tableoid::regclass::text as place from events where resource_id = ?', [
      resourceId,
    ]);
  return rows[0]?.place;
};
/** Returns the partitions that a statement reads when executed. */
async function partitionsOf(sql: string): Promise<string[]> {
  const rows = await stack
    .owner()
    .execute<{ 'QUERY PLAN': string }[]>(`explain (analyze, costs off, timing off) ${sql}`);
  const lines = rows.map((row) => row['QUERY PLAN']).filter((line) => !line.includes('never executed'));
  return [...new Set(lines.flatMap((line) => line.match(/\w+_(?:\d{4}_\d{2}|default)\b/g) ?? []))]
    .filter((name) => !/_(idx|pkey)/.test(name))
    .toSorted();
}

describe('Tables partitioned by month', () => {
  it('Monthly partitions exist in advance, and only their owner can access them', async () => {
    expect(await makeComingMonths(stack.em())).toEqual([]);
    await expect(stack.em().execute(`select from months.${await monthOf('3 months')}`)).rejects.toMatchObject({
      code: '42501',
    });
    await expectChecksEmpty(stack);
  });

  it('Rows without a monthly partition are stored, reported, and moved once it exists', async () => {
    const missing = await monthOf('1 month');
    await stack.owner().execute(`drop table months.${missing}`);
    expect(await problems()).toEqual([
      { table_name: 'events', problem: `has no partition for ${missing.slice(-7).replace('_', '-')}` },
    ]);
    const id = newId();
    await stack.em().execute(comingEvent(id));
    expect(await placeOf(id)).toBe('months.events_default');
    expect(await problems()).toContainEqual({
      table_name: 'events',
      problem: '1 rows (10000 at most) have no partition for their month',
    });
    expect(await makeComingMonths(stack.em())).toEqual([missing]);
    expect(await placeOf(id)).toBe(`months.${missing}`);
    expect(await problems()).toEqual([]);
  });

  it('Creating a partition fails instead of blocking sessions that use the table', async () => {
    const missing = await monthOf('1 month');
    await stack.owner().execute(`drop table months.${missing}`);
    const reader = stack.owner();
    await reader.begin();
    await reader.execute('lock table months.events_default in access share mode');
    await expect(makeComingMonths(stack.em())).rejects.toMatchObject({ code: '55P03' });
    await stack.em().execute(comingEvent(newId()));
    await reader.rollback();
    expect(await makeComingMonths(stack.em())).toEqual([missing]);
  });

  it('Queries read only the partitions that they need', async () => {
    const [thisMonth, inSpring] = [await monthOf('0'), await monthOf('-5 months')];
    const [{ id }] = await stack.em().execute<[{ id: string }]>('select uuidv7() as id');
    expect(await partitionsOf(`select * from events where id = '${id}'`)).toEqual([thisMonth]);
    const [{ middle }] = await stack
      .owner()
      .execute<[{ middle: string }]>(
        `select (date_trunc('month', (now() - interval '5 months') at time zone 'UTC') + interval '10 days')::text as middle`,
      );
    expect(
      await partitionsOf(
        `select * from events where created_at >= '${middle}Z' and created_at < timestamptz '${middle}Z' + interval '1 day'
           and id >= first_id_at(timestamptz '${middle}Z' - interval '1 day')
           and id < first_id_at(timestamptz '${middle}Z' + interval '2 days')`,
      ),
    ).toEqual([inSpring]);
    // A webhook's key finds it in one partition, which is known only at execution.
    expect(
      (await partitionsOf(`select d.* from (values ('${id}'::uuid)) k (id) join webhook_deliveries d on d.id = k.id`))
        .length,
    ).toBe(1);
  });

  it('An event whose id and created_at have different times is refused', async () => {
    await expect(
      stack
        .em()
        .execute(
          "insert into events (event, impact, resource_type, created_at) values ('X', 'LOW', 'x', now() - interval '2 days')",
        ),
    ).rejects.toMatchObject({ code: '23514' });
  });
});

describe('Expired bodies', () => {
  it('A callback’s body is deleted after its retention period once delivered; its digest stays', async () => {
    const plant = (ago: string, delivered: string) =>
      stack.owner().execute(
        `with key as (insert into callback_keys values (uuidv7(), 'd', uuidv7(interval '-${ago}')) returning *)
         insert into gateway_callbacks (id, webhook_id, event, kind, reference, body_sealed, body_digest, body_bytes, delivered_at)
         select callback_id, webhook_id, 'e', 'payment', '${ago} ' || ?, 'x', body_digest, 1, ${delivered} from key`,
        [delivered],
      );
    for (const ago of ['31 days', '29 days']) {
      await plant(ago, 'now()');
      await plant(ago, 'null');
    }
    const kept = async () =>
      (
        await stack
          .em()
          .execute<{ reference: string }[]>(
            "select reference from gateway_callbacks where body_sealed is not null and body_digest = 'd' order by 1",
          )
      ).map(({ reference }) => reference);
    expect(await forgetRows(stack.em(), 'callback_bodies', '30 days', 1)).toBe(1);
    expect(await forgetRows(stack.em(), 'callback_bodies', '30 days', 10)).toBe(0);
    expect(await kept()).toEqual(['29 days now()', '29 days null', '31 days null']);
  });

  it('An old webhook’s body is deleted unless the webhook is pending; then the webhook cannot be redelivered', async () => {
    const partner = await buildPartner(stack, {
      webhook: { url: 'http://127.0.0.1:9/hook' },
      permissions: ['manage-webhooks'],
    });
    const [{ endpoint }] = await stack
      .em()
      .execute<[{ endpoint: string }]>('select id as endpoint from webhook_endpoints where partner_id = ?', [
        partner.id,
      ]);
    const plant = async (status: string): Promise<string> => {
      const [{ id }] = await stack.owner().execute<[{ id: string }]>(
        `with key as (insert into webhook_version_keys values ('payout', uuidv7(), 1, ?, uuidv7(interval '-31 days')) returning *)
         insert into webhook_deliveries (id, partner_id, endpoint_id, resource_type, resource_id, version, type, body_sealed,
           body_digest, next_attempt_at, created_at)
         select delivery_id, ?, endpoint_id, resource_type, resource_id, version, 'payout.failed', 'x', 'd', now(),
           now() - interval '31 days' from key returning id`,
        [endpoint, partner.id],
      );
      if (status !== 'pending') {
        await stack
          .owner()
          .execute('update webhook_deliveries set status = ?, next_attempt_at = null, delivered_at = ? where id = ?', [
            status,
            status === 'delivered' ? new Date() : null,
            id,
          ]);
      }
      return id;
    };
    const [pending, delivered, parked] = [await plant('pending'), await plant('delivered'), await plant('parked')];
    expect(await forgetRows(stack.em(), 'webhook_bodies', '30 days', 100)).toBe(2);
    const rows = await stack
      .em()
      .execute<{ id: string }[]>(
        "select id from webhook_deliveries where partner_id = ? and body_sealed is null and body_digest = 'd'",
        [partner.id],
      );
    expect(rows.map(({ id }) => id).toSorted()).toEqual([delivered, parked].toSorted());
    const again = await partner.send('post', `/webhook-deliveries/${delivered}/redeliver`);
    expect([again.status, again.body.error.message]).toEqual([
      400,
      'id: the delivery is too old: its body is no longer stored',
    ]);
    const day = 24 * 60 * 60 * 1000;
    const period = { from: new Date(Date.now() - 32 * day), to: new Date(Date.now() - 30 * day) };
    const replayed = await partner.send('post', '/webhook-deliveries/replay', { ...period, dry_run: true });
    expect(replayed.body.data).toEqual({ count: 1 });
    const { body } = await partner.get('/webhook-deliveries?status=pending');
    expect(body.data.items).toMatchObject([{ id: pending }]);
  });
});
