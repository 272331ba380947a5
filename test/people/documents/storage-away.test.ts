import { createServer, type Server } from 'node:net';
import { findFreePort } from '../../../dev/ports.ts';
import { type BuiltUser, buildIndividual } from '../../support/build.ts';
import { buildTransaction, filesOnDisk, upload } from '../../support/documents.ts';
import { itInFull } from '../../support/full.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

/** The port of unavailable storage: without a listener, or with one that never answers. */
let port: number;
let stack: Stack;
let user: BuiltUser;
let product: string;
beforeAll(async () => {
  port = await findFreePort();
  stack = await startStack({ isImpatient: true, env: { S3_ENDPOINT: `http://127.0.0.1:${port}` } });
  user = await buildIndividual(stack);
  product = await buildTransaction(stack, user);
});
afterAll(() => stack.stop());

describe.each(['refuses connections', 'never answers'])('While storage %s', (how) => {
  let silent: Server | undefined;
  beforeAll(() => {
    if (how === 'never answers') silent = createServer(() => {}).listen(port, '127.0.0.1');
  });
  afterAll(() => silent?.close());
  afterEach(() => expectChecksEmpty(stack));

  const register = () =>
    stack.post(
      '/v1/documents',
      { url: `documents/${user.id}/${product}`, document_type: 'image' },
      { token: user.token },
    );

  it('Registering a document while storage is down returns 503 with Retry-After', async () => {
    const { status, headers, body } = await register();
    expect([status, headers.get('retry-after'), body.statusCode]).toEqual([503, '5', 503]);
  });

  it('Documents can be read while storage is down', async () => {
    expect((await stack.get('/v1/documents', { token: user.token })).status).toBe(200);
  });

  // A call to silent storage times out only after fifteen seconds.
  const when = how === 'refuses connections' ? it : itInFull;
  when(
    'An upload while storage is down returns 503 with Retry-After, and leaves no document and nothing on disk',
    async () => {
      const { status, headers } = await upload(stack, user, product);
      expect([status, headers.get('retry-after')]).toEqual([503, '5']);
      expect(filesOnDisk()).toEqual([]);
      expect(await stack.em().execute('select id from documents')).toEqual([]);
      // It is unknown whether the object exists; the sweep retries until storage confirms its removal.
      expect(await stack.owner().execute('delete from document_uploads returning 1')).toHaveLength(1);
    },
  );
});
