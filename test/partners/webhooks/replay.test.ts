import { randomUUID } from 'node:crypto';
import { recordWebhook } from '../../../src/partners/webhooks/record-webhook.ts';
import { replayDeliveries } from '../../../src/partners/webhooks/replay-deliveries.ts';
import { withTime } from '../../../src/platform/database/database-time-outs.ts';
import { budgets } from '../../../src/shared/budgets.ts';
import { newId } from '../../../src/shared/ids.ts';
import { textArray } from '../../../src/shared/postgres.ts';
import { itInFull } from '../../support/full.ts';
import { type BuiltPartner, buildPartner } from '../../support/partner.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { withoutTriggers } from '../../support/without-triggers.ts';
import { type Receiver, startReceiver, verified } from './receiver.ts';

let stack: Stack;
let receiver: Receiver;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startStack({ isImpatient: true, worker: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  receiver = await startReceiver();
  partner = await buildPartner(stack, { webhook: { url: receiver.url } });
});
afterEach(() => receiver.stop());

const today = new Date(Date.now() + 7 * 3_600_000).toISOString().slice(0, 10);
const period = { from: today, to: '2999-12-31' };
const replay = (body: object, by = partner) => by.send('post', '/webhook-deliveries/replay', body);
const deliveries = async (query = '') => (await partner.get(`/webhook-deliveries?limit=100${query}`)).body.data;
const bodiesReceived = () => Map.groupBy(receiver.received, ({ headers }) => String(headers['webhook-id']));

/** Inserts this many past webhooks, delivered and without a workflow. */
async function tellInThePast(count: number, who = partner): Promise<string[]> {
  const ids = await withTime(stack.em(), budgets.database.sweep, async (tx) => {
    const told: string[] = [];
    for (let number = 0; number < count; number += 1) {
      const webhook = { partnerId: who.id, resourceType: 'payout', version: 1, type: 'payout.failed' } as const;
      const one = { ...webhook, resourceId: newId(), at: new Date(), data: { number } };
      told.push(...(await recordWebhook(tx, stack.deps.sealer, one)));
    }
    return told;
  });
  await stack.owner().execute(
    `update webhook_deliveries set status = 'delivered', delivered_at = now(), next_attempt_at = null, attempts = 1
       where partner_id = ?`,
    [who.id],
  );
  return ids;
}
const arrived = (count: number) =>
  eventually(
    async () => receiver.received.length,
    (length) => length >= count,
  );
const deliveredAgain = (count: number) =>
  eventually(
    () => deliveries('&status=delivered'),
    ({ items }) => items.filter(({ attempts }: { attempts: number }) => attempts >= 2).length === count,
  );

/** Makes pending deliveries due, as if none had been signalled, and sweeps twice. */
async function sweepWhatIsLeft(): Promise<void> {
  const { client, taskQueue } = stack.deps.workflows;
  for (let pass = 1; pass <= 2; pass += 1) {
    await stack.owner().execute(
      `update webhook_deliveries set next_attempt_at = now() - interval '2 minutes'
       where partner_id = ? and status = 'pending'`,
      [partner.id],
    );
    await client.workflow.execute('sweep', { taskQueue, workflowId: `sweep-${newId()}`, args: [] });
  }
}

describe('A replay', () => {
  it('A replay resends every webhook of the period with the same id; a dry run only counts them', async () => {
    const ids = await tellInThePast(5);
    await stack
      .owner()
      .execute(
        `update webhook_deliveries set status = 'pending', delivered_at = null, next_attempt_at = now() where id = ?`,
        [ids[0]],
      );
    await stack
      .owner()
      .execute("update webhook_deliveries set status = 'parked', next_attempt_at = null where id = ?", [ids[0]]);
    const other = await buildPartner(stack, { webhook: { url: receiver.url } });
    const [foreign] = await tellInThePast(1, other);
    const counted = await replay({ ...period, dry_run: true });
    expect([counted.status, counted.body.data]).toEqual([200, { count: 5 }]);
    expect((await deliveries('&status=pending')).total).toBe(0);
    const replayed = await replay({ ...period, dry_run: false });
    expect([replayed.status, replayed.body.data]).toEqual([200, { count: 5 }]);
    await deliveredAgain(5);
    expect([...bodiesReceived().keys()].toSorted()).toEqual(
      ids.map((id) => `msg_${id.replaceAll('-', '')}`).toSorted(),
    );
    const numbers = receiver.received.map((one) => verified(partner.webhookSecret, one).data.number);
    expect(numbers.toSorted()).toEqual([0, 1, 2, 3, 4]);
    const [row] = await stack
      .em()
      .execute<{ attempts: number }[]>('select attempts from webhook_deliveries where id = ?', [foreign]);
    expect(row?.attempts).toBe(1);
    const [event] = await stack.em().execute<{ data: object; resource_id: string | null }[]>(
      `select data, resource_id from events where resource_type = 'webhook_delivery' and data->>'partner_id' = ?
         and data->'replay' is not null`,
      [partner.id],
    );
    expect(event).toMatchObject({ resource_id: null, data: { replay: 5, endpoint_id: null } });
  });

  it('A replay covers days in UTC+7 or instants, and only one endpoint with endpoint_id', async () => {
    const [first, second] = await tellInThePast(2);
    await withoutTriggers(stack, "update webhook_deliveries set created_at = '2020-01-01T17:00:00Z' where id = ?", [
      first,
    ]);
    for (const [from, to, count] of [
      ['2020-01-02', '2020-01-02', 1],
      ['2020-01-01T17:00:00.000Z', '2020-01-01T17:00:00.000Z', 1],
      ['2020-01-01', '2020-01-01', 0],
      ['2020-01-03', today, 1],
      ['2020-01-01', today, 2],
    ] as const) {
      expect((await replay({ from, to, dry_run: true })).body.data).toEqual({ count });
    }
    const made = await partner.send('post', '/webhook-endpoints', { url: receiver.url, events: ['payment.failed'] });
    const endpoint_id = made.body.data.id;
    expect((await replay({ from: '2020-01-01', to: today, endpoint_id })).body.data).toEqual({ count: 0 });
    const [{ endpoint_id: operators }] = (await deliveries()).items;
    expect((await replay({ from: '2020-01-03', to: today, endpoint_id: operators })).body.data).toEqual({ count: 1 });
    await arrived(1);
    expect([...bodiesReceived().keys()]).toEqual([`msg_${second?.replaceAll('-', '')}`]);
  });

  it('Concurrent replays share one rate: each starts where another ends', async () => {
    const count = isFullRun() ? 40 : 20;
    await tellInThePast(count);
    const answers = await Promise.all(Array.from({ length: 4 }, () => replay(period)));
    expect(answers.map(({ status, body }) => [status, body.data])).toEqual(answers.map(() => [200, { count }]));
    const [{ seconds }] = await stack.em().execute<[{ seconds: number }]>(
      `select extract(epoch from p.replayed_until - min(e.created_at))::float8 as seconds
       from partners p join events e on e.data->>'partner_id' = p.id::text and e.data->'replay' is not null
       where p.id = ? group by p.id`,
      [partner.id],
    );
    // At twenty a second, four replays take count / 5 seconds and one count / 20; the first event is stored a little
    // late.
    expect(seconds).toBeGreaterThan(count / 10);
    await deliveredAgain(count);
    const bodies = bodiesReceived();
    expect(bodies.size).toBe(count);
    for (const same of bodies.values()) expect(new Set(same.map(({ body }) => body)).size).toBe(1);
  }, 120_000);

  itInFull(
    'A replay of more than a hundred webhooks proceeds at a steady pace without a sweep',
    async () => {
      await tellInThePast(123);
      expect((await replay(period)).body.data).toEqual({ count: 123 });
      await eventually(
        async () => (await deliveries('&status=pending')).total,
        (waiting) => waiting === 0,
        90_000,
      );
      expect(bodiesReceived().size).toBe(123);
    },
    120_000,
  );

  it('An interrupted replay keeps its pace and is resumed by the sweep', async () => {
    const ids = await tellInThePast(25);
    await stack.owner().execute(
      `insert into sweep_looks (kind, subject_id, looks, look_again_at)
       select 'webhook_delivery', id, 11, now() + interval '1 day' from unnest(?::uuid[]) id`,
      [textArray(ids)],
    );
    // As if the process had died before it signalled any delivery.
    const workflows = { hastenWebhookDeliveries: () => undefined };
    const input = { partnerId: partner.id, requestId: newId(), from: new Date(0), to: new Date('2999-12-31') };
    expect(await replayDeliveries(stack.em(), { workflows }, { ...input, dryRun: false })).toBe(25);
    const due = await stack.em().execute<{ seconds: number; count: number }[]>(
      `select extract(epoch from next_attempt_at - min(next_attempt_at) over ())::int as seconds, count(*)::int
       from webhook_deliveries where partner_id = ? group by next_attempt_at order by 1`,
      [partner.id],
    );
    expect(due).toEqual([
      { seconds: 0, count: 20 },
      { seconds: 1, count: 5 },
    ]);
    await sweepWhatIsLeft();
    await deliveredAgain(25);
  }, 120_000);

  it('A replay speeds up webhooks that wait for hours, even when only the sweep executes it', async () => {
    const [id] = await tellInThePast(1);
    receiver.behave((response) => void response.writeHead(503, { 'retry-after': '7200' }).end());
    await replay(period);
    await eventually(
      async () => (await deliveries()).items[0],
      (row) => row.status === 'pending' && Date.parse(row.next_attempt_at) > Date.now() + 3_600_000,
    );
    receiver.behave((response) => void response.writeHead(200).end());
    // As left by a replay whose process died before it signalled any delivery.
    await stack
      .owner()
      .execute("update webhook_deliveries set next_attempt_at = now() - interval '2 minutes' where id = ?", [id]);
    const { client, taskQueue } = stack.deps.workflows;
    await client.workflow.execute('sweep', { taskQueue, workflowId: `sweep-${id}`, args: [] });
    await deliveredAgain(1);
  });
});

describe('Refused replays', () => {
  it('A replay that would wait for more than ten minutes is refused with Retry-After', async () => {
    await tellInThePast(1);
    const busy = "update partners set replayed_until = now() + interval '11 minutes' where id = ?";
    await stack.owner().execute(busy, [partner.id]);
    const { status, body, headers } = await replay(period);
    expect([status, body.error.code]).toEqual([429, 'REQUEST_RATE_LIMITED']);
    expect(body.error.message).toMatch(/^Earlier replays will still be sent for 6[56]\d seconds; try again later$/);
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect((await replay({ ...period, dry_run: true })).status).toBe(200);
    await stack.owner().execute('update partners set replayed_until = null where id = ?', [partner.id]);
    expect((await replay(period)).body.data).toEqual({ count: 1 });
  });

  it.each([
    ['without a beginning', { to: today }, 400, 'from: is required'],
    ['without an end', { from: today }, 400, 'to: is required'],
    ['with an invalid date', { from: 'yesterday', to: today }, 400, 'from: must be a date'],
    [
      'that ends the day before it begins',
      { from: '2026-11-27', to: '2026-11-26' },
      400,
      'to: must not be before from',
    ],
    ['that ends before it begins', { from: today, to: '2020-01-01' }, 400, 'to: must not be before from'],
    ['with an unknown field', { ...period, status: 'parked' }, 400, 'status: unknown field'],
    [
      'for an endpoint that is missing',
      { ...period, endpoint_id: randomUUID() },
      404,
      'the webhook endpoint was not found',
    ],
  ])('A replay %s is refused', async (_, body, status, complaint) => {
    await tellInThePast(1);
    const refused = await replay(body);
    expect([refused.status, refused.body.error.message]).toEqual([status, expect.stringContaining(complaint)]);
    expect((await deliveries()).items).toMatchObject([{ status: 'delivered', attempts: 1 }]);
  });

  it('A replay is refused without the permission and for a foreign or disabled endpoint', async () => {
    await tellInThePast(1);
    const [{ endpoint_id }] = (await deliveries()).items;
    const other = await buildPartner(stack);
    expect((await replay({ ...period, endpoint_id }, other)).status).toBe(404);
    expect((await replay(period, other)).body.data).toEqual({ count: 0 });
    const reader = await buildPartner(stack, { permissions: ['read-gateway'] });
    expect((await replay(period, reader)).body.error.code).toBe('AUTH_PERMISSION_DENIED');
    await partner.send('patch', `/webhook-endpoints/${endpoint_id}`, { status: 'disabled' });
    const disabled = await replay({ ...period, endpoint_id });
    expect([disabled.status, disabled.body.error.details]).toEqual([
      400,
      [{ field: 'endpoint_id', message: 'endpoint_id: the endpoint is disabled: enable it first' }],
    ]);
    expect((await replay(period)).body.data).toEqual({ count: 0 });
    expect(receiver.received).toEqual([]);
  });

  it('A replay of more than ten thousand webhooks is refused, and nothing is sent', async () => {
    await tellInThePast(1);
    const [{ endpoint_id }] = (await deliveries()).items;
    await stack.owner().transactional(async (tx) => {
      await tx.execute("set local session_replication_role = 'replica'");
      await tx.execute(
        `with told as (insert into webhook_deliveries (id, partner_id, endpoint_id, resource_type, resource_id, version,
             type, body_sealed, body_digest, status, delivered_at, attempts)
           select uuidv7(), ?, ?, 'payout', uuidv7(), 1, 'payout.failed', 'x', 'x', 'delivered', now(), 1
           from generate_series(1, 9999) returning *)
         insert into webhook_version_keys (resource_type, resource_id, version, endpoint_id, delivery_id)
         select resource_type, resource_id, version, endpoint_id, id from told`,
        [partner.id, endpoint_id],
      );
    });
    expect((await replay({ ...period, dry_run: true })).body.data).toEqual({ count: 10_000 });
    await tellInThePast(1);
    for (const dry_run of [true, false]) {
      const refused = await replay({ ...period, dry_run });
      expect([refused.status, refused.body.error.message]).toEqual([400, expect.stringContaining('more than 10000')]);
    }
    expect((await deliveries('&status=delivered')).total).toBe(10_001);
    expect(receiver.received).toEqual([]);
  }, 60_000);
});
