import { buildSuperAdmin } from '../../support/build.ts';
import { currentRun } from '../../support/current-run.ts';
import { untilLocked } from '../../support/lock-waits.ts';
import type { BuiltPartner } from '../../support/partner.ts';
import { buildPartner, freshKey } from '../../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import {
  buildPayer,
  generous,
  magicAccount,
  pay,
  payoutBody,
  payoutWhen,
  readBalance,
  readPayout,
  transfersOf,
} from './build-payouts.ts';

let stack: Stack;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  partner = await buildPayer(stack, {
    fees: [
      { method: 'payout', fixed: '2500', basis_points: 0 },
      { method: 'payout', channel: 'BNI', fixed: '1000', basis_points: 10 },
    ],
  });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const refusal = (status: number, code: string, details?: unknown) => ({
  status,
  body: { error: { code, ...(details === undefined ? {} : { details }) }, request_id: expect.any(String) },
});
const post = async (body: object, key?: string | null, by = partner) => {
  const answer = await by.post('/payouts', payoutBody(body), key);
  return { status: answer.status, body: answer.body };
};

describe('A quote for a payout', () => {
  const ask = (body: object, by = partner) => by.post('/quotes', { method: 'payout', amount: '50000', ...body }, null);

  it('A payout quote shows the fee for its bank and reserves nothing', async () => {
    const before = await readBalance(partner);
    for (const [bank_code, fee] of [
      ['BCA', '2500.0000'],
      ['BNI', '1050.0000'],
    ]) {
      const { status, body } = await ask({ amount: '50000', bank_code });
      expect([status, body.data.fee]).toEqual([200, fee]);
      expect(body.data).toMatchObject({ amount: '50000.0000', gross_amount: '50000.0000', currency: 'IDR' });
    }
    expect(await readBalance(partner)).toEqual(before);
    const quoted = (await ask({ bank_code: 'BNI' })).body.data;
    const account = { bank_code: 'BNI', bank_account_number: '0000111111' };
    const made = (await post({ ...account, amount: '50000' })).body.data;
    expect(quoted).toMatchObject({ amount: made.amount, fee: made.fee, net_amount: made.net_amount });
    await payoutWhen(partner, made.id, 'succeeded');
  });

  it.each<[string, object, string, string?]>([
    ['without a bank', {}, 'bank_code'],
    ['with an unsupported bank', { bank_code: 'NOBANK' }, 'bank_code'],
    ['with a channel', { bank_code: 'BCA', channel: 'BCA' }, 'channel'],
    ['with an organization', { bank_code: 'BCA', organization_id: freshKey() }, 'organization_id'],
    ['of less than its fee', { bank_code: 'BCA', amount: '2500' }, 'amount'],
    ['with a fraction of a rupiah for the bank', { bank_code: 'BCA', amount: '50000.5' }, 'amount'],
    [
      'below the bank’s minimum after the fee',
      { bank_code: 'BCA', amount: '12499' },
      'amount',
      'IDR 9999.0000 would arrive',
    ],
    ['of a payment with a bank', { method: 'qris', bank_code: 'BCA' }, 'bank_code'],
  ])('A payout quote %s is refused, and the error names the field', async (_, body, field, complaint = field) => {
    expect(await ask(body)).toMatchObject(
      refusal(400, 'REQUEST_INVALID_PAYLOAD', [{ field, message: expect.stringContaining(complaint) }]),
    );
  });
});

describe('POST /v1/partners/payouts', () => {
  it('Creating a payout returns 200 with amount, fee, net amount and status_url', async () => {
    const { status, body } = await post({ external_ref: 'INV-7' });
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        data: {
          id: expect.any(String),
          reference: expect.stringMatching(/^PO-[0-9A-F]{20}$/),
          external_ref: 'INV-7',
          status: 'pending',
          is_final: false,
          amount: '100000.0000',
          fee: '2500.0000',
          net_amount: '97500.0000',
          currency: 'IDR',
          batch_id: null,
          bank_code: 'BRI',
          bank_account_number: magicAccount('111111'),
          status_url: `/v1/partners/payouts/${body.data.id}`,
          beneficiary_name: 'Budi Santoso',
          created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
          metadata: null,
          succeeded_at: null,
          booked_at: null,
          finalized_at: null,
          failure_code: null,
        },
        request_id: expect.any(String),
      },
    });
    const { body: detail } = await partner.get(body.data.status_url.replace('/v1/partners', ''));
    const { status_url, ...shown } = body.data;
    const { status: _, is_final, finalized_at, ...detailed } = detail.data;
    expect({ ...detailed, status: 'pending', is_final: false, succeeded_at: null, finalized_at: null }).toEqual(shown);
    expect(is_final).toBe(finalized_at !== null);
    await payoutWhen(partner, body.data.id, 'succeeded');
  });

  it('A payout stores external_ref as sent, including white space', async () => {
    const external_ref = '  INV 7 ';
    const { id } = await pay(partner, { external_ref });
    expect(await readPayout(partner, id)).toMatchObject({ external_ref });
    const query = encodeURIComponent(external_ref);
    expect((await partner.get(`/payouts?external_ref=${query}`)).body.data.items).toMatchObject([{ id, external_ref }]);
    await payoutWhen(partner, id, 'succeeded');
  });

  it('An ADDED payout reserves amount and fee, and the full amount reaches the bank', async () => {
    const added = await buildPayer(stack, {
      feeMode: 'ADDED',
      fees: [{ method: 'payout', fixed: '2500', basis_points: 0 }],
    });
    const payout = await pay(added, { bank_account_number: magicAccount('131313') });
    expect(payout).toMatchObject({ amount: '100000.0000', fee: '2500.0000', net_amount: '100000.0000' });
    expect(await readBalance(added)).toMatchObject({ available: '897500.0000', pending: '102500.0000' });
    const [transfer] = await eventually(
      () => transfersOf(stack, payout.id),
      (transfers) => transfers.length === 1,
    );
    expect(transfer?.amount).toBe(100_000);
  });

  it('A payout to a bank with its own fee is charged that fee, not the fee of the method', async () => {
    const { body } = await post({ bank_code: 'BNI', bank_account_number: '1234567890' });
    expect(body.data).toMatchObject({ fee: '1100.0000', net_amount: '98900.0000' });
  });

  it.each([
    ['no amount', { amount: undefined }, 'amount'],
    ['an amount that is a number', { amount: 1000 }, 'amount'],
    ['an amount of zero', { amount: '0' }, 'amount'],
    ['a negative amount', { amount: '-5' }, 'amount'],
    ['five decimals', { amount: '100000.00001' }, 'amount'],
    ['a fraction of a rupiah for the bank', { amount: '100000.5' }, 'amount'],
    ['an amount that does not cover the fee', { amount: '2500' }, 'amount'],
    ['an amount below the bank’s minimum after the fee', { amount: '12499' }, 'amount'],
    ['more than the bank’s maximum', { amount: '300000000' }, 'amount'],
    ['no bank', { bank_code: undefined }, 'bank_code'],
    ['an unknown bank', { bank_code: 'ID_BCA' }, 'bank_code'],
    ['no account number', { bank_account_number: undefined }, 'bank_account_number'],
    ['an account number with letters', { bank_account_number: '12345678901AB' }, 'bank_account_number'],
    ['an account number too short for the bank', { bank_account_number: '123456' }, 'bank_account_number'],
    ['an account number too long for the bank', { bank_account_number: '123456789012345678' }, 'bank_account_number'],
    ['an unknown field', { colour: 'blue' }, 'colour'],
    ['an external_ref that is too long', { external_ref: 'x'.repeat(129) }, 'external_ref'],
  ])('Creating a payout with %s returns REQUEST_INVALID_PAYLOAD with the field', async (_, changes, field) => {
    const details = [{ field, message: expect.stringContaining(field) }];
    expect(await post(changes)).toMatchObject(refusal(400, 'REQUEST_INVALID_PAYLOAD', details));
  });

  it('Creating a payout needs an idempotency key of 8 to 128 characters', async () => {
    expect(await post({}, null)).toMatchObject(refusal(400, 'REQUEST_IDEMPOTENCY_KEY_REQUIRED'));
    expect(await post({}, 'short')).toMatchObject(refusal(400, 'REQUEST_INVALID_PAYLOAD'));
    expect(await post({}, 'x'.repeat(129))).toMatchObject(refusal(400, 'REQUEST_INVALID_PAYLOAD'));
  });

  it('A payout requested repeatedly with one idempotency key is reserved once and gets one response', async () => {
    const key = freshKey();
    const body = payoutBody({ bank_account_number: magicAccount('131313') });
    const before = await readBalance(partner);
    const answers = await Promise.all(Array.from({ length: 10 }, () => partner.post('/payouts', body, key)));
    const later = await partner.post('/payouts', body, key);
    expect(new Set([...answers, later].map((answer) => JSON.stringify(answer.body))).size).toBe(1);
    expect(later.headers.get('idempotency-replayed')).toBe('true');
    const after = await readBalance(partner);
    expect(Number(before.available) - Number(after.available)).toBe(100_000);
    const changed = await partner.post('/payouts', { ...body, amount: '100001' }, key);
    expect(changed).toMatchObject(refusal(409, 'REQUEST_IDEMPOTENCY_KEY_REUSED'));
  });

  it('A payout refused before any reservation leaves its idempotency key unused', async () => {
    const key = freshKey();
    expect(await post({ amount: '99999999' }, key)).toMatchObject(refusal(422, 'FUNDS_INSUFFICIENT_BALANCE'));
    expect(await post({ amount: '20000' }, key)).toMatchObject({ status: 200 });
  });

  it('Creating a payout needs the permission request-payout and an active partner', async () => {
    const reader = await buildPartner(stack, { permissions: ['read-gateway', 'collect-payment'], limits: generous });
    expect(await post({}, undefined, reader)).toMatchObject(refusal(403, 'AUTH_PERMISSION_DENIED'));
    const suspended = await buildPartner(stack, { status: 'suspended', limits: generous });
    expect(await post({}, undefined, suspended)).toMatchObject(refusal(403, 'AUTH_PARTNER_INACTIVE'));
    const payer = await buildPartner(stack, { permissions: ['request-payout'], limits: generous });
    expect(await payer.get('/payouts')).toMatchObject(refusal(403, 'AUTH_PERMISSION_DENIED'));
  });

  it('The suspension of an organization waits for a payout being reserved and refuses later ones', async () => {
    const payer = await buildPayer(stack);
    const superAdmin = await buildSuperAdmin(stack);
    const asked: ReturnType<typeof payer.post>[] = [];
    let suspending: ReturnType<typeof stack.patch> | undefined;
    await stack.owner().transactional(async (tx) => {
      await tx.execute('select 1 from account_balances where account_id = ? and shard = 0 for update', [
        payer.account.available,
      ]);
      asked.push(payer.post('/payouts', payoutBody()));
      await untilLocked(stack, { text: 'post_journal' });
      suspending = stack.patch(
        `/v1/organizations/${payer.organizationId}`,
        { status: 'suspended' },
        { token: superAdmin.token },
      );
      // A suspension waits for pending reservations.
      await untilLocked(stack, { text: 'organizations' });
    });
    expect((await asked[0])?.status).toBe(200);
    expect((await suspending)?.status).toBe(200);
    expect(await payer.post('/payouts', payoutBody())).toMatchObject({
      status: 403,
      body: { error: { code: 'AUTH_PARTNER_INACTIVE' } },
    });
  });

  it('A payout without a beneficiary name is sent with the account number as the name', async () => {
    const { id, beneficiary_name } = await pay(partner, { amount: '12500', beneficiary_name: undefined });
    expect(beneficiary_name).toBeNull();
    expect(await payoutWhen(partner, id, 'succeeded')).toMatchObject({
      net_amount: '10000.0000',
      beneficiary_name: null,
    });
    expect(await transfersOf(stack, id)).toMatchObject([
      { amount: 10_000, channel_properties: { account_holder_name: magicAccount('111111') } },
    ]);
  });

  it('A payout’s account number and beneficiary are encrypted in the workflow’s history', async () => {
    const payout = await pay(partner, { beneficiary_name: 'Siti Rahayu', external_ref: 'for Siti' });
    // The run that received the account number: a callback that arrives after its end starts another run.
    const handle = await currentRun(stack.deps.workflows.client.workflow, `partner-payout/${payout.id}`);
    await payoutWhen(partner, payout.id, 'succeeded');
    const bytes = JSON.stringify(await handle.fetchHistory(), (_, value) =>
      value?.type === 'Buffer' ? Buffer.from(value.data).toString('utf8') : value,
    );
    const decoded = bytes + Buffer.from(bytes.replace(/[^A-Za-z0-9+/=]/g, ''), 'base64').toString('latin1');
    for (const secret of [magicAccount('111111'), 'Siti']) expect(decoded).not.toContain(secret);
    expect(bytes).toContain(payout.id);
  });
});

describe('Reading payouts', () => {
  it('A payout shows the beneficiary’s name, in lists too, and when it succeeded', async () => {
    const payer = await buildPayer(stack);
    const { id } = await pay(payer, { beneficiary_name: 'Siti Rahayu' });
    const { succeeded_at, finalized_at, beneficiary_name } = await payoutWhen(payer, id, 'succeeded');
    expect(beneficiary_name).toBe('Siti Rahayu');
    expect(succeeded_at).toBe(finalized_at);
    const { items } = (await payer.get('/payouts')).body.data;
    expect(items).toMatchObject([{ id, succeeded_at, beneficiary_name: 'Siti Rahayu' }]);
  });

  it('Payouts are listed newest first, without account numbers and with the total of all matches', async () => {
    const payer = await buildPayer(stack);
    const made: string[] = [];
    for (const external_ref of ['A', 'B', 'A']) made.push((await pay(payer, { external_ref })).id);
    const { body } = await payer.get('/payouts');
    expect(body.data).toMatchObject({ page: 1, limit: 50, total: 3 });
    expect(body.data.items.map(({ id }: { id: string }) => id)).toEqual(made.toReversed());
    expect(body.data.items[0]).not.toHaveProperty('bank_account_number');
    expect((await payer.get('/payouts?external_ref=A')).body.data.total).toBe(2);
    expect((await payer.get('/payouts?limit=1&page=3')).body.data.items[0].id).toBe(made[0]);
    expect((await payer.get(`/payouts?after=${made[1]}`)).body.data.items).toHaveLength(1);
    expect((await payer.get('/payouts?page=9')).body.data.items).toEqual([]);
    for (const id of made) await payoutWhen(payer, id, 'succeeded');
    expect((await payer.get('/payouts?status=succeeded')).body.data.total).toBe(3);
    expect((await payer.get('/payouts?status=reversed')).body.data.total).toBe(0);
    const day = new Date(Date.now() + 7 * 3_600_000).toISOString().slice(0, 10);
    expect((await payer.get(`/payouts?from=${day}&to=${day}`)).body.data.total).toBe(3);
    expect((await payer.get('/payouts?to=2020-01-01')).body.data.total).toBe(0);
    expect((await payer.get('/payouts?from=0000-01-01&to=9999-12-31T23:59:59.999Z')).body.data.total).toBe(3);
  });

  it.each([
    'page=0',
    'page=1.5',
    'page=1&page=2',
    'limit=0',
    'limit=101',
    'limit=1e1',
    'status=expired',
    'status=pending&status=failed',
    'external_ref=',
    'external_ref=%00',
    'from=yesterday',
    'from=2026-02-30',
    'to=2026-01-01T00:00:00',
    'after=x',
  ])('Listing payouts with %s is refused with the parameter’s name', async (query) => {
    const { status, body } = await partner.get(`/payouts?${query}`);
    const [field] = query.split('=');
    const details = [{ field, message: expect.stringContaining(String(field)) }];
    expect({ status, body }).toMatchObject(refusal(400, 'REQUEST_INVALID_PAYLOAD', details));
  });

  it("Listing payouts after another partner's payout is refused like a missing one", async () => {
    const [payer, other] = [await buildPayer(stack), await buildPayer(stack)];
    const mine = await pay(payer);
    const theirs = await pay(other);
    const missing = '00000000-0000-4000-8000-00000000dead';
    const read = async (after: string) => {
      const { status, body } = await payer.get(`/payouts?after=${after}`);
      return { status, error: body.error };
    };
    expect(await read(theirs.id)).toEqual(await read(missing));
    expect(await read(missing)).toMatchObject({ status: 400, error: { code: 'REQUEST_INVALID_PAYLOAD' } });
    expect((await payer.get(`/payouts?after=${mine.id}`)).body.data).toMatchObject({ items: [], total: 1 });
  });

  it("Another partner's payout and a missing one both return 404", async () => {
    const payout = await pay(partner);
    const other = await buildPayer(stack);
    for (const path of [`/payouts/${payout.id}`, `/payouts/${payout.id}/timeline`]) {
      expect(await other.get(path)).toMatchObject(refusal(404, 'RESOURCE_NOT_FOUND'));
    }
    const nobody = '00000000-0000-4000-8000-00000000dead';
    expect(await other.get(`/payouts/${nobody}`)).toMatchObject(refusal(404, 'RESOURCE_NOT_FOUND'));
    expect(await readPayout(other, payout.id)).toBeUndefined();
  });

  it('A final payout’s timeline is ordered oldest first and shows a failure code and no next step', async () => {
    const payout = await pay(partner, { bank_account_number: magicAccount('999999') });
    await payoutWhen(partner, payout.id, 'failed');
    const typesOf = (timeline: { items: { type: string }[] }) => timeline.items.map(({ type }) => type);
    // The payout may become final before the provider's callback arrives.
    const data = await eventually(
      async () => (await partner.get(`/payouts/${payout.id}/timeline`)).body.data,
      (timeline) => typesOf(timeline).includes('callback'),
    );
    const types = typesOf(data);
    expect(types.slice(0, 2)).toEqual(['request', 'reservation']);
    expect(new Set(types)).toEqual(new Set(['request', 'reservation', 'provider', 'callback', 'ledger', 'outcome']));
    expect(JSON.stringify(data.items)).toContain('REJECTED_BY_CHANNEL');
    expect(data.next).toBeNull();
  });
});

describe('The webhooks of a payout', () => {
  it('A payout’s webhooks report succeeded, failed and reversed once each, with growing versions', async () => {
    const url = `${stack.sandbox.url}/sandbox/webhooks`;
    const payer = await buildPayer(stack, { webhook: { url } });
    const reversed = await pay(payer, { bank_account_number: magicAccount('654321') });
    const failed = await pay(payer, { bank_account_number: magicAccount('121212') });
    await payoutWhen(payer, reversed.id, 'reversed');
    const received = async (id: string) =>
      (await stack.sandbox.get(`/sandbox/webhooks?contains=${id}`)).body.webhooks.map(({ body }: { body: string }) =>
        JSON.parse(body),
      );
    const told = await eventually(
      () => received(reversed.id),
      (bodies) => bodies.length === 2,
    );
    expect(
      told.toSorted((a: { data: { version: number } }, b: typeof a) => a.data.version - b.data.version),
    ).toMatchObject([
      { type: 'payout.succeeded', data: { id: reversed.id, status: 'succeeded', version: 1 } },
      { type: 'payout.reversed', data: { id: reversed.id, status: 'reversed', version: 2 } },
    ]);
    const [failure] = await eventually(
      () => received(failed.id),
      (bodies) => bodies.length === 1,
    );
    expect(failure).toMatchObject({
      type: 'payout.failed',
      data: { failure_code: 'INVALID_DESTINATION', is_final: true, bank_account_number: magicAccount('121212') },
    });
  });
});
