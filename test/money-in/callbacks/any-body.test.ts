import { randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { redeliverCallbacks } from '../../../src/money-in/callbacks/deliver-callback.ts';
import { createMetrics } from '../../../src/platform/metrics/metrics.ts';
import { sha256 } from '../../../src/shared/digest.ts';
import { measureBacklog } from '../../../src/wiring/measure-backlog.ts';
import { casesOf } from '../../support/full.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ own: true, isImpatient: true, env: { LOG_LEVEL: 'silent' } });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

type Body = string | Uint8Array<ArrayBuffer>;
const asBytes = (body: string | Uint8Array) => new Uint8Array(Buffer.from(body as string));
const send = (body: Body, headers: Record<string, string> = {}) =>
  stack.post('/v1/gateway/callbacks/xendit', undefined, {
    raw: asBytes(body),
    headers: { 'x-callback-token': stack.callbackToken, 'content-type': 'application/json', ...headers },
  });

interface StoredRow {
  id: string;
  webhook_id: string;
  event: string | null;
  reference: string | null;
  unread: string | null;
  body_bytes: string | null;
  body_encoding: string;
  body_sealed: string;
  delivered_at: Date | null;
}
const rowsOf = (body: string | Uint8Array) =>
  stack.em().execute<StoredRow[]>('select * from gateway_callbacks where body_digest = ?', [sha256(asBytes(body))]);
const countRows = async () =>
  Number((await stack.em().execute<{ n: string }[]>('select count(*) as n from gateway_callbacks'))[0]?.n);
/** The stored bytes, decrypted. */
const keptBytes = async ({ id, body_sealed, body_encoding }: StoredRow) =>
  Buffer.from(
    await stack.deps.sealer.open({ table: 'gateway_callbacks', column: 'body_sealed', row: id }, body_sealed),
    body_encoding as BufferEncoding,
  );

const claim = (facts: object = {}, event = 'payment.succeeded') =>
  JSON.stringify({
    event,
    data: { id: `py-${randomUUID()}`, reference_id: randomUUID(), payment_method: null, ...facts },
  });

/** Whatever the body, the response must be 200: on any other status the provider would retry forever. */
describe('A callback with the right token', () => {
  it.each<[string, () => Body, string]>([
    ['no body', () => '', 'the body is empty'],
    ['a body that is not JSON', () => `{ ${randomUUID()}`, 'the body is not JSON'],
    ['bytes that are not UTF-8', () => Uint8Array.from([0xc3, 0x28, 0xff, ...randomBytes(8)]), 'the body is not UTF-8'],
    ['NUL bytes', () => `\u0000${randomUUID()}`, 'the body is not JSON'],
    ['NUL in an id', () => claim({ id: `py-\u0000${randomUUID()}` }), 'misshapen: data.id'],
    ['NUL in the event', () => claim({}, 'payment.\u0000'), 'misshapen: event'],
    ['half a surrogate pair', () => claim().replace('py-', 'py-\\ud800'), 'misshapen: data.id'],
    ['an id of 6 kB', () => claim({ id: randomBytes(3_000).toString('hex') }), 'misshapen: data.id'],
    ['a reference of 6 kB', () => claim({ reference_id: 'r'.repeat(6_000) }), 'misshapen: data.reference_id'],
    ['no data', () => JSON.stringify({ event: 'payment.succeeded', nonce: randomUUID() }), 'misshapen: data'],
    ['an unknown event family', () => claim({}, 'report.ready'), 'unknown event: report.ready'],
    ['a number', () => String(Math.random()), 'misshapen: body'],
    ['deep nesting', () => `${'['.repeat(200_000)}${Math.random()}`, 'the body is not JSON'],
  ])('A callback with %s returns 200, is stored as unread and is not delivered', async (_, build, reason) => {
    const body = build();
    const { status, body: answer } = await send(body, { 'webhook-id': randomUUID() });
    expect({ status, answer }).toEqual({ status: 200, answer: { message: 'Callback stored' } });
    const rows = await rowsOf(body);
    expect(rows).toMatchObject([{ unread: reason, reference: null, delivered_at: null }]);
    expect(rows[0] && (await keptBytes(rows[0])).equals(asBytes(body))).toBe(true);
    expect((await send(body, { 'webhook-id': rows[0]?.webhook_id ?? '' })).status).toBe(200);
    expect(await rowsOf(body)).toHaveLength(1);
  });

  it('A callback above the body limit is stored as its first 64 KiB, with the body’s size and digest', async () => {
    const body = claim({ padding: 'x'.repeat(3 * 1024 * 1024) });
    expect((await send(body)).status).toBe(200);
    const [row] = await rowsOf(body);
    expect(row).toMatchObject({ unread: 'the body is too large', body_bytes: String(asBytes(body).length) });
    const kept = row && (await keptBytes(row));
    expect(kept?.length).toBe(64 * 1024);
    expect(kept?.equals(Buffer.from(body).subarray(0, 64 * 1024))).toBe(true);
  });

  it('An unreadable callback is counted for operators, but not among those waiting for delivery', async () => {
    expect((await send('unread')).status).toBe(200);
    await stack.owner().execute("update gateway_callbacks set received_at = now() - interval '1 minute'");
    expect(await redeliverCallbacks(stack.em(), stack.deps, () => undefined)).toBe(0);
    const metrics = createMetrics({ defaults: false });
    measureBacklog(metrics, stack.deps.orm);
    const told = await metrics.registry.metrics();
    const [{ n } = { n: '0' }] = await stack
      .em()
      .execute<{ n: string }[]>('select count(*) as n from gateway_callbacks where unread is not null');
    expect(Number(n)).toBeGreaterThan(0);
    expect(told).toContain(`amanah_waiting{what="unread_callbacks"} ${n}`);
    expect(told).toMatch(/amanah_waiting\{what="undelivered_callbacks"\} 0/);
  });

  it.each([
    ['of 6 kB', randomBytes(3_000).toString('hex')],
    ['of latin-1 letters', `caf\u00e9-\u00ff-${randomUUID()}`],
    ['with a tab', `a\tb-${randomUUID()}`],
    ['that is empty', ''],
  ])('A callback with a webhook-id %s is stored once, however often it is sent', async (_, webhookId) => {
    const body = claim();
    for (const _time of [1, 2, 3]) expect((await send(body, { 'webhook-id': webhookId })).status).toBe(200);
    expect(await rowsOf(body)).toMatchObject([{ unread: null, event: 'payment.succeeded' }]);
  });

  it('A callback with any bytes and webhook-id returns 200 and is stored as one row, even if sent twice', async () => {
    const id = fc.oneof(
      fc.constant(undefined),
      fc.string({ unit: 'grapheme-ascii', maxLength: 8_000 }),
      fc.uint8Array({ minLength: 1, maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    );
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 4_000 }),
      fc.json().map(asBytes),
      fc
        .record({
          event: fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('payment.succeeded', 'payout.failed')),
          data: fc.record(
            { id: fc.string({ unit: 'binary', maxLength: 7_000 }), reference_id: fc.string({ unit: 'binary' }) },
            { requiredKeys: [] },
          ),
        })
        .map((value) => asBytes(JSON.stringify(value))),
    );
    const property = fc.asyncProperty(body, id, async (bytes, webhookId) => {
      const header = webhookId?.replace(/[^\t\x20-\x7e\x80-\xff]/g, '').trim();
      const before = await rowsOf(bytes);
      const ids = new Set(before.map((row) => row.webhook_id));
      for (const _time of [1, 2]) {
        const { status } = await send(bytes as Uint8Array<ArrayBuffer>, header ? { 'webhook-id': header } : {});
        expect(status).toBe(200);
      }
      const after = await rowsOf(bytes);
      expect(after.length - before.length).toBeLessThanOrEqual(1);
      expect(new Set(after.map((row) => row.webhook_id)).size).toBe(after.length);
      if (after.length === before.length) expect(ids.size).toBeGreaterThan(0);
      const kept = await Promise.all(after.map(keptBytes));
      for (const one of kept) expect(one.equals(bytes)).toBe(true);
    });
    await fc.assert(property, { numRuns: isFullRun() ? 1_200 : 40 });
  }, 600_000);
});

describe('A second callback with the same webhook-id', () => {
  it('A second callback with the same webhook-id and another body is also stored and delivered', async () => {
    const webhookId = randomUUID();
    const [first, second] = [claim(), claim()];
    const before = await countRows();
    for (const body of [first, second, first, second]) {
      expect((await send(body, { 'webhook-id': webhookId })).status).toBe(200);
    }
    expect(await countRows()).toBe(before + 2);
    for (const body of [first, second]) {
      await eventually(
        () => rowsOf(body),
        ([row]) => row?.delivered_at != null,
      );
    }
  });
});

describe('A callback that the database cannot store', () => {
  const states: [string, string][] = [
    ['the disk is full', '53100'],
    ['memory is exhausted', '53200'],
    ['a configured limit is reached', '53400'],
    ['the disk fails', '58030'],
    ['the database is read-only', '25006'],
  ];
  it.each(casesOf(states, ([, state]) => state === '53100' || state === '25006'))(
    'A callback that cannot be stored because %s returns 503 with Retry-After, and a retry is stored',
    async (_, state) => {
      await stack.owner().execute(
        `create function fail_callbacks() returns trigger language plpgsql as
         $$ begin raise exception 'could not extend file' using errcode = '${state}'; end $$;
       create trigger fail_callbacks before insert on gateway_callbacks for each row execute function fail_callbacks()`,
      );
      const body = claim();
      try {
        const { status, headers } = await send(body);
        expect([status, headers.get('retry-after')]).toEqual([503, '2']);
      } finally {
        // Retried, because it locks the table and its partitions and may deadlock with others that lock them.
        await eventually(
          () =>
            stack
              .owner()
              .execute('drop function if exists fail_callbacks cascade')
              .then(
                () => true,
                () => false,
              ),
          Boolean,
        );
      }
      expect((await send(body)).status).toBe(200);
      expect(await rowsOf(body)).toHaveLength(1);
    },
  );
});
