import { randomBytes } from 'node:crypto';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { mostGrowth } from '../../../src/platform/http/body.ts';
import { mostNesting, NumberLiteral, parseJson, scanJson } from '../../../src/platform/http/json-body.ts';
import { type BuiltUser, buildIndividual, buildSuperAdmin } from '../../support/build.ts';
import { type BuiltPartner, buildPartner } from '../../support/partner.ts';
import { type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let user: BuiltUser;
let admin: BuiltUser;
beforeAll(async () => {
  stack = await startStack();
  user = await buildIndividual(stack);
  admin = await buildSuperAdmin(stack);
}, 60_000);
afterAll(() => stack.stop());

const postAs = ({ token }: BuiltUser, path: string, body: string | Buffer, headers: Record<string, string> = {}) =>
  post(body, { ...headers, authorization: `Bearer ${token}` }, path);

/** Builds a body that gzip compresses by about this factor: noise, and text that compresses to almost nothing. */
const noiseFor = (factor: number): string => {
  const noise = randomBytes(3000)
    .toString('latin1')
    .replace(/[^ !#-[\]-~]/g, '');
  return JSON.stringify({ some: noise + ' '.repeat(gzipSync(noise).length * factor - noise.length) });
};

const login = { email: 'nobody@example.org', password: 'whatever it is' };

async function post(body: string | Buffer, headers: Record<string, string> = {}, path = '/v1/auth/login') {
  const answer = await fetch(`${stack.url}${path}`, {
    method: 'POST',
    body: typeof body === 'string' ? body : new Uint8Array(body),
    headers: { 'content-type': 'application/json', ...headers },
  });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as { message: string } };
}

describe('A JSON body', () => {
  it('A JSON body with a byte order mark is accepted', async () => {
    expect((await post(`\uFEFF${JSON.stringify(login)}`)).status).toBe(401);
  });

  it('A compressed body from an unknown sender returns 415', async () => {
    const body = gzipSync(JSON.stringify(login));
    for (const path of [
      '/v1/auth/login',
      '/v1/auth/signup',
      '/v1/organizations/signup',
      '/v1/auth/invitations/accept',
    ]) {
      const { status } = await post(body, { 'content-encoding': 'gzip' }, path);
      expect([path, status]).toEqual([path, 415]);
    }
    expect((await post(JSON.stringify(login), { 'content-encoding': 'identity' })).status).toBe(401);
    expect((await stack.post('/v1/payments/gateway', {}, { headers: { 'content-encoding': 'gzip' } })).status).toBe(
      401,
    );
  });

  it('A body may have 16 KiB for a login, 1 MiB for an allocation and 256 KiB for a payment', async () => {
    const padded = (bytes: number) => JSON.stringify({ a: '' }).replace('""', `"${'x'.repeat(bytes - 8)}"`);
    expect((await post(padded(16 * 1024))).status).toBe(400);
    expect((await post(padded(16 * 1024 + 1))).status).toBe(413);
    expect((await postAs(user, '/v1/payments/gateway', padded(256 * 1024))).status).toBe(400);
    expect((await postAs(user, '/v1/payments/gateway', padded(256 * 1024 + 1))).status).toBe(413);
    expect((await postAs(admin, '/v1/donations/allocate', padded(1024 * 1024))).status).toBe(400);
    expect((await postAs(admin, '/v1/donations/allocate/preview', padded(1024 * 1024 + 1))).status).toBe(413);
  });

  it(`A body may be nested ${mostNesting} levels deep, the outermost included`, async () => {
    const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    expect((await post(nested(mostNesting))).body.message).toContain('a: unknown field');
    expect(await post(nested(mostNesting + 1))).toMatchObject({
      status: 400,
      body: { message: 'The body is nested more than 32 levels deep' },
    });
  });

  describe('Bodies of authenticated senders', () => {
    it.each([
      ['gzip', gzipSync],
      ['br', brotliCompressSync],
      ['deflate', deflateSync],
    ])('A body compressed with %s is accepted', async (encoding, compress) => {
      const answer = await postAs(user, '/v1/payments/gateway', compress('{"some":1}'), {
        'content-encoding': encoding,
      });
      expect([answer.status, answer.body.message]).toEqual([400, expect.arrayContaining(['some: unknown field'])]);
    });

    it('A body that does not match its encoding, or has an unknown one, is refused', async () => {
      expect(await postAs(user, '/v1/payments/gateway', '{}', { 'content-encoding': 'gzip' })).toMatchObject({
        status: 400,
        body: { message: 'The body is not well-formed gzip' },
      });
      const unknown = await postAs(user, '/v1/payments/gateway', '{}', { 'content-encoding': 'compress' });
      expect(unknown.body.message).toContain('gzip, deflate or br');
    });

    it(`A body may grow ${mostGrowth}-fold when decompressed, and no more`, async () => {
      const repeated = gzipSync(JSON.stringify({ some: 'a'.repeat(20_000) }));
      const [least, most] = [noiseFor(16), noiseFor(25)].map((text) => gzipSync(text));
      const statusOf = async (body: Buffer = Buffer.of()) =>
        (await postAs(user, '/v1/payments/gateway', body, { 'content-encoding': 'gzip' })).status;
      expect([await statusOf(repeated), await statusOf(least), await statusOf(most)]).toEqual([413, 400, 413]);
    });

    it('A partner’s body that is nested too deeply is refused in the partners’ envelope', async () => {
      const partner = await buildPartner(stack);
      const answer = await partner.post('/payments', { a: JSON.parse('['.repeat(40) + ']'.repeat(40)) });
      expect([answer.status, answer.body.error.code]).toEqual([400, 'REQUEST_INVALID_PAYLOAD']);
      expect(answer.body.error.details).toEqual([
        { field: 'body', message: 'The body is nested more than 32 levels deep' },
      ]);
    });
  });

  it.each([
    ['{"email":"a@b.example","email":"c@d.example"}', 'email'],
    ['{"a":{"b":1},"c":[{"d":1,"\\u0064":2}]}', 'd'],
  ])('A body with a duplicate field is refused, and the error names it: %s', async (text, field) => {
    expect(await post(text)).toMatchObject({ status: 400, body: { message: `${field}: appears twice` } });
  });

  it('Bodies are parsed as by JSON.parse, except that money keeps its digits', () => {
    const sealed = (value: unknown): unknown => {
      if (typeof value === 'number') return new NumberLiteral(JSON.stringify(value));
      if (Array.isArray(value)) return value.map((item) => (typeof item === 'number' ? item : sealed(item)));
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, sealed(member)]));
    };
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(0, 1, '\t'), (value, space) => {
        const text = JSON.stringify(value, null, space);
        const keys = new Set<string>(['']);
        JSON.parse(text, (key, member) => {
          keys.add(key);
          return member;
        });
        expect(scanJson(text, keys).duplicateKey).toBeNull();
        const read = parseJson(Buffer.from(text), '', keys);
        expect(JSON.stringify(read)).toBe(JSON.stringify(JSON.parse(text)));
        if (typeof value === 'object' && !keys.has('__proto__')) expect(read).toEqual(sealed(JSON.parse(text)));
      }),
    );
  });
});

describe('Refusals', () => {
  it('Error responses are never cached', async () => {
    for (const path of ['/v1/nothing', '/v1/auth/me', '/v1/partners/balance']) {
      const answer = await fetch(`${stack.url}${path}`);
      expect([path, answer.headers.get('cache-control')]).toEqual([path, 'no-store']);
    }
  });
});

describe('Page numbers', () => {
  let partner: BuiltPartner;
  beforeAll(async () => {
    partner = await buildPartner(stack);
  });

  it.each(['999999999', '99999999999999999999999999'])('The page %s of a short list is empty', async (page) => {
    const { status, body } = await partner.get(`/payments?page=${page}`);
    expect([status, body.data.items]).toEqual([200, []]);
  });

  it.each(['0', '-1', '1.5', 'x', ''])('The page number %j returns 400', async (page) => {
    expect((await partner.get(`/payments?page=${page}`)).status).toBe(400);
  });
});
