import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { decodeProtectedHeader } from 'jose';
import { reencrypt } from '../../../src/platform/encryption/reencrypt.ts';
import { createSealer } from '../../../src/platform/encryption/sealer.ts';
import { budgets } from '../../../src/shared/budgets.ts';
import { createApp } from '../../../src/wiring/app.ts';
import { forgetOldRows } from '../../../src/wiring/forget-old-rows.ts';
import { itInFull } from '../../support/full.ts';
import { type BuiltPartner, buildPartner, freshKey } from '../../support/partner.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

const { requests } = budgets;

let stack: Stack;
let partner: BuiltPartner;
/** A second API process, as far as the application can tell. */
let second: Server;
let urls: string[];
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  partner = await buildPartner(stack);
  second = createServer(createApp(stack.deps).callback()).listen(0, '127.0.0.1');
  await once(second, 'listening');
  const address = second.address();
  urls = [stack.url, `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`];
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(async () => {
  second.closeAllConnections();
  second.close();
  await stack.stop();
});

const va = { method: 'virtual_account', channel: 'BNI', amount: '50000' };

/** Sends this raw body; returns the status, the answer's raw text and `idempotency-replayed`. */
async function create(raw: string, key: string, url = stack.url, path = '/payments') {
  const answer = await fetch(`${url}/v1/partners${path}`, {
    method: 'POST',
    body: raw,
    headers: {
      authorization: `Bearer ${partner.apiKey}`,
      'content-type': 'application/json',
      'x-partner-signature': createHmac('sha256', partner.signingSecret).update(raw).digest('hex'),
      'x-idempotency-key': key,
    },
  });
  return { status: answer.status, text: await answer.text(), replayed: answer.headers.get('idempotency-replayed') };
}
const recordsOf = async (id: string) => (await stack.sandbox.get(`/sandbox/records?reference_id=${id}`)).body.payments;

describe('An idempotency key', () => {
  it('A retry with the same idempotency key returns the first response byte for byte', async () => {
    const [raw, key] = [JSON.stringify(va), freshKey()];
    const first = await create(raw, key);
    expect([first.status, first.replayed]).toEqual([200, null]);
    const again = await create(raw, key);
    expect(again).toEqual({ status: 200, text: first.text, replayed: 'true' });
    const { id, payment_code } = JSON.parse(first.text).data;
    await stack.sandbox.post('/sandbox/pay', { payment_code });
    await eventually(
      async () => (await partner.get(`/payments/${id}`)).body.data.status,
      (status) => status === 'succeeded',
    );
    expect((await create(raw, key)).text).toBe(first.text);
  });

  it('A retry returns its payment even if the partner’s organization has become inactive', async () => {
    const other = await buildPartner(stack);
    const [kept, lost] = [freshKey(), freshKey()];
    const first = await other.post('/payments', va, kept);
    const made = await other.post('/payments', va, lost);
    // Simulate an answer lost before it was stored.
    await stack.owner().execute(
      `update requests set answer_status = null, answer_sealed = null
         where owner_id = ? and resource_id = ?`,
      [other.id, made.body.data.id],
    );
    await stack.owner().execute("update organizations set status = 'inactive' where id = ?", [other.organizationId]);
    const again = await other.post('/payments', va, kept);
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect((await other.post('/payments', va, lost)).body.data).toMatchObject({ id: made.body.data.id });
    expect((await other.post('/payments', va)).body.error.code).toBe('AUTH_PARTNER_INACTIVE');
  });

  it.each([
    ['with white space', JSON.stringify(va, null, 2)],
    ['with its members in another order', JSON.stringify(Object.fromEntries(Object.entries(va).toReversed()))],
    ['with other escapes', JSON.stringify(va).replace('BNI', '\\u0042NI')],
    ['with null for absent fields', JSON.stringify({ ...va, external_ref: null })],
    ['with a byte order mark', `\ufeff${JSON.stringify(va)}`],
  ])('A retry with the same idempotency key may send the same body %s', async (_, written) => {
    const key = freshKey();
    const first = await create(JSON.stringify(va), key);
    expect(await create(written, key)).toEqual({ status: 200, text: first.text, replayed: 'true' });
  });

  it.each([
    ['another amount', JSON.stringify({ ...va, amount: '50001' })],
    ['one more field', JSON.stringify({ ...va, external_ref: 'INV-1' })],
    ['a duplicate member', JSON.stringify(va).replace('{', '{"amount":"50001",')],
    ['a body that is not JSON', JSON.stringify(va).slice(1)],
    ['nothing', ''],
  ])('A used idempotency key with a different body (%s) returns REQUEST_IDEMPOTENCY_KEY_REUSED', async (_, changed) => {
    const key = freshKey();
    expect((await create(JSON.stringify(va), key)).status).toBe(200);
    const again = await create(changed, key);
    expect([again.status, JSON.parse(again.text).error.code]).toEqual([409, 'REQUEST_IDEMPOTENCY_KEY_REUSED']);
  });

  it('A retry with the same idempotency key may add a trailing slash to the path', async () => {
    const [raw, key] = [JSON.stringify(va), freshKey()];
    const first = await create(raw, key);
    expect(await create(raw, key, stack.url, '/payments/')).toEqual({
      status: 200,
      text: first.text,
      replayed: 'true',
    });
  });

  it('A used idempotency key returns 409 on another path, and 401 with a wrong signature', async () => {
    const [raw, key] = [JSON.stringify(va), freshKey()];
    await create(raw, key);
    const payout = await partner.post('/payouts', va, key);
    expect([payout.status, payout.body.error.code]).toEqual([409, 'REQUEST_IDEMPOTENCY_KEY_REUSED']);
    const answer = await fetch(`${stack.url}/v1/partners/payments`, {
      method: 'POST',
      body: `${raw} `,
      headers: {
        authorization: `Bearer ${partner.apiKey}`,
        'content-type': 'application/json',
        'x-partner-signature': createHmac('sha256', partner.signingSecret).update(raw).digest('hex'),
        'x-idempotency-key': key,
      },
    });
    expect(answer.status).toBe(401);
  });

  it('Two partners can use the same idempotency key', async () => {
    const key = freshKey();
    const other = await buildPartner(stack);
    const mine = await partner.post('/payments', va, key);
    const theirs = await other.post('/payments', va, key);
    expect([mine.status, theirs.status]).toEqual([200, 200]);
    expect(mine.body.data.id).not.toBe(theirs.body.data.id);
  });

  it(`${isFullRun() ? '1,000' : '15'} concurrent requests with one idempotency key create one payment`, async () => {
    const [raw, key] = [JSON.stringify(va), freshKey()];
    const answers = await Promise.all(
      Array.from({ length: isFullRun() ? 1000 : 15 }, (_, index) => create(raw, key, urls[index % 2])),
    );
    expect([...new Set(answers.map(({ status }) => status))]).toEqual([200]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(({ replayed }) => replayed === null).length).toBe(1);
    const { id } = JSON.parse(answers[0]?.text ?? '{}').data;
    expect(await recordsOf(id)).toHaveLength(1);
  }, 120_000);

  it('Of concurrent requests with one idempotency key and two bodies, only those with one body succeed', async () => {
    const key = freshKey();
    const bodies = [JSON.stringify(va), JSON.stringify({ ...va, amount: '60000' })];
    const answers = await Promise.all(
      Array.from({ length: isFullRun() ? 20 : 6 }, (_, index) => create(bodies[index % 2] ?? '', key, urls[index % 3])),
    );
    const served = new Set(answers.filter(({ status }) => status === 200).map(({ text }) => text));
    expect(served.size).toBe(1);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
  });

  it('A payment returns 504 with a status URL if the provider is silent; its retry returns the outcome', async () => {
    await stack.sandbox.put('/sandbox/faults', { requests: { hang_rate: 1, hang_after_effect: true } });
    const [raw, key] = [JSON.stringify(va), freshKey()];
    const { partnerPayment } = requests;
    // Shorten the wait for the answer.
    Object.assign(requests, { partnerPayment: 4_000 });
    const silent = await create(raw, key).finally(() => Object.assign(requests, { partnerPayment }));
    const { error } = JSON.parse(silent.text);
    expect([silent.status, error.code]).toEqual([504, 'PROVIDER_INDETERMINATE']);
    const { payment_id, status_url } = error.details;
    expect(status_url).toBe(`/v1/partners/payments/${payment_id}`);
    const polled = await partner.get(`/payments/${payment_id}`);
    expect(polled.body.data).toMatchObject({ status: 'pending', payment_code: null });
    // Wait for the provider call to time out.
    const timeline = await eventually(
      async () => (await partner.get(`/payments/${payment_id}/timeline`)).body.data,
      ({ items }) => /unknown/.test(JSON.stringify(items)),
    );
    expect(timeline.next.text).toMatch(/^By this time we request the payment code again/);
    // The next step is the next poll, not the deadline a day later.
    expect(Date.parse(timeline.next.at)).toBeGreaterThan(Date.now());
    expect(Date.parse(timeline.next.at)).toBeLessThan(Date.now() + 6 * 60_000);
    await stack.sandbox.put('/sandbox/faults', {});
    const answer = await create(raw, key);
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text).data).toMatchObject({
      id: payment_id,
      payment_code: expect.stringMatching(/^\d+$/),
    });
    expect(await recordsOf(payment_id)).toHaveLength(1);
  }, 60_000);

  it('The response stored for an idempotency key is encrypted', async () => {
    const first = await create(JSON.stringify(va), freshKey());
    const kept = await stack
      .em()
      .execute('select answer_sealed from requests where resource_id = ?', [JSON.parse(first.text).data.id]);
    expect(kept).toEqual([{ answer_sealed: expect.stringMatching(/^ey[\w-]+\./) }]);
  });

  itInFull('The response stored for an idempotency key is re-encrypted by keys:reencrypt', async () => {
    const [raw, key] = [JSON.stringify(va), freshKey()];
    const { text } = await create(raw, key);
    const keys = stack.deps.config.DATA_ENCRYPTION_KEYS;
    const fresh = { id: 'fresh', key: new Uint8Array(randomBytes(32)) };
    const move = async (newestFirst: typeof keys) => {
      const newestKeyId = newestFirst[0]?.id ?? '';
      const results = await reencrypt(stack.em(), { sealer: createSealer(newestFirst), newestKeyId });
      return results.find(({ table }) => table === 'requests');
    };
    expect(await move([fresh, ...keys])).toMatchObject({ column: 'answer_sealed', unreadable: [] });
    const [row] = await stack
      .em()
      .execute<{ answer_sealed: string }[]>('select answer_sealed from requests where resource_id = ?', [
        JSON.parse(text).data.id,
      ]);
    expect(decodeProtectedHeader(row?.answer_sealed ?? '').kid).toBe('fresh');
    await move([...keys, fresh]);
    expect(await create(raw, key)).toEqual({ status: 200, text, replayed: 'true' });
  });

  it('A response is stored for 30 days, and its idempotency key creates no second payment afterwards', async () => {
    const [raw, key] = [JSON.stringify(va), freshKey()];
    const first = JSON.parse((await create(raw, key)).text).data;
    const age = (days: number) =>
      stack
        .owner()
        .execute('update requests set decided_at = now() - make_interval(days => ?) where resource_id = ?', [
          days,
          first.id,
        ]);
    await age(29);
    await forgetOldRows(stack.em());
    expect((await create(raw, key)).replayed).toBe('true');
    await age(31);
    await forgetOldRows(stack.em());
    const later = await create(raw, key);
    expect([later.status, later.replayed]).toEqual([200, null]);
    expect(JSON.parse(later.text).data.id).toBe(first.id);
    expect((await create(JSON.stringify({ ...va, amount: '50001' }), key)).status).toBe(409);
  });
});
