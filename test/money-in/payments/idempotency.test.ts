import { systemAccounts } from '../../../src/ledger/accounts/account.ts';
import { newId } from '../../../src/shared/ids.ts';
import { type BuiltUser, balanceOf, buildIndividual, buildPlatformAdmin } from '../../support/build.ts';
import { buildProduct } from '../../support/build-targets.ts';
import { plantJournal } from '../../support/plant-journal.ts';
import { isFullRun } from '../../support/run.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let payer: BuiltUser;
let pocket: string;
let productId: string;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  const admin = await buildPlatformAdmin(stack);
  productId = (await buildProduct(stack, admin, { kind: 'investment' })).id;
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  payer = await buildIndividual(stack, { balance: '1000' });
  pocket = (await stack.post('/v1/accounts', { name: 'Pocket' }, { token: payer.token })).body.data.id;
});

const key = 'a-key-of-mine';
const twins = isFullRun() ? 20 : 8;
const post = async (path: string, body: object, idempotencyKey: string, token = payer.token) => {
  const answer = await fetch(`${stack.url}${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': idempotencyKey,
    },
  });
  return { status: answer.status, text: await answer.text(), replayed: answer.headers.get('idempotency-replayed') };
};
const gatewayBody = () => ({
  reference_type: 'account_top_up',
  reference_id: payer.accountId,
  payment_id: 1,
  amount: 50_000,
});
const balanceBody = () => ({
  reference_type: 'investment',
  reference_id: productId,
  source_account_id: payer.accountId,
  amount: 100,
});
const rails: [name: string, path: () => string, body: () => object, other: object][] = [
  ['gateway', () => '/v1/payments/gateway', gatewayBody, { amount: 60_000 }],
  ['balance', () => '/v1/payments/balance', balanceBody, { amount: 101 }],
  [
    'transfer',
    () => `/v1/accounts/${payer.accountId}/transfers`,
    () => ({ destination_account_id: pocket, amount: '100' }),
    { amount: '101' },
  ],
];
const paid = async () =>
  (await stack.em().execute<{ id: string }[]>('select id from transactions where user_id = ?', [payer.id])).length;

describe('An Idempotency-Key', () => {
  it.each(rails)(
    'A retry of a %s payment with the same Idempotency-Key returns the first response byte for byte',
    async (_, path, body) => {
      const first = await post(path(), body(), key);
      expect([first.status, first.replayed]).toEqual([201, null]);
      const second = await post(path(), body(), key);
      expect(second).toEqual({ ...first, replayed: 'true' });
      const orders = await stack.get('/v1/payments/orders', { token: payer.token });
      expect(orders.body.data.total + (await paid())).toBe(1);
    },
  );

  it('A retry of a balance payment returns the first balance even if an earlier credit was committed later', async () => {
    const businessKey = `test/credited/${newId()}`;
    const postings = [
      { accountId: systemAccounts.gatewayClearing, amount: '-50' },
      { accountId: payer.accountId, amount: '50' },
    ];
    const first = await stack.owner().transactional(async (tx) => {
      await plantJournal(tx, { kind: 'test.credited', businessKey, postings });
      return post('/v1/payments/balance', balanceBody(), key);
    });
    expect(JSON.parse(first.text).data.new_balance).toBe('900.0000');
    expect(await balanceOf(stack, payer.accountId)).toBe('950.0000');
    const second = await post('/v1/payments/balance', balanceBody(), key);
    expect(second).toEqual({ ...first, replayed: 'true' });
  });

  it.each(rails)(
    'A %s payment with a used Idempotency-Key and another body returns 400',
    async (_, path, body, other) => {
      await post(path(), body(), key);
      const second = await post(path(), { ...body(), ...other }, key);
      expect([second.status, JSON.parse(second.text).message]).toEqual([
        400,
        expect.stringContaining('Idempotency-Key'),
      ]);
    },
  );

  it.each(rails)(
    'The Idempotency-Key of a %s payment returns 400 on the other payment routes',
    async (name, path, body) => {
      await post(path(), body(), key);
      for (const [other, otherPath, otherBody] of rails.filter(([one]) => one !== name)) {
        expect([other, (await post(otherPath(), otherBody(), key)).status]).toEqual([other, 400]);
      }
      expect(await balanceOf(stack, payer.accountId)).toBe(name === 'gateway' ? '1000.0000' : '900.0000');
    },
  );

  it.each([
    ['gateway', () => '/v1/payments/gateway', gatewayBody, { amount: 0.5 }],
    ['gateway (unknown channel)', () => '/v1/payments/gateway', gatewayBody, { payment_id: 999 }],
    ['balance', () => '/v1/payments/balance', balanceBody, { amount: 1001 }],
    ['balance (invalid target)', () => '/v1/payments/balance', balanceBody, { reference_id: key }],
    [
      'transfer',
      () => `/v1/accounts/${payer.accountId}/transfers`,
      () => ({ destination_account_id: pocket, amount: '100' }),
      { amount: '1001' },
    ],
  ] as [string, () => string, () => object, object][])(
    'The Idempotency-Key of a refused %s payment can be used for another body',
    async (_, path, body, wrong) => {
      expect((await post(path(), { ...body(), ...wrong }, key)).status).toBe(400);
      expect(await post(path(), body(), key)).toMatchObject({ status: 201, replayed: null });
    },
  );

  it('An Idempotency-Key belongs to its user: another user can use the same one', async () => {
    await post('/v1/payments/balance', balanceBody(), key);
    const other = await buildIndividual(stack, { balance: '1000' });
    const body = { ...balanceBody(), source_account_id: other.accountId };
    expect(await post('/v1/payments/balance', body, key, other.token)).toMatchObject({ status: 201, replayed: null });
  });

  it.each(['short', 'k'.repeat(129), ''])('A payment with the Idempotency-Key %j returns 400', async (wrong) => {
    const { status } = await post('/v1/payments/balance', balanceBody(), wrong);
    expect(status).toBe(400);
  });

  it.each(rails)(
    'Concurrent %s payments with the same Idempotency-Key pay once and return the same response',
    async (_, path, body) => {
      const answers = await Promise.all(Array.from({ length: twins }, () => post(path(), body(), key)));
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
      expect(answers[0]?.status).toBe(201);
      expect(answers.filter(({ replayed }) => replayed === null)).toHaveLength(1);
      const orders = await stack.get('/v1/payments/orders', { token: payer.token });
      expect(orders.body.data.total + (await paid())).toBe(1);
    },
  );

  it.each(rails.slice(1))(
    'Concurrent %s payments of the whole balance with the same Idempotency-Key all succeed and pay once',
    async (name, path, body) => {
      const all = { ...body(), amount: name === 'transfer' ? '1000' : 1000 };
      const answers = await Promise.all(Array.from({ length: twins }, () => post(path(), all, key)));
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
      expect([answers[0]?.status, await paid(), await balanceOf(stack, payer.accountId)]).toEqual([201, 1, '0.0000']);
    },
  );

  it('A retry with the same Idempotency-Key may write the same amount differently', async () => {
    const first = await post('/v1/payments/balance', balanceBody(), key);
    const raw = JSON.stringify(balanceBody()).replace('"amount":100', '"amount":100.00');
    const second = await stack.post('/v1/payments/balance', undefined, {
      token: payer.token,
      raw,
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
    });
    expect([second.status, second.body]).toEqual([201, JSON.parse(first.text)]);
  });
});
