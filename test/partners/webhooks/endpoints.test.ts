import { randomUUID } from 'node:crypto';
import { webhookTypes } from '../../../src/partners/partner.ts';
import { WebhookEndpoint } from '../../../src/partners/webhook-endpoint.entity.ts';
import { endpointSecretPlace } from '../../../src/partners/webhook-endpoint.ts';
import { must } from '../../../src/shared/assert.ts';
import { webhookDocuments } from '../../../src/wiring/webhook-documents.ts';
import { type BuiltPartner, buildPartner, everyEvent } from '../../support/partner.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { type Receiver, startReceiver, verified } from './receiver.ts';

let stack: Stack;
let receivers: Receiver[];
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startStack({ isImpatient: true, worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  receivers = await Promise.all([startReceiver(), startReceiver()]);
  partner = await buildPartner(stack);
});
afterEach(() => Promise.all(receivers.map((receiver) => receiver.stop())));

const at = (index: 0 | 1): Receiver => receivers[index] as Receiver;
const elsewhere = 'http://127.0.0.1:9/hook';
const add = (body: object) => partner.send('post', '/webhook-endpoints', body);
async function added(body: object) {
  const answer = await add(body);
  expect(answer.status).toBe(200);
  return answer.body.data;
}
const list = async () => (await partner.get('/webhook-endpoints')).body.data;
const deliveries = async (query = '') => (await partner.get(`/webhook-deliveries${query}`)).body.data.items;
const change = (id: string, body: object) => partner.send('patch', `/webhook-endpoints/${id}`, body);
const deliveriesWhen = (
  query: string,
  isRight: (rows: { id: string; status: string; attempts: number; type: string; version: number }[]) => boolean,
) => eventually(() => deliveries(query), isRight);
const allDelivered = (count: number) => (rows: { status: string }[]) =>
  rows.length === count && rows.every(({ status }) => status === 'delivered');
async function settle(): Promise<string> {
  const { body } = await partner.post('/payments', { method: 'qris', amount: '20000' });
  await stack.sandbox.post('/sandbox/pay', { payment_code: body.data.payment_code });
  await eventually(
    async () => (await partner.get(`/payments/${body.data.id}`)).body.data.status,
    (status) => status === 'succeeded',
  );
  return body.data.id;
}
const eventsOf = (id: string) =>
  stack
    .em()
    .execute<{ event: string; impact: string; actor_id: string | null; data: Record<string, unknown> }[]>(
      'select event, impact, actor_id, data from events where resource_id = ? order by created_at, id',
      [id],
    );
/** Sets since when the endpoint has been failing. */
const failingSince = (id: string, interval: string) =>
  stack
    .owner()
    .execute(`update webhook_endpoints set failing_since = now() - interval '${interval}' where id = ?`, [id]);

describe('An endpoint', () => {
  it('An endpoint is created with a secret shown once, changed and deleted, each with an event', async () => {
    const body = { url: at(0).url, events: ['payment.succeeded', 'payment.succeeded', 'payout.failed'] };
    const { secret, warnings, ...made } = await added(body);
    expect(warnings).toEqual([]);
    expect(secret).toMatch(/^whsec_[\w+/]+=*$/);
    expect(made).toEqual({
      id: expect.any(String),
      url: at(0).url,
      events: ['payment.succeeded', 'payout.failed'],
      status: 'enabled',
      disabled_reason: null,
      disabled_at: null,
      failing_since: null,
      set_by_operator: false,
      created_at: expect.any(String),
      updated_at: made.created_at,
    });
    expect(await list()).toEqual({ items: [made], page: 1, limit: 50, total: 1 });
    const changed = await change(made.id, { events: ['payment.failed'], status: 'disabled' });
    expect(changed.status).toBe(200);
    expect(changed.body.data).toMatchObject({
      ...made,
      events: ['payment.failed'],
      status: 'disabled',
      disabled_reason: 'requested',
      disabled_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const { url, events, status } = changed.body.data;
    expect((await change(made.id, { url, events, status })).body.data).toEqual(changed.body.data);
    expect((await change(made.id, {})).body.data).toEqual(changed.body.data);
    const deleted = await partner.send('delete', `/webhook-endpoints/${made.id}`);
    expect([deleted.status, { ...deleted.body.data, warnings }]).toEqual([200, changed.body.data]);
    expect((await list()).items).toEqual([]);
    for (const again of [
      change(made.id, {}),
      partner.send('delete', `/webhook-endpoints/${made.id}`),
      partner.send('post', `/webhook-endpoints/${made.id}/test`),
      partner.send('post', `/webhook-endpoints/${made.id}/rotate-secret`),
    ]) {
      const { status: missing, body: told } = await again;
      const complaint = 'The webhook endpoint was not found';
      expect([missing, told.error.code, told.error.message]).toEqual([404, 'RESOURCE_NOT_FOUND', complaint]);
    }
    expect(await eventsOf(made.id)).toMatchObject([
      { event: 'RESOURCE_CREATED', impact: 'HIGH', actor_id: null, data: { partner_id: partner.id } },
      { event: 'RESOURCE_UPDATED', impact: 'HIGH', data: { events: ['payment.failed'], status: 'disabled' } },
      { event: 'RESOURCE_DELETED', impact: 'HIGH' },
    ]);
    expect(JSON.stringify(await eventsOf(made.id))).not.toContain(secret);
  });

  const senseless: [string, object, string][] = [
    ['no url', { events: ['payment.failed'] }, 'url: is required'],
    ['no events', { url: elsewhere }, 'events: is required'],
    ['an empty list of events', { url: elsewhere, events: [] }, 'events: must name at least one event'],
    ['an unknown event', { url: elsewhere, events: ['payment.lost'] }, 'events.0: '],
    ['the test event, which cannot be subscribed to', { url: elsewhere, events: ['endpoint.test'] }, 'events.0: '],
    ['an unknown status', { url: elsewhere, events: ['payment.failed'], status: 'paused' }, 'status: '],
    ['an unknown field', { url: elsewhere, events: ['payment.failed'], secret: 'x' }, 'secret: unknown field'],
    ['a url that is not a URL', { url: 'nowhere', events: ['payment.failed'] }, 'url: must be a URL'],
    ['plain http', { url: 'http://93.184.216.34/', events: ['payment.failed'] }, 'url: must be an https URL'],
    ['a private address', { url: 'https://10.1.2.3/', events: ['payment.failed'] }, 'url: must not lead to a private'],
    ['a metadata service', { url: 'https://169.254.169.254/', events: ['payment.failed'] }, 'url: must not lead to'],
    ['credentials', { url: 'https://a:b@93.184.216.34/', events: ['payment.failed'] }, 'url: must not carry cred'],
  ];
  it.each(senseless)('Creating or changing an endpoint with %s is refused', async (_, body, complaint) => {
    const refused = await add(body);
    expect([refused.status, refused.body.error.code]).toEqual([400, 'REQUEST_INVALID_PAYLOAD']);
    expect(refused.body.error.message).toContain(complaint);
    expect(refused.body.error.details).toEqual([
      { field: complaint.split(':')[0], message: refused.body.error.message },
    ]);
    expect((await list()).total).toBe(0);
    if (complaint.endsWith('is required')) return;
    const { id } = await added({ url: elsewhere, events: ['payout.failed'] });
    expect((await change(id, body)).body.error.message).toContain(complaint);
    expect((await list()).items).toMatchObject([{ url: elsewhere, events: ['payout.failed'], status: 'enabled' }]);
  });

  it('A partner has at most ten endpoints, including the operator’s, even if added concurrently', async () => {
    // On a busy machine some requests may wait too long, and are retried.
    const addPatiently = () =>
      eventually(
        () => add({ url: elsewhere, events: ['payment.failed'] }),
        ({ status }) => status !== 503,
        60_000,
      );
    const asking = isFullRun() ? 50 : 15;
    const answers = await Promise.all(Array.from({ length: asking }, addPatiently));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([
      ...Array.from({ length: 10 }, () => 200),
      ...Array.from({ length: asking - 10 }, () => 400),
    ]);
    expect(answers.find(({ status }) => status === 400)?.body.error.message).toContain('10 endpoints');
    expect(new Set(answers.flatMap(({ body }) => body.data?.secret ?? [])).size).toBe(10);
    const webhook = { url: elsewhere, events: ['payment.failed'] };
    expect((await partner.administer('put', '/webhook', webhook)).status).toBe(400);
    const [{ id }] = (await list()).items;
    await partner.send('delete', `/webhook-endpoints/${id}`);
    expect((await partner.administer('put', '/webhook', webhook)).status).toBe(200);
    expect((await list()).items[0]).toMatchObject({ ...webhook, set_by_operator: true });
    expect((await add(webhook)).status).toBe(400);
    expect((await list()).total).toBe(10);
  }, 120_000);

  it('Managing endpoints needs manage-webhooks, and another partner’s endpoint returns 404', async () => {
    const { id } = await added({ url: elsewhere, events: ['payment.failed'] });
    const reader = await buildPartner(stack, { permissions: ['read-gateway', 'manage-keys'] });
    const other = await buildPartner(stack);
    expect((await other.get('/webhook-endpoints')).body.data).toMatchObject({ items: [], total: 0 });
    for (const [method, path, body] of [
      ['post', '', { url: elsewhere, events: ['payment.failed'] }],
      ['patch', `/${id}`, { status: 'disabled' }],
      ['post', `/${id}/rotate-secret`, undefined],
      ['post', `/${id}/test`, undefined],
      ['delete', `/${id}`, undefined],
    ] as const) {
      const denied = await reader.send(method, `/webhook-endpoints${path}`, body);
      expect([denied.status, denied.body.error.code]).toEqual([403, 'AUTH_PERMISSION_DENIED']);
      if (path === '') continue;
      const [foreign, missing] = await Promise.all([
        other.send(method, `/webhook-endpoints${path}`, body),
        other.send(method, `/webhook-endpoints${path.replace(id, randomUUID())}`, body),
      ]);
      expect([foreign.status, foreign.body.error]).toEqual([404, missing.body.error]);
    }
    expect((await list()).items).toMatchObject([{ id, status: 'enabled' }]);
  });
});

describe('A webhook', () => {
  it('A webhook is sent to every subscribed endpoint, signed with the endpoint’s own secret', async () => {
    const [both, one] = [
      await added({ url: at(0).url, events: everyEvent }),
      await added({ url: at(1).url, events: ['payment.succeeded'] }),
    ];
    await added({ url: elsewhere, events: ['payout.failed'] });
    const paid = await settle();
    const rows = await deliveriesWhen('', allDelivered(2));
    expect(rows).toMatchObject([{ version: 1 }, { version: 1 }]);
    expect(new Set(rows.map(({ id }: { id: string }) => id)).size).toBe(2);
    const [first, second] = [at(0).received[0], at(1).received[0]];
    if (first === undefined || second === undefined) throw new Error('nothing arrived');
    expect(first.headers['webhook-id']).not.toBe(second.headers['webhook-id']);
    expect(first.body).toBe(second.body);
    expect(verified(both.secret, first)).toEqual(verified(one.secret, second));
    expect(() => verified(one.secret, first)).toThrow();
    expect(verified(one.secret, second).data).toMatchObject({ id: paid, status: 'succeeded', version: 1 });
    expect(await deliveries(`?endpoint_id=${one.id}`)).toMatchObject([
      { endpoint_id: one.id, webhook_id: second.headers['webhook-id'] },
    ]);
    expect(await deliveries(`?endpoint_id=${randomUUID()}`)).toEqual([]);
    const [{ id: deliveryId }] = await deliveries(`?endpoint_id=${one.id}`);
    const shown = (await partner.get(`/webhook-deliveries/${deliveryId}`)).body.data;
    expect(shown).toMatchObject({ id: deliveryId, endpoint_id: one.id, status: 'delivered', body: second.body });
    const timeline = (await partner.get(`/payments/${paid}/timeline`)).body.data.items;
    expect(timeline.filter(({ type }: { type: string }) => type === 'webhook')).toHaveLength(2);
  });

  it('A webhook is signed with both secrets of its endpoint for a day after a rotation', async () => {
    const { id, secret: old } = await added({ url: at(0).url, events: ['payment.succeeded'] });
    const rotated = await partner.send('post', `/webhook-endpoints/${id}/rotate-secret`);
    expect(rotated.body.data).toMatchObject({ id, secret: expect.stringMatching(/^whsec_/) });
    expect(rotated.body.data.secret).not.toBe(old);
    await partner.send('post', `/webhook-endpoints/${id}/test`);
    const [first] = await eventually(
      async () => at(0).received,
      (received) => received.length === 1,
    );
    if (first === undefined) throw new Error('nothing arrived');
    expect(verified(old, first)).toEqual(verified(rotated.body.data.secret, first));
  });
});

describe('Rotated secrets', () => {
  const rotate = (id: string) => partner.send('post', `/webhook-endpoints/${id}/rotate-secret`);
  const tested = async (id: string, count: number) => {
    await partner.send('post', `/webhook-endpoints/${id}/test`);
    const received = await eventually(
      async () => at(0).received,
      (all) => all.length === count,
    );
    return must(received.at(-1), 'a test arrived');
  };
  /** Expires an earlier secret; index 0 is the newest. */
  const end = async (id: string, index: number) => {
    const place = endpointSecretPlace(id, 'earlier_secrets_sealed');
    const endpoint = await stack.em().findOneOrFail(WebhookEndpoint, { id });
    const earlier = JSON.parse(await stack.deps.sealer.open(place, endpoint.earlier_secrets_sealed ?? ''));
    earlier[index].until = new Date(Date.now() - 1_000).toISOString();
    await stack
      .owner()
      .execute('update webhook_endpoints set earlier_secrets_sealed = ? where id = ?', [
        await stack.deps.sealer.seal(place, JSON.stringify(earlier)),
        id,
      ]);
  };

  it('Rotated secrets each sign for a day, however many rotations there were', async () => {
    const { id, secret } = await added({ url: at(0).url, events: ['payment.succeeded'] });
    const secrets = [secret];
    for (let times = 1; times <= 2; times += 1) secrets.push((await rotate(id)).body.data.secret);
    const first = await tested(id, 1);
    for (const one of secrets) expect(verified(one, first)).toMatchObject({ type: 'endpoint.test' });
    await end(id, 1);
    const second = await tested(id, 2);
    expect(() => verified(secrets[0] ?? '', second)).toThrow();
    for (const one of secrets.slice(1)) expect(verified(one, second)).toMatchObject({ type: 'endpoint.test' });
  });

  it('A fifth rotation within a day is refused until one of four earlier secrets has expired', async () => {
    const { id, secret } = await added({ url: at(0).url, events: ['payment.succeeded'] });
    const secrets = [secret];
    for (let times = 1; times <= 4; times += 1) secrets.push((await rotate(id)).body.data.secret);
    const refused = await rotate(id);
    const message = expect.stringMatching(/^id: 4 earlier secrets .* until \d{4}-/);
    expect([refused.status, refused.body.error.details]).toEqual([400, [{ field: 'id', message }]]);
    for (const one of secrets) verified(one, await tested(id, at(0).received.length + 1));
    await end(id, 3);
    expect((await rotate(id)).status).toBe(200);
  });
});

describe('A disabled endpoint', () => {
  it('A disabled endpoint gets no webhooks, tests or redeliveries until it is enabled again', async () => {
    const { id } = await added({ url: at(0).url, events: ['payment.succeeded'] });
    await settle();
    const [told] = await deliveriesWhen('', allDelivered(1));
    await change(id, { status: 'disabled' });
    await settle();
    for (const path of [`/webhook-endpoints/${id}/test`, `/webhook-deliveries/${told?.id}/redeliver`]) {
      const refused = await partner.send('post', path);
      const message = 'id: the endpoint is disabled: enable it first';
      expect([refused.status, refused.body.error.details]).toEqual([400, [{ field: 'id', message }]]);
    }
    expect(await deliveries()).toMatchObject([{ id: told?.id, status: 'delivered', attempts: 1 }]);
    expect((await change(id, { status: 'enabled' })).body.data).toMatchObject({
      status: 'enabled',
      disabled_reason: null,
      disabled_at: null,
    });
    const third = await settle();
    expect(await deliveriesWhen('', allDelivered(2))).toMatchObject([{ resource_id: third }, { id: told?.id }]);
  });

  it('Pending deliveries to a disabled or deleted endpoint are parked at their next attempt', async () => {
    // They are not retried before the test requests it.
    for (const receiver of receivers) {
      receiver.behave((response) => void response.writeHead(503, { 'retry-after': '3600' }).end());
    }
    const [kept, gone] = [
      await added({ url: at(0).url, events: ['payment.succeeded'] }),
      await added({ url: at(1).url, events: ['payment.succeeded'] }),
    ];
    await settle();
    const waiting = await deliveriesWhen('', (all) => all.length === 2 && all.every(({ attempts }) => attempts === 1));
    await change(kept.id, { status: 'disabled' });
    await partner.send('delete', `/webhook-endpoints/${gone.id}`);
    for (const { id } of waiting) await stack.deps.workflows.hastenWebhookDelivery(id);
    const rows = await deliveriesWhen('', (all) => all.every(({ status }) => status === 'parked'));
    expect(rows).toHaveLength(2);
    expect(await deliveries(`?endpoint_id=${kept.id}`)).toMatchObject([
      { attempts: 1, last_status: 503, last_error: 'its endpoint is disabled', next_attempt_at: null },
    ]);
    const [orphan] = await deliveries(`?endpoint_id=${gone.id}`);
    expect(orphan).toMatchObject({ attempts: 1, last_error: 'its endpoint was deleted' });
    const refused = await partner.send('post', `/webhook-deliveries/${orphan.id}/redeliver`);
    const message = 'id: its endpoint was deleted: there is nowhere to send it';
    expect([refused.status, refused.body.error.details]).toEqual([400, [{ field: 'id', message }]]);
    expect(receivers.map(({ received }) => received.length)).toEqual([1, 1]);
  }, 60_000);

  it('A delivery in flight completes even if its endpoint is disabled in the meantime', async () => {
    const { id } = await added({ url: at(0).url, events: ['payment.succeeded'] });
    const answered = Promise.withResolvers<void>();
    at(0).behave(async (response) => {
      await answered.promise;
      response.writeHead(200).end();
    });
    await settle();
    await eventually(
      async () => at(0).received.length,
      (length) => length === 1,
    );
    await change(id, { status: 'disabled' });
    answered.resolve();
    await deliveriesWhen('', allDelivered(1));
    expect((await list()).items).toMatchObject([{ status: 'disabled', disabled_reason: 'requested' }]);
  });
});

describe('A failing endpoint', () => {
  it('A failing endpoint shows failing_since, which the next success clears', async () => {
    const { id } = await added({ url: at(0).url, events: ['payment.succeeded'] });
    at(0).behave((response) => void response.writeHead(500).end());
    await partner.send('post', `/webhook-endpoints/${id}/test`);
    const [row] = await deliveriesWhen('', (rows) => rows[0]?.attempts === 1);
    const [failing] = await eventually(
      async () => (await list()).items,
      ([row]) => row.failing_since !== null,
    );
    await failingSince(id, '2 days');
    at(0).behave((response) => void response.writeHead(204).end());
    await stack.deps.workflows.hastenWebhookDelivery(must(row, 'the endpoint was tested').id);
    await deliveriesWhen('', allDelivered(1));
    await eventually(
      async () => (await list()).items,
      ([row]) => row.failing_since === null,
    );
    expect(failing).toMatchObject({ id, status: 'enabled' });
    expect(await eventsOf(id)).toHaveLength(1);
  });

  it('An endpoint that fails for three days is disabled with one event until it is enabled again', async () => {
    const { id } = await added({ url: at(0).url, events: ['payment.succeeded'] });
    at(0).behave((response) => void response.writeHead(500).end());
    await settle();
    const [row] = await deliveriesWhen('', (rows) => rows[0]?.attempts === 1);
    await failingSince(id, '71 hours 58 minutes');
    await stack.deps.workflows.hastenWebhookDelivery(must(row, 'the endpoint got a webhook').id);
    await deliveriesWhen('', (rows) => rows[0]?.attempts === 2);
    expect((await list()).items).toMatchObject([{ status: 'enabled' }]);
    await failingSince(id, '72 hours');
    await Promise.all(Array.from({ length: 5 }, () => partner.send('post', `/webhook-endpoints/${id}/test`)));
    const [disabled] = await eventually(
      async () => (await list()).items,
      ([row]) => row.status === 'disabled',
    );
    expect(disabled).toMatchObject({ disabled_reason: 'failing', failing_since: expect.any(String) });
    const told = (await eventsOf(id)).filter(({ event }) => event === 'WEBHOOK_ENDPOINT_DISABLED');
    expect(told).toMatchObject([{ impact: 'HIGH', actor_id: null, data: { partner_id: partner.id } }]);
    await settle();
    expect((await deliveries('?type=payment.succeeded')).length).toBe(1);
    at(0).behave((response) => void response.writeHead(200).end());
    expect((await change(id, { status: 'enabled' })).body.data).toMatchObject({
      status: 'enabled',
      disabled_reason: null,
      failing_since: null,
    });
    await partner.send('post', `/webhook-endpoints/${id}/test`);
    await deliveriesWhen('?type=endpoint.test', ([row]) => row?.status === 'delivered');
  }, 60_000);

  it('A disabled endpoint is enabled again when the operator sets another address', async () => {
    await partner.administer('put', '/webhook', { url: elsewhere, events: ['payment.succeeded'] });
    const [{ id }] = (await list()).items;
    await failingSince(id, '4 days');
    await partner.send('post', `/webhook-endpoints/${id}/test`);
    await eventually(
      async () => (await list()).items,
      ([row]) => row.status === 'disabled',
    );
    await partner.administer('put', '/webhook', { url: at(0).url, events: ['payment.succeeded'] });
    const items = (await list()).items;
    expect(items).toMatchObject([{ id, url: at(0).url, status: 'enabled', failing_since: null }]);
    const own = await partner.send('post', '/webhook-endpoints', { url: at(1).url, events: ['payout.failed'] });
    const { secret, warnings, ...made } = own.body.data;
    expect((await partner.administer('get', '')).body.data).toMatchObject({
      webhook: { url: at(0).url, events: ['payment.succeeded'] },
      webhook_endpoints: [items[0], made],
    });
    expect(secret).toMatch(/^whsec_/);
  });
});

describe('POST /v1/partners/webhook-endpoints/{id}/test', () => {
  it('A test webhook is stored, numbered and redeliverable like any other', async () => {
    const { id, secret } = await added({ url: at(0).url, events: ['payout.failed'] });
    const first = await partner.send('post', `/webhook-endpoints/${id}/test`);
    expect(first.status).toBe(200);
    expect(first.body.data).toMatchObject({ endpoint_id: id, type: 'endpoint.test', resource_id: id, version: 1 });
    expect((await partner.send('post', `/webhook-endpoints/${id}/test`)).body.data.version).toBe(2);
    await deliveriesWhen('?type=endpoint.test', allDelivered(2));
    const told = at(0)
      .received.map((one) => verified(secret, one))
      .toSorted((left, right) => Number(left.data.version) - Number(right.data.version));
    const [shown] = (await list()).items;
    expect(told).toMatchObject([
      { type: 'endpoint.test', timestamp: first.body.data.created_at, data: { ...shown, version: 1 } },
      { type: 'endpoint.test', data: { id, version: 2 } },
    ]);
    await partner.send('post', `/webhook-deliveries/${first.body.data.id}/redeliver`);
    await eventually(
      async () => at(0).received.length,
      (length) => length === 3,
    );
    const refused = await partner.send('post', `/webhook-endpoints/${id}/test`, { url: elsewhere });
    expect([refused.status, refused.body.error.message]).toEqual([400, 'url: unknown field']);
  });

  it('A test sends an example of any type, marked as a test, regardless of subscriptions', async () => {
    const { id, secret } = await added({ url: at(0).url, events: ['payout.failed'] });
    for (const type of webhookTypes) {
      const { status, body } = await partner.send('post', `/webhook-endpoints/${id}/test`, { type });
      expect([type, status, body.data?.type]).toEqual([type, 200, type]);
    }
    await deliveriesWhen('?limit=100', allDelivered(webhookTypes.length));
    const told = new Map(at(0).received.map((one) => [verified(secret, one).type, verified(secret, one)]));
    const schemas = new Map(webhookDocuments.map(({ type, body }) => [type, body]));
    for (const type of webhookTypes) {
      expect(told.get(type)).toMatchObject({ type, test: true });
      expect([type, schemas.get(type)?.safeParse(told.get(type)).error]).toEqual([type, undefined]);
    }
    const refused = await partner.send('post', `/webhook-endpoints/${id}/test`, { type: 'payment.lost' });
    expect([refused.status, refused.body.error.details[0].field]).toEqual([400, 'type']);
  });
});

describe('An endpoint for all events', () => {
  it('An endpoint subscribed to `*` gets all events, and `*` cannot be combined with others', async () => {
    const { id, secret, events } = await added({ url: at(0).url, events: ['*'] });
    expect(events).toEqual(['*']);
    const settled = await settle();
    await eventually(
      async () => at(0).received.map((one) => verified(secret, one)),
      (told) => told.some(({ type, data }) => type === 'payment.succeeded' && data.id === settled),
    );
    expect((await change(id, { events: ['payment.failed'] })).body.data.events).toEqual(['payment.failed']);
    expect((await change(id, { events: ['*'] })).body.data.events).toEqual(['*']);
    const mixed = await change(id, { events: ['*', 'payment.failed'] });
    expect([mixed.status, mixed.body.error.message]).toEqual([400, 'events: must be ["*"] alone, or name events']);
    const operators = await partner.administer('put', '/webhook', { url: at(1).url, events: ['*'] });
    expect([operators.status, operators.body.data.events]).toEqual([200, ['*']]);
  });
});

describe('Two endpoints with one URL', () => {
  it('Creating or changing an endpoint returns a warning about others with the same URL', async () => {
    const first = await added({ url: at(0).url, events: ['payout.failed'] });
    expect(first.warnings).toEqual([]);
    const second = await added({ url: at(0).url, events: ['payout.failed'] });
    expect(second.warnings).toEqual([expect.stringContaining(first.id)]);
    expect((await change(second.id, { url: at(1).url })).body.data.warnings).toEqual([]);
    expect((await change(first.id, { url: at(1).url })).body.data.warnings).toEqual([
      expect.stringContaining(second.id),
    ]);
  });
});
