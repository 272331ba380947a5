import { decodeProtectedHeader } from 'jose';
import { buildPayer, payoutBody } from '../money-out/payouts/build-payouts.ts';
import { askRefund, buildPaid, toBank } from '../money-out/refunds/build-refunds.ts';
import { type BuiltPartner, everyEvent, freshKey } from '../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { type Receiver, startReceiver, verified } from './webhooks/receiver.ts';

let stack: Stack;
let receiver: Receiver;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  receiver = await startReceiver();
  const webhook = { url: receiver.url, events: [...everyEvent, 'refund.succeeded'] };
  partner = await buildPayer(stack, { available: '10000000', webhook });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(async () => {
  await receiver?.stop();
  await stack?.stop();
});

const metadata = { order_id: '2026-0042', note: 'For Siti,\nwith a card', empty: '' };
const payment = { method: 'virtual_account', channel: 'BCA', amount: '50000' };
const read = async (path: string) => (await partner.get(path)).body.data;
const webhookAbout = async (id: string) => {
  const told = () => receiver.received.map((received) => verified(partner.webhookSecret, received).data);
  return (
    await eventually(
      async () => told().find((data) => data.id === id),
      (data) => data !== undefined,
    )
  )?.metadata;
};
const keysOf = async (sql: string, id: string) =>
  (await stack.owner().execute<{ sealed: string }[]>(sql, [id])).map(({ sealed }) => decodeProtectedHeader(sealed).kid);

/** Each resource: its name, how it is created, and the path of its list. */
const resources: [string, (body: object, key?: string) => ReturnType<BuiltPartner['post']>, (made: Made) => string][] =
  [
    ['payment', (body, key) => partner.post('/payments', { ...payment, ...body }, key), () => '/payments'],
    ['payout', (body, key) => partner.post('/payouts', payoutBody(body), key), () => '/payouts'],
    [
      'refund',
      async (body, key) => {
        paid ??= await buildPaid(stack, partner, { method: 'qris', channel: undefined, amount: '100000' });
        return askRefund(partner, paid, { ...toBank(), amount: '10000', ...body }, key);
      },
      ({ payment_id }) => `/payments/${payment_id}/refunds`,
    ],
  ];
interface Made {
  id: string;
  payment_id?: string;
  payment_code?: string;
}
let paid: string | undefined;

describe.each(resources)('The metadata of a %s', (name, create, listOf) => {
  it('Metadata is returned as sent in responses, lists and webhooks, or as null if none was sent', async () => {
    const { status, body } = await create({ metadata });
    expect({ status, data: body.data }).toMatchObject({ status: 200, data: { metadata } });
    const made: Made = body.data;
    expect((await read(`${listOf(made)}/${made.id}`)).metadata).toEqual(metadata);
    const bare = (await create({ metadata: null })).body.data;
    expect(bare.metadata).toBeNull();
    const { items } = await read(listOf(made));
    const listed = new Map(items.map((item: Made & { metadata: object | null }) => [item.id, item.metadata]));
    expect([listed.get(made.id), listed.get(bare.id)]).toEqual([metadata, null]);
    for (const code of [made.payment_code, bare.payment_code].filter(Boolean)) {
      await stack.sandbox.post('/sandbox/pay', { payment_code: code });
    }
    expect(await webhookAbout(made.id)).toEqual(metadata);
    expect(await webhookAbout(bare.id)).toBeNull();
  });

  it('A retry with the same idempotency key and other metadata is refused', async () => {
    const key = freshKey();
    const first = await create({ metadata }, key);
    expect(first.status).toBe(200);
    expect(await create({ metadata: { ...metadata, note: 'other' } }, key)).toMatchObject({
      status: 409,
      body: { error: { code: 'REQUEST_IDEMPOTENCY_KEY_REUSED' } },
    });
    expect((await create({ metadata }, key)).body).toEqual(first.body);
  });

  it('Metadata is encrypted with the key of its order, also in stored responses and webhooks', async () => {
    const { body } = await create({ metadata });
    const { id, payment_code }: Made = body.data;
    if (payment_code !== undefined) await stack.sandbox.post('/sandbox/pay', { payment_code });
    const sealed =
      name === 'payment'
        ? 'select metadata_sealed as sealed from partner_payments where id = ?'
        : 'select texts_sealed as sealed from payouts where id = ?';
    expect(await keysOf(sealed, id)).toEqual([`order:${id}`]);
    expect(await keysOf('select answer_sealed as sealed from requests where resource_id = ?', id)).toEqual([
      `order:${id}`,
    ]);
    const bodies = () => keysOf('select body_sealed as sealed from webhook_deliveries where resource_id = ?', id);
    expect(new Set(await eventually(bodies, (found) => found.length > 0))).toEqual(new Set([`order:${id}`]));
  });
});

describe('Metadata beyond its limits', () => {
  const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'v']));

  it('Metadata is accepted at its maximum size, counted in characters', async () => {
    const most = { ...keys(19), ['🔑'.repeat(40)]: '🎁'.repeat(500) };
    const answer = await partner.post('/payments', { ...payment, metadata: most });
    expect({ status: answer.status, body: answer.body }).toMatchObject({ body: { data: { metadata: most } } });
  });

  it('Metadata beyond its limits is refused with the field’s name, and nothing is created', async () => {
    const rows: [metadata: unknown, field: string][] = [
      [keys(21), 'metadata'],
      [{ ['k'.repeat(41)]: 'v' }, 'metadata'],
      [{ '': 'v' }, 'metadata'],
      [{ 'a\nb': 'v' }, 'metadata'],
      [{ 'a\u0000b': 'v' }, 'metadata'],
      [{ k: 'v'.repeat(501) }, 'metadata.k'],
      [{ k: 1 }, 'metadata.k'],
      [{ k: null }, 'metadata.k'],
      [{ k: ['v'] }, 'metadata.k'],
      [{ k: { l: 'v' } }, 'metadata.k'],
      [{ k: 'a\tb' }, 'metadata.k'],
      [{ k: 'a\rb' }, 'metadata.k'],
      [{ k: 'a\u0085b' }, 'metadata.k'],
      [{ k: 'a\u0000b' }, 'metadata.k'],
      [['v'], 'metadata'],
      ['v', 'metadata'],
    ];
    const { total } = await read('/payments');
    const wrong: unknown[] = [];
    for (const [sent, field] of rows) {
      const { status, body } = await partner.post('/payments', { ...payment, metadata: sent });
      if (status !== 400 || body.error?.details?.[0]?.field !== field) wrong.push([sent, status, body]);
    }
    expect(wrong).toEqual([]);
    expect((await read('/payments')).total).toBe(total);
  });
});
