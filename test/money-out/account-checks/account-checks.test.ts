import {
  compareNames,
  mostChecksOfAccount,
  mostChecksOfDay,
} from '../../../src/money-out/account-checks/account-check.ts';
import { type BuiltPartner, buildPartner } from '../../support/partner.ts';
import { type Stack, startStack } from '../../support/stack.ts';
import { magicAccount } from '../payouts/build-payouts.ts';

let stack: Stack;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  partner = await buildPartner(stack);
}, 60_000);
afterAll(() => stack.stop());

const question = (digits: string, name?: string) => ({
  bank_code: 'BRI',
  bank_account_number: magicAccount(digits),
  ...(name !== undefined && { name }),
});
const check = async (digits: string, name?: string, by = partner) => {
  const { status, body } = await by.send('post', '/bank-account-checks', question(digits, name));
  expect({ status, body }).toMatchObject({ status: 200 });
  return body.data;
};

it('An account check shows the account holder only if the requested name matches at least in part', async () => {
  const first = await check('200001', 'Siti Rahayu Dewi');
  expect(first).toEqual({
    id: expect.any(String),
    status: 'valid',
    account_holder: 'Siti Rahayu Dewi',
    name_match: 'match',
    checked_at: expect.any(String),
  });
  const kept = { id: first.id, status: 'valid', checked_at: first.checked_at };
  expect(await check('200001', 'RAHAYU')).toEqual({
    ...kept,
    account_holder: 'Siti Rahayu Dewi',
    name_match: 'partial',
  });
  expect(await check('200001', 'Budi Santoso')).toEqual({ ...kept, account_holder: null, name_match: 'mismatch' });
  expect(await check('200001')).toEqual({ ...kept, account_holder: null, name_match: null });
  // Another partner's check queries the provider again.
  expect(await check('200001', 'Budi Santoso', await buildPartner(stack))).toMatchObject({ name_match: 'match' });
});

it('An account check returns invalid, a name mismatch or unknown, as the provider does', async () => {
  const nobody = { account_holder: null, name_match: null };
  expect(await check('404404', 'Siti Rahayu')).toMatchObject({ status: 'invalid', ...nobody });
  expect(await check('505505', 'Siti Rahayu')).toMatchObject({
    status: 'valid',
    account_holder: null,
    name_match: 'mismatch',
  });
  expect(await check('900004', 'Siti Rahayu')).toMatchObject({ status: 'unknown', ...nobody });
}, 30_000);

it('A sandbox account check returns the configured holder, or invalid if that holder is null', async () => {
  const hold = async (digits: string, holder: string | null) => {
    const answer = await stack.sandbox.put('/sandbox/bank-accounts', { ...question(digits), holder });
    expect(answer).toMatchObject({ status: 200 });
  };
  await hold('200010', 'Siti Rahayu');
  await hold('200011', null);
  expect(await check('200010', 'Siti Aminah')).toMatchObject({ name_match: 'partial', account_holder: 'Siti Rahayu' });
  expect(await check('200011')).toMatchObject({ status: 'invalid' });
});

it('A payout quote accepts a valid account check of the partner in place of the bank', async () => {
  const quote = async (body: object, by = partner) => {
    const answer = await by.send('post', '/quotes', { method: 'payout', amount: '20000', ...body });
    return answer.status === 200 ? answer.body.data.net_amount : answer.body.error.details[0];
  };
  const { id } = await check('200009');
  const field = 'bank_account_check_id';
  expect(await quote({ [field]: id })).toBe(await quote({ bank_code: 'BRI' }));
  expect(await quote({ [field]: id, bank_code: 'BRI' })).toEqual(expect.any(String));
  expect(await quote({ [field]: id, bank_code: 'BCA' })).toMatchObject({ field: 'bank_code' });
  expect(await quote({ [field]: id, method: 'qris' })).toMatchObject({ field });
  expect(await quote({ [field]: id }, await buildPartner(stack))).toMatchObject({ field });
  expect(await quote({ [field]: (await check('404404')).id })).toMatchObject({ field });
});

it('An account check’s result is reused for a day and then replaced', async () => {
  const checks = () =>
    stack.em().execute<{ known: boolean; sealed: boolean }[]>(
      `select checked_at is not null as known, holder_sealed is not null as sealed from bank_account_checks
       where partner_id = ? order by asked_at`,
      [own.id],
    );
  const own = await buildPartner(stack);
  const first = await check('200002', 'Siti Rahayu', own);
  await check('200002', 'Siti Rahayu', own);
  expect(await checks()).toEqual([{ known: true, sealed: true }]);
  await stack
    .owner()
    .execute("update bank_account_checks set asked_at = asked_at - interval '24 hours' where id = ?", [first.id]);
  expect((await check('200002', 'Siti Rahayu', own)).id).not.toBe(first.id);
  expect(await checks()).toEqual([{ known: true, sealed: true }]);
});

it('Account checks are limited per partner and day, for one account and in total', async () => {
  const own = await buildPartner(stack);
  await check('200003', 'Siti Rahayu', own);
  const ask = (digits: string) => own.send('post', '/bank-account-checks', question(digits));
  const askMore = (count: number, digest = 'account_digest') =>
    stack.owner().execute(
      `insert into bank_account_questions (partner_id, account_digest)
       select partner_id, ${digest} from bank_account_checks, generate_series(1, ?) where partner_id = ?`,
      [count, own.id],
    );
  const refused = { status: 429, body: { error: { code: 'REQUEST_RATE_LIMITED' } } };
  await askMore(mostChecksOfAccount - 1);
  expect(await ask('200003')).toMatchObject(refused);
  // The limit applies even if the stored result has expired.
  await stack
    .owner()
    .execute("update bank_account_checks set asked_at = asked_at - interval '24 hours' where partner_id = ?", [own.id]);
  expect(await ask('200003')).toMatchObject(refused);
  await askMore(mostChecksOfDay - mostChecksOfAccount - 1, "'another'");
  expect(await ask('404404')).toMatchObject({ status: 200 });
  expect(await ask('505505')).toMatchObject(refused);
  await stack
    .owner()
    .execute("update bank_account_questions set asked_at = asked_at - interval '24 hours' where partner_id = ?", [
      own.id,
    ]);
  expect(await ask('200003')).toMatchObject({ status: 200 });
});

it('An account check rejects invalid fields, and API keys without the permission', async () => {
  const refusals: [object, string][] = [
    [{ bank_code: 'NOBANK', bank_account_number: '1234567890' }, 'bank_code'],
    [{ bank_code: 'BCA', bank_account_number: '123' }, 'bank_account_number'],
    [{ bank_code: 'BCA', bank_account_number: '1234567890', name: '\u{1F600}' }, 'name'],
    [{ bank_code: 'BCA' }, 'bank_account_number'],
  ];
  const answers = await Promise.all(
    refusals.map(async ([body]) => (await partner.send('post', '/bank-account-checks', body)).body),
  );
  expect(answers.map(({ error }) => [error.code, error.details[0].field])).toEqual(
    refusals.map(([, field]) => ['REQUEST_INVALID_PAYLOAD', field]),
  );
  const reader = await buildPartner(stack, { permissions: ['read-gateway'] });
  expect(await reader.send('post', '/bank-account-checks', question('200004'))).toMatchObject({ status: 403 });
});

it('An account check compares names word by word', () => {
  const comparisons: [string, string, string][] = [
    ['Siti Rahayu', 'SITI RAHAYU', 'match'],
    ['Rahayu, Siti', 'SITI RAHAYU', 'match'],
    ['Sítí Rahayu', 'SITI RAHAYU', 'match'],
    ['S Rahayu', 'SITI RAHAYU', 'partial'],
    ['Siti', 'SITI RAHAYU', 'partial'],
    ['Siti Aminah', 'SITI RAHAYU', 'partial'],
    ['Siti Budi Agus Dewi', 'SITI RAHAYU', 'mismatch'],
    ['Siti Siti Siti Budi Agus Dewi', 'SITI RAHAYU', 'mismatch'],
    ['bin', 'AHMAD BIN ALI', 'mismatch'],
    ['a', 'A B', 'mismatch'],
    ['Rahay', 'SITI RAHAYU', 'mismatch'],
  ];
  expect(comparisons.map(([given, held]) => compareNames(given, held))).toEqual(
    comparisons.map(([, , match]) => match),
  );
});
