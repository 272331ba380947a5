import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { type BuiltUser, buildIndividual, buildPlatformAdmin } from '../../support/build.ts';
import { type Stack, startStack } from '../../support/stack.ts';

describe('An external issuer trusted by its JWKS URL', () => {
  let stack: Stack;
  let user: BuiltUser;
  let key: CryptoKey;
  const issuer = 'https://issuer.example';
  const server = createServer();

  beforeAll(async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    key = privateKey;
    const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'ext-1', alg: 'ES256' }] });
    server.on('request', (_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(jwks);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    stack = await startStack({
      env: {
        AUTH_EXTERNAL_JWKS_URL: `http://127.0.0.1:${port}/jwks`,
        AUTH_EXTERNAL_ISSUER: issuer,
        AUTH_EXTERNAL_AUDIENCE: 'amanah-external',
      },
    });
    user = await buildIndividual(stack);
  });
  afterAll(async () => {
    await stack?.stop();
    server.close();
  });

  const sign = (
    claims: { iss?: string; aud?: string; sub?: string; exp?: string | number; jti?: null } = {},
    signer: CryptoKey = key,
  ) =>
    new SignJWT(claims.jti === null ? {} : { jti: randomUUID() })
      .setProtectedHeader({ alg: 'ES256', kid: 'ext-1' })
      .setIssuer(claims.iss ?? issuer)
      .setAudience(claims.aud ?? 'amanah-external')
      .setSubject(claims.sub ?? user.id)
      .setExpirationTime(claims.exp ?? '5m')
      .sign(signer);
  const statusOf = async (token: string) => (await stack.get('/v1/auth/me', { token })).status;

  it('An external issuer’s token authenticates the user in its subject, and our own tokens still work', async () => {
    expect(await statusOf(await sign())).toBe(200);
    expect(await statusOf(user.token)).toBe(200);
  });

  it('An external issuer’s token with a wrong claim or key, or without jti, is rejected', async () => {
    const stranger = await generateKeyPair('ES256');
    expect(await statusOf(await sign({ aud: 'amanah' }))).toBe(401);
    expect(await statusOf(await sign({ iss: 'https://evil.example' }))).toBe(401);
    expect(await statusOf(await sign({ iss: 'amanah' }))).toBe(401);
    expect(await statusOf(await sign({ exp: '-1m' }))).toBe(401);
    expect(await statusOf(await sign({ jti: null }))).toBe(401);
    expect(await statusOf(await sign({ sub: 'somebody' }))).toBe(401);
    expect(await statusOf(await sign({}, stranger.privateKey))).toBe(401);
  });

  it('A suspension permanently revokes an external issuer’s earlier tokens; later tokens work', async () => {
    const other = await buildIndividual(stack);
    const issued = (secondsAgo: number) =>
      new SignJWT({ jti: randomUUID() })
        .setProtectedHeader({ alg: 'ES256', kid: 'ext-1' })
        .setIssuer(issuer)
        .setAudience('amanah-external')
        .setSubject(other.id)
        .setIssuedAt(Math.floor(Date.now() / 1000) - secondsAgo)
        .setExpirationTime('5m')
        .sign(key);
    const [before, undated] = [await issued(60), await sign({ sub: other.id })];
    expect([await statusOf(before), await statusOf(undated)]).toEqual([200, 200]);
    const admin = await buildPlatformAdmin(stack);
    for (const status of ['suspended', 'active']) {
      await stack.patch(`/v1/users/${other.id}`, { status }, { token: admin.token });
    }
    expect([await statusOf(before), await statusOf(undated), await statusOf(await issued(-2))]).toEqual([
      401, 401, 200,
    ]);
  });

  it('Logging out revokes an external issuer’s token', async () => {
    const token = await sign({ exp: '7m' });
    expect((await stack.post('/v1/auth/logout', undefined, { token })).status).toBe(200);
    expect(await statusOf(token)).toBe(401);
    expect(await statusOf(await sign({ exp: '8m' }))).toBe(200);
  });

  it.each([7_300_000_000, 1e15])(
    'An external issuer’s token with the far-future expiry %d can be revoked',
    async (exp) => {
      const token = await sign({ exp });
      expect((await stack.post('/v1/auth/logout', undefined, { token })).status).toBe(200);
      expect(await statusOf(token)).toBe(401);
    },
  );
});
