import { Readable } from 'node:stream';
import { continueErasure } from '../../../src/control/erasure/continue-erasure.ts';
import { deleteDocument } from '../../../src/people/documents/delete-document.ts';
import { openFileName } from '../../../src/people/documents/file-name.ts';
import { storeDocument } from '../../../src/people/documents/store-document.ts';
import type { Storage } from '../../../src/platform/storage/storage.ts';
import { newId } from '../../../src/shared/ids.ts';
import { type BuiltUser, balanceOf, buildIndividual, buildOrganizationAdmin, fund } from '../../support/build.ts';
import { buildTransaction, keysOf, upload } from '../../support/documents.ts';
import { sealerElsewhere } from '../../support/lost-keys.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { withoutTriggers } from '../../support/without-triggers.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({});
}, 120_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack?.stop());

/** Builds a person with a file, and nothing that blocks an erasure. */
async function withFile(user?: BuiltUser) {
  const person = user ?? (await buildIndividual(stack));
  const productId = await buildTransaction(stack, person);
  const { status, body } = await upload(stack, person, productId);
  expect(status).toBe(201);
  await fund(stack, person.accountId, `-${await balanceOf(stack, person.accountId)}`);
  return { person, productId, documentId: body.id as string };
}

/** Begins an erasure without a workflow; `goOn` runs it as far as possible, with the given file store. */
async function erasing({ id: userId }: Pick<BuiltUser, 'id'>) {
  const id = newId();
  await stack.em().execute("insert into erasures (id, user_id, status) values (?, ?, 'waiting')", [id, userId]);
  const config = { ERASURE_WAIT_HOURS: 0, KEYS_BACKUP_DAYS: 0 };
  const goOn = (storage: Storage = stack.deps.storage) =>
    continueErasure(stack.em(), { ...stack.deps, storage, config }, id);
  const status = async () =>
    (await stack.em().execute<{ status: string }[]>('select status from erasures where id = ?', [id]))[0]?.status;
  return { goOn, status };
}

/** The file store, except that every removal fails, as without the right to delete. */
const keepsAll = (): Storage => ({ ...stack.deps.storage, remove: () => Promise.reject(new Error('AccessDenied')) });
const callerOf = ({ id }: BuiltUser) =>
  ({ userId: id, userType: 'individual', organizationId: null }) as Parameters<typeof deleteDocument>[2]['caller'];
const complete = { status: 'complete', waitMs: 0 };

describe('Files of an erased person', () => {
  it('A file that cannot be removed delays the erasure, but not the removal of other files', async () => {
    const { person, productId } = await withFile();
    const { goOn, status } = await erasing(person);
    const [first = ''] = await keysOf(stack, person.id);
    await upload(stack, person, productId);
    const remove = async (key: string) => {
      if (key === first) throw new Error('AccessDenied');
      await stack.deps.storage.remove(key);
    };
    await expect(goOn({ ...stack.deps.storage, remove })).rejects.toThrow('AccessDenied');
    expect(await status()).toBe('erasing');
    expect(await keysOf(stack, person.id)).toEqual([first]);
    expect(await goOn()).toEqual(complete);
    expect(await keysOf(stack, person.id)).toEqual([]);
  });

  it('A document that no key decrypts delays the erasure, but not the removal of other files', async () => {
    const { person, productId, documentId } = await withFile();
    await upload(stack, person, productId);
    const strayed = `documents/${person.id}/strayed`;
    await stack.deps.storage.put(
      strayed,
      {
        contentType: 'text/plain',
        sizeBytes: 1,
        sha256: null,
      },
      Readable.from(['x']),
    );
    const [{ url_sealed: sealed }] = await stack
      .em()
      .execute<[{ url_sealed: string }]>('select url_sealed from documents where id = ?', [documentId]);
    const write = 'update documents set url_sealed = ? where id = ?';
    await withoutTriggers(stack, write, ['no key opens this', documentId]);
    const { goOn, status } = await erasing(person);
    await expect(goOn()).rejects.toThrow(`could not abandon the file of document ${documentId}`);
    expect(await status()).toBe('erasing');
    expect(await keysOf(stack, person.id)).toHaveLength(1);
    await withoutTriggers(stack, write, [sealed, documentId]);
    expect(await goOn()).toEqual(complete);
    expect(await keysOf(stack, person.id)).toEqual([]);
  });

  it('An erasure also removes a deleted file that the file store failed to remove', async () => {
    const { person, documentId } = await withFile();
    const { sealer } = stack.deps;
    await deleteDocument(
      stack.em(),
      { storage: keepsAll(), sealer },
      { caller: callerOf(person), requestId: newId(), documentId },
    );
    expect(await keysOf(stack, person.id)).toHaveLength(1);
    const { goOn } = await erasing(person);
    await expect(goOn(keepsAll())).rejects.toThrow('AccessDenied');
    expect(await goOn()).toEqual(complete);
    expect(await keysOf(stack, person.id)).toEqual([]);
  });

  it('An erasure waits for an upload in progress to finish', async () => {
    const { person, productId } = await withFile();
    const { goOn, status } = await erasing(person);
    let refused: Promise<unknown> | undefined;
    const { promise: putting, resolve: put } = Promise.withResolvers<void>();
    await new Promise<void>((begun) => {
      const storage: Storage = {
        ...stack.deps.storage,
        async put(...stored) {
          begun();
          await putting;
          await stack.deps.storage.put(...stored);
        },
      };
      const object = { contentType: 'text/plain', sizeBytes: 0, sha256: null };
      refused = storeDocument(
        stack.em(),
        { ...stack.deps, storage },
        {
          caller: callerOf(person),
          requestId: newId(),
          documentType: 'image',
          productType: 'transaction',
          productId,
          visibility: 'private',
          categoryId: null,
          maximumStoredBytes: 1_000_000,
          object,
          fileName: null,
          open: () => Readable.from([]),
        },
      ).catch((error: unknown) => error);
    });
    await expect(goOn()).rejects.toThrow('some files of the erased person remain');
    expect(await status()).toBe('erasing');
    put();
    expect(await refused).toMatchObject({ code: 'AM012' });
    expect(await goOn()).toEqual(complete);
    expect(await keysOf(stack, person.id)).toEqual([]);
  });

  it('An erased person cannot start another upload', async () => {
    const { person } = await withFile();
    const { goOn } = await erasing(person);
    expect(await goOn()).toEqual(complete);
    const begin = "insert into document_uploads (id, user_id, url_sealed) values (?, ?, 'sealed')";
    await expect(stack.em().execute(begin, [newId(), person.id])).rejects.toMatchObject({ code: 'AM012' });
  });
});

describe('Files without a row, as after a restore', () => {
  it('An erasure removes files without a row from the person’s space, and no one else’s files', async () => {
    const { person } = await withFile();
    const { person: other } = await withFile();
    await withoutTriggers(stack, 'delete from documents where created_by = ?', [person.id]);
    const { goOn, status } = await erasing(person);
    await expect(goOn(keepsAll())).rejects.toThrow('AccessDenied');
    expect(await status()).toBe('erasing');
    expect(await goOn()).toEqual(complete);
    expect(await keysOf(stack, person.id)).toEqual([]);
    expect(await keysOf(stack, other.id)).toHaveLength(1);
  });
});

describe('Uploads of an organization’s user', () => {
  const names = (ids: string[]) =>
    Promise.all(
      ids.map(async (id) => {
        const [row] = await stack
          .em()
          .execute<[{ file_name_sealed: string | null }]>('select file_name_sealed from documents where id = ?', [id]);
        const file_name_sealed = row.file_name_sealed;
        return openFileName(sealerElsewhere(stack.deps), { id, file_name_sealed });
      }),
    );
  const readBy = async ({ token }: BuiltUser, ids: string[]) =>
    Promise.all(ids.map(async (id) => (await stack.get(`/v1/documents/${id}`, { token })).status));

  it('An erasure removes a member’s own uploads and keeps those for the organization, without file names', async () => {
    const admin = await buildOrganizationAdmin(stack);
    const { organizationId } = admin;
    const member = await buildIndividual(stack, { organizationId: String(organizationId) });
    const { documentId: own } = await withFile(member);
    const cause = {
      name: 'Well',
      description: 'A well',
      target_amount: 1_000_000,
      regulations: 'none',
      benefit: 'water',
    };
    const made = await stack.post(
      '/v1/charitable-causes',
      { ...cause, account_id: admin.accountId },
      { token: admin.token },
    );
    expect(made.status).toBe(201);
    const causeId = made.body.id;
    const report = (await upload(stack, member, causeId, { product_type: 'charitable_cause' })).body.id;
    const ofOrganization = await buildTransaction(stack, admin);
    const receipt = (await upload(stack, member, ofOrganization)).body.id;
    const { body: again } = await stack.post(
      '/v1/documents',
      {
        url: (await stack.get(`/v1/documents/${own}`, { token: member.token })).body.document.url,
        document_type: 'image',
      },
      { token: member.token },
    );
    const theirs = [own, again.document.id];
    const kept = [report, receipt];
    expect(await readBy(admin, [...theirs, ...kept])).toEqual([200, 200, 200, 200]);
    expect(await names([...theirs, ...kept])).toEqual(Array(4).fill('picture.txt'));

    const { goOn } = await erasing(member);
    expect(await goOn()).toEqual(complete);
    expect(await readBy(admin, [...theirs, ...kept])).toEqual([404, 404, 200, 200]);
    expect(await names([...theirs, ...kept])).toEqual([null, null, null, null]);
    expect(await keysOf(stack, String(organizationId))).toHaveLength(2);
    // The admin keeps using the organization's files.
    const other = (await upload(stack, admin, ofOrganization)).body.url;
    const changed = await stack.patch(`/v1/documents/${report}`, { url: other }, { token: admin.token });
    expect([changed.status, changed.body.document?.file_name]).toEqual([200, null]);
  }, 60_000);

  it('All uploads of an erased organization admin stay, with their file names', async () => {
    const admin = await buildOrganizationAdmin(stack);
    const { id: colleague } = await buildOrganizationAdmin(stack, { organizationId: String(admin.organizationId) });
    expect(colleague).not.toBe(admin.id);
    const { documentId } = await withFile(admin);
    expect(await (await erasing(admin)).goOn()).toEqual(complete);
    expect(await names([documentId])).toEqual(['picture.txt']);
    expect(await keysOf(stack, String(admin.organizationId))).toHaveLength(1);
  });
});
