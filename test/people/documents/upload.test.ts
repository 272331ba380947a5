import { createHash, randomBytes } from 'node:crypto';
import { createDocumentsRoutes } from '../../../src/people/documents/documents.routes.ts';
import { newId } from '../../../src/shared/ids.ts';
import { createApp, routeGroups } from '../../../src/wiring/app.ts';
import { type BuiltUser, buildIndividual, buildOrganizationAdmin, buildPlatformAdmin } from '../../support/build.ts';
import {
  buildTransaction,
  fieldsOf,
  filesOnDisk,
  keysOf,
  multipartUploads,
  nothing,
  type Part,
  png,
  send,
  upload,
  uploadOverWire,
  whatIsLeft,
} from '../../support/documents.ts';
import { itInFull } from '../../support/full.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

const limit = 52_428_800;
const stallTimeoutMs = 4000;

let stack: Stack;
let user: BuiltUser;
let product: string;
beforeAll(async () => {
  const documents = createDocumentsRoutes({ stallTimeoutMs });
  stack = await startStack({
    createApp: (deps) =>
      createApp(
        deps,
        routeGroups.map((group) => (group.prefix === documents.prefix ? documents : group)),
      ),
  });
});
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  user = await buildIndividual(stack);
  product = await buildTransaction(stack, user);
});

const file = (content: Uint8Array | string = png): Part => ({
  name: 'file',
  fileName: 'a.bin',
  type: 'image/gif',
  content,
});
const left = () => whatIsLeft(stack, user);
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

describe('POST /v1/documents/upload (upload-document)', () => {
  it('An upload returns 201 with the document, and stores the bytes sent', async () => {
    const { status, body } = await upload(stack, user, product, { visibility: 'public' });
    expect({ status, body }).toEqual({
      status: 201,
      body: {
        message: expect.any(String),
        id: expect.any(String),
        url: expect.stringMatching(new RegExp(`^documents/${user.id}/[0-9a-f-]{36}$`)),
        document_type: 'image',
        product_type: 'transaction',
        product_id: product,
        visibility: 'public',
        category_id: null,
        public_url: `${stack.url}/v1/documents/${body.id}/public`,
        file_name: 'picture.txt',
        content_type: 'image/png',
        size_bytes: png.length,
        sha256: sha256(png),
        created_by: user.id,
        updated_by: null,
        created_at: expect.any(String),
        updated_at: expect.any(String),
        deleted_at: null,
        deleted_by: null,
      },
    });
    expect(await keysOf(stack, user.id)).toEqual([body.url]);
    const fetched = await fetch(body.public_url);
    expect(Buffer.from(await fetched.arrayBuffer())).toEqual(png);
    expect(fetched.headers.get('content-type')).toBe('image/png');
  });

  it('An upload is private by default, without a public_url, and records RESOURCE_CREATED', async () => {
    const { body } = await upload(stack, user, product);
    expect(body).toMatchObject({ visibility: 'private', public_url: null });
    const events = await stack
      .em()
      .execute('select event, impact, actor_id from events where resource_id = ?', [body.id]);
    expect(events).toEqual([{ event: 'RESOURCE_CREATED', impact: 'MEDIUM', actor_id: user.id }]);
  });

  it("An upload is stored in the organization's space if the caller has one", async () => {
    const admin = await buildOrganizationAdmin(stack);
    const { body } = await upload(stack, admin, await buildTransaction(stack, admin));
    expect(body.url).toContain(`documents/${admin.organizationId}/`);
  });

  it.each([
    ['a PDF', Buffer.from('%PDF-1.7\n%âãÏÓ\n1 0 obj\n'), 'application/pdf'],
    ['unknown content', Buffer.from('just words'), 'application/octet-stream'],
  ])('An upload of %s gets its content_type from its content, not from the part’s header', async (_, content, type) => {
    expect((await send(stack, user, [...fieldsOf(product), file(content)])).body.content_type).toBe(type);
  });

  const disposition = async (id: string) => {
    const { body } = await stack.get(`/v1/documents/${id}/view-url`, { token: user.token });
    const served = await fetch(body.view_url);
    return [served.headers.get('content-disposition'), served.headers.get('content-type')];
  };

  it.each([
    ['receipt 1.png', 'receipt 1.png', 'attachment; filename="receipt 1.png"'],
    [
      'Kuitansi “Idulfitri” 100%.png',
      'Kuitansi “Idulfitri” 100%.png',
      `attachment; filename="Kuitansi _Idulfitri_ 100_.png"; filename*=UTF-8''Kuitansi%20%E2%80%9CIdulfitri%E2%80%9D%20100%25.png`,
    ],
    ['scan (1).png', 'scan (1).png', 'attachment; filename="scan (1).png"'],
    ['C:\\Users\\me\\scan.png', 'scan.png', 'attachment; filename="scan.png"'],
    ['../../etc/passwd', 'passwd', 'attachment; filename="passwd"'],
    ['a\u202egnp.exe', 'agnp.exe', 'attachment; filename="agnp.exe"'],
  ])('An upload named %j is shown as %j and served under that name', async (fileName, shown, header) => {
    const { body } = await send(stack, user, [...fieldsOf(product), { ...file(), fileName }]);
    expect([body.file_name, await disposition(body.id)]).toEqual([shown, [header, 'image/png']]);
    const registered = { url: body.url, document_type: 'receipt' };
    expect((await stack.post('/v1/documents', registered, { token: user.token })).body.document.file_name).toBe(shown);
    const [row] = await stack.em().execute('select * from documents where id = ?', [body.id]);
    expect(JSON.stringify(row)).not.toContain(shown);
  });

  it('An upload’s file name is cut to 255 characters with its extension, and is null if none was sent', async () => {
    const long = await send(stack, user, [...fieldsOf(product), { ...file(), fileName: `${'é'.repeat(996)}.png` }]);
    expect(long.body.file_name).toBe(`${'é'.repeat(251)}.png`);
    const none = await send(stack, user, [...fieldsOf(product), { name: 'file', type: 'image/png', content: png }]);
    expect([none.status, none.body.file_name]).toEqual([201, null]);
  });

  const page = '<!doctype html><script>alert(1)</script>';
  const picture = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
  it.each([
    ['text/plain', 'Terima kasih 🌙', 'text/plain'],
    ['Text/CSV; charset=utf-8', 'a,b\r\n1,2\r\n', 'text/csv'],
    ['text/markdown', '# Report', 'text/markdown'],
    ['text/csv', Buffer.from([0x61, 0x00, 0x2c]), 'application/octet-stream'],
    ['text/plain', Buffer.from([0x61, 0xff, 0xfe, 0x2c]), 'application/octet-stream'],
    ['text/html', page, 'application/octet-stream'],
    ['image/svg+xml', picture, 'application/octet-stream'],
    ['text/xml', picture, 'application/octet-stream'],
    ['text/javascript', 'alert(1)', 'application/octet-stream'],
    ['text/plain', page, 'text/plain'],
    ['text/plain', png, 'image/png'],
  ])('An upload sent as %s is never served as a page: %j becomes %s', async (type, content, expected) => {
    const { body } = await send(stack, user, [...fieldsOf(product), { ...file(content), type }]);
    expect([body.content_type, (await disposition(body.id))[1]]).toEqual([expected, expected]);
  });

  it('An upload accepts a file part without a type and before the fields, and fields with a type', async () => {
    const content = randomBytes(300_000);
    const fields = fieldsOf(product).map((part) => ({ ...part, type: 'text/plain' }));
    const { status, body } = await send(stack, user, [{ name: 'file', fileName: 'a', content }, ...fields]);
    expect([status, body.sha256, body.size_bytes]).toEqual([201, sha256(content), content.length]);
  });
});

// `npm run bench:bodies` measures the cost of such forms.
describe('Uploads in forms that are slow to parse', () => {
  const fill = (part: string) => Buffer.from(part.repeat(2_097_152 / part.length));
  it.each([
    ['a file of line feeds', () => [file(fill('\r\n'))], 201],
    ['a file of truncated boundaries', () => [file(fill('\r\n--'))], 201],
    ['files without a name', () => Array<Part>(20_000).fill({ ...file('x'), name: '' }), 400],
    ['fields', () => Array<Part>(20_000).fill({ name: 'a', content: 'x' }), 400],
  ])('An upload that is slow to parse (%s) returns the usual status', async (_, parts, expected) => {
    expect((await send(stack, user, [...fieldsOf(product), ...parts()])).status).toBe(expected);
  });
});

describe('Refused uploads', () => {
  afterEach(async () => expect(await left()).toEqual(nothing));

  it.each<[string, (fields: Part[]) => Part[], number, string]>([
    ['without a file', (fields) => fields, 400, 'file'],
    ['with two files', (fields) => [...fields, file(), file()], 400, 'exactly one file'],
    ['with the file in another field', (fields) => [...fields, { ...file(), name: 'attachment' }], 400, 'attachment'],
    [
      'with a file that has no field name',
      (fields) => [...fields, { ...file(), name: '' }],
      400,
      'without a field name',
    ],
    ['with the file as a text', (fields) => [...fields, { name: 'file', content: 'words' }], 400, 'file'],
    ['with an empty file', (fields) => [...fields, file('')], 400, 'file'],
    ['with an unknown field', (fields) => [...fields, { name: 'colour', content: 'blue' }, file()], 400, 'colour'],
    ['without product_id', (fields) => [...fields.slice(0, 2), file()], 400, 'product_id'],
    ['without document_type', (fields) => [...fields.slice(1), file()], 400, 'document_type'],
    ['with a field twice', (fields) => [...fields, ...fields, file()], 400, 'document_type'],
    [
      'with a field of 100 kB',
      (fields) => [...fields, { name: 'x', content: 'x'.repeat(100_000) }, file()],
      400,
      'field',
    ],
  ])('An upload %s returns 400 and leaves no trace', async (_, partsOf, expected, named) => {
    const { status, body } = await send(stack, user, partsOf(fieldsOf(product)));
    expect({ status, message: String(body.message) }).toEqual({
      status: expected,
      message: expect.stringContaining(named),
    });
  });

  it.each([
    ['document_type', 'poem'],
    ['product_type', 'saving_circle'],
    ['visibility', 'secret'],
    ['product_id', 'nonsense'],
  ])('An upload with an invalid %s returns 400 and names the field', async (field, value) => {
    const { status, body } = await upload(stack, user, product, { [field]: value });
    expect([status, String(body.message)]).toEqual([400, expect.stringContaining(field)]);
  });

  it('An upload with a product_id that is unknown, foreign or of another kind returns 400', async () => {
    const stranger = await buildIndividual(stack);
    const products = [newId(), await buildTransaction(stack, stranger)];
    for (const id of products) {
      const { status, body } = await upload(stack, user, id);
      expect([status, body.message]).toEqual([400, expect.stringContaining('product_id')]);
    }
    expect((await upload(stack, user, product, { product_type: 'charitable_cause' })).status).toBe(400);
  });

  it('An upload returns 400 without a multipart body, 401 without a token and 403 without the permission', async () => {
    const json = await stack.post('/v1/documents/upload', {}, { token: user.token });
    const noBoundary = await stack.post('/v1/documents/upload', undefined, {
      token: user.token,
      raw: 'x',
      headers: { 'content-type': 'multipart/form-data' },
    });
    expect([json.status, noBoundary.status]).toEqual([400, 400]);
    expect((await send(stack, { token: 'x' }, [...fieldsOf(product), file()])).status).toBe(401);
    await stack.owner().execute('update users set role_id = null where id = ?', [user.id]);
    expect((await upload(stack, user, product)).status).toBe(403);
  });

  it('An upload of 50 MB and one byte, with Content-Length or chunked, returns 413', async () => {
    for (const chunked of [false, true]) {
      const { status, text } = await uploadOverWire(stack, user, { productId: product, sizeBytes: limit + 1, chunked });
      expect([status, text]).toEqual([413, expect.stringContaining('52428800')]);
    }
  });

  itInFull(
    'An upload of 200 MB, with Content-Length or chunked, returns 413',
    async () => {
      for (const chunked of [false, true]) {
        const { status } = await uploadOverWire(stack, user, { productId: product, sizeBytes: 200_000_000, chunked });
        expect(status).toBe(413);
      }
    },
    60_000,
  );

  it('An upload truncated by a client that closes its side returns 400 or a closed connection', async () => {
    const input = { productId: product, sizeBytes: 5_000_000, stopAfterBytes: 2_000_000, stopBy: 'end' } as const;
    expect([400, null]).toContain((await uploadOverWire(stack, user, input)).status);
    await eventually(left, (now) => now.files === 0);
  });

  it('An upload truncated within well-formed chunks returns 400', async () => {
    const { status, body } = await stack.post('/v1/documents/upload', undefined, {
      token: user.token,
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
      raw: '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhalf of it',
    });
    expect([status, body.message]).toEqual([400, expect.stringContaining('is incomplete')]);
  });

  it('An upload aborted by the client midway leaves no trace', async () => {
    const input = { productId: product, sizeBytes: 5_000_000, stopAfterBytes: 2_000_000, stopBy: 'destroy' } as const;
    expect((await uploadOverWire(stack, user, input)).status).toBeNull();
    await eventually(left, (now) => now.files === 0);
  });

  it('A stalled upload returns 408 after the time-out', async () => {
    const input = { productId: product, sizeBytes: 5_000_000, stopAfterBytes: 2_000_000, stopBy: 'stall' } as const;
    const { status, text, seconds } = await uploadOverWire(stack, user, input);
    expect([status, text]).toEqual([408, expect.stringContaining('"statusCode":408')]);
    expect(seconds).toBeGreaterThan(stallTimeoutMs / 1000);
    expect(seconds).toBeLessThan(30);
  });
});

describe('Files of an allowed size', () => {
  itInFull.each<[string, number]>([
    ['exactly 50 MB', limit],
    ['49 MB', 49 * 1024 * 1024],
  ])('A file of %s is stored whole', async (_, sizeBytes) => {
    const { status, text } = await uploadOverWire(stack, user, { productId: product, sizeBytes });
    expect([status, text]).toEqual([201, expect.stringContaining(`"size_bytes":${sizeBytes}`)]);
    const [key = ''] = await keysOf(stack, user.id);
    expect(await stack.deps.storage.find(key)).toMatchObject({ sizeBytes });
    expect(await left()).toEqual({ ...nothing, objects: 1, documents: 1 });
    await stack.deps.storage.remove(key);
  });
});

describe('After all uploads', () => {
  it('After all uploads, no file remains on disk and no multipart upload in storage', async () => {
    expect(filesOnDisk()).toEqual([]);
    expect((await multipartUploads(stack)) ?? []).toEqual([]);
  });

  it('A platform user can attach a document to any transaction', async () => {
    const platform = await buildPlatformAdmin(stack);
    expect((await upload(stack, platform, product)).status).toBe(201);
  });
});
