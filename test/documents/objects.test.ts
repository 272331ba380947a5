import { type BuiltUser, buildIndividual, buildOrganization } from '../support/build.ts';
import { buildTransaction, keysOf, upload } from '../support/documents.ts';
import { expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
let creator: BuiltUser;
let fellow: BuiltUser;
let product: string;
beforeAll(async () => {
  stack = await startStack();
  const organizationId = await buildOrganization(stack);
  creator = await buildIndividual(stack, { organizationId });
  fellow = await buildIndividual(stack, { organizationId });
  product = await buildTransaction(stack, creator);
});
afterAll(() => stack.stop());
afterEach(() => expectChecksEmpty(stack));

const call = (by: BuiltUser, path: string) => stack.get(`/v1/documents${path}`, { token: by.token });
const uploaded = async () =>
  (await upload(stack, creator, product)).body as { id: string; url: string; [field: string]: unknown };
const register = (by: BuiltUser, body: object) => stack.post('/v1/documents', body, { token: by.token });
const remove = (by: BuiltUser, id: string) => stack.delete(`/v1/documents/${id}`, undefined, { token: by.token });
describe('Deleting a document', () => {
  it('never takes an object from another document that carries it; the last one takes it along', async () => {
    const first = await uploaded();
    const second = (await register(fellow, { url: first.url, document_type: 'receipt' })).body.document;
    const keys = () => keysOf(stack, creator.organizationId ?? '');
    expect((await remove(creator, first.id)).status).toBe(200);
    expect(await keys()).toContain(first.url);
    expect((await call(fellow, `/${second.id}/view-url`)).status).toBe(200);
    expect((await remove(fellow, second.id)).status).toBe(200);
    expect(await keys()).not.toContain(first.url);
    expect(await stack.em().execute('select id from document_uploads')).toEqual([]);
    const again = await register(creator, { url: first.url, document_type: 'receipt' });
    expect([again.status, again.body.message]).toEqual([404, 'url: there is no such file']);
  });

  it('and registering of the same object at once leave a document with its object, or neither', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id, url } = await uploaded();
      const [, registered] = await Promise.all([
        remove(creator, id),
        register(fellow, { url, document_type: 'receipt' }),
      ]);
      expect([201, 404]).toContain(registered.status);
      const there = (await keysOf(stack, creator.organizationId ?? '')).includes(url);
      expect(there).toBe(registered.status === 201);
    }
  });
});
