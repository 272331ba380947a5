import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { rotateSigningKey } from '../../../src/people/identity/rotate-signing-key.ts';
import { createSigningKeys } from '../../../src/people/identity/signing-keys.ts';
import { newId } from '../../../src/shared/ids.ts';
import { type BuiltUser, buildIndividual, buildPlatformAdmin, buildSuperAdmin } from '../../support/build.ts';
import { eventually, type Stack, startStack } from '../../support/stack.ts';

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const read = (text: string | undefined) => JSON.parse(Buffer.from(text ?? '', 'base64url').toString());

describe('Access tokens', () => {
  let stack: Stack;
  let user: BuiltUser;
  beforeAll(async () => {
    stack = await startStack({ own: true });
    user = await buildIndividual(stack);
  });
  afterAll(() => stack?.stop());

  const me = (token: string) => stack.get('/v1/auth/me', { token });
  const statusOf = async (token: string) => (await me(token)).status;

  it('Access tokens are signed by EdDSA, carry the documented claims and expire after an hour', async () => {
    const [header, payload] = user.token.split('.');
    expect(read(header)).toMatchObject({ alg: 'EdDSA', typ: 'at+jwt', kid: expect.any(String) });
    const claims = read(payload);
    expect(claims).toMatchObject({
      iss: 'amanah',
      aud: 'amanah',
      sub: user.id,
      user_type: 'individual',
      organization_id: null,
      jti: expect.any(String),
    });
    expect(claims.exp - claims.iat).toBe(3600);
    expect(await statusOf(user.token)).toBe(200);
  });

  it('The public keys of access tokens are at /.well-known/jwks.json, without the private part', async () => {
    const { body } = await stack.get('/.well-known/jwks.json');
    expect(body.keys).toHaveLength(1);
    expect(body.keys[0]).toMatchObject({ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig' });
    expect(body.keys[0]).not.toHaveProperty('d');
    expect(body.keys[0].kid).toBe(read(user.token.split('.')[0]).kid);
  });

  it('Private keys of access tokens are encrypted in the database', async () => {
    const [row] = await stack.em().execute<{ private_key_sealed: string }[]>('select * from token_signing_keys');
    expect(row?.private_key_sealed.split('.')).toHaveLength(5);
    expect(JSON.stringify(row)).not.toContain('"d"');
  });

  describe('Forged or damaged access tokens', () => {
    it.each([
      ['unsigned', async () => `${part({ alg: 'none', typ: 'at+jwt' })}.${user.token.split('.')[1]}.`],
      [
        'signed HS256 with the public key as secret',
        async () => {
          const { body } = await stack.get('/.well-known/jwks.json');
          const secret = new TextEncoder().encode(JSON.stringify(body.keys[0]).padEnd(64));
          return new SignJWT(read(user.token.split('.')[1]))
            .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: body.keys[0].kid })
            .sign(secret);
        },
      ],
      [
        'signed by a foreign key under our key id',
        async () => {
          const { privateKey } = await generateKeyPair('EdDSA');
          return new SignJWT(read(user.token.split('.')[1]))
            .setProtectedHeader(read(user.token.split('.')[0]))
            .sign(privateKey);
        },
      ],
      [
        'signed by a key inside the token',
        async () => {
          const { privateKey, publicKey } = await generateKeyPair('EdDSA');
          const jwk = await exportJWK(publicKey);
          return new SignJWT(read(user.token.split('.')[1]))
            .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', jwk })
            .sign(privateKey);
        },
      ],
      [
        'with another payload',
        async () => `${user.token.split('.')[0]}.${part({ sub: newId() })}.${user.token.split('.')[2]}`,
      ],
      ['cut', async () => user.token.slice(0, -5)],
      ['no token at all', async () => 'nonsense'],
      ['empty', async () => ''],
      [
        'signed by a key that an attacker wrote to the database',
        async () => {
          const { privateKey, publicKey } = await generateKeyPair('EdDSA');
          const kid = newId();
          const jwk = { ...(await exportJWK(publicKey)), kid, alg: 'EdDSA', use: 'sig' };
          // The value was encrypted for another row and does not decrypt here.
          await stack.em().execute(
            `insert into token_signing_keys (id, public_jwk, private_key_sealed, published_until)
             select ?, ?::jsonb, private_key_sealed, '2099-01-01' from token_signing_keys limit 1`,
            [kid, JSON.stringify(jwk)],
          );
          return new SignJWT(read(user.token.split('.')[1]))
            .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid })
            .sign(privateKey);
        },
      ],
    ])('A forged or damaged access token is rejected (%s)', async (_, forge) => {
      const answer = await me(await forge());
      expect([answer.status, answer.body.error]).toEqual([401, 'Unauthorized']);
    });

    it.each([
      ['another issuer', { iss: 'someone' }],
      ['another audience', { aud: 'someone' }],
      ['no expiry', { exp: undefined }],
      ['a past expiry', { exp: 1_000_000_000 }],
      ['no token id', { jti: undefined }],
      ['a malformed subject', { sub: "x' or true" }],
      ['an unknown subject', { sub: newId() }],
    ])('An access token signed by our key with %s is rejected', async (_, claims) => {
      const keys = createSigningKeys({ orm: stack.deps.orm, sealer: stack.deps.sealer, tokenTtlSeconds: 3600 });
      const { id, key } = await keys.signer();
      const sign = (payload: Record<string, unknown>, typ = 'at+jwt') =>
        new SignJWT(payload).setProtectedHeader({ alg: 'EdDSA', kid: id, typ }).sign(key);
      const good = { ...read(user.token.split('.')[1]), jti: newId() };
      expect(await statusOf(await sign(good))).toBe(200);
      expect(await statusOf(await sign({ ...good, ...claims }))).toBe(401);
      expect(await statusOf(await sign(good, 'JWT'))).toBe(401);
    });
  });

  it('An access token in the cookie is accepted; the Authorization header takes precedence', async () => {
    const cookie = { cookie: `access_token=${user.token}` };
    expect((await stack.get('/v1/auth/me', { headers: cookie })).status).toBe(200);
    expect((await stack.get('/v1/auth/me', { headers: cookie, token: 'nonsense' })).status).toBe(401);
    expect((await stack.get('/v1/auth/me', { headers: { authorization: 'Basic eDp5', ...cookie } })).status).toBe(401);
  });

  it('A suspension permanently revokes access tokens', async () => {
    const admin = await buildPlatformAdmin(stack);
    const other = await buildIndividual(stack);
    await stack.patch(`/v1/users/${other.id}`, { status: 'suspended' }, { token: admin.token });
    expect(await statusOf(other.token)).toBe(401);
    await stack.patch(`/v1/users/${other.id}`, { status: 'active' }, { token: admin.token });
    expect(await statusOf(other.token)).toBe(401);
  });

  it('Fifty concurrent requests each get their own user’s response, or 401 with a revoked token', async () => {
    const users = await Promise.all(Array.from({ length: 25 }, () => buildIndividual(stack)));
    await Promise.all(
      users.filter((_, index) => index % 5 === 0).map(({ token }) => stack.post('/v1/auth/logout', {}, { token })),
    );
    const asked = users.flatMap((asking) => [asking, asking]);
    const answers = await Promise.all(asked.map(({ token }) => stack.get('/v1/auth/me', { token })));
    expect(answers.map(({ status, body }) => (status === 200 ? body.data.id : status))).toEqual(
      asked.map(({ id }) => (users.findIndex((other) => other.id === id) % 5 === 0 ? 401 : id)),
    );
  });

  it('Authentication and authorization together cost one query', async () => {
    const admin = await buildSuperAdmin(stack);
    const queries: string[] = [];
    const logger = stack.deps.orm.config.getLogger();
    logger.setDebugMode(['query']);
    logger.logQuery = ({ query }) => void queries.push(String(query));
    await stack.get('/v1/acl/roles/00000000-0000-4000-8000-000000000101', { token: admin.token });
    logger.setDebugMode(false);
    expect(queries).toHaveLength(2);
    expect(queries[0]).toContain('select * from callers_of(');
    expect(queries[1]).toContain('from "roles"');
  });

  describe('Rotating the keys of access tokens', () => {
    it('Rotating keys leaves old tokens valid, publishes both keys and signs with the new one', async () => {
      const before = await stack.deps.tokens.sign({ userId: user.id, userType: 'individual', organizationId: null });
      const id = await rotateSigningKey(stack.em(), { sealer: stack.deps.sealer, tokenTtlSeconds: 3600 });
      const startedAt = Date.now();
      const fresh = await eventually(
        async () =>
          (await stack.deps.tokens.sign({ userId: user.id, userType: 'individual', organizationId: null })).token,
        (token) => read(token.split('.')[0]).kid === id,
        10_000,
      );
      expect(Date.now() - startedAt).toBeLessThan(10_000);
      expect(await statusOf(fresh)).toBe(200);
      expect(await statusOf(before.token)).toBe(200);
      const { body } = await stack.get('/.well-known/jwks.json');
      expect(body.keys).toHaveLength(2);
      expect(body.keys[0].kid).toBe(id);
    });

    it('Processes that start concurrently create one signing key', async () => {
      await stack.owner().execute('delete from token_signing_keys');
      const processes = Array.from({ length: 8 }, () =>
        createSigningKeys({ orm: stack.deps.orm, sealer: stack.deps.sealer, tokenTtlSeconds: 3600 }),
      );
      const signers = await Promise.all(processes.map((keys) => keys.signer()));
      expect(new Set(signers.map(({ id }) => id)).size).toBe(1);
    });

    it('An expired signing key is neither found nor published', async () => {
      const keys = createSigningKeys({ orm: stack.deps.orm, sealer: stack.deps.sealer, tokenTtlSeconds: 3600 });
      const { id } = await keys.signer();
      await rotateSigningKey(stack.em(), { sealer: stack.deps.sealer, tokenTtlSeconds: 3600 });
      await stack.owner().execute('update token_signing_keys set published_until = now() where id = ?', [id]);
      const later = createSigningKeys({ orm: stack.deps.orm, sealer: stack.deps.sealer, tokenTtlSeconds: 3600 });
      expect(await later.find(id)).toBeUndefined();
      expect((await later.published()).map(({ kid }) => kid)).not.toContain(id);
    });
  });
});
