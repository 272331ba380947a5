import { newId } from '../../../src/shared/ids.ts';
import {
  type BuiltUser,
  buildIndividual,
  buildOrganization,
  buildOrganizationAdmin,
  buildPlatformAdmin,
} from '../../support/build.ts';
import { buildTransaction, eventsOf, keysOf, upload } from '../../support/documents.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let creator: BuiltUser;
let admin: BuiltUser;
let stranger: BuiltUser;
let platform: BuiltUser;
let product: string;
beforeAll(async () => {
  stack = await startStack();
  const organizationId = await buildOrganization(stack);
  creator = await buildIndividual(stack, { organizationId });
  admin = await buildOrganizationAdmin(stack, { organizationId });
  stranger = await buildIndividual(stack);
  platform = await buildPlatformAdmin(stack);
  product = await buildTransaction(stack, creator);
});
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const call = (by: BuiltUser, path: string) => stack.get(`/v1/documents${path}`, { token: by.token });
const uploaded = async (fields: Record<string, string> = {}) =>
  (await upload(stack, creator, product, fields)).body as { id: string; url: string; [field: string]: unknown };
const register = (by: BuiltUser, body: object) => stack.post('/v1/documents', body, { token: by.token });
const change = (by: BuiltUser, id: string, body: object) =>
  stack.patch(`/v1/documents/${id}`, body, { token: by.token });
const idsIn = ({ body }: { body: { documents: { id: string }[] } }) => body.documents.map(({ id }) => id);

describe('Categories of documents', () => {
  const path = '/v1/documents/categories';
  const name = () => `Reports ${newId()}`;
  const make = async () => {
    const { status, body } = await stack.post(path, { name: name() }, { token: platform.token });
    expect(status).toBe(201);
    return body.data as { id: string; name: string };
  };

  it('Platform users create and rename document categories, with events, and any user can list them', async () => {
    const category = await make();
    const renamed = await stack.patch(`${path}/${category.id}`, { name: name() }, { token: platform.token });
    expect(renamed).toMatchObject({ status: 200, body: { data: { id: category.id } } });
    expect(renamed.body.data.name).not.toBe(category.name);
    const { status, body } = await stack.get(`${path}?limit=1`, { token: stranger.token });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        message: expect.any(String),
        data: { items: [renamed.body.data], page: 1, limit: 1, total: expect.any(Number) },
      },
    });
    expect(await eventsOf(stack, category.id)).toEqual(['RESOURCE_CREATED MEDIUM', 'RESOURCE_UPDATED MEDIUM']);
    await stack.patch(`${path}/${category.id}`, {}, { token: platform.token });
    expect(await eventsOf(stack, category.id)).toHaveLength(2);
  });

  it('Creating or renaming a category returns 403 to other users and 400 for a taken name', async () => {
    const category = await make();
    const other = await make();
    for (const by of [creator, admin]) {
      expect((await stack.post(path, { name: name() }, { token: by.token })).status).toBe(403);
      expect((await stack.patch(`${path}/${category.id}`, { name: name() }, { token: by.token })).status).toBe(403);
    }
    const options = { token: platform.token };
    const twin = await stack.post(path, { name: category.name.toUpperCase() }, options);
    expect([twin.status, twin.body.message]).toEqual([400, expect.stringMatching(/^name: /)]);
    expect((await stack.patch(`${path}/${other.id}`, { name: category.name }, options)).status).toBe(400);
    expect((await stack.patch(`${path}/${newId()}`, { name: name() }, options)).status).toBe(404);
    for (const body of [{}, { name: '' }, { name: 'x'.repeat(101) }, { name: name(), colour: 'red' }]) {
      expect((await stack.post(path, body, options)).status).toBe(400);
    }
    expect((await stack.get(path)).status).toBe(401);
  });

  it('A document’s category is set by upload, registration or PATCH, cleared by null and filters lists', async () => {
    const [one, two] = [await make(), await make()];
    const document = await uploaded({ category_id: one.id });
    expect(document.category_id).toBe(one.id);
    const body = { url: document.url, document_type: 'receipt', category_id: two.id };
    const registered = (await register(creator, body)).body.document;
    expect(registered.category_id).toBe(two.id);
    const filtered = async (id: string, more = '') => idsIn(await call(creator, `?category_id=${id}${more}`));
    expect([await filtered(one.id), await filtered(two.id)]).toEqual([[document.id], [registered.id]]);
    expect(await filtered(one.id, `&product_type=transaction&product_id=${product}`)).toEqual([document.id]);
    expect(await filtered(one.id, `&product_id=${newId()}`)).toEqual([]);
    expect(idsIn(await call(creator, `/type/receipt?category_id=${one.id}`))).toEqual([]);
    expect((await change(creator, document.id, { category_id: two.id })).body.document.category_id).toBe(two.id);
    expect((await change(creator, document.id, { category_id: null })).body.document.category_id).toBeNull();
    expect(await filtered(two.id)).toEqual([registered.id]);
  });

  it('An upload, registration or change with an unknown category returns 400 and stores nothing', async () => {
    const before = await keysOf(stack, creator.organizationId ?? '');
    const unknown = newId();
    const document = await uploaded();
    const refused = [
      await upload(stack, creator, product, { category_id: unknown }),
      await register(creator, { url: document.url, document_type: 'receipt', category_id: unknown }),
      await change(creator, document.id, { category_id: unknown }),
    ];
    for (const { status, body } of refused) {
      expect([status, body.message]).toEqual([400, 'category_id: the category was not found']);
    }
    expect((await upload(stack, creator, product, { category_id: 'x' })).status).toBe(400);
    expect(await keysOf(stack, creator.organizationId ?? '')).toHaveLength(before.length + 1);
    expect((await call(creator, '?category_id=x')).status).toBe(400);
  });
});
