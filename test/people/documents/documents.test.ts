import { newId } from '../../../src/shared/ids.ts';
import { buildCause } from '../../giving/causes/build-cause.ts';
import {
  type BuiltUser,
  buildIndividual,
  buildOrganization,
  buildOrganizationAdmin,
  buildPlatformAdmin,
} from '../../support/build.ts';
import { buildTransaction, eventsOf, keysOf, png, upload } from '../../support/documents.ts';
import { isFullRun } from '../../support/run.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let creator: BuiltUser;
let fellow: BuiltUser;
let admin: BuiltUser;
let stranger: BuiltUser;
let platform: BuiltUser;
let product: string;
beforeAll(async () => {
  stack = await startStack();
  const organizationId = await buildOrganization(stack);
  [creator, fellow, admin, stranger, platform] = await Promise.all([
    buildIndividual(stack, { organizationId }),
    buildIndividual(stack, { organizationId }),
    buildOrganizationAdmin(stack, { organizationId }),
    buildIndividual(stack),
    buildPlatformAdmin(stack),
  ]);
  product = await buildTransaction(stack, creator);
});
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const call = (by: BuiltUser, path: string) => stack.get(`/v1/documents${path}`, { token: by.token });
const uploaded = async (fields: Record<string, string> = {}, by = creator, of = product) =>
  (await upload(stack, by, of, fields)).body as { id: string; url: string; [field: string]: unknown };
const register = (by: BuiltUser, body: object) => stack.post('/v1/documents', body, { token: by.token });
const change = (by: BuiltUser, id: string, body: object) =>
  stack.patch(`/v1/documents/${id}`, body, { token: by.token });
const remove = (by: BuiltUser, id: string) => stack.delete(`/v1/documents/${id}`, undefined, { token: by.token });
const statusesFor = (people: BuiltUser[], ask: (by: BuiltUser) => Promise<{ status: number }>) =>
  Promise.all(people.map(async (by) => (await ask(by)).status));
const idsIn = ({ body }: { body: { documents: { id: string }[] } }) => body.documents.map(({ id }) => id);

describe('GET /v1/documents/:id (read-document)', () => {
  it('A private document is readable by its creator’s organization and platform users; others get 404', async () => {
    const { message, ...document } = await uploaded();
    expect(message).toEqual(expect.any(String));
    const { status, body } = await call(creator, `/${document.id}`);
    expect({ status, body }).toEqual({ status: 200, body: { message: expect.any(String), document } });
    const ask = (by: BuiltUser) => call(by, `/${document.id}`);
    expect(await statusesFor([fellow, admin, platform, stranger], ask)).toEqual([200, 200, 200, 404]);
  });

  it('A foreign document and a missing one return the same 404; a malformed id returns 400', async () => {
    const { id } = await uploaded();
    const [anothers, missing, malformed] = [
      await call(stranger, `/${id}`),
      await call(stranger, `/${newId()}`),
      await call(stranger, '/nonsense'),
    ];
    expect(anothers).toMatchObject({ status: 404, body: missing.body });
    expect(malformed.status).toBe(400);
  });

  it('A public document is readable by every caller with the permission', async () => {
    const { id } = await uploaded({ visibility: 'public' });
    expect((await call(stranger, `/${id}`)).status).toBe(200);
  });
});

describe('GET /v1/documents (read-document)', () => {
  it('Documents that the caller may see are listed newest first, with page, limit and total', async () => {
    const [mine, open] = [await uploaded(), await uploaded({ visibility: 'public' })];
    const { status, body } = await call(creator, '?limit=2');
    expect({ status, body }).toMatchObject({ status: 200, body: { page: 1, limit: 2, message: expect.any(String) } });
    expect(idsIn({ body })).toEqual([open.id, mine.id]);
    expect(body.total).toBeGreaterThanOrEqual(2);
    for (const by of [fellow, admin, platform]) expect(idsIn(await call(by, ''))).toContain(mine.id);
    const strangers = idsIn(await call(stranger, '?limit=100'));
    expect([strangers.includes(mine.id), strangers.includes(open.id)]).toEqual([false, true]);
  });

  it('Listing documents continues with `after`, reverses with `order`, and rejects page 0 and limit 101', async () => {
    const first = await uploaded();
    const second = await uploaded();
    expect(idsIn(await call(creator, `?after=${second.id}&limit=1`))).toEqual([first.id]);
    expect(idsIn(await call(creator, '?order=asc&limit=100')).at(-1)).toBe(second.id);
    expect([(await call(creator, '?page=0')).status, (await call(creator, '?limit=101')).status]).toEqual([400, 400]);
  });
});

describe('GET /v1/documents/type/:type (read-document)', () => {
  it('Documents are listed by type among those the caller may see; an unknown type returns 400', async () => {
    const [signature, image] = [await uploaded({ document_type: 'signature' }), await uploaded()];
    const { status, body } = await call(creator, '/type/signature');
    expect([status, idsIn({ body }).includes(signature.id), idsIn({ body }).includes(image.id)]).toEqual([
      200,
      true,
      false,
    ]);
    expect(idsIn(await call(stranger, '/type/signature'))).not.toContain(signature.id);
    expect((await call(creator, '/type/poem')).status).toBe(400);
  });
});

describe('GET /v1/documents/:id/view-url (read-document)', () => {
  it('A view URL request returns a view_url that serves the file as an attachment', async () => {
    const { id, url } = await uploaded();
    const { status, body } = await call(fellow, `/${id}/view-url`);
    expect({ status, body }).toEqual({
      status: 200,
      body: { message: expect.any(String), document_id: id, file_key: url, view_url: expect.any(String) },
    });
    const viewed = await fetch(body.view_url);
    expect([viewed.status, viewed.headers.get('content-disposition')]).toEqual([
      200,
      'attachment; filename="picture.txt"',
    ]);
    expect(Buffer.from(await viewed.arrayBuffer())).toEqual(png);
  });

  it('A view URL is valid for 15 minutes and only for its file', async () => {
    const { id, url } = await uploaded();
    const other = await uploaded();
    const viewUrl = new URL((await call(creator, `/${id}/view-url`)).body.view_url);
    expect(viewUrl.searchParams.get('X-Amz-Expires')).toBe('900');
    const bent = new URL(viewUrl.href.replace(url, other.url));
    expect((await fetch(bent)).status).toBe(403);
  });

  it('A view URL request returns 404 to callers who may not see the document', async () => {
    expect((await call(stranger, `/${(await uploaded()).id}/view-url`)).status).toBe(404);
  });
});

describe('GET /v1/documents/:id/public', () => {
  it('A public URL redirects anyone to the file of a public document, without a token', async () => {
    const { id } = await uploaded({ visibility: 'public' });
    const { status, headers } = await stack.get(`/v1/documents/${id}/public`);
    expect([status, headers.get('cache-control')]).toEqual([302, 'no-store']);
    expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    const followed = await fetch(headers.get('location') ?? '');
    expect(Buffer.from(await followed.arrayBuffer())).toEqual(png);
  });

  it('A public URL returns 404 for a private, deleted or missing document, even to the creator', async () => {
    const [hidden, deleted] = [await uploaded(), await uploaded({ visibility: 'public' })];
    await remove(creator, deleted.id);
    for (const id of [hidden.id, deleted.id, newId(), 'nonsense']) {
      expect((await call(creator, `/${id}/public`)).status).toBe(404);
    }
  });
});

describe('POST /v1/documents (create-document)', () => {
  const body = (url: string, more: object = {}) => ({ url, document_type: 'receipt', ...more });

  it('Users can register any object of their organization as a private document', async () => {
    const { id, url, sha256 } = await uploaded({ visibility: 'public' });
    const registered = await register(fellow, body(url, { product_type: 'transaction' }));
    expect(registered).toMatchObject({
      status: 201,
      body: {
        message: expect.any(String),
        document: {
          url,
          document_type: 'receipt',
          product_type: 'transaction',
          product_id: null,
          visibility: 'private',
        },
      },
    });
    expect(registered.body.document).toMatchObject({ sha256, content_type: 'image/png', created_by: fellow.id });
    expect(registered.body.document.id).not.toBe(id);
    expect(await eventsOf(stack, registered.body.document.id)).toEqual(['RESOURCE_CREATED MEDIUM']);
  });

  it('Registering a foreign object returns 400, even to platform users, and a missing object 404', async () => {
    const { url } = await uploaded();
    const strangers = await uploaded({}, stranger, await buildTransaction(stack, stranger));
    expect(await statusesFor([stranger, platform], (by) => register(by, body(url)))).toEqual([400, 400]);
    expect((await register(creator, body(strangers.url))).status).toBe(400);
    const missing = await register(creator, body(url.replace(/[0-9a-f-]{36}$/, newId())));
    expect([missing.status, missing.body.message]).toEqual([404, expect.stringContaining('url')]);
  });

  it.each(['nonsense', '', '../etc/passwd', 'documents/../x', 'https://example.org/a.png'])(
    'Registering a document with the url %j returns 400',
    async (url) => {
      expect((await register(creator, body(url))).status).toBe(400);
    },
  );

  it('A document’s product_id must name a row of the caller, and needs product_type', async () => {
    const { url } = await uploaded();
    const of = (more: object) => register(creator, body(url, more));
    expect((await of({ product_type: 'transaction', product_id: product })).status).toBe(201);
    const refused = [
      await of({ product_id: product }),
      await of({ product_type: 'transaction', product_id: newId() }),
      await of({ product_type: 'transaction', product_id: await buildTransaction(stack, stranger) }),
    ];
    expect(refused.map(({ status, body: { message } }) => [status, /product_/.test(message)])).toEqual(
      Array(3).fill([400, true]),
    );
  });

  it('A member can attach a document to a row of the organization, but not to a colleague’s', async () => {
    const { url } = await uploaded({}, fellow, await buildTransaction(stack, fellow));
    const attach = (product_type: string, product_id: string, by = fellow) =>
      register(by, body(url, { product_type, product_id }));
    const causeId = await buildCause(stack, admin);
    const ofOrganization = await buildTransaction(stack, admin);
    expect((await attach('charitable_cause', causeId)).status).toBe(201);
    expect((await attach('transaction', ofOrganization)).status).toBe(201);
    expect((await attach('transaction', await buildTransaction(stack, creator))).status).toBe(400);
    const otherAdmin = await buildOrganizationAdmin(stack);
    expect((await attach('charitable_cause', await buildCause(stack, otherAdmin))).status).toBe(400);
    expect((await attach('transaction', await buildTransaction(stack, otherAdmin))).status).toBe(400);
    const own = await uploaded({}, stranger, await buildTransaction(stack, stranger));
    const refused = await register(stranger, body(own.url, { product_type: 'charitable_cause', product_id: causeId }));
    expect(refused.status).toBe(400);
  });

  it('Registering a document with an unknown field or without document_type returns 400', async () => {
    const { url } = await uploaded();
    const [unknown, without] = [
      await register(creator, body(url, { size_bytes: 1 })),
      await register(creator, { url }),
    ];
    expect([unknown.status, unknown.body.message]).toEqual([400, expect.stringContaining('size_bytes')]);
    expect([without.status, without.body.message]).toEqual([400, expect.stringContaining('document_type')]);
  });
});

describe('PATCH /v1/documents/:id (update-document)', () => {
  it('A document can be changed by its creator, the organization’s admins and platform users', async () => {
    const { id } = await uploaded();
    const { status, body } = await change(creator, id, { document_type: 'receipt' });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { message: expect.any(String), document: { id, document_type: 'receipt', updated_by: creator.id } },
    });
    expect(await statusesFor([admin, platform], (by) => change(by, id, { document_type: 'image' }))).toEqual([
      200, 200,
    ]);
    expect(await eventsOf(stack, id)).toEqual(['RESOURCE_CREATED MEDIUM', ...Array(2).fill('RESOURCE_UPDATED MEDIUM')]);
  });

  it('Registration and PATCH set a document’s visibility, and null returns 400', async () => {
    const { id, url } = await uploaded();
    const body = { url, document_type: 'receipt', visibility: 'public' };
    const registered = (await register(creator, body)).body.document;
    expect(registered.public_url).toContain(`/v1/documents/${registered.id}/public`);
    expect((await call(stranger, `/${registered.id}`)).status).toBe(200);
    for (const [visibility, status] of [
      ['public', 200],
      ['private', 404],
    ] as const) {
      expect((await change(creator, id, { visibility })).body.document.visibility).toBe(visibility);
      expect((await call(stranger, `/${id}`)).status).toBe(status);
    }
    const refused = await change(creator, id, { visibility: null });
    expect([refused.status, refused.body.message]).toEqual([400, 'visibility: is required']);
  });

  it('Changing a document returns 404 to callers who may not change it, even if they may see it', async () => {
    const { id } = await uploaded({ visibility: 'public' });
    expect(await statusesFor([fellow, stranger], (by) => change(by, id, { document_type: 'receipt' }))).toEqual([
      404, 404,
    ]);
    expect((await call(creator, `/${id}`)).body.document.document_type).toBe('image');
  });

  it('Changing a document’s url attaches that object; a foreign object returns 400, a missing one 404', async () => {
    const [document, other] = [await uploaded(), await uploaded()];
    const strangers = await uploaded({}, stranger, await buildTransaction(stack, stranger));
    const changed = await change(creator, document.id, { url: other.url });
    expect(changed.body.document).toMatchObject({ url: other.url, sha256: other.sha256 });
    expect((await change(creator, document.id, { url: strangers.url })).status).toBe(400);
    const missing = other.url.replace(/[0-9a-f-]{36}$/, newId());
    expect((await change(creator, document.id, { url: missing })).status).toBe(404);
    expect((await call(creator, `/${document.id}`)).body.document.url).toBe(other.url);
    const keys = await keysOf(stack, creator.organizationId ?? '');
    expect([keys.includes(document.url), keys.includes(other.url)]).toEqual([false, true]);
  });

  it('Changing a document’s product_id or product_type validates them like an upload', async () => {
    const { id } = await uploaded();
    const another = await buildTransaction(stack, creator);
    expect((await change(creator, id, { product_id: another })).body.document.product_id).toBe(another);
    expect((await change(creator, id, { product_id: newId() })).status).toBe(400);
    expect((await change(creator, id, { product_type: 'charitable_cause' })).status).toBe(400);
    expect((await call(creator, `/${id}`)).body.document).toMatchObject({
      product_type: 'transaction',
      product_id: another,
    });
  });

  it('Changing a document with an unknown field returns 400; an empty change changes nothing', async () => {
    const { id } = await uploaded();
    expect((await change(creator, id, { created_by: stranger.id })).status).toBe(400);
    expect((await change(creator, id, {})).body.document.updated_by).toBeNull();
  });
});

describe('DELETE /v1/documents/:id (delete-document)', () => {
  it('A deleted document returns 404; its row records who deleted it, and its object is removed', async () => {
    const { id, url } = await uploaded();
    const { status, body } = await remove(creator, id);
    expect({ status, body }).toEqual({ status: 200, body: { message: expect.any(String) } });
    for (const path of [`/${id}`, `/${id}/view-url`]) expect((await call(creator, path)).status).toBe(404);
    expect([(await remove(creator, id)).status, (await change(creator, id, {})).status]).toEqual([404, 404]);
    expect(idsIn(await call(creator, '?limit=100'))).not.toContain(id);
    const [row] = await stack
      .em()
      .execute('select deleted_by, deleted_at is not null as gone from documents where id = ?', [id]);
    expect(row).toEqual({ deleted_by: creator.id, gone: true });
    expect(await keysOf(stack, creator.organizationId ?? '')).not.toContain(url);
    expect(await eventsOf(stack, id)).toEqual(['RESOURCE_CREATED MEDIUM', 'RESOURCE_DELETED HIGH']);
  });

  it('A document can be deleted by the organization’s admins and platform users; others get 404', async () => {
    const [first, second] = [await uploaded({ visibility: 'public' }), await uploaded()];
    expect(await statusesFor([fellow, stranger], (by) => remove(by, first.id))).toEqual([404, 404]);
    expect([(await remove(admin, first.id)).status, (await remove(platform, second.id)).status]).toEqual([200, 200]);
  });
});

describe('Every route of documents', () => {
  const routes: [name: string, ask: (by: { token: string }) => Promise<{ status: number }>][] = [
    ['POST /v1/documents', (by) => register(by as BuiltUser, {})],
    ['GET /v1/documents', (by) => call(by as BuiltUser, '')],
    ['GET /v1/documents/type/:type', (by) => call(by as BuiltUser, '/type/image')],
    ['GET /v1/documents/:id', (by) => call(by as BuiltUser, `/${newId()}`)],
    ['GET /v1/documents/:id/view-url', (by) => call(by as BuiltUser, `/${newId()}/view-url`)],
    ['PATCH /v1/documents/:id', (by) => change(by as BuiltUser, newId(), {})],
    ['DELETE /v1/documents/:id', (by) => remove(by as BuiltUser, newId())],
  ];
  it.each(routes)('%s returns 403 without its permission and 401 with an invalid token', async (_, ask) => {
    const powerless = await buildIndividual(stack);
    await stack.owner().execute('update users set role_id = null where id = ?', [powerless.id]);
    expect([(await ask(powerless)).status, (await ask({ token: 'x' })).status]).toEqual([403, 401]);
  });
});

describe('Documents embedded in a parent', () => {
  it('A transaction’s detail embeds only the documents that the caller may see', async () => {
    const transaction = await buildTransaction(stack, creator);
    const [hidden, open, deleted] = [
      await uploaded({}, creator, transaction),
      await uploaded({ visibility: 'public' }, platform, transaction),
      await uploaded({}, creator, transaction),
    ];
    const platforms = await uploaded({}, platform, transaction);
    await remove(creator, deleted.id);
    const detail = async (by: BuiltUser) =>
      (await stack.get(`/v1/transactions/${transaction}`, { token: by.token })).body.data.transaction.documents;
    const { message: _, ...shown } = hidden;
    expect(await detail(creator)).toEqual([expect.objectContaining({ id: open.id }), shown]);
    expect((await detail(platform)).map(({ id }: { id: string }) => id)).toEqual([platforms.id, open.id, hidden.id]);
  });

  it('A transaction’s detail embeds at most a hundred documents and shows their total', async () => {
    const transaction = await buildTransaction(stack, creator);
    const { url } = await uploaded({}, creator, transaction);
    const more = isFullRun() ? 101 : 3;
    const body = { url, document_type: 'receipt', product_type: 'transaction', product_id: transaction };
    for (let index = 0; index < more; index += 1) expect((await register(creator, body)).status).toBe(201);
    const shown = async (by: BuiltUser) =>
      (await stack.get(`/v1/transactions/${transaction}`, { token: by.token })).body.data.transaction;
    const detail = await shown(creator);
    expect([detail.documents.length, detail.documents_total]).toEqual([Math.min(more + 1, 100), more + 1]);
    const all = await call(creator, `?product_type=transaction&product_id=${transaction}&limit=1`);
    expect(all.body.total).toBe(more + 1);
  });
});
