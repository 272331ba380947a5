import { type BuiltUser, buildIndividual, buildOrganizationAdmin } from '../../support/build.ts';
import { buildTransaction, nothing, png, upload, uploadOverWire, whatIsLeft } from '../../support/documents.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  const limits = { UPLOADS_PER_USER: '2', UPLOADS_IN_ALL: '3', STORED_BYTES_PER_USER: String(2 * png.length + 1) };
  stack = await startStack({ env: limits });
});
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const build = async () => {
  const user = await buildIndividual(stack);
  return { user, product: await buildTransaction(stack, user) };
};
/** Keeps an upload in progress until it is stopped; restarts it if another upload took its slot. */
function hold({ user, product }: { user: BuiltUser; product: string }) {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  let isOver = false;
  const end = () => {
    isOver = true;
    resolve();
  };
  const keep = async () => {
    const wire = { productId: product, sizeBytes: 400_000, stopAfterBytes: 300_000, stopBy: over };
    while (!isOver) await uploadOverWire(stack, user, wire);
  };
  return { end, ended: keep() };
}

/** An upload that is refused for its type, unless a limit refuses it first. */
const poem =
  ({ user, product }: { user: BuiltUser; product: string }) =>
  () =>
    upload(stack, user, product, { document_type: 'poem' });
const isTooMany = ({ status }: { status: number }) => status === 429;

describe('Concurrent uploads', () => {
  it('Concurrent uploads never exceed the limits per user and per process; an excess one returns 429', async () => {
    const [first, second, third] = [await build(), await build(), await build()];
    const under = [hold(first), hold(first)];
    const own = await eventually(poem(first), isTooMany);
    expect([own.headers.get('retry-after'), own.body.message]).toEqual(['5', expect.stringContaining('2')]);
    under.push(hold(second));
    await eventually(poem(third), isTooMany);
    expect((await upload(stack, third.user, third.product)).headers.get('retry-after')).toBe('5');
    expect(await whatIsLeft(stack, third.user)).toEqual(nothing);
    for (const { end } of under) end();
    await Promise.all(under.map(({ ended }) => ended));
    for (const { user, product } of [first, third]) {
      await eventually(
        () => upload(stack, user, product),
        ({ status }) => status === 201,
      );
    }
  });
});

describe('The storage limit of a user', () => {
  it('Concurrent uploads never exceed a user’s storage limit; an excess one returns 400', async () => {
    const { user, product } = await build();
    const kept = await upload(stack, user, product);
    const body = { url: kept.body.url, document_type: 'image' };
    expect((await stack.post('/v1/documents', body, { token: user.token })).status).toBe(201);
    const two = await Promise.all([upload(stack, user, product), upload(stack, user, product)]);
    expect(two.map(({ status }) => status).sort()).toEqual([201, 400]);
    const refused = two.find(({ status }) => status === 400);
    const message = `file: your files already take ${2 * png.length} bytes; the limit for a user is ${2 * png.length + 1}`;
    expect(refused?.body.message).toBe(message);
    expect(await whatIsLeft(stack, user)).toEqual({ objects: 2, documents: 3, uploads: 0, files: 0 });
    const id = two.find(({ status }) => status === 201)?.body.id;
    expect((await stack.delete(`/v1/documents/${id}`, undefined, { token: user.token })).status).toBe(200);
    expect((await upload(stack, user, product)).status).toBe(201);
  });

  it('A file counts toward the storage limits of its uploader and of a colleague who registers it', async () => {
    const admin = await buildOrganizationAdmin(stack);
    const organizationId = String(admin.organizationId);
    const uploader = await buildIndividual(stack, { organizationId });
    const keeper = await buildIndividual(stack, { organizationId });
    const product = await buildTransaction(stack, uploader);
    const keep = async () => {
      const { body } = await upload(stack, uploader, product);
      const document = { url: body.url, document_type: 'image' };
      const registered = await stack.post('/v1/documents', document, { token: keeper.token });
      await stack.delete(`/v1/documents/${body.id}`, undefined, { token: uploader.token });
      return { ...registered, url: body.url as string };
    };
    const kept = [await keep(), await keep()];
    expect(kept.map(({ status }) => status)).toEqual([201, 201]);
    const message = `url: your files already take ${2 * png.length} bytes; the limit for a user is ${2 * png.length + 1}`;
    const refused = await keep();
    expect([refused.status, refused.body.message]).toEqual([400, message]);
    const again = { url: kept[0]?.url, document_type: 'receipt' };
    const twice = await stack.post('/v1/documents', again, { token: keeper.token });
    expect(twice.status).toBe(201);
    const path = `/v1/documents/${twice.body.document.id}`;
    const { body } = await upload(stack, uploader, product);
    const moved = await stack.patch(path, { url: body.url }, { token: keeper.token });
    expect([moved.status, moved.body.message]).toEqual([400, message]);
    expect((await stack.get(path, { token: keeper.token })).body.document.url).toBe(kept[0]?.url);
  });
});
