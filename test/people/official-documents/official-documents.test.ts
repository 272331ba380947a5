import { maskNumber } from '../../../src/people/official-documents/official-document.ts';
import { withApiElsewhere } from '../../support/api-elsewhere.ts';
import {
  type BuiltUser,
  buildIndividual,
  buildOrganization,
  buildOrganizationAdmin,
  buildPlatformAdmin,
} from '../../support/build.ts';
import { buildTransaction, eventsOf, upload } from '../../support/documents.ts';
import { casesOf, itInFull } from '../../support/full.ts';
import { loseKey } from '../../support/lost-keys.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let owner: BuiltUser;
let fellow: BuiltUser;
let admin: BuiltUser;
let stranger: BuiltUser;
let platform: BuiltUser;
beforeAll(async () => {
  stack = await startStack();
  const organizationId = await buildOrganization(stack);
  [owner, fellow, admin, stranger, platform] = await Promise.all([
    buildIndividual(stack, { organizationId }),
    buildIndividual(stack, { organizationId }),
    buildOrganizationAdmin(stack, { organizationId }),
    buildIndividual(stack),
    buildPlatformAdmin(stack),
  ]);
});
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const number = '3273014501900001';
const masked = '************0001';
const required = { kind: 'national_id', number, name_on_document: 'Siti Rahmawati' };
const path = '/v1/official-documents';
const create = (by: BuiltUser, body: object = required) => stack.post(path, body, { token: by.token });
const read = (by: BuiltUser, id: string) => stack.get(`${path}/${id}`, { token: by.token });
const list = (by: BuiltUser, query = '') => stack.get(`${path}?${query}`, { token: by.token });
const change = (by: BuiltUser, id: string, body: object) => stack.patch(`${path}/${id}`, body, { token: by.token });
const remove = (by: BuiltUser, id: string) => stack.delete(`${path}/${id}`, undefined, { token: by.token });
const created = async (by = owner, body: object = required) =>
  (await create(by, body)).body.data.official_document as { id: string; [field: string]: unknown };
const documentOf = async (by: BuiltUser) =>
  (await upload(stack, by, await buildTransaction(stack, by, owner.accountId))).body.id as string;

describe('POST /v1/official-documents (create-official-document)', () => {
  it('Creating an official document returns 201 with a numeric string id and status pending', async () => {
    const documentId = await documentOf(owner);
    const dates = { issued_on: '2020-02-29', expires_on: '2030-02-28' };
    const { status, body } = await create(owner, { ...required, ...dates, document_id: documentId });
    expect({ status, body }).toEqual({
      status: 201,
      body: {
        message: expect.any(String),
        data: {
          official_document: {
            ...required,
            ...dates,
            id: expect.stringMatching(/^[1-9]\d*$/),
            user_id: owner.id,
            organization_id: owner.organizationId,
            document_id: documentId,
            verification_status: 'pending',
            created_at: expect.any(String),
            updated_at: expect.any(String),
          },
        },
      },
    });
    expect(await eventsOf(stack, body.data.official_document.id, 'official_document')).toEqual([
      'RESOURCE_CREATED MEDIUM',
    ]);
  });

  it.each(casesOf(['passport', 'national_id', 'driving_license', 'taxpayer_id']))(
    'An official document may be of kind %s',
    async (kind) => {
      expect(await created(owner, { ...required, kind })).toMatchObject({
        kind,
        issued_on: null,
        expires_on: null,
        document_id: null,
      });
    },
  );

  it.each<[string, object, string]>([
    ['another kind', { kind: 'library_card' }, 'kind'],
    ['no number', { number: undefined }, 'number'],
    ['an empty number', { number: '' }, 'number'],
    ['a number of 65 characters', { number: '1'.repeat(65) }, 'number'],
    ['no name', { name_on_document: undefined }, 'name_on_document'],
    ['an invalid date', { issued_on: '2021-02-29' }, 'issued_on'],
    ['a date-time', { expires_on: '2030-01-01T00:00:00Z' }, 'expires_on'],
    ['an end before its start', { issued_on: '2030-01-02', expires_on: '2030-01-01' }, 'expires_on'],
    ['a verification_status', { verification_status: 'verified' }, 'verification_status'],
    ['an unknown field', { user_id: '00000000-0000-4000-8000-000000000000' }, 'user_id'],
  ])('Creating an official document with %s returns 400 and names the field', async (_, fields, field) => {
    const { status, body } = await create(owner, { ...required, ...fields });
    expect([status, String(body.message)]).toEqual([400, expect.stringContaining(field)]);
  });

  it('Creating an official document with a foreign document_id returns 400 and names the field', async () => {
    const { status, body } = await create(owner, { ...required, document_id: await documentOf(platform) });
    expect([status, body.message]).toEqual([400, expect.stringContaining('document_id')]);
  });
});

describe('GET /v1/official-documents/:id (read-official-document)', () => {
  it('An official document’s number is shown to its owner, and masked for admins and platform users', async () => {
    const { id } = await created();
    expect((await read(owner, id)).body.data.official_document.number).toBe(number);
    for (const by of [admin, platform]) {
      expect((await read(by, id)).body.data.official_document).toMatchObject({ id, number: masked });
    }
  });

  it('A foreign official document and a missing one return the same 404, even to colleagues', async () => {
    const { id } = await created();
    const missing = await read(stranger, '999999999');
    for (const by of [stranger, fellow]) {
      expect(await read(by, id)).toMatchObject({ status: 404, body: missing.body });
    }
    expect(missing.status).toBe(404);
  });

  it.each(['abc', '0', '-1', '1.5', '9223372036854775808', '01'])(
    'Reading an official document with the id %s returns 400',
    async (id) => {
      expect((await read(owner, id)).status).toBe(400);
    },
  );

  it('The largest possible id of an official document is accepted', async () => {
    expect((await read(owner, '9223372036854775807')).status).toBe(404);
  });
});

describe('GET /v1/official-documents (read-official-document)', () => {
  itInFull('Lists omit official documents whose key is missing; the owner gets a 503', async () => {
    const person = await buildIndividual(stack, { organizationId: String(owner.organizationId) });
    const other = await created();
    const { id } = await created(person);
    const giveBack = await loseKey(stack, person.id, 'personal_keys');
    try {
      await withApiElsewhere(stack, async ({ get }) => {
        const listOf = (by: BuiltUser) => get(path, { token: by.token });
        expect((await listOf(person)).status).toBe(503);
        for (const by of [admin, platform]) {
          const { status, body } = await listOf(by);
          const ids = body.data.official_documents.map((one: { id: string }) => one.id);
          expect([status, ids.includes(id), ids.includes(other.id)]).toEqual([200, false, true]);
        }
      });
    } finally {
      await giveBack();
    }
    expect((await list(person)).body.data.official_documents).toMatchObject([{ id, number }]);
  });

  it('Users list their own official documents, admins the organization’s and platform users all', async () => {
    const own = await created();
    const others = await created(stranger);
    const { status, body } = await list(owner, 'limit=1');
    expect({ status, body }).toMatchObject({ status: 200, body: { data: { page: 1, limit: 1 } } });
    expect(body.data.official_documents).toMatchObject([{ id: own.id, number }]);
    const idsFor = async (by: BuiltUser) =>
      (await list(by, 'limit=100')).body.data.official_documents.map(({ id }: { id: string }) => id);
    expect(await idsFor(stranger)).toEqual([others.id]);
    expect(await idsFor(fellow)).toEqual([]);
    expect(await idsFor(admin)).toContain(own.id);
    expect(await idsFor(admin)).not.toContain(others.id);
    expect(await idsFor(platform)).toEqual(expect.arrayContaining([own.id, others.id]));
    expect((await list(admin)).body.data.official_documents[0].number).toBe(masked);
  });

  it('Listing official documents continues with after, and returns 400 for limit 0 or an invalid after', async () => {
    const [first, second] = [await created(), await created()];
    const { body } = await list(owner, `after=${second.id}&limit=1`);
    expect(body.data.official_documents).toMatchObject([{ id: first.id }]);
    expect([(await list(owner, 'limit=0')).status, (await list(owner, 'after=x')).status]).toEqual([400, 400]);
  });
});

describe('PATCH /v1/official-documents/:id (update-official-document)', () => {
  it('The owner, admins and platform users can change an official document; only sent fields change', async () => {
    const { id } = await created();
    const { status, body } = await change(owner, id, { number: 'A1234567', expires_on: '2031-01-01' });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { data: { official_document: { ...required, number: 'A1234567', expires_on: '2031-01-01' } } },
    });
    for (const by of [admin, platform])
      expect((await change(by, id, { name_on_document: 'Siti R.' })).status).toBe(200);
    expect((await read(owner, id)).body.data.official_document).toMatchObject({
      number: 'A1234567',
      name_on_document: 'Siti R.',
    });
    expect(await eventsOf(stack, id, 'official_document')).toEqual([
      'RESOURCE_CREATED MEDIUM',
      ...Array(2).fill('RESOURCE_UPDATED MEDIUM'),
    ]);
  });

  it('A masked number sent back as read is ignored, and null clears fields', async () => {
    const { id } = await created(owner, { ...required, issued_on: '2020-01-01', expires_on: '2030-01-01' });
    const { body } = await read(platform, id);
    const shown = body.data.official_document;
    expect((await change(platform, id, { number: shown.number, expires_on: null })).status).toBe(200);
    expect((await read(owner, id)).body.data.official_document).toMatchObject({
      number,
      issued_on: '2020-01-01',
      expires_on: null,
    });
    expect((await change(owner, id, { number: null })).status).toBe(400);
  });

  it('Only platform users can set verification_status; others get 403', async () => {
    const { id } = await created();
    for (const by of [owner, admin])
      expect((await change(by, id, { verification_status: 'verified' })).status).toBe(403);
    expect((await read(owner, id)).body.data.official_document.verification_status).toBe('pending');
    const verified = await change(platform, id, { verification_status: 'verified' });
    expect(verified.body.data.official_document).toMatchObject({ verification_status: 'verified', number: masked });
    expect((await change(platform, id, { verification_status: 'perhaps' })).status).toBe(400);
  });

  it('A verified official document becomes pending if its owner, not a platform user, changes it', async () => {
    const { id } = await created();
    await change(platform, id, { verification_status: 'verified' });
    expect((await change(platform, id, { kind: 'passport' })).body.data.official_document.verification_status).toBe(
      'verified',
    );
    expect((await change(owner, id, { number: '1' })).body.data.official_document.verification_status).toBe('pending');
  });

  it('Changing an official document to a foreign document_id, or to end before its start, returns 400', async () => {
    const { id } = await created(owner, { ...required, issued_on: '2024-01-01' });
    expect((await change(admin, id, { document_id: await documentOf(owner) })).status).toBe(200);
    expect((await change(platform, id, { document_id: await documentOf(platform) })).status).toBe(400);
    expect((await change(owner, id, { expires_on: '2023-01-01' })).status).toBe(400);
  });

  it('Changing a foreign or missing official document returns 404; an unknown field or malformed id 400', async () => {
    const { id } = await created();
    for (const by of [stranger, fellow]) expect((await change(by, id, { number: '1' })).status).toBe(404);
    expect((await change(owner, '999999999', { number: '1' })).status).toBe(404);
    expect([(await change(owner, id, { user_id: owner.id })).status, (await change(owner, 'x', {})).status]).toEqual([
      400, 400,
    ]);
    expect((await read(owner, id)).body.data.official_document.number).toBe(number);
  });
});

describe('DELETE /v1/official-documents/:id (delete-official-document)', () => {
  it('Deleting an official document removes it permanently and records RESOURCE_DELETED', async () => {
    const { id } = await created();
    expect(await remove(owner, id)).toMatchObject({ status: 200, body: { message: expect.any(String) } });
    expect([(await read(owner, id)).status, (await remove(owner, id)).status]).toEqual([404, 404]);
    expect(await stack.em().execute('select 1 from official_documents where id = ?', [id])).toEqual([]);
    expect(await eventsOf(stack, id, 'official_document')).toEqual([
      'RESOURCE_CREATED MEDIUM',
      'RESOURCE_DELETED HIGH',
    ]);
  });

  it('An official document can be deleted by admins and platform users; other users get 404', async () => {
    const [first, second] = [await created(), await created()];
    for (const by of [stranger, fellow]) expect((await remove(by, first.id)).status).toBe(404);
    expect([(await remove(admin, first.id)).status, (await remove(platform, second.id)).status]).toEqual([200, 200]);
  });
});

describe('Every route of official documents', () => {
  const routes: [name: string, ask: (by: BuiltUser) => Promise<{ status: number }>][] = [
    ['POST /v1/official-documents', (by) => create(by)],
    ['GET /v1/official-documents', (by) => list(by)],
    ['GET /v1/official-documents/:id', (by) => read(by, '1')],
    ['PATCH /v1/official-documents/:id', (by) => change(by, '1', {})],
    ['DELETE /v1/official-documents/:id', (by) => remove(by, '1')],
  ];
  it.each(routes)('%s returns 403 without its permission and 401 with an invalid token', async (_, ask) => {
    const powerless = await buildIndividual(stack);
    await stack.owner().execute('update users set role_id = null where id = ?', [powerless.id]);
    expect([(await ask(powerless)).status, (await ask({ ...powerless, token: 'x' })).status]).toEqual([403, 401]);
  });
});

describe('A masked number', () => {
  it.each([
    ['3273014501900001', '************0001'],
    ['123456789', '*****6789'],
    ['12345678', '********'],
    ['1', '*'],
  ])('The number %s is masked as %s', (whole, shown) => expect(maskNumber(whole)).toBe(shown));
});

describe('The scan of an official document', () => {
  it('A scan of an official document is shown only to its owner, admins and platform users', async () => {
    for (const visibility of casesOf(['public', 'private'])) {
      const product = await buildTransaction(stack, owner);
      const { body: scan } = await upload(stack, owner, product, { visibility });
      const seen = async (by: BuiltUser) => {
        const paths = [`/${scan.id}`, `/${scan.id}/view-url`];
        const answers = paths.map((each) => stack.get(`/v1/documents${each}`, { token: by.token }));
        const listed = (await stack.get('/v1/documents?limit=100', { token: by.token })).body.documents;
        const parent = await stack.get(`/v1/transactions/${product}`, { token: by.token });
        const embedded = parent.body.data?.transaction.documents ?? listed;
        const isIn = (rows: { id: string }[]) => rows.some(({ id }) => id === scan.id);
        return [...(await Promise.all(answers)).map(({ status }) => status), isIn(listed), isIn(embedded)];
      };
      expect(await seen(fellow)).toEqual([200, 200, true, true]);
      await created(owner, { ...required, document_id: scan.id });
      for (const by of [owner, admin, platform]) expect(await seen(by)).toEqual([200, 200, true, true]);
      for (const by of [fellow, stranger]) expect(await seen(by)).toEqual([404, 404, false, false]);
      expect((await stack.get(`/v1/documents/${scan.id}/public`)).status).toBe(404);
      // A user who read the file's key earlier cannot register the file as their own document.
      const body = { url: scan.url, document_type: 'image' };
      const register = (by: BuiltUser) => stack.post('/v1/documents', body, { token: by.token });
      const answers = await Promise.all([fellow, stranger, owner, admin].map(register));
      expect(answers.map(({ status }) => status)).toEqual([400, 400, 201, 201]);
    }
  });

  it('A scan is not shown to others through another document of the same file', async () => {
    const product = await buildTransaction(stack, owner);
    const { body: first } = await upload(stack, owner, product, { visibility: 'public' });
    const register = async (by: BuiltUser) => {
      const body = { url: first.url, document_type: 'image' };
      const answer = await stack.post('/v1/documents', body, { token: by.token });
      return String(answer.body.document.id);
    };
    const scan = await register(owner);
    const seen = async (by: BuiltUser, id: string) =>
      (await stack.get(`/v1/documents/${id}/view-url`, { token: by.token })).status;
    expect(await seen(fellow, first.id)).toBe(200);
    await created(owner, { ...required, document_id: scan });
    for (const id of [first.id, scan, await register(admin)]) {
      expect(await Promise.all([owner, admin, platform].map((by) => seen(by, id)))).toEqual([200, 200, 200]);
      expect(await Promise.all([fellow, stranger].map((by) => seen(by, id)))).toEqual([404, 404]);
    }
    expect((await stack.get(`/v1/documents/${first.id}/public`)).status).toBe(404);
  });

  it.each([
    ['refers to another document', async (id: string) => change(owner, id, { document_id: await documentOf(owner) })],
    ['is deleted', (id: string) => remove(owner, id)],
  ])('A scan stays hidden after its official document %s', async (_, leave) => {
    const { body: scan } = await upload(stack, owner, await buildTransaction(stack, owner), { visibility: 'public' });
    const official = await created(owner, { ...required, document_id: scan.id });
    expect((await leave(official.id)).status).toBe(200);
    const seen = async (by: BuiltUser) => (await stack.get(`/v1/documents/${scan.id}`, { token: by.token })).status;
    expect(await Promise.all([owner, admin, platform, fellow, stranger].map(seen))).toEqual([200, 200, 200, 404, 404]);
    expect((await stack.get(`/v1/documents/${scan.id}/public`)).status).toBe(404);
  });

  it('A scan’s former file stays hidden in other documents after the scan got another file', async () => {
    const { body: first } = await upload(stack, owner, await buildTransaction(stack, owner), { visibility: 'public' });
    const register = async (by: BuiltUser): Promise<string> => {
      const body = { url: first.url, document_type: 'image' };
      return (await stack.post('/v1/documents', body, { token: by.token })).body.document.id;
    };
    const [scan, ofAdmin] = [await register(owner), await register(admin)];
    await created(owner, { ...required, document_id: scan });
    const { body: other } = await upload(stack, owner, await buildTransaction(stack, owner));
    const changed = await stack.patch(`/v1/documents/${scan}`, { url: other.url }, { token: owner.token });
    expect(changed.status).toBe(200);
    const seen = async (id: string, by: BuiltUser) =>
      (await stack.get(`/v1/documents/${id}/view-url`, { token: by.token })).status;
    expect(await Promise.all([first.id, ofAdmin].map((id) => seen(id, fellow)))).toEqual([404, 404]);
    expect(await Promise.all([seen(first.id, owner), seen(ofAdmin, admin)])).toEqual([200, 200]);
    expect((await stack.get(`/v1/documents/${first.id}/public`)).status).toBe(404);
  });

  itInFull('A deleted scan’s file stays hidden in other documents', async () => {
    const { body: first } = await upload(stack, owner, await buildTransaction(stack, owner), { visibility: 'public' });
    const body = { url: first.url, document_type: 'image' };
    const { body: second } = await stack.post('/v1/documents', body, { token: owner.token });
    await created(owner, { ...required, document_id: second.document.id });
    const gone = await stack.delete(`/v1/documents/${second.document.id}`, undefined, { token: owner.token });
    expect(gone.status).toBe(200);
    for (const by of [fellow, stranger]) {
      expect((await stack.get(`/v1/documents/${first.id}`, { token: by.token })).status).toBe(404);
    }
  });
});
