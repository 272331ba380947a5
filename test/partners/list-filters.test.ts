import { buildPayer, payoutBody } from '../money-out/payouts/build-payouts.ts';
import { buildOrganization } from '../support/build.ts';
import { type BuiltPartner, everyEvent } from '../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  partner = await buildPayer(stack, { available: '10000000' });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const idsOf = async (path: string): Promise<string[]> => {
  const { status, body } = await partner.get(path);
  expect([path, status]).toEqual([path, 200]);
  expect(body.data.total).toBe(body.data.items.length);
  return body.data.items.map(({ id }: { id: string }) => id).toSorted();
};
const refusal = (name: string) => ({
  status: 400,
  body: {
    error: { code: 'REQUEST_INVALID_PAYLOAD', details: [{ field: name, message: `${name}: unknown parameter` }] },
  },
});

describe('Unknown query parameters of partner routes', () => {
  it.each([
    '/payments',
    '/payouts',
    '/balance',
    '/channels',
    '/webhook-endpoints',
    '/webhook-deliveries',
    '/payments/019bba56-a840-7c3e-9a51-3f1d0c8e7b24',
  ])('An unknown query parameter of a read is refused by name: %s', async (path) => {
    expect(await partner.get(`${path}?colour=red`)).toMatchObject(refusal('colour'));
  });

  it('An unknown query parameter of a write is refused, and nothing is created', async () => {
    const payment = { method: 'virtual_account', channel: 'BCA', amount: '50000', external_ref: 'not made' };
    expect(await partner.post('/payments?dry_run=true', payment)).toMatchObject(refusal('dry_run'));
    expect(await partner.post('/payouts?dry_run=true', payoutBody({ external_ref: 'not made' }))).toMatchObject(
      refusal('dry_run'),
    );
    expect(await idsOf('/payments?external_ref=not%20made')).toEqual([]);
    expect(await idsOf('/payouts?external_ref=not%20made')).toEqual([]);
  });

  it('An unknown query parameter is reported only to callers who may use the route', async () => {
    expect((await stack.get('/v1/partners/payments?colour=red')).status).toBe(401);
  });

  it('An unknown query parameter is ignored on routes that are not for partners', async () => {
    const { token } = partner.admin;
    expect((await stack.get('/v1/partner-accounts?colour=red', { token })).status).toBe(200);
  });
});

describe('Partner lists', () => {
  it('Payments can be filtered by reference, method, channel and organization', async () => {
    const organization_id = await buildOrganization(stack);
    await partner.administer('post', '/organizations', { organization_id });
    const make = async (body: object): Promise<{ id: string; reference: string }> =>
      (await partner.post('/payments', { amount: '50000', ...body })).body.data;
    const bca = await make({ method: 'virtual_account', channel: 'BCA', external_ref: 'INV-1' });
    const bni = await make({ method: 'virtual_account', channel: 'BNI', organization_id });
    const qris = await make({ method: 'qris', external_ref: bni.id });
    expect(bni.reference).toBe(bni.id);
    expect(await idsOf('/payments?reference=INV-1')).toEqual([bca.id]);
    expect(await idsOf(`/payments?reference=${bni.id}`)).toEqual([bni.id, qris.id].toSorted());
    expect(await idsOf(`/payments?reference=${bca.id}`)).toEqual([]);
    expect(await idsOf('/payments?reference=INV-NOT-THERE')).toEqual([]);
    expect(await idsOf('/payments?method=virtual_account')).toEqual([bca.id, bni.id].toSorted());
    expect(await idsOf('/payments?method=virtual_account&channel=BCA')).toEqual([bca.id]);
    expect(await idsOf('/payments?channel=MANDIRI')).toEqual([]);
    expect(await idsOf(`/payments?organization_id=${organization_id}&status=pending`)).toEqual([bni.id]);
    expect(await partner.get('/payments?method=cash')).toMatchObject({ status: 400 });
  });

  it('Payouts can be filtered by reference and bank, and webhook deliveries by resource', async () => {
    await partner.administer('put', '/webhook', { url: `${stack.url}/nowhere`, events: everyEvent });
    const make = async (body: object): Promise<{ id: string; reference: string }> =>
      (await partner.post('/payouts', payoutBody(body))).body.data;
    const [bca, bni] = [
      await make({ bank_code: 'BCA', bank_account_number: '1112111111' }),
      await make({ bank_code: 'BNI', bank_account_number: '1112111111' }),
    ];
    expect(await idsOf(`/payouts?reference=${bca.reference}`)).toEqual([bca.id]);
    expect(await idsOf('/payouts?bank_code=BNI')).toEqual([bni.id]);
    expect(await idsOf(`/payouts?bank_code=BNI&reference=${bca.reference}`)).toEqual([]);
    expect(await idsOf('/payouts?reference=PO-NOT-THERE')).toEqual([]);
    const deliveriesOf = async (id: string): Promise<{ resource_id: string }[]> =>
      (await partner.get(`/webhook-deliveries?resource_id=${id}`)).body.data.items;
    await Promise.all(
      [bca, bni].map(({ id }) =>
        eventually(
          () => deliveriesOf(id),
          (items) => items.length > 0,
        ),
      ),
    );
    const items = await deliveriesOf(bca.id);
    expect(items.every(({ resource_id }) => resource_id === bca.id)).toBe(true);
  });
});
