import { placeOfUpload } from '../../../src/people/documents/abandon-upload.ts';
import { sweepUploads } from '../../../src/people/documents/sweep-uploads.ts';
import { armFailpoints } from '../../../src/shared/failpoint.ts';
import { newId } from '../../../src/shared/ids.ts';
import { type BuiltUser, buildIndividual, buildOrganization } from '../../support/build.ts';
import { buildTransaction, nothing, upload, whatIsLeft } from '../../support/documents.ts';
import { untilLocked } from '../../support/lock-waits.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let user: BuiltUser;
let product: string;
beforeAll(async () => {
  stack = await startStack({ isImpatient: true, env: { LOG_LEVEL: 'silent' } });
});
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  user = await buildIndividual(stack);
  product = await buildTransaction(stack, user);
});
afterEach(async () => {
  armFailpoints(undefined);
});

const left = () => whatIsLeft(stack, user);
const sweepNow = () => sweepUploads(stack.em(), stack.deps, 0);

/** Counts unfinished uploads, and those that no transaction has locked. */
async function uploads(): Promise<{ waiting: number; free: number }> {
  const [row] = await stack.em().execute<[{ waiting: string; free: string }]>(
    `select (select count(*) from document_uploads) as waiting,
       (select count(*) from (select from document_uploads for update skip locked) unlocked) as free`,
  );
  return { waiting: Number(row.waiting), free: Number(row.free) };
}

describe('A failed upload', () => {
  it.each(['store-document.before-put', 'store-document.after-put', 'store-document.before-commit'])(
    'An upload that fails at %s leaves neither object nor row',
    async (point) => {
      armFailpoints(`${point}=throw`);
      expect((await upload(stack, user, product)).status).toBe(500);
      expect(await left()).toEqual(nothing);
    },
  );

  it('An upload that fails after its commit keeps both object and row', async () => {
    armFailpoints('store-document.after-commit=throw');
    expect((await upload(stack, user, product)).status).toBe(500);
    expect(await left()).toEqual({ ...nothing, objects: 1, documents: 1 });
  });
});

describe('The sweep of uploads', () => {
  it('The sweep skips uploads new enough to be in progress', async () => {
    armFailpoints('store-document.after-put=hold');
    const uploading = upload(stack, user, product);
    await eventually(uploads, ({ waiting }) => waiting === 1);
    await sweepUploads(stack.em(), stack.deps);
    armFailpoints(undefined);
    expect((await uploading).status).toBe(201);
    expect(await left()).toEqual({ ...nothing, objects: 1, documents: 1 });
  });

  it.each(['before-put', 'after-put'])(
    'An upload that is swept while it waits at store-document.%s returns 503 and leaves no trace',
    async (point) => {
      armFailpoints(`store-document.${point}=hold`);
      const uploading = upload(stack, user, product);
      await eventually(uploads, ({ waiting }) => waiting === 1);
      await Promise.all([sweepNow(), sweepNow(), sweepNow()]);
      armFailpoints(undefined);
      expect((await uploading).status).toBe(503);
      expect(await left()).toEqual(nothing);
    },
  );

  it('An upload that cannot be removed fails the sweep, but other uploads are removed', async () => {
    const [broken, sound] = [newId(), newId()];
    const url = await stack.deps.sealer.seal(placeOfUpload(sound), 'documents/nothing-here');
    await stack.owner().execute(
      `insert into document_uploads (id, user_id, url_sealed, created_at)
       values (?, ?, 'not sealed', now() - interval '2 minutes'), (?, ?, ?, now() - interval '1 minute')`,
      [broken, user.id, sound, user.id, url],
    );
    await expect(sweepNow()).rejects.toThrow();
    expect(await stack.em().execute('select id from document_uploads')).toEqual([{ id: broken }]);
    await stack.owner().execute('delete from document_uploads where id = ?', [broken]);
  });

  it('The sweep waits for an upload that is committing, and keeps its object and row', async () => {
    armFailpoints('store-document.before-commit=hold');
    const uploading = upload(stack, user, product);
    await eventually(uploads, ({ waiting, free }) => waiting === 1 && free === 0);
    const sweeping = sweepNow();
    await untilLocked(stack, { text: 'document_uploads' });
    armFailpoints(undefined);
    await sweeping;
    expect((await uploading).status).toBe(201);
    expect(await left()).toEqual({ ...nothing, objects: 1, documents: 1 });
  });
});

describe('An object that no document uses any more', () => {
  const uploaded = async () => (await upload(stack, user, product)).body as { id: string; url: string };
  /** Counts objects and pending uploads, but not documents, because a deleted one keeps its row. */
  const stored = async () => {
    const { objects, uploads: waiting } = await left();
    return { objects, waiting };
  };
  const remove = (id: string) => stack.delete(`/v1/documents/${id}`, undefined, { token: user.token });
  const register = (url: string) =>
    stack.post('/v1/documents', { url, document_type: 'receipt' }, { token: user.token });

  it('The sweep removes a deleted document’s object if the process failed before removing it', async () => {
    const { id } = await uploaded();
    armFailpoints('remove-given-up.before=throw');
    expect((await remove(id)).status).toBe(500);
    expect(await stored()).toEqual({ objects: 1, waiting: 1 });
    await sweepNow();
    expect(await stored()).toEqual({ objects: 0, waiting: 0 });
  });

  it('A colleague cannot reuse the object of an identity document’s scan, not even after its deletion', async () => {
    const organizationId = await buildOrganization(stack);
    const [owner, fellow] = [
      await buildIndividual(stack, { organizationId }),
      await buildIndividual(stack, { organizationId }),
    ];
    const scan = (await upload(stack, owner, await buildTransaction(stack, owner))).body;
    // The colleague reads the object's key before the document becomes a scan.
    const { url } = (await stack.get(`/v1/documents/${scan.id}`, { token: fellow.token })).body.document;
    const passport = { kind: 'passport', number: 'A1234567', name_on_document: 'Owner', document_id: scan.id };
    expect((await stack.post('/v1/official-documents', passport, { token: owner.token })).status).toBe(201);
    const take = () => stack.post('/v1/documents', { url, document_type: 'image' }, { token: fellow.token });
    expect((await take()).status).toBe(400);
    armFailpoints('remove-given-up.before=throw');
    await stack.delete(`/v1/documents/${scan.id}`, undefined, { token: owner.token });
    expect((await take()).status).toBe(400);
    await sweepNow();
    expect((await take()).status).toBe(404);
    expect(await whatIsLeft(stack, owner)).toMatchObject({ objects: 0 });
  });

  it('The sweep keeps a deleted document’s object that was registered again', async () => {
    const { id, url } = await uploaded();
    armFailpoints('remove-given-up.before=throw');
    await remove(id);
    expect((await register(url)).status).toBe(201);
    await sweepNow();
    expect(await stored()).toEqual({ objects: 1, waiting: 0 });
  });
});
