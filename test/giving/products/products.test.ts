import {
  type BuiltUser,
  buildIndividual,
  buildOrganizationAdmin,
  buildPlatformAdmin,
  fund,
} from '../../support/build.ts';
import { upload } from '../../support/documents.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let admin: BuiltUser;
let reader: BuiltUser;
beforeAll(async () => {
  stack = await startStack();
  admin = await buildPlatformAdmin(stack);
  reader = await buildIndividual(stack);
});
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const create = (body: object = {}, token = admin.token) =>
  stack.post('/v1/products', { kind: 'investment', name: 'Solar roofs', ...body }, { token });
const change = (id: string, body: object, token = admin.token) => stack.patch(`/v1/products/${id}`, body, { token });

describe('A product', () => {
  it.each(['investment', 'commodity_financing', 'trusted_partner_investment', 'takaful_insurance', 'takaful_tabaru'])(
    'A product of kind %s is created open and with an account of its own',
    async (kind) => {
      const { status, body } = await create({ kind, target_amount: '5000000', minimum_amount: '100000.5' });
      expect({ status, body }).toMatchObject({
        status: 201,
        body: {
          message: expect.any(String),
          data: {
            kind,
            name: 'Solar roofs',
            target_amount: '5000000.0000',
            minimum_amount: '100000.5000',
            current_amount: '0.0000',
            status: 'open',
          },
        },
      });
      const { body: account } = await stack.get(`/v1/accounts/${body.data.account_id}`, { token: admin.token });
      expect(account.data).toMatchObject({ kind: 'product', owner_id: body.data.id, balance: '0.0000' });
      const { body: events } = await stack.get(`/v1/events?resource_id=${body.data.id}`, { token: admin.token });
      expect(events.data.items).toMatchObject([{ event: 'RESOURCE_CREATED', resource_type: 'product' }]);
    },
  );

  it.each([
    ['an unknown kind', { kind: 'bond' }, 'kind'],
    ['no name', { name: '' }, 'name'],
    ['a number for target_amount', { target_amount: 5 }, 'target_amount'],
    ['a target of zero', { target_amount: '0' }, 'target_amount'],
    ['a minimum with five decimals', { minimum_amount: '1.00001' }, 'minimum_amount'],
    ['a minimum above the target', { minimum_amount: '2', target_amount: '1' }, 'minimum_amount'],
    ['an unknown field', { colour: 'red' }, 'colour'],
  ])('Creating a product with %s returns 400 and names the field', async (_, body, field) => {
    const answer = await create(body);
    expect(answer.status).toBe(400);
    expect(String(answer.body.message)).toContain(field);
  });

  it('Only platform users create and change products', async () => {
    const organization = await buildOrganizationAdmin(stack);
    const { body } = await create();
    for (const { token } of [reader, organization]) {
      expect((await create({}, token)).status).toBe(403);
      expect((await change(body.data.id, { name: 'Mine' }, token)).status).toBe(403);
    }
    expect((await stack.post('/v1/products', {})).status).toBe(401);
  });

  it('Products can be read one by one and in a list filtered by kind and status', async () => {
    const { body } = await create({ kind: 'takaful_insurance', name: 'Harvest cover' });
    await change(body.data.id, { status: 'closed' });
    const { body: one } = await stack.get(`/v1/products/${body.data.id}`, { token: reader.token });
    expect(one.data).toMatchObject({ name: 'Harvest cover', status: 'closed', target_amount: null });
    const { body: list } = await stack.get('/v1/products?kind=takaful_insurance&status=closed', {
      token: reader.token,
    });
    expect(list.data).toMatchObject({ page: 1, limit: 10, total: 1, items: [{ id: body.data.id }] });
    expect((await stack.get('/v1/products?status=sold', { token: reader.token })).status).toBe(400);
  });

  it.each(['investment', 'commodity_financing'])(
    'A product of kind %s embeds the documents that the caller may see',
    async (kind) => {
      const { body } = await create({ kind });
      const attach = (visibility: string) => upload(stack, admin, body.data.id, { product_type: kind, visibility });
      const { body: hidden } = await attach('private');
      const { body: shown } = await attach('public');
      const documentsFor = async ({ token }: BuiltUser) => {
        const { body: one } = await stack.get(`/v1/products/${body.data.id}`, { token });
        return one.data.documents.map(({ id }: { id: string }) => id);
      };
      expect(await documentsFor(admin)).toEqual([shown.id, hidden.id]);
      expect(await documentsFor(reader)).toEqual([shown.id]);
    },
  );

  it('A takaful product has no documents', async () => {
    const { body } = await create({ kind: 'takaful_tabaru' });
    const { body: one } = await stack.get(`/v1/products/${body.data.id}`, { token: reader.token });
    expect(one.data.documents).toEqual([]);
  });

  it('A missing product returns 404, and a malformed id 400', async () => {
    const missing = '/v1/products/00000000-0000-4000-8000-00000000dead';
    expect((await stack.get(missing, { token: reader.token })).status).toBe(404);
    expect((await stack.patch(missing, { name: 'x' }, { token: admin.token })).status).toBe(404);
    expect((await stack.get('/v1/products/none', { token: reader.token })).status).toBe(400);
  });

  it('A product is changed field by field, keeps its kind, and records an event', async () => {
    const { body } = await create({ target_amount: '10', minimum_amount: '1' });
    const changed = await change(body.data.id, { name: 'Wind', target_amount: null, minimum_amount: '2.5' });
    expect(changed).toMatchObject({
      status: 200,
      body: { data: { name: 'Wind', target_amount: null, minimum_amount: '2.5000', kind: 'investment' } },
    });
    expect((await change(body.data.id, { kind: 'takaful_tabaru' })).status).toBe(400);
    expect((await change(body.data.id, { status: 'completed' })).status).toBe(400);
    const { body: events } = await stack.get(`/v1/events?resource_id=${body.data.id}`, { token: admin.token });
    expect(events.data.items[0]).toMatchObject({ event: 'RESOURCE_UPDATED', impact: 'MEDIUM' });
  });

  it('A product is completed by reaching its target and reopened by a higher one', async () => {
    const { body } = await create();
    await fund(stack, body.data.account_id, '700');
    expect((await change(body.data.id, { target_amount: '700' })).body.data).toMatchObject({
      status: 'completed',
      current_amount: '700.0000',
    });
    expect((await change(body.data.id, { status: 'open' })).status).toBe(400);
    expect((await change(body.data.id, { target_amount: '701' })).body.data.status).toBe('open');
    expect((await change(body.data.id, { status: 'closed' })).body.data.status).toBe('closed');
    expect((await change(body.data.id, { status: 'open' })).body.data.status).toBe('open');
  });

  it('A closed product stays closed when full, and cannot be set to completed', async () => {
    const { body } = await create();
    await fund(stack, body.data.account_id, '700');
    expect((await change(body.data.id, { status: 'closed', target_amount: '700' })).body.data.status).toBe('closed');
    expect(await change(body.data.id, { status: 'completed' })).toMatchObject({
      status: 400,
      body: { message: 'status: the product is closed; reopen it first' },
    });
    expect((await change(body.data.id, { status: 'closed' })).body.data.status).toBe('closed');
  });
});
