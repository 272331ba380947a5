import { brotliCompressSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { findDuplicateKey } from '../../../src/platform/http/body.ts';
import { type BuiltPartner, buildPartner } from '../../support/partner.ts';
import { type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
}, 60_000);
afterAll(() => stack.stop());

const login = { email: 'nobody@example.org', password: 'whatever it is' };

async function post(body: string | Buffer, headers: Record<string, string> = {}) {
  const answer = await fetch(`${stack.url}/v1/auth/login`, {
    method: 'POST',
    body: typeof body === 'string' ? body : new Uint8Array(body),
    headers: { 'content-type': 'application/json', ...headers },
  });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as { message: string } };
}

describe('A JSON body', () => {
  it('that begins with a byte order mark is read', async () => {
    expect((await post(`\uFEFF${JSON.stringify(login)}`)).status).toBe(401);
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('sent as %s is read', async (encoding, compress) => {
    expect((await post(compress(JSON.stringify(login)), { 'content-encoding': encoding })).status).toBe(401);
  });

  it('that does not match its encoding, or has an unknown one, is refused', async () => {
    expect(await post('{}', { 'content-encoding': 'gzip' })).toMatchObject({
      status: 400,
      body: { message: 'The body is not well-formed gzip' },
    });
    expect((await post('{}', { 'content-encoding': 'compress' })).body.message).toContain('gzip, deflate or br');
  });

  it('that is small and unpacks to more than a megabyte is refused with 413', async () => {
    const bomb = gzipSync(JSON.stringify({ email: 'a'.repeat(20_000_000) }));
    expect(bomb.length).toBeLessThan(50_000);
    expect((await post(bomb, { 'content-encoding': 'gzip' })).status).toBe(413);
  });

  it.each([
    ['{"email":"a@b.example","email":"c@d.example"}', 'email'],
    ['{"a":{"b":1},"c":[{"d":1,"\\u0064":2}]}', 'd'],
  ])('that names a field twice is refused, naming it: %s', async (text, field) => {
    expect(await post(text)).toMatchObject({ status: 400, body: { message: `${field}: appears twice` } });
  });

  it('never has a field twice when it was written by JSON.stringify, whatever is in its texts', () => {
    fc.assert(fc.property(fc.json(), (text) => findDuplicateKey(text) === null));
  });
});

describe('Refusals', () => {
  it('of any kind are never cached on the way', async () => {
    for (const path of ['/v1/nothing', '/v1/auth/me', '/v1/partners/balance']) {
      const answer = await fetch(`${stack.url}${path}`);
      expect([path, answer.headers.get('cache-control')]).toEqual([path, 'no-store']);
    }
  });
});

describe('A page', () => {
  let partner: BuiltPartner;
  beforeAll(async () => {
    partner = await buildPartner(stack);
  });

  it.each(['999999999', '99999999999999999999999999'])('number %s is empty', async (page) => {
    const { status, body } = await partner.get(`/payments?page=${page}`);
    expect([status, body.data.items]).toEqual([200, []]);
  });

  it.each(['0', '-1', '1.5', 'x', ''])('number %j is refused', async (page) => {
    expect((await partner.get(`/payments?page=${page}`)).status).toBe(400);
  });
});
