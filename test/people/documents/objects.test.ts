import { withApiElsewhere } from '../../support/api-elsewhere.ts';
import { type BuiltUser, buildIndividual, buildOrganization } from '../../support/build.ts';
import { buildTransaction, keysOf, upload } from '../../support/documents.ts';
import { itInFull } from '../../support/full.ts';
import { untilLocked } from '../../support/lock-waits.ts';
import { loseKey } from '../../support/lost-keys.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

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
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const call = (by: BuiltUser, path: string) => stack.get(`/v1/documents${path}`, { token: by.token });
const uploaded = async () =>
  (await upload(stack, creator, product)).body as { id: string; url: string; [field: string]: unknown };
const register = (by: BuiltUser, body: object) => stack.post('/v1/documents', body, { token: by.token });
const remove = (by: BuiltUser, id: string) => stack.delete(`/v1/documents/${id}`, undefined, { token: by.token });
describe('Deleting a document', () => {
  it('Deleting a document keeps an object that another document uses; deleting the last one removes it', async () => {
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
    expect([again.status, again.body.message]).toEqual([404, 'url: the file was not found']);
  });

  itInFull(
    'Deleting a document while its object is registered again leaves both document and object, or neither',
    async () => {
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
    },
  );
});

describe('An object whose key is missing', () => {
  it('Registering or attaching an object whose key is missing returns 503', async () => {
    const user = await buildIndividual(stack);
    const by = { token: user.token };
    const stored = async () => (await upload(stack, user, await buildTransaction(stack, user))).body;
    const [{ url }, { id }] = [await stored(), await stored()];
    const register = { url, document_type: 'receipt' };
    const shown = async () => (await stack.get('/v1/documents', by)).body.documents;
    const before = await shown();
    const giveBack = await loseKey(stack, user.id, 'personal_keys');
    try {
      await withApiElsewhere(stack, async ({ post, patch }) => {
        expect((await post('/v1/documents', register, by)).status).toBe(503);
        expect((await patch(`/v1/documents/${id}`, { url }, by)).status).toBe(503);
      });
    } finally {
      await giveBack();
    }
    expect(await shown()).toEqual(before);
    const again = await stack.post('/v1/documents', register, by);
    expect([again.status, again.body.document.file_name]).toEqual([201, 'picture.txt']);
  });
});

describe('Documents that share an object', () => {
  it('Concurrent changes of the files of documents that share an object never deadlock', async () => {
    const scan = await uploaded();
    const copy = (await register(creator, { url: scan.url, document_type: 'image' })).body.document;
    for (const document_id of [scan.id, copy.id]) {
      const body = { kind: 'passport', number: 'A 1', name_on_document: 'Siti', document_id };
      expect((await stack.post('/v1/official-documents', body, { token: creator.token })).status).toBe(201);
    }
    const [one, two] = [await uploaded(), await uploaded()];
    const give = (id: string, { url }: { url: string }) =>
      stack.patch(`/v1/documents/${id}`, { url }, { token: creator.token });
    // Another session has locked the copy, so that both requests wait for it.
    const answers = await stack.owner().transactional(async (tx) => {
      await tx.execute('select from documents where id = ? for update', [copy.id]);
      const later = give(copy.id, two);
      await untilLocked(stack, { count: 1 });
      const sooner = give(scan.id, one);
      await untilLocked(stack, { count: 2 });
      return [sooner, later];
    });
    const [first, second] = await Promise.all(answers);
    expect([first?.body.document?.url, second?.body.document?.url]).toEqual([one.url, two.url]);
  });
});
