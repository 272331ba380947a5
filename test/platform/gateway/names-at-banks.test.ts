import { foldForBank, isNameForBank } from '../../../src/shared/bank-text.ts';
import { buildPayer, magicAccount, payoutBody, readPayout } from '../../money-out/payouts/build-payouts.ts';
import { readAtProvider } from '../../support/at-provider.ts';
import { buildIndividual } from '../../support/build.ts';
import type { BuiltPartner } from '../../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

it.each([
  ['Budi Santoso', 'Budi Santoso'],
  ['José Müller-Straße', 'Jose Muller-Strasse'],
  ['Øystein Łukasz', 'Oystein Lukasz'],
  ['Ǿrsted ǽ', 'Orsted ae'],
  ['D’Angelo & Söhne', "D'Angelo Sohne"],
  ['PT. Maju/Jaya, Tbk', 'PT. Maju/Jaya, Tbk'],
  ['Siti 🌸 Nurhaliza', 'Siti Nurhaliza'],
  ['王小明', ''],
])('The name %s is sent to a bank as "%s"', (name, folded) => {
  expect([foldForBank(name), isNameForBank(name)]).toEqual([folded, folded !== '']);
});

describe('Names sent to banks', () => {
  let stack: Stack;
  let partner: BuiltPartner;
  beforeAll(async () => {
    stack = await startStack({ worker: true, sandbox: true });
    partner = await buildPayer(stack);
  }, 60_000);
  afterAll(async () => {
    await expectChecksEmpty(stack);
    await stack.stop();
  });

  it('A name is sent to the bank in Latin letters, and returned by the API as given', async () => {
    const beneficiary_name = 'Zoë Ørsted 🌸';
    const { body } = await partner.post('/payouts', payoutBody({ beneficiary_name }));
    const { id } = body.data;
    await eventually(
      () => readPayout(partner, id),
      ({ status }) => status === 'succeeded',
    );
    expect(await readPayout(partner, id)).toMatchObject({ beneficiary_name });
    expect(readAtProvider(stack, 'select * from transfers where reference_id = ?', [id]).join()).toContain(
      'Zoe Orsted',
    );
  });

  it('A name without any character that a bank accepts returns 400, and nothing is created', async () => {
    const refused = await partner.post('/payouts', payoutBody({ beneficiary_name: '王小明', external_ref: 'no name' }));
    expect(refused).toMatchObject({ status: 400, body: { error: { code: 'REQUEST_INVALID_PAYLOAD' } } });
    expect(refused.body.error.message).toContain('beneficiary_name: must have a Latin letter or a digit');
    expect((await partner.get('/payouts?external_ref=no%20name')).body.data.total).toBe(0);
    const { token } = await buildIndividual(stack);
    const account = { bank_code: 'BRI', account_number: magicAccount('111111'), account_holder: '王小明' };
    expect((await stack.post('/v1/bank-accounts', account, { token })).status).toBe(400);
  });

  it.each([
    ['a line feed', 'Budi\nSantoso'],
    ['a tab', 'Budi\tSantoso'],
    ['a next line', 'Budi\u0085Santoso'],
    ['a line separator', 'Budi\u2028Santoso'],
    ['a direction override', 'Budi \u202eosotnaS'],
    ['an isolate', 'Budi \u2067Santoso'],
    ['a trailing line feed', 'Budi Santoso\n'],
  ])('A name with %s returns 400', async (_, beneficiary_name) => {
    const { status, body } = await partner.post('/payouts', payoutBody({ beneficiary_name }));
    expect([status, body.error.message]).toEqual([400, expect.stringContaining('beneficiary_name: must')]);
    const user = await buildIndividual(stack);
    expect((await stack.patch('/v1/auth/me', { name: beneficiary_name }, { token: user.token })).status).toBe(400);
    const reference = { method: 'virtual_account', channel: 'BCA', amount: '50000', external_ref: beneficiary_name };
    expect((await partner.post('/payments', reference)).status).toBe(400);
  });

  it('A customer without a name in Latin letters is sent to the provider under the platform’s name', async () => {
    const named = async (customer_name: string): Promise<string> => {
      const body = { method: 'virtual_account', channel: 'BCA', amount: '50000', customer_name };
      const { id } = (await partner.post('/payments', body)).body.data;
      return readAtProvider(stack, 'select * from instruments where reference_id = ?', [id]).join();
    };
    expect(await named('Zoë, 王')).toContain('Zoe,');
    expect(await named('王小明')).toContain('Amanah');
  });
});
