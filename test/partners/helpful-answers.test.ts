import { type FeeMode, feeModes } from '../../src/partners/partner.ts';
import { isAboveZero, isWholeRupiah, subtractMoney } from '../../src/shared/money.ts';
import { routeGroups } from '../../src/wiring/app.ts';
import { buildPayer, payoutBody } from '../money-out/payouts/build-payouts.ts';
import { buildIndividual } from '../support/build.ts';
import { casesOf } from '../support/full.ts';
import { type BuiltPartner, buildPartner } from '../support/partner.ts';
import { expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const fees = [
  { method: 'virtual_account', fixed: '4000', basis_points: 0, provider_fixed: '2500' },
  { method: 'qris', fixed: '0', basis_points: 70, provider_fixed: '0' },
  { method: 'ewallet', fixed: '1250.5', basis_points: 150, provider_fixed: '0' },
  { method: 'payout', fixed: '2500', basis_points: 30, provider_fixed: '1000' },
];
interface Channel {
  method?: string;
  channel?: string;
  bank_code?: string;
  minimum_amount: string;
}
/** All channels and banks open to a partner. */
async function channelsOf(partner: BuiltPartner): Promise<Channel[]> {
  const { collection, payout_banks } = (await partner.get('/channels')).body.data;
  return [...collection, ...payout_banks];
}
/** Whether a creation of this amount is refused for the amount alone. */
async function isTooLittle(partner: BuiltPartner, { method = 'payout', channel, bank_code }: Channel, amount: string) {
  const { status, body } = await (method === 'payout'
    ? partner.post('/quotes', { method, bank_code, amount })
    : partner.post('/payments', { method, channel, amount }));
  return status === 400 && body.error.details[0].field === 'amount';
}
const messageOf = ({ status, body }: { status: number; body: { error: { message: string } } }) => [
  status,
  body.error.message,
];

describe.each(casesOf(feeModes))('The minimum of a channel with the fee %s', (feeMode: FeeMode) => {
  it('A channel accepts its minimum amount and no lower one', async () => {
    const partner = await buildPartner(stack, { fees, feeMode });
    const wrong: unknown[] = [];
    for (const row of await channelsOf(partner)) {
      const { method = 'payout', channel, bank_code, minimum_amount: least } = row;
      const quoted = await partner.post('/quotes', { method, channel, bank_code, amount: least });
      const { gross_amount: gross, net_amount: net } = quoted.body.data ?? {};
      const isWhole = isWholeRupiah((method === 'payout' ? net : gross) ?? '0.5');
      const less = ['1', '0.5', '0.0001'].map((step) => subtractMoney(least, step));
      const refused = await Promise.all(
        less.map((amount) => (isAboveZero(amount) ? isTooLittle(partner, row, amount) : true)),
      );
      if (quoted.status !== 200 || !isWhole || refused.includes(false)) wrong.push([row, quoted.status, refused]);
    }
    expect(wrong).toEqual([]);
    const { collection } = (await partner.get('/channels')).body.data;
    const bca = collection.find(({ channel }: Channel) => channel === 'BCA');
    const made = { method: 'virtual_account', channel: 'BCA', amount: bca.minimum_amount };
    expect((await partner.post('/payments', made)).status).toBe(200);
  });
});

describe('Helpful errors', () => {
  it('An error about a channel or bank suggests the one that was meant', async () => {
    const partner = await buildPayer(stack, { fees });
    const va = { method: 'virtual_account', amount: '50000' };
    expect(messageOf(await partner.post('/payments', { ...va, channel: 'bca' }))).toEqual([
      400,
      'channel: there is no virtual_account bca: write BCA',
    ]);
    expect(messageOf(await partner.post('/payments', { ...va, channel: 'HSBC' }))).toEqual([
      400,
      expect.stringMatching(/there is no virtual_account HSBC: there are BCA, /),
    ]);
    expect(messageOf(await partner.post('/instruments', { method: 'virtual_account', channel: 'bca' }))).toEqual([
      400,
      'channel: there is no virtual_account bca: write BCA',
    ]);
    const body = payoutBody({ bank_code: 'bri' });
    const { bank_code, bank_account_number } = body as Record<string, unknown>;
    const items = [{ ...body, external_ref: 'first' }];
    expect(
      [
        await partner.post('/payouts', body),
        await partner.post('/payout-batches', { items }),
        await partner.send('post', '/bank-account-checks', { bank_code, bank_account_number }),
      ].map(messageOf),
    ).toEqual(
      ['', 'items.0.', ''].map((place) => [400, `${place}bank_code: no supported bank has this code: write BRI`]),
    );
  });

  it('The error for an amount below the fee states the fee and the minimum amount', async () => {
    const partner = await buildPayer(stack, { fees });
    const va = { method: 'virtual_account', channel: 'BCA', amount: '3000' };
    expect(messageOf(await partner.post('/payments', va))).toEqual([
      400,
      'amount: does not cover the fee of IDR 4000.0000: the least is IDR 10000.0000',
    ]);
    expect(messageOf(await partner.post('/instruments', va))).toEqual([
      400,
      'amount: does not cover the fee of IDR 4000.0000: the least is IDR 10000.0000',
    ]);
    expect(messageOf(await partner.post('/payouts', payoutBody({ amount: '2000' })))).toEqual([
      400,
      expect.stringMatching(/^amount: does not cover the fee of IDR 2506.0000: the least is IDR \d+\.\d{4}$/),
    ]);
  });

  it('Rotating a key again returns 409 KEY_ALREADY_ROTATED', async () => {
    const partner = await buildPartner(stack);
    expect((await partner.send('post', '/keys/rotate')).status).toBe(200);
    expect(await partner.send('post', '/keys/rotate')).toMatchObject({
      status: 409,
      body: { error: { code: 'KEY_ALREADY_ROTATED' } },
    });
    expect(await partner.administer('post', `/keys/${partner.keyId}/rotate`)).toMatchObject({
      status: 409,
      body: { statusCode: 409, code: 'KEY_ALREADY_ROTATED' },
    });
  });

  it('Responses carry the API version, with and without valid credentials', async () => {
    const partner = await buildPartner(stack);
    for (const answer of [await partner.get('/balance'), await stack.get('/v1/partners/balance', {})]) {
      expect(answer.headers.get('amanah-version')).toMatch(/^\d{4}-\d\d-\d\d$/);
    }
  });

  it('A duplicated query parameter returns the same error to partners and people', async () => {
    const partner = await buildPartner(stack);
    expect(messageOf(await partner.get('/payments?limit=1&limit=2'))).toEqual([400, 'limit: must be given once']);
    const { token } = partner.admin;
    expect(await stack.get('/v1/events?limit=1&limit=2', { token })).toMatchObject({
      status: 400,
      body: { message: 'limit: must be given once' },
    });
  });

  it('Unknown and malformed ids get the same error about a missing resource', async () => {
    const partner = await buildPartner(stack);
    const paths = routeGroups
      .flatMap(({ routes }) => routes)
      .filter(({ access, method, path }) => access.kind === 'partner' && method === 'get' && /_?id\b/.test(path))
      .map(({ path }) => path.replace('/v1/partners', ''));
    expect(paths.length).toBeGreaterThan(8);
    const wrong: unknown[] = [];
    for (const path of paths) {
      const answer = async (id: string) => messageOf(await partner.get(path.replace(/:\w+/g, id)));
      const [status, message] = await answer('019bba56-a840-7c3e-9a51-3f1d0c8e7b24');
      const malformed = await answer('none');
      const isWorded = status === 404 && /^The [a-z ]+ was not found$/.test(String(message));
      if (!isWorded || malformed[1] !== message) wrong.push([path, message, malformed]);
    }
    expect(wrong).toEqual([]);
  });

  it('Errors of people’s routes have a machine-readable code', async () => {
    const { token } = await buildIndividual(stack);
    const missing = '/v1/accounts/019bba56-a840-7c3e-9a51-3f1d0c8e7b24';
    const answers = [
      await stack.get('/v1/accounts', {}),
      await stack.get(missing, { token }),
      await stack.get('/v1/accounts?limit=0', { token }),
      await stack.get('/v1/nowhere', { token }),
    ];
    expect(answers.map(({ status, body }) => [status, body.statusCode, body.code])).toEqual([
      [401, 401, 'UNAUTHENTICATED'],
      [404, 404, 'NOT_FOUND'],
      [400, 400, 'REQUEST_INVALID'],
      [404, 404, 'NOT_FOUND'],
    ]);
  });
});
