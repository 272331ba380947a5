import { decodeProtectedHeader } from 'jose';
import { keysUrlBeside } from '../../dev/postgres.ts';
import { describePostings } from '../../src/money-out/payouts/describe-postings.ts';
import { buildRequest } from '../../src/money-out/payouts/frozen-request.ts';
import { Payout } from '../../src/money-out/payouts/payout.entity.ts';
import { presentWholePayout } from '../../src/money-out/payouts/present-payout.ts';
import { resolvePayout } from '../../src/money-out/payouts/resolve-payout.ts';
import { destroyOrderKeys } from '../../src/partners/destroy-order-keys.ts';
import { openUnderKey } from '../../src/partners/keep-sealed-answer.ts';
import { boundEndpoints } from '../../src/partners/webhooks/bound-endpoints.ts';
import { deliverWebhook } from '../../src/partners/webhooks/deliver-webhook.ts';
import { findUnderKey } from '../../src/platform/openings/idempotency-keys.ts';
import { must } from '../../src/shared/assert.ts';
import { payoutIdFor } from '../../src/shared/ids.ts';
import {
  batchWhen,
  buildSecondKey,
  itemsOf,
  itemsOfBatch,
  makeBatch,
} from '../money-out/payout-batches/build-batches.ts';
import { generous, magicAccount, settleAtProvider } from '../money-out/payouts/build-payouts.ts';
import { fund } from '../support/build.ts';
import { itInFull } from '../support/full.ts';
import { loseKey, replaceKey, sealerElsewhere } from '../support/lost-keys.ts';
import { type BuiltPartner, buildPartner, freshKey } from '../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { withClient } from '../support/with-client.ts';
import { withoutTriggers } from '../support/without-triggers.ts';
import { type Receiver, startReceiver } from './webhooks/receiver.ts';

const to = { bank_code: 'BRI', bank_account_number: magicAccount('111111'), beneficiary_name: 'Siti Rahayu' };
const customer = { customer_name: 'Budi Santoso', customer_email: 'budi@example.org' };

let stack: Stack;
let receiver: Receiver;
let partner: BuiltPartner;
/** A final payout whose webhooks were all sent and whose key was then destroyed. */
let old: { id: string; key: string; before: object; delivery: { id: string; body_sealed: string } };
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  receiver = await startReceiver();
  partner = await buildPartner(stack, { limits: generous, webhook: { url: receiver.url } });
  await fund(stack, partner.account.available, '10000000.0000');
  old = await makeOld();
}, 120_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(async () => {
  await receiver?.stop();
  await stack?.stop();
});

const payOut = async (key = freshKey(), account = to) => {
  const answer = await partner.post('/payouts', { amount: '50000', external_ref: 'invoice 7', ...account }, key);
  expect(answer.status).toBe(200);
  return answer.body.data.id as string;
};
const ended = (id: string, status = 'succeeded') =>
  eventually(
    async () => (await partner.get(`/payouts/${id}`)).body.data,
    (payout) => payout.status === status,
  );
/** The payout's webhooks, once sent. */
const delivered = (id: string) =>
  eventually(
    () =>
      stack
        .em()
        .execute<{ id: string; body_sealed: string }[]>(
          "select id, body_sealed from webhook_deliveries where resource_id = ? and status = 'delivered'",
          [id],
        ),
    (rows) => rows.length > 0,
  );
/** The ids of the keys that encrypt these values. */
const keysOf = async (sql: string, id: string) =>
  (await stack.owner().execute<{ sealed: string }[]>(sql, [id])).map(({ sealed }) => decodeProtectedHeader(sealed).kid);
const inKeys = <T>(sql: string, params: unknown[]): Promise<T[]> =>
  withClient(keysUrlBeside(stack.databaseUrls.owner), async (client) => (await client.query(sql, params)).rows as T[]);
/** Destroys the key once the webhooks have been sent. */
const forgotten = async (id: string) => {
  await eventually(
    async () => {
      await inKeys('update order_keys set kept_since = now() where id = $1 and erased_at is null', [id]);
      await sweep();
      return keyOf(id);
    },
    (key) => key === null,
  );
};
/** The provider's callbacks about a payout. */
const callbacksOf = (id: string) =>
  stack
    .em()
    .execute<{ event: string; kept: boolean; delivered: boolean }[]>(
      'select event, body_sealed is not null as kept, delivered_at is not null as delivered from gateway_callbacks where reference = ?',
      [id],
    );
async function makeOld(): Promise<typeof old> {
  const key = freshKey();
  const id = await payOut(key);
  const before = await ended(id);
  const [delivery] = await delivered(id);
  // The payout may be final by polling while the last callback is still in flight.
  const last = 'payout.succeeded';
  await eventually(
    () => callbacksOf(id),
    (rows) => rows.some(({ event }) => event === last) && rows.every(({ kept, delivered }) => kept && delivered),
  );
  await forgotten(id);
  return { id, key, before, delivery: must(delivery, 'its webhook was delivered') };
}
const sweep = () => destroyOrderKeys(stack.em(), stack.deps.personalKeys, 0);
const keyOf = async (id: string) =>
  (await inKeys<{ key_sealed: string | null }>('select key_sealed from order_keys where id = $1', [id]))[0]?.key_sealed;
const deliveries = 'select body_sealed as sealed from webhook_deliveries where resource_id = ?';
const answers = 'select answer_sealed as sealed from requests where resource_id = ?';

describe('Keys of orders', () => {
  it('A payout’s payee is encrypted with the payout’s own key in rows, webhooks and responses', async () => {
    const id = await payOut();
    await ended(id);
    expect(await keysOf('select texts_sealed as sealed from payouts where id = ?', id)).toEqual([`order:${id}`]);
    expect(await keysOf(answers, id)).toEqual([`order:${id}`]);
    const sealed = await eventually(
      () => keysOf(deliveries, id),
      (found) => found.length > 0,
    );
    expect(new Set(sealed)).toEqual(new Set([`order:${id}`]));
  });

  it('A payment with a customer’s name gets its own encryption key; one without gets none', async () => {
    const make = async (body: object) =>
      (await partner.post('/payments', { method: 'qris', amount: '20000', ...body })).body.data.id as string;
    const columns = 'select customer_sealed as sealed from partner_payments where id = ?';
    const named = await make(customer);
    expect(await keysOf(columns, named)).toEqual([`order:${named}`]);
    const nameless = await make({ external_ref: 'invoice 8' });
    expect(await keysOf(columns, nameless)).toEqual(['test']);
    expect(await keyOf(nameless)).toBeUndefined();
  });

  itInFull('A refund’s bank account is encrypted with the refund’s own key', async () => {
    const { body } = await partner.post('/payments', { method: 'virtual_account', channel: 'BCA', amount: '90000' });
    await stack.sandbox.post('/sandbox/pay', { payment_code: body.data.payment_code });
    await eventually(
      async () => (await partner.get(`/payments/${body.data.id}`)).body.data,
      (payment) => payment.status === 'succeeded',
    );
    const refund = await partner.post(`/payments/${body.data.id}/refunds`, { reason: 'Returned', ...to });
    expect(refund.status).toBe(200);
    const { id } = refund.body.data;
    expect(await keysOf('select texts_sealed as sealed from payouts where id = ?', id)).toEqual([`order:${id}`]);
    expect(await keysOf(answers, id)).toEqual([`order:${id}`]);
  });
});

it('A batch has one encryption key for all payees, who are unreadable once it is destroyed', async () => {
  const approve = await buildSecondKey(stack, partner);
  const { id } = await makeBatch(partner, itemsOf(2, to));
  const ids: string[] = (await itemsOfBatch(partner, id)).map((item: { id: string }) => item.id);
  expect(await approve(`/payout-batches/${id}/approve`)).toMatchObject({ status: 200 });
  await batchWhen(partner, id, 'completed');
  const sealedOf = 'select texts_sealed as sealed from payouts where batch_id = ?';
  expect(await keysOf(sealedOf, id)).toEqual([`order:${id}`, `order:${id}`]);
  for (const payout of ids) {
    await delivered(payout);
    expect(await keysOf(deliveries, payout)).toEqual([`order:${id}`]);
    expect(await keyOf(payout)).toBeUndefined();
  }
  await forgotten(id);
  const read = { bank_account_number: '', beneficiary_name: null };
  expect(await itemsOfBatch(partner, id)).toEqual([expect.objectContaining(read), expect.objectContaining(read)]);
  for (const payout of ids) {
    expect((await partner.get(`/payouts/${payout}`)).body.data).toMatchObject(read);
    expect((await callbacksOf(payout)).filter(({ kept }) => kept)).toEqual([]);
    expect(await delivered(payout)).toMatchObject([{ body_sealed: null }]);
  }
}, 60_000);

describe('After the retention period of customers and beneficiaries', () => {
  it('A payout’s payee is unreadable everywhere after the retention period; the payout remains', async () => {
    const { id, key, before, delivery } = old;
    expect(before).toMatchObject({ bank_account_number: to.bank_account_number, beneficiary_name: 'Siti Rahayu' });
    const after = (await partner.get(`/payouts/${id}`)).body.data;
    expect(after).toEqual({ ...before, bank_account_number: '', beneficiary_name: null });
    const shown = await partner.get(`/webhook-deliveries/${delivery.id}`);
    expect(shown.status).toBe(200);
    expect(JSON.stringify(shown.body)).not.toContain('Siti');
    expect((await partner.post(`/webhook-deliveries/${delivery.id}/redeliver`, {})).status).toBe(400);
    const again = await partner.post('/payouts', { amount: '50000', external_ref: 'invoice 7', ...to }, key);
    expect([again.status, again.body.data.id, again.body.data.beneficiary_name]).toEqual([200, id, null]);
    expect((await partner.get('/payouts')).body.data.items.map((payout: { id: string }) => payout.id)).toContain(id);
  });

  it('A pending payout keeps its key and is checked again after a day', async () => {
    const id = await payOut(freshKey(), { ...to, bank_account_number: magicAccount('131313') });
    await sweep();
    expect(await keyOf(id)).toEqual(expect.any(String));
    expect(await sweep()).toBe(0);
    const [row] = await inKeys<{ hours: string }>(
      `select extract(epoch from kept_since - now()) / 3600 as hours from order_keys where id = $1`,
      [id],
    );
    expect(Number(row?.hours)).toBeGreaterThan(23);
  });

  it('A payout whose encryption key has expired unused is refused, and nothing is created', async () => {
    const key = freshKey();
    const id = payoutIdFor(partner.id, key);
    await stack.deps.personalKeys.orders.make(id);
    await sweep();
    const { status, body } = await partner.post('/payouts', { amount: '50000', ...to }, key);
    expect([status, body.error.code]).toEqual([409, 'REQUEST_IDEMPOTENCY_KEY_REUSED']);
    expect(await stack.em().execute('select 1 from payouts where id = ?', [id])).toEqual([]);
  });

  it('A key destroyed after the retention period cannot be created again, changed or deleted', async () => {
    const { id } = old;
    await expect(stack.deps.personalKeys.orders.make(id)).rejects.toMatchObject({ code: 'KEY_ERASED' });
    for (const sql of [
      "update order_keys set key_sealed = 'x', erased_at = null where id = $1",
      'delete from order_keys where id = $1',
    ]) {
      await expect(inKeys(sql, [id])).rejects.toMatchObject({ code: 'AM003' });
    }
  });

  it('The provider’s callbacks are unreadable after the retention period', async () => {
    const told = await callbacksOf(old.id);
    expect(told.length).toBeGreaterThan(0);
    expect(told.filter(({ kept }) => kept)).toEqual([]);
  });

  it('A key whose order is newer than the retention period is not destroyed', async () => {
    const id = await payOut();
    await ended(id);
    await inKeys("update order_keys set kept_since = now() - interval '500 days' where id = $1 and erased_at is null", [
      id,
    ]);
    await destroyOrderKeys(stack.em(), stack.deps.personalKeys, 400);
    expect(await keyOf(id)).toEqual(expect.any(String));
  });

  it('A payout returned after the retention period is reversed and reported without the payee', async () => {
    const { id } = old;
    await settleAtProvider(stack, id, 'REVERSED');
    await stack.deps.workflows.hintPayout({ id, kind: 'partner_payout' });
    expect(await ended(id, 'reversed')).toMatchObject({ bank_account_number: '', beneficiary_name: null });
    await eventually(
      async () => receiver.received.map(({ body }) => JSON.parse(body)),
      (told) => told.some(({ type, data }) => type === 'payout.reversed' && data.id === id),
    );
    expect(await keyOf(id)).toBeNull();
  });
});

describe.each([
  { how: 'lost with its database', lose: loseKey },
  { how: 'lost and replaced by another', lose: replaceKey },
])('An order whose key was $how', ({ lose }) => {
  const itForLost = lose === loseKey ? it : itInFull;

  itForLost('A payout whose encryption key is lost still takes the provider’s final status', async () => {
    const id = await payOut(freshKey(), { ...to, bank_account_number: magicAccount('131313') });
    await eventually(
      () =>
        stack
          .em()
          .execute<{ n: number }[]>('select 1 as n from payout_attempts where payout_id = ? and outcome is not null', [
            id,
          ]),
      (rows) => rows.length > 0,
    );
    await lose(stack, id);
    await settleAtProvider(stack, id, 'SUCCEEDED');
    await eventually(
      () =>
        stack
          .em()
          .execute<{ n: number }[]>("select 1 as n from payout_words where payout_id = ? and said = 'succeeded'", [id]),
      (rows) => rows.length > 0,
    );
    await resolvePayout(stack.em(), { ...stack.deps, sealer: sealerElsewhere(stack.deps) }, { payoutId: id });
    expect(await stack.em().execute('select status from payouts where id = ?', [id])).toEqual([
      { status: 'succeeded' },
    ]);
  });

  it('An order whose encryption key is lost is not sent and is shown without names', async () => {
    const key = freshKey();
    const id = await payOut(key);
    await ended(id);
    await lose(stack, id);
    const sealer = sealerElsewhere(stack.deps);
    const payout = await stack.em().findOneOrFail(Payout, { id });
    expect(await presentWholePayout(sealer, payout)).toMatchObject({
      id,
      bank_account_number: '',
      beneficiary_name: null,
    });
    expect(await buildRequest({ gateways: stack.deps.gateways, sealer }, payout)).toBeNull();
    const journals = await stack
      .em()
      .execute<{ id: string }[]>('select id from journals where business_key like ?', [`partner-payout/${id}/%`]);
    const ids = journals.map((journal) => journal.id);
    expect(ids.length).toBeGreaterThan(0);
    const described = await describePostings(stack.em(), sealer, ids);
    expect(described.get(ids[0] ?? '')).toMatchObject({ external_ref: 'invoice 7', beneficiary_name: null });
    const claims = 'select key_hash, fingerprint from requests where resource_id = ?';
    const [claim] = await stack.em().execute<{ key_hash: string; fingerprint: string }[]>(claims, [id]);
    const { key_hash: keyHash = '', fingerprint = '' } = claim ?? {};
    const repeated = { partnerId: partner.id, keyHash, fingerprint };
    const row = await findUnderKey(stack.em(), repeated);
    await expect(openUnderKey(sealer, repeated, row)).rejects.toMatchObject({ code: 'KEYS_AWAY' });
  });

  itForLost('A webhook encrypted with a lost key is retried, and sent once the key is restored', async () => {
    const id = await payOut();
    await ended(id);
    const [delivery] = await delivered(id);
    const deliveryId = delivery?.id ?? '';
    const giveBack = await lose(stack, id);
    await withoutTriggers(
      stack,
      "update webhook_deliveries set status = 'pending', delivered_at = null, next_attempt_at = now() where id = ?",
      [deliveryId],
    );
    const endpoint = async () =>
      stack.em().execute('select failing_since from webhook_endpoints where partner_id = ?', [partner.id]);
    const attempt = () =>
      deliverWebhook(
        stack.em(),
        {
          sealer: sealerElsewhere(stack.deps),
          send: async () => ({ status: 200, error: null, retryAfterMs: 0, timedOut: false }),
          bounds: boundEndpoints(),
        },
        { deliveryId, attempt: 1, elapsedMs: 0 },
      );
    expect(await attempt()).toMatchObject({ status: 'pending', answer: 'the key of its body is lost' });
    expect(await endpoint()).toEqual([{ failing_since: null }]);
    expect((await partner.get(`/webhook-deliveries/${deliveryId}`)).status).toBe(200);
    await giveBack();
    expect(await attempt()).toMatchObject({ status: 'delivered' });
  });
});

describe('Keys destroyed before a restore of the main database', () => {
  it('A webhook encrypted with a destroyed key is parked unsent and shown without its body', async () => {
    const { delivery } = old;
    // Restores the row in the main database; the keys database is unchanged.
    await withoutTriggers(
      stack,
      "update webhook_deliveries set body_sealed = ?, status = 'pending', delivered_at = null, next_attempt_at = now() where id = ?",
      [delivery.body_sealed, delivery.id],
    );
    const never = () => Promise.reject(new Error('nothing is sent'));
    const tools = { sealer: sealerElsewhere(stack.deps), send: never, bounds: boundEndpoints() };
    const progress = await deliverWebhook(stack.em(), tools, {
      deliveryId: delivery.id,
      attempt: 1,
      elapsedMs: 0,
    });
    expect(progress).toMatchObject({ status: 'parked', unsent: true, answer: 'its body is no longer kept' });
    expect((await partner.get(`/webhook-deliveries/${delivery.id}`)).status).toBe(200);
  });
});
