import { buildOrganization, buildOrganizationAdmin, buildPlatformAdmin, buildSuperAdmin } from '../support/build.ts';
import { type BuiltPartner, buildPartner, everyEvent } from '../support/partner.ts';
import { expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startStack();
  partner = await buildPartner(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const accounts = '/v1/partner-accounts';

describe('Partner accounts', () => {
  it('Only platform users with manage-partner can access partner accounts', async () => {
    const others = [await buildPlatformAdmin(stack), await buildOrganizationAdmin(stack)];
    for (const { token } of others) expect((await stack.get(accounts, { token })).status).toBe(403);
    expect((await stack.get(accounts)).status).toBe(401);
    expect((await stack.get(accounts, { token: partner.admin.token })).status).toBe(200);
  });

  it('A partner account starts pending, with payouts enabled and no limits, and can be listed and read', async () => {
    const { token } = await buildSuperAdmin(stack);
    const organization_id = await buildOrganization(stack);
    const body = { name: 'Toko', organization_id, fee_mode: 'ADDED', settlement_delay_hours: 24 };
    const created = await stack.post(accounts, body, { token });
    expect({ status: created.status, data: created.body.data }).toMatchObject({
      status: 201,
      data: { ...body, status: 'pending', payouts_enabled: true, limits: null },
    });
    const detail = await stack.get(`${accounts}/${created.body.data.id}`, { token });
    expect(detail.body.data).toMatchObject({ keys: [], fees: [], organization_ids: [organization_id], webhook: null });
    const list = await stack.get(`${accounts}?limit=100`, { token });
    expect(list.body.data.items.map(({ id }: { id: string }) => id)).toContain(created.body.data.id);
    expect(list.body.data).toMatchObject({ page: 1, limit: 100, total: list.body.data.items.length });
    const events = await stack.get(`/v1/events?resource_id=${created.body.data.id}`, { token });
    expect(events.body.data.items[0]).toMatchObject({ event: 'RESOURCE_CREATED', resource_type: 'partner' });
  });

  it('A partner account rejects unknown organizations and fields; a missing account returns 404', async () => {
    const { token } = partner.admin;
    const organization_id = '8a1d9b0e-0000-4000-8000-000000000000';
    expect((await stack.post(accounts, { name: 'X', organization_id }, { token })).status).toBe(400);
    const unknown = await partner.administer('patch', '', { colour: 'red' });
    expect({ status: unknown.status, message: unknown.body.message }).toEqual({
      status: 400,
      message: 'colour: unknown field',
    });
    expect((await stack.get(`${accounts}/${organization_id}`, { token })).status).toBe(404);
  });

  it('A partner account can be activated only for an active organization', async () => {
    const { token } = await buildSuperAdmin(stack);
    const organization_id = await buildOrganization(stack, { status: 'pending' });
    const { body } = await stack.post(accounts, { name: 'New', organization_id }, { token });
    const activate = () => stack.patch(`${accounts}/${body.data.id}`, { status: 'active' }, { token });
    expect((await activate()).status).toBe(400);
    await stack.owner().execute("update organizations set status = 'active' where id = ?", [organization_id]);
    expect((await activate()).body.data.status).toBe('active');
  });

  it('A partner’s API key and its secrets are shown once, and stored hashed and encrypted', async () => {
    const issued = await partner.administer('post', '/keys', { permissions: ['read-gateway'] });
    expect(issued.status).toBe(201);
    const { api_key, signing_secret, id, prefix } = issued.body.data;
    expect(api_key.startsWith(prefix)).toBe(true);
    const detail = JSON.stringify((await partner.administer('get', '')).body);
    expect(detail).not.toContain(api_key);
    expect(detail).not.toContain(signing_secret);
    const [row] = await stack.em().execute('select * from partner_keys where id = ?', [id]);
    expect(JSON.stringify(row)).not.toContain(api_key);
    expect(JSON.stringify(row)).not.toContain(signing_secret);
  });

  it('Issuing an API key requires known permissions; changing another partner’s key returns 404', async () => {
    expect((await partner.administer('post', '/keys', { permissions: ['everything'] })).status).toBe(400);
    expect((await partner.administer('post', '/keys', { permissions: [] })).status).toBe(400);
    const other = await buildPartner(stack);
    expect((await other.administer('delete', `/keys/${partner.keyId}`)).status).toBe(404);
    expect((await other.administer('post', `/keys/${partner.keyId}/rotate`)).status).toBe(404);
  });

  it('A partner’s three limits can only be set together', async () => {
    const limits = { max_payout_amount: '1000000', max_daily_amount: '5000000.5', max_hourly_count: 10 };
    const set = await partner.administer('put', '/limits', limits);
    expect(set.body.data).toEqual({
      max_payout_amount: '1000000.0000',
      max_daily_amount: '5000000.5000',
      max_hourly_count: 10,
    });
    expect((await partner.administer('put', '/limits', { ...limits, max_hourly_count: undefined })).status).toBe(400);
    expect((await partner.administer('put', '/limits', { ...limits, max_payout_amount: 5 })).status).toBe(400);
    expect((await partner.administer('patch', '', { payouts_enabled: false })).body.data.payouts_enabled).toBe(false);
  });

  it('A partner’s fee table is set as a whole, and rejects unknown, repeated or inapplicable rules', async () => {
    const rule = { method: 'virtual_account', fixed: '4000', basis_points: 0 };
    const set = await partner.administer('put', '/fees', { fees: [rule, { ...rule, channel: 'BCA', fixed: '3000' }] });
    expect(
      set.body.data.fees.map(({ fixed, channel }: { fixed: string; channel: string }) => [channel, fixed]),
    ).toEqual([
      [null, '4000.0000'],
      ['BCA', '3000.0000'],
    ]);
    for (const fees of [
      [rule, rule],
      [{ ...rule, channel: 'GOPAY' }],
      [{ ...rule, organization_id: await buildOrganization(stack) }],
      [{ ...rule, method: 'payout', organization_id: partner.organizationId }],
      [{ ...rule, method: 'qris', channel: 'QRIS' }],
      [{ ...rule, basis_points: 1.5 }],
      [{ ...rule, fixed: '0.00001' }],
      [{ ...rule, fixed: '-1' }],
    ]) {
      expect((await partner.administer('put', '/fees', { fees })).status).toBe(400);
    }
    expect((await partner.administer('put', '/fees', { fees: [] })).body.data.fees).toEqual([]);
  });

  it('A fee that could never apply to any allowed amount is rejected', async () => {
    const added = await buildPartner(stack, { feeMode: 'ADDED' });
    const refusedOf = async (by: BuiltPartner, fee: object) => {
      const { status, body } = await by.administer('put', '/fees', { fees: [{ basis_points: 0, fixed: '0', ...fee }] });
      return [status, status === 400 ? body.message : null];
    };
    const complaint = (method: string) =>
      `fees.0: could never apply: no amount allowed for ${method} leaves room for this fee`;
    expect(await refusedOf(added, { method: 'qris', fixed: '10000000' })).toEqual([400, complaint('qris')]);
    expect(await refusedOf(added, { method: 'qris', fixed: '9999999' })).toEqual([200, null]);
    expect(await refusedOf(added, { method: 'payout', fixed: '20000000' })).toEqual([200, null]);
    const deducted = await buildPartner(stack);
    expect(await refusedOf(deducted, { method: 'qris', basis_points: 10_000 })).toEqual([400, complaint('qris')]);
    expect(await refusedOf(deducted, { method: 'qris', basis_points: 9_999 })).toEqual([200, null]);
    expect(await refusedOf(deducted, { method: 'payout', basis_points: 10_000 })).toEqual([400, complaint('payout')]);
  });

  it('Unlinking an organization removes its fees, so the fee table can be sent back as shown', async () => {
    const own = await buildPartner(stack);
    const organization_id = await buildOrganization(stack);
    await own.administer('post', '/organizations', { organization_id });
    const rule = { method: 'qris', fixed: '500', basis_points: 0 };
    await own.administer('put', '/fees', { fees: [rule, { ...rule, organization_id, fixed: '100' }] });
    expect((await own.administer('delete', `/organizations/${organization_id}`)).status).toBe(200);
    const { fees } = (await own.administer('get', '')).body.data;
    expect(fees).toMatchObject([{ method: 'qris', organization_id: null, fixed: '500.0000' }]);
    expect((await own.administer('put', '/fees', { fees })).status).toBe(200);
    const [event] = await stack
      .em()
      .execute<object[]>("select data from events where resource_id = ? and data->'removed_fees' is not null", [
        own.id,
      ]);
    expect(event).toMatchObject({ data: { removed_fees: [{ method: 'qris', fixed: '100.0000' }] } });
  });

  it('A partner can quote for an organization only while it is linked', async () => {
    const organization_id = await buildOrganization(stack);
    expect((await partner.administer('post', '/organizations', { organization_id })).status).toBe(201);
    const quote = () => partner.post('/quotes', { method: 'qris', amount: '10000', organization_id }, null);
    expect((await quote()).status).toBe(200);
    expect((await partner.administer('delete', `/organizations/${organization_id}`)).status).toBe(200);
    const revoked = await quote();
    expect([revoked.status, revoked.body.error.code]).toEqual([403, 'RESOURCE_NOT_LINKED']);
    expect((await partner.administer('delete', `/organizations/${organization_id}`)).status).toBe(404);
    const own = { method: 'qris', amount: '10000', organization_id: partner.organizationId };
    expect((await partner.post('/quotes', own, null)).status).toBe(200);
  });

  it('A partner’s webhook secret is created once, can be rotated, and is stored encrypted', async () => {
    const url = 'https://partner.example/hook';
    const first = await partner.administer('put', '/webhook', { url, events: everyEvent });
    expect(first.body.data).toEqual({ url, events: everyEvent, secret: expect.stringMatching(/^whsec_/) });
    const again = await partner.administer('put', '/webhook', { url, events: ['payment.succeeded'] });
    expect(again.body.data).toEqual({ url, events: ['payment.succeeded'] });
    const rotated = await partner.administer('post', '/webhook/rotate-secret');
    expect(rotated.body.data.secret).toMatch(/^whsec_/);
    expect(rotated.body.data.secret).not.toBe(first.body.data.secret);
    const [row] = await stack.em().execute('select * from webhook_endpoints where partner_id = ?', [partner.id]);
    expect(JSON.stringify(row)).not.toContain(rotated.body.data.secret);
    const other = await buildPartner(stack);
    expect((await other.administer('post', '/webhook/rotate-secret')).status).toBe(404);
  });

  it.each([
    'ftp://partner.example/hook',
    'https://10.0.0.1/hook',
    'https://192.168.1.1/',
    'https://169.254.169.254/latest/meta-data',
    'https://0.0.0.0/',
    'https://[fe80::1]/',
    'https://[fc00::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://0x0a000001/',
    'https://user:secret@partner.example/',
    'http://93.184.215.14/hook',
    'not a url',
    'https://partner.example/\u0000',
  ])('The webhook target %s is rejected', async (url) => {
    const { status, body } = await partner.administer('put', '/webhook', { url, events: ['payment.succeeded'] });
    expect(status).toBe(400);
    expect(body.message).toMatch(/^url: /);
  });

  it('Loopback webhook targets are rejected with WEBHOOK_ALLOW_LOOPBACK=false', async () => {
    const strict = await startStack({ env: { WEBHOOK_ALLOW_LOOPBACK: 'false' } });
    try {
      const other = await buildPartner(strict);
      for (const url of ['http://127.0.0.1:9/', 'https://127.0.0.1/', 'https://[::1]/', 'https://localhost/']) {
        expect((await other.administer('put', '/webhook', { url, events: ['payment.failed'] })).status).toBe(400);
      }
    } finally {
      await strict.stop();
    }
  });

  it('A webhook subscription accepts only known events', async () => {
    const webhook = { url: 'https://partner.example/', events: ['payment.exploded'] };
    expect((await partner.administer('put', '/webhook', webhook)).status).toBe(400);
  });
});
