import { balanceOf, buildOrganization } from '../../support/build.ts';
import { casesOf } from '../../support/full.ts';
import { type BuiltPartner, buildPartner, freshKey, type PartnerOptions } from '../../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  await begin();
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
/** Continues with a new partner, by default one with fees: for tests that count payments or read balances. */
const begin = async (options: PartnerOptions = { fees }) => {
  partner = await buildPartner(stack, options);
};
const fees = [{ method: 'virtual_account', fixed: '4000', basis_points: 0, provider_fixed: '2500' }];

const va = { method: 'virtual_account', channel: 'BCA', amount: '50000' };
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const pay = (code: string, amount?: number) => stack.sandbox.post('/sandbox/pay', { payment_code: code, amount });
const read = async (id: string) => (await partner.get(`/payments/${id}`)).body.data;
const when = (id: string, status: string) =>
  eventually(
    () => read(id),
    (data) => data.status === status,
  );
const create = async (body: object = va) => {
  const answer = await partner.post('/payments', body);
  expect(answer.status).toBe(200);
  return answer.body.data;
};
const errorOf = ({ status, body }: { status: number; body: { error: { code: string } } }) => [status, body.error.code];

describe('A payment', () => {
  it('Creating a payment returns 200 with every documented field and what the customer needs to pay', async () => {
    const { status, body, headers } = await partner.post('/payments', { ...va, external_ref: 'INV-1' });
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        data: {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          reference: 'INV-1',
          external_ref: 'INV-1',
          status: 'pending',
          is_final: false,
          method: 'virtual_account',
          channel: 'BCA',
          amount: '50000.0000',
          fee: '4000.0000',
          net_amount: '46000.0000',
          refunded_amount: '0.0000',
          currency: 'IDR',
          payment_code: expect.stringMatching(/^\d+$/),
          next_action: { type: 'show_account_number', value: body.data?.payment_code },
          metadata: null,
          instrument_id: null,
          status_url: `/v1/partners/payments/${body.data?.id}`,
          expires_at: expect.stringMatching(timestamp),
          created_at: expect.stringMatching(timestamp),
          finalized_at: null,
          cancelled_at: null,
          available_at: null,
          failure_code: null,
        },
        request_id: headers.get('x-request-id'),
      },
    });
    const lifetime = Date.parse(body.data.expires_at) - Date.parse(body.data.created_at);
    expect(lifetime).toBe(24 * 60 * 60 * 1000);
    const { status_url, ...detail } = body.data;
    expect((await stack.get(status_url, {})).status).toBe(401);
    expect(await read(body.data.id)).toEqual(detail);
  });

  it('A payment stores external_ref as sent, including white space; it is null if not sent', async () => {
    const external_ref = '  INV 1 ';
    const { id } = await create({ ...va, external_ref });
    expect(await read(id)).toMatchObject({ reference: external_ref, external_ref });
    const { items } = (await partner.get(`/payments?external_ref=${encodeURIComponent(external_ref)}`)).body.data;
    expect(items).toMatchObject([{ id }]);
    expect((await partner.get('/payments?external_ref=INV%201')).body.data.total).toBe(0);
    const without = await create();
    expect(without).toMatchObject({ reference: without.id, external_ref: null });
    expect(errorOf(await partner.post('/payments', { ...va, external_ref: '  ' }))).toEqual([
      400,
      'REQUEST_INVALID_PAYLOAD',
    ]);
  });

  it('A payment shows the payment_code of its method and channel', async () => {
    for (const [method, channel, code] of [
      ['qris', undefined, /^000201/],
      ['ewallet', 'DANA', /^http/],
      ['virtual_account', 'MANDIRI', /^\d+$/],
    ] as const) {
      const data = await create({ method, channel, amount: '20000' });
      expect(data).toMatchObject({ method, payment_code: expect.stringMatching(code), reference: data.id });
      expect(data.channel).toBe(channel);
      expect('channel' in data).toBe(channel !== undefined);
    }
  });

  it('A payment by OVO needs customer_phone and has no payment_code: the wallet prompts the customer', async () => {
    const ovo = { method: 'ewallet', channel: 'OVO', amount: '20000' };
    const refused = await partner.post('/payments', ovo);
    expect(errorOf(refused)).toEqual([400, 'REQUEST_INVALID_PAYLOAD']);
    expect(refused.body.error.details).toEqual([{ field: 'customer_phone', message: expect.any(String) }]);
    const data = await create({ ...ovo, customer_phone: '081234567890' });
    expect(data).toMatchObject({ payment_code: null, next_action: { type: 'wait_for_push', value: null } });
    expect(await read(data.id)).toMatchObject({ payment_code: null });
    await pay(data.id);
    expect(await when(data.id, 'succeeded')).toMatchObject({ payment_code: null, next_action: null });
  });

  it('A payment by OVO accepts an Indonesian phone number in any notation', async () => {
    for (const phone of ['081234567890', '6281234567890', '+6281234567890', '+62 812-3456-7890', '(0812) 3456.7890']) {
      const ovo = { method: 'ewallet', channel: 'OVO', amount: '20000', customer_phone: phone };
      const { id } = await create(ovo);
      const { payments } = (await stack.sandbox.get(`/sandbox/records?reference_id=${id}`)).body;
      expect(String((await stack.sandbox.get(`/checkout/${payments[0].id}`)).body)).toContain('asks +6281234567890 in');
    }
  });

  it('A payment by OVO with any other phone number is refused before anything is stored', async () => {
    await begin();
    const ovo = { method: 'ewallet', channel: 'OVO', amount: '20000' };
    const key = freshKey();
    for (const customer_phone of [
      '+81312345678',
      '8123456789',
      '02112345678',
      '+6208123456789',
      '0812345',
      '081234567890123',
    ]) {
      const refused = await partner.post('/payments', { ...ovo, customer_phone }, key);
      expect([customer_phone, ...errorOf(refused)]).toEqual([customer_phone, 400, 'REQUEST_INVALID_PAYLOAD']);
      expect(refused.body.error.details).toEqual([{ field: 'customer_phone', message: expect.any(String) }]);
    }
    expect((await partner.get('/payments')).body.data.total).toBe(0);
    expect((await partner.post('/payments', { ...ovo, customer_phone: '081234567890' }, key)).status).toBe(200);
  });

  it('A payment by a wallet other than OVO accepts a foreign phone number', async () => {
    const dana = { method: 'ewallet', channel: 'DANA', amount: '20000', customer_phone: '+81312345678' };
    expect((await create(dana)).payment_code).toMatch(/^http/);
  });

  it('A paid payment without a settlement delay makes its net available and hides the provider’s cost', async () => {
    await begin();
    const { id, payment_code } = await create();
    await pay(payment_code);
    const paid = await when(id, 'succeeded');
    expect(paid).toMatchObject({
      is_final: true,
      finalized_at: expect.stringMatching(timestamp),
      net_amount: '46000.0000',
    });
    const balance = (await partner.get('/balance')).body.data;
    expect(balance).toEqual({ balance: '46000.0000', available: '46000.0000', pending: '0.0000', currency: 'IDR' });
    expect(await balanceOf(stack, partner.account.available)).toBe('46000.0000');
    expect(JSON.stringify(paid)).not.toContain('2500');
  });

  it('A paid payment with a settlement delay is credited as pending and shows when it becomes available', async () => {
    await begin({ settlementDelayHours: 2 });
    const { id, payment_code } = await create();
    await pay(payment_code);
    const { finalized_at, available_at } = await when(id, 'succeeded');
    expect(Date.parse(available_at) - Date.parse(finalized_at)).toBe(2 * 3_600_000);
    expect((await partner.get('/payments')).body.data.items).toMatchObject([{ id, available_at }]);
    const balance = (await partner.get('/balance')).body.data;
    expect(balance).toEqual({ balance: '50000.0000', available: '0.0000', pending: '50000.0000', currency: 'IDR' });
    const timeline = (await partner.get(`/payments/${id}/timeline`)).body.data;
    expect(timeline.next).toEqual({ at: expect.stringMatching(timestamp), text: expect.stringMatching(/available/) });
  });

  it('A payment shows next_action until it is final, and cancelled_at once it is cancelled', async () => {
    const qris = await create({ method: 'qris', amount: '20000' });
    expect(qris.next_action).toEqual({ type: 'show_qr', value: qris.payment_code });
    const dana = await create({ method: 'ewallet', channel: 'DANA', amount: '20000' });
    expect(dana.next_action).toEqual({ type: 'redirect', value: dana.payment_code });
    const ovo = await create({ method: 'ewallet', channel: 'OVO', amount: '20000', customer_phone: '+6281234567890' });
    expect(ovo.next_action).toEqual({ type: 'wait_for_push', value: null });
    await stack.sandbox.post('/sandbox/pay', { payment_code: dana.payment_code });
    expect(await when(dana.id, 'succeeded')).toMatchObject({
      next_action: null,
      cancelled_at: null,
      failure_code: null,
    });
    const { status, body } = await partner.post(`/payments/${qris.id}/cancel`, {}, null);
    expect([status, body.data]).toEqual([
      200,
      expect.objectContaining({ status: 'expired', next_action: null, cancelled_at: expect.stringMatching(timestamp) }),
    ]);
  });

  it('A declined payment fails with a failure_code', async () => {
    const { id, payment_code } = await create({ method: 'ewallet', channel: 'DANA', amount: '20000' });
    await stack.sandbox.post('/sandbox/decline', { payment_code });
    expect(await when(id, 'failed')).toMatchObject({ is_final: true, failure_code: expect.any(String) });
  });

  it('A payment expires with its instrument at the provider, and late money goes to suspense', async () => {
    const { id, payment_code } = await create();
    await stack.sandbox.post('/sandbox/expire', { payment_code });
    expect((await when(id, 'expired')).is_final).toBe(true);
    await pay(payment_code);
    await receiptsOf(id, 'late');
    expect((await read(id)).status).toBe('expired');
  });

  it('A payment stays payable after a wrong amount; once it is paid, a second payment goes to suspense', async () => {
    await begin();
    const { id, payment_code } = await create();
    await pay(payment_code, 49_999);
    await receiptsOf(id, 'wrong_amount');
    expect((await read(id)).status).toBe('pending');
    await pay(payment_code);
    await when(id, 'succeeded');
    await pay(payment_code);
    await receiptsOf(id, 'double');
    expect(await balanceOf(stack, partner.account.available)).toBe('46000.0000');
  });

  it('A payment with an invalid value returns a message that names the field and the rule', async () => {
    const wallet = { method: 'ewallet', channel: 'DANA', amount: '20000' };
    for (const [body, message] of [
      [
        { ...wallet, return_url: 'HTTPS://partner.example/back' },
        'return_url: must be a URL that begins with https://',
      ],
      [{ ...va, expires_in_minutes: 0 }, 'expires_in_minutes: must be at least 1'],
      [{ ...va, expires_in_minutes: 2881 }, 'expires_in_minutes: must be at most 2880'],
      [{ ...va, amount: '-1' }, 'amount: must be greater than zero'],
    ] as const) {
      expect((await partner.post('/payments', body)).body.error.message).toBe(message);
    }
  });

  it('A payment accepts expires_in_minutes from 1 to 2,880', async () => {
    const short = await create({ ...va, expires_in_minutes: 1 });
    expect(Date.parse(short.expires_at) - Date.parse(short.created_at)).toBe(60_000);
    await create({ ...va, expires_in_minutes: 2880 });
    for (const expires_in_minutes of [0, 2881, 1.5, '60']) {
      expect(errorOf(await partner.post('/payments', { ...va, expires_in_minutes }))).toEqual([
        400,
        'REQUEST_INVALID_PAYLOAD',
      ]);
    }
  });

  const invalid: [what: string, change: object][] = [
    ['an unknown method', { method: 'cash' }],
    ['an unknown channel', { channel: 'NOBANK' }],
    ['an e-wallet’s channel for a bank', { channel: 'DANA' }],
    ['no channel', { channel: undefined }],
    ['a channel for QRIS', { method: 'qris' }],
    ['an amount below the channel’s minimum', { amount: '9999' }],
    ['an amount above its maximum', { amount: '50000001' }],
    ['an amount that is a number', { amount: 50_000 }],
    ['five decimals', { amount: '50000.00001' }],
    ['a gross with a fraction', { amount: '50000.5' }],
    ['a net that is not positive', { channel: 'BNI', amount: '4000' }],
    ['an unknown field', { note: 'x' }],
    ['a malformed e-mail address', { customer_email: 'nobody' }],
    ['an organization_id that is not an id', { organization_id: 'x' }],
  ];
  it('A payment with an invalid field, or one that no channel accepts, returns 400 and names a field', async () => {
    await begin();
    for (const [what, change] of invalid) {
      const answer = await partner.post('/payments', { ...va, ...change });
      expect([what, ...errorOf(answer)]).toEqual([what, 400, 'REQUEST_INVALID_PAYLOAD']);
      expect(answer.body.error.details[0]).toEqual({ field: expect.any(String), message: expect.any(String) });
    }
  });

  it('A payment for an organization that is not linked returns RESOURCE_NOT_LINKED', async () => {
    const organization_id = await buildOrganization(stack);
    expect(errorOf(await partner.post('/payments', { ...va, organization_id }))).toEqual([403, 'RESOURCE_NOT_LINKED']);
    await partner.administer('post', '/organizations', { organization_id });
    await create({ ...va, organization_id });
  });

  it.each(casesOf(['suspended', 'inactive']))(
    'A payment for a linked organization that is %s returns RESOURCE_NOT_LINKED until it is active again',
    async (status) => {
      const organization_id = await buildOrganization(stack);
      await partner.administer('post', '/organizations', { organization_id });
      await stack.owner().execute('update organizations set status = ? where id = ?', [status, organization_id]);
      expect(errorOf(await partner.post('/payments', { ...va, organization_id }))).toEqual([
        403,
        'RESOURCE_NOT_LINKED',
      ]);
      await stack.owner().execute("update organizations set status = 'active' where id = ?", [organization_id]);
      await create({ ...va, organization_id });
    },
  );

  it('A payment that the provider refuses returns PROVIDER_REFUSED, and so does its retry', async () => {
    await begin();
    const body = { ...va, channel: 'BCA', amount: '50000' };
    await stack
      .owner()
      .execute("update payment_channels set channel_code = 'NOT_AT_THE_PROVIDER' where channel_code = 'BCA'");
    try {
      const first = await partner.post('/payments', { ...body, channel: 'NOT_AT_THE_PROVIDER' }, 'refused-key-1');
      expect(errorOf(first)).toEqual([502, 'PROVIDER_REFUSED']);
      const again = await partner.post('/payments', { ...body, channel: 'NOT_AT_THE_PROVIDER' }, 'refused-key-1');
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      expect(again.body).toEqual(first.body);
      const list = (await partner.get('/payments?status=failed')).body.data;
      expect(list).toMatchObject({ total: 1, items: [{ failure_code: expect.any(String) }] });
    } finally {
      await stack
        .owner()
        .execute("update payment_channels set channel_code = 'BCA' where channel_code = 'NOT_AT_THE_PROVIDER'");
    }
  });
});

const receiptsOf = (reference: string, reason: string) =>
  eventually(
    () =>
      stack
        .em()
        .execute("select 1 from receipts where reference = ? and reason = ? and state = 'suspended'", [
          reference,
          reason,
        ]),
    (rows) => rows.length === 1,
  );

describe('Reading payments', () => {
  it('Payments are listed newest first and filtered by status, external_ref and period, with a total', async () => {
    await begin();
    const made: string[] = [];
    for (const external_ref of ['A', 'B', 'B']) made.unshift((await create({ ...va, external_ref })).id);
    const list = async (query: string) => (await partner.get(`/payments${query}`)).body.data;
    const ids = ({ items }: { items: { id: string }[] }) => items.map(({ id }) => id);
    expect(ids(await list(''))).toEqual(made);
    expect(await list('?limit=1&page=2')).toMatchObject({ items: [{ id: made[1] }], page: 2, limit: 1, total: 3 });
    expect(await list(`?limit=1&after=${made[1]}`)).toMatchObject({ items: [{ id: made[2] }], total: 3 });
    expect(await list('')).toMatchObject({ page: 1, limit: 50, total: 3 });
    expect(ids(await list('?external_ref=B'))).toEqual(made.slice(0, 2));
    expect(ids(await list('?external_ref=b'))).toEqual([]);
    expect(await list('?status=succeeded')).toMatchObject({ items: [], total: 0 });
    expect(ids(await list('?status=pending'))).toEqual(made);
    expect(await list('?page=9')).toMatchObject({ items: [], total: 3 });
    expect(ids(await list('?from=0001-01-01&to=9999-12-31T23:59:59.999Z'))).toEqual(made);
    expect(await list('?from=9999-12-31')).toMatchObject({ items: [], total: 0 });
    for (const query of ['?limit=101', '?limit=0', '?page=0', '?status=paid', '?from=yesterday']) {
      expect(errorOf(await partner.get(`/payments${query}`))).toEqual([400, 'REQUEST_INVALID_PAYLOAD']);
    }
  });

  it('Listing payments after another partner’s payment returns the same 400 as a missing id', async () => {
    await begin();
    await create();
    const other = await buildPartner(stack);
    const { data } = (await other.post('/payments', va)).body;
    const missing = '00000000-0000-4000-8000-00000000dead';
    const read = async (after: string) => {
      const { status, body } = await partner.get(`/payments?after=${after}`);
      return { status, error: body.error };
    };
    expect(await read(data.id)).toEqual(await read(missing));
    const message = 'after: matches no row of this list; use a value of next';
    const details = [{ field: 'after', message }];
    expect(await read(missing)).toEqual({ status: 400, error: { code: 'REQUEST_INVALID_PAYLOAD', message, details } });
    const { items } = (await partner.get('/payments')).body.data;
    expect((await partner.get(`/payments?after=${items.at(-1).id}`)).body.data.items).toEqual([]);
    expect((await partner.get(`/payments?after=${items[0].id}&status=failed`)).body.data).toMatchObject({ items: [] });
  });

  it('Payments are listed for whole days in UTC+7, both ends included', async () => {
    await begin();
    const { id } = await create();
    const at = (instant: string) =>
      stack.owner().execute('update partner_payments set created_at = ? where id = ?', [instant, id]);
    const total = async (query: string) => (await partner.get(`/payments?${query}`)).body.data.total;
    await at('2026-03-09T17:00:00.000Z');
    expect([await total('from=2026-03-10&to=2026-03-10'), await total('to=2026-03-09')]).toEqual([1, 0]);
    await at('2026-03-10T16:59:59.999Z');
    expect([await total('from=2026-03-10&to=2026-03-10'), await total('from=2026-03-11')]).toEqual([1, 0]);
    expect(await total('from=2026-03-10T16:59:59.999Z&to=2026-03-10T16:59:59.999Z')).toBe(1);
  });

  it('Another partner’s payment and its timeline return 404, and lists omit it', async () => {
    const { id } = await create();
    const other = await buildPartner(stack);
    for (const path of [`/payments/${id}`, `/payments/${id}/timeline`, `/payments/${other.id}`]) {
      expect(errorOf(await other.get(path))).toEqual([404, 'RESOURCE_NOT_FOUND']);
    }
    expect((await other.get('/payments')).body.data.total).toBe(0);
  });
});

describe('A timeline', () => {
  it('A payment’s timeline shows what happened in order, and the next step', async () => {
    await begin();
    const url = `${stack.sandbox.url}/sandbox/webhooks`;
    await partner.administer('put', '/webhook', { url, events: ['payment.succeeded'] });
    const { id, payment_code } = await create();
    const waiting = (await partner.get(`/payments/${id}/timeline`)).body.data;
    expect(waiting.items.map(({ type }: { type: string }) => type)).toEqual(['request', 'provider', 'provider']);
    expect(waiting.next.text).toMatch(/may pay until the deadline/);
    await pay(payment_code);
    await when(id, 'succeeded');
    const { items, next } = (await partner.get(`/payments/${id}/timeline`)).body.data;
    const types = items.map(({ type }: { type: string }) => type);
    expect(types).toEqual(['request', 'provider', 'provider', 'callback', 'ledger', 'ledger', 'outcome', 'webhook']);
    const [owed, available] = items.filter(({ type }: { type: string }) => type === 'ledger');
    expect([owed.text, available.text]).toEqual([
      expect.stringContaining('was credited to your pending balance'),
      expect.stringContaining('became available'),
    ]);
    expect(items.map(({ at }: { at: string }) => at)).toEqual(items.map(({ at }: { at: string }) => at).toSorted());
    expect(next).toBeNull();
  });
});

describe('A quote', () => {
  it('A payment quote returns gross, fee and net, and creates no payment', async () => {
    await begin();
    const { status, body } = await partner.post('/quotes', { ...va, amount: '50000.5' }, null);
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        data: {
          amount: '50000.5000',
          gross_amount: '50000.5000',
          fee: '4000.0000',
          net_amount: '46000.5000',
          currency: 'IDR',
          quoted_at: expect.stringMatching(timestamp),
        },
        request_id: expect.any(String),
      },
    });
    expect((await partner.get('/payments')).body.data.total).toBe(0);
  });

  it('With fee mode ADDED, a quote and a payment add the fee to the amount', async () => {
    await begin({ feeMode: 'ADDED', fees: [{ method: 'qris', fixed: '500', basis_points: 70 }] });
    const { body } = await partner.post('/quotes', { method: 'qris', amount: '100000' }, null);
    expect(body.data).toMatchObject({ gross_amount: '101200.0000', fee: '1200.0000', net_amount: '100000.0000' });
    expect(await create({ method: 'qris', amount: '100000' })).toMatchObject({
      amount: '101200.0000',
      fee: '1200.0000',
      net_amount: '100000.0000',
    });
    const above = await partner.post('/quotes', { method: 'qris', amount: '9999000' }, null);
    expect(above.body.error.message).toBe(
      'amount: the channel accepts IDR 1.0000 to 10000000.0000, and the customer would pay IDR 10069493.0000',
    );
    const uneven = await partner.post('/quotes', { method: 'qris', amount: '100000.0010' }, null);
    expect(errorOf(uneven)).toEqual([400, 'REQUEST_INVALID_PAYLOAD']);
  });
});

describe('GET /channels', () => {
  it('Channels show which wallets can be refunded, whether in part, and for how many days', async () => {
    const { collection } = (await partner.get('/channels')).body.data;
    const refunds = (collection as Record<string, unknown>[])
      .filter(({ refundable }) => refundable === true)
      .map(({ channel, refundable_in_part, refund_window_days }) => [channel, refundable_in_part, refund_window_days]);
    expect(refunds.toSorted()).toEqual([
      ['DANA', true, 30],
      ['LINKAJA', false, 30],
      ['SHOPEEPAY', true, 365],
    ]);
    for (const { refundable, refundable_in_part, refund_window_days } of collection) {
      if (!refundable) expect([refundable_in_part, refund_window_days]).toEqual([false, 0]);
    }
  });

  it('Channels show the partner’s fee mode', async () => {
    const adding = await buildPartner(stack, { feeMode: 'ADDED' });
    expect((await adding.get('/channels')).body.data.fee_mode).toBe('ADDED');
  });

  it('Channels list every method and bank, with the partner’s fees and the channel’s limits', async () => {
    await begin();
    const { fee_mode, collection, payout_banks } = (await partner.get('/channels')).body.data;
    expect(fee_mode).toBe('DEDUCTED');
    const names = collection.map(
      ({ method, channel }: { method: string; channel?: string }) => `${method}/${channel ?? ''}`,
    );
    expect(names.toSorted()).toEqual(
      [
        ...['BCA', 'BNI', 'BRI', 'BSI', 'CIMB', 'MANDIRI', 'PERMATA'].map((bank) => `virtual_account/${bank}`),
        ...['DANA', 'LINKAJA', 'OVO', 'SHOPEEPAY'].map((wallet) => `ewallet/${wallet}`),
        'qris/',
      ].toSorted(),
    );
    expect(collection[0]).toEqual({
      method: 'virtual_account',
      channel: 'BCA',
      fixed: '4000.0000',
      basis_points: 0,
      minimum_amount: '10000.0000',
      maximum_amount: '50000000.0000',
      refundable: false,
      refundable_in_part: false,
      refund_window_days: 0,
    });
    expect(payout_banks.find(({ bank_code }: { bank_code: string }) => bank_code === 'BCA')).toMatchObject({
      account_number_min_length: 10,
      account_number_max_length: 10,
      minimum_amount: '10000.0000',
      maximum_amount: '250000000.0000',
      fixed: '0.0000',
    });
  });
});
