import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { partnerPermissions } from '../../src/partners/partner.ts';
import { isSignatureOfRequest, signRequest } from '../../src/partners/signature.ts';
import { newId } from '../../src/shared/ids.ts';
import { routeGroups } from '../../src/wiring/app.ts';
import { buildOrganization } from '../support/build.ts';
import { type BuiltPartner, buildPartner, freshKey, signature, signatures } from '../support/partner.ts';
import { type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startStack();
  partner = await buildPartner(stack);
}, 60_000);
afterAll(() => stack.stop());

const quote = { method: 'qris', amount: '10000' };
const errorOf = ({ status, body }: { status: number; body: { error: { code: string } } }) => [status, body.error.code];

/** Requests a quote with exactly these bytes and this signature. */
const send = (raw: string | Uint8Array<ArrayBuffer>, signed: string | null, token: string = partner.apiKey) =>
  stack.post('/v1/partners/quotes', undefined, {
    raw,
    token,
    headers: { 'content-type': 'application/json', ...(signed === null ? {} : { 'x-partner-signature': signed }) },
  });

describe('A signature over the body', () => {
  const body = JSON.stringify(quote);

  it('A signature over the bytes sent is accepted, in lower-case and upper-case hex', async () => {
    const signed = signature(partner.signingSecret, body);
    expect((await send(body, signed)).status).toBe(200);
    expect((await send(body, signed.toUpperCase())).status).toBe(200);
  });

  it.each<[string, () => Promise<[string | Uint8Array<ArrayBuffer>, string | null]>]>([
    ['that is missing', async () => [body, null]],
    ['that is wrong', async () => [body, signature('another secret', body)]],
    ['that is not hex', async () => [body, 'zz'.repeat(32)]],
    ['that is cut', async () => [body, signature(partner.signingSecret, body).slice(0, 62)]],
    ['of another partner', async () => [body, signature((await buildPartner(stack)).signingSecret, body)]],
    ['over a re-encoded body', async () => [JSON.stringify(quote, null, 1), signature(partner.signingSecret, body)]],
    [
      'over other bytes that decode to the same text',
      async () => {
        const invalid = Buffer.concat([
          Buffer.from('{"method":"qris","amount":"1'),
          Buffer.from([0xff]),
          Buffer.from('"}'),
        ]);
        const decoded = new TextDecoder().decode(invalid);
        return [new Uint8Array(invalid), signature(partner.signingSecret, decoded)];
      },
    ],
  ])('A signature %s returns AUTH_INVALID_CREDENTIALS', async (_, build) => {
    const [raw, signed] = await build();
    expect(errorOf(await send(raw, signed))).toEqual([401, 'AUTH_INVALID_CREDENTIALS']);
  });

  it('A signature over invalid UTF-8 is accepted, but the body is rejected as not JSON', async () => {
    const raw = new Uint8Array(
      Buffer.concat([Buffer.from('{"method":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]),
    );
    expect(errorOf(await send(raw, signature(partner.signingSecret, raw)))).toEqual([400, 'REQUEST_INVALID_PAYLOAD']);
  });

  it('The signature of a request without a body is over the empty string', async () => {
    expect((await partner.get('/balance')).status).toBe(200);
    const wrong = { 'x-partner-signature': signature(partner.signingSecret, '{}') };
    expect(errorOf(await partner.get('/balance', wrong))).toEqual([401, 'AUTH_INVALID_CREDENTIALS']);
  });

  it('A wrong signature, an unknown key and a revoked key all get the same error', async () => {
    const revoked = await buildPartner(stack);
    expect((await revoked.administer('delete', `/keys/${revoked.keyId}`)).status).toBe(200);
    const answers = [
      await send(body, signature('another secret', body)),
      await send(body, signature(partner.signingSecret, body), 'amk_unknown'),
      await send(body, signature(revoked.signingSecret, body), revoked.apiKey),
    ];
    const [first, ...others] = answers.map(({ status, body: { error } }) => ({ status, error }));
    for (const other of others) expect(other).toEqual(first);
    expect(first?.status).toBe(401);
    expect(first?.error.message).toMatch(/key .*or .*signature/);
  });
});

describe('The signature over the whole request', () => {
  const body = JSON.stringify(quote);
  const path = '/v1/partners/quotes';
  const second = () => Math.floor(Date.now() / 1000);

  /** Builds the signature independently of the code under test. */
  function whole(asked: {
    at?: number;
    method?: string;
    target?: string;
    key?: string;
    body?: string;
    secret?: string;
  }) {
    const { at = second(), method = 'POST', target = path, key = '', secret = partner.signingSecret } = asked;
    const digest = createHash('sha256')
      .update(asked.body ?? body)
      .digest('hex');
    const hex = createHmac('sha256', secret).update([at, method, target, key, digest].join('\n')).digest('hex');
    return `t=${at},v1=${hex}`;
  }
  const v2 = (header: string) => ({ 'x-partner-signature-v2': header });

  it('A v2 signature is accepted alongside the body’s, also with a key, a query or no body', async () => {
    expect((await partner.post('/quotes', quote, null, v2(whole({})))).status).toBe(200);
    expect(
      (await partner.post('/quotes', quote, null, v2(whole({}).replace(/[a-f](?=\w*$)/g, (c) => c.toUpperCase()))))
        .status,
    ).toBe(200);
    const key = freshKey();
    expect((await partner.post('/quotes', quote, key, v2(whole({ key })))).status).toBe(200);
    const read = '/payments?limit=2&external_ref=a%20b';
    const header = whole({ method: 'GET', target: `/v1/partners${read}`, body: '' });
    expect((await partner.get(read, v2(header))).status).toBe(200);
  });

  it.each<[string, () => string]>([
    ['empty', () => ''],
    ['malformed', () => whole({}).replace('v1=', 'v2=')],
    ['sent twice', () => `${whole({})}, ${whole({})}`],
    ['over another path', () => whole({ target: '/v1/partners/payouts' })],
    ['over the path with a query', () => whole({ target: `${path}?a=1` })],
    ['over another method', () => whole({ method: 'PUT' })],
    ['over another key', () => whole({ key: 'another-key' })],
    ['over another body', () => whole({ body: '{}' })],
    ['made with another secret', () => whole({ secret: 'another secret' })],
    ['older than five minutes', () => whole({ at: second() - 302 })],
    ['of a future time', () => whole({ at: second() + 360 })],
    ['of an altered time', () => whole({}).replace(/t=\d+/, `t=${second() - 10}`)],
  ])(
    'A v2 signature that is %s returns AUTH_INVALID_CREDENTIALS, even if the body’s signature is right',
    async (_, build) => {
      expect(errorOf(await partner.post('/quotes', quote, null, v2(build())))).toEqual([
        401,
        'AUTH_INVALID_CREDENTIALS',
      ]);
    },
  );

  it('A v2 signature does not replace the signature over the body', async () => {
    const alone = { ...v2(whole({})), 'x-partner-signature': '' };
    expect(errorOf(await partner.post('/quotes', quote, null, alone))).toEqual([401, 'AUTH_INVALID_CREDENTIALS']);
  });

  it('A v2 signature is accepted if its time is at most five minutes ago or ahead', () => {
    const request = { method: 'GET', target: '/v1/partners/balance', idempotencyKey: '', body: Buffer.alloc(0) };
    const header = signRequest('secret', 1000, request);
    const takenAt = (now: number) => isSignatureOfRequest('secret', request, header, now);
    expect([700, 1300].map(takenAt)).toEqual([true, true]);
    expect([699, 1301].map(takenAt)).toEqual([false, false]);
  });

  it('A v2 signature is required for a key with require_signature_v2 and for its successor', async () => {
    const { administer } = partner;
    const demanding = { permissions: ['collect-payment'], require_signature_v2: true };
    const { body: made } = await administer('post', '/keys', demanding);
    expect(made.data).toMatchObject({ require_signature_v2: true });
    const ask = (key: { api_key: string; signing_secret: string }, signed: boolean) =>
      stack.post(path, undefined, {
        raw: body,
        token: key.api_key,
        headers: {
          'content-type': 'application/json',
          'x-partner-signature': signature(key.signing_secret, body),
          ...(signed ? v2(whole({ secret: key.signing_secret })) : {}),
        },
      });
    expect(errorOf(await ask(made.data, false))).toEqual([401, 'AUTH_INVALID_CREDENTIALS']);
    expect((await ask(made.data, true)).status).toBe(200);
    const { body: next } = await administer('post', `/keys/${made.data.id}/rotate`);
    expect(next.data.require_signature_v2).toBe(true);
    expect((await ask(next.data, false)).status).toBe(401);
    const relaxed = await administer('patch', `/keys/${next.data.id}`, { require_signature_v2: false });
    expect(relaxed.body.data).toMatchObject({ id: next.data.id, require_signature_v2: false });
    expect((await ask(next.data, false)).status).toBe(200);
    const other = await buildPartner(stack);
    expect((await other.administer('patch', `/keys/${next.data.id}`, { require_signature_v2: true })).status).toBe(404);
  });
});

describe('Refused credentials', () => {
  const body = JSON.stringify(quote);
  const right = () => ({
    authorization: `Bearer ${partner.apiKey}`,
    'x-partner-signature': signature(partner.signingSecret, body),
  });
  const refusedWith = async (headers: Record<string, string>) => {
    const answer = await stack.post('/v1/partners/quotes', undefined, {
      raw: body,
      headers: { 'content-type': 'application/json', ...headers },
    });
    expect(errorOf(answer)).toEqual([401, 'AUTH_INVALID_CREDENTIALS']);
    return answer.body.error.message;
  };
  const without = (name: string) => Object.fromEntries(Object.entries(right()).filter(([key]) => key !== name));
  const signedAt = (seconds: number, secret = partner.signingSecret) => {
    const request = { method: 'POST', target: '/v1/partners/quotes', idempotencyKey: '', body: Buffer.from(body) };
    return { 'x-partner-signature-v2': signRequest(secret, seconds, request) };
  };
  const now = () => Math.floor(Date.now() / 1000);

  it.each<[string, () => Record<string, string>, RegExp]>([
    ['no Authorization', () => without('authorization'), /no Authorization header/],
    ['another scheme', () => ({ ...right(), authorization: 'Basic YTpi' }), /Authorization header is not `Bearer /],
    ['no signature', () => without('x-partner-signature'), /no x-partner-signature header/],
    ['a cut signature', () => ({ ...right(), 'x-partner-signature': 'abc' }), /x-partner-signature is not .*64 hex/],
    ['a malformed v2', () => ({ ...right(), 'x-partner-signature-v2': 't=x' }), /x-partner-signature-v2 is not `t=/],
    ['an old v2', () => ({ ...right(), ...signedAt(now() - 400) }), /time in x-partner-signature-v2 is .* more than/],
    [
      'a v2 from the future',
      () => ({ ...right(), ...signedAt(now() + 400) }),
      /time in x-partner-signature-v2 is .* more than/,
    ],
    [
      'a wrong v2',
      () => ({ ...right(), ...signedAt(now(), 'another') }),
      /x-partner-signature is right, but x-.*-v2 does not match/,
    ],
  ])('A 401 explains which credential is missing, malformed or wrong: %s', async (_, headers, said) => {
    const message = await refusedWith(headers());
    expect(message).toMatch(said);
    expect(message).not.toContain(partner.apiKey);
  });

  it('The error about an old signature includes the server’s time', async () => {
    const message = await refusedWith({ ...right(), ...signedAt(now() - 400) });
    expect(Math.abs(Number(/server's is (\d+)/.exec(message)?.[1]) - now())).toBeLessThan(30);
  });

  it('The error about a wrong body signature reveals nothing about the v2 signature', async () => {
    const wrong = { 'x-partner-signature': signature('another secret', body) };
    const plain = await refusedWith({ ...right(), ...wrong });
    expect(await refusedWith({ ...right(), ...wrong, ...signedAt(now(), 'another') })).toBe(plain);
    const { body: made } = await partner.administer('post', '/keys', {
      permissions: ['collect-payment'],
      require_signature_v2: true,
    });
    const authorization = `Bearer ${made.data.api_key}`;
    expect(await refusedWith({ ...right(), ...wrong, authorization })).toBe(plain);
    const proven = { authorization, 'x-partner-signature': signature(made.data.signing_secret, body) };
    expect(await refusedWith(proven)).toMatch(/key demands x-partner-signature-v2/);
  });
});

describe('Authentication and authorization of partners', () => {
  it('A request with a key without the permission returns AUTH_PERMISSION_DENIED', async () => {
    const reader = await buildPartner(stack, { permissions: ['read-gateway'] });
    expect(errorOf(await reader.post('/quotes', quote, null))).toEqual([403, 'AUTH_PERMISSION_DENIED']);
    expect((await reader.get('/balance')).status).toBe(200);
    const collector = await buildPartner(stack, { permissions: ['collect-payment'] });
    for (const path of ['/balance', '/channels', '/payments', `/payments/${reader.id}`]) {
      expect(errorOf(await collector.get(path))).toEqual([403, 'AUTH_PERMISSION_DENIED']);
    }
  });

  it.each(['pending', 'suspended'] as const)(
    'A request of a %s partner account returns AUTH_PARTNER_INACTIVE',
    async (status) => {
      const other = await buildPartner(stack, { status });
      expect(errorOf(await other.get('/balance'))).toEqual([403, 'AUTH_PARTNER_INACTIVE']);
    },
  );

  it.each(['inactive', 'suspended'])(
    'A partner whose organization is %s can read and quote, but its creations are refused before the body is read',
    async (status) => {
      const other = await buildPartner(stack);
      await stack.owner().execute('update organizations set status = ? where id = ?', [status, other.organizationId]);
      for (const path of ['/payments', '/payouts', `/payments/${newId()}/refunds`]) {
        const refused = await other.post(path, { nonsense: true });
        expect([path, refused.status, refused.body.error]).toEqual([
          path,
          403,
          { code: 'AUTH_PARTNER_INACTIVE', message: `The organization of the partner account is ${status}` },
        ]);
      }
      expect((await other.post('/quotes', quote, null)).status).toBe(200);
      expect((await other.get('/balance')).status).toBe(200);
    },
  );

  it('Checks run in order: credentials, account, permission, idempotency key, body, organization', async () => {
    const bad = { nonsense: true };
    const inactive = await buildPartner(stack, { status: 'suspended', permissions: ['read-gateway'] });
    const unsigned = await inactive.post('/payments', bad, null, { 'x-partner-signature': '' });
    expect(errorOf(unsigned)).toEqual([401, 'AUTH_INVALID_CREDENTIALS']);
    expect(unsigned.headers.get('www-authenticate')).toBe('Bearer');
    expect(errorOf(await inactive.post('/payments', bad, null))).toEqual([403, 'AUTH_PARTNER_INACTIVE']);
    await inactive.administer('patch', '', { status: 'active' });
    expect(errorOf(await inactive.post('/payments', bad, null))).toEqual([403, 'AUTH_PERMISSION_DENIED']);
    expect(errorOf(await partner.post('/payments', bad, null))).toEqual([400, 'REQUEST_IDEMPOTENCY_KEY_REQUIRED']);
    const short = await partner.post('/payments', bad, 'short');
    expect(errorOf(short)).toEqual([400, 'REQUEST_INVALID_PAYLOAD']);
    expect(short.body.error.details[0].field).toBe('X-Idempotency-Key');
    const stranger = await buildOrganization(stack);
    const unknownChannel = { method: 'ewallet', channel: 'GOPAY', amount: '10000', organization_id: stranger };
    expect(errorOf(await partner.post('/payments', unknownChannel))).toEqual([400, 'REQUEST_INVALID_PAYLOAD']);
    const tooLittle = { ...quote, amount: '0.5', organization_id: stranger };
    for (const path of ['/quotes', '/payments']) {
      expect(errorOf(await partner.post(path, tooLittle))).toEqual([400, 'REQUEST_INVALID_PAYLOAD']);
    }
    const withoutPhone = { method: 'ewallet', channel: 'OVO', amount: '10000', organization_id: stranger };
    const { body } = await partner.post('/payments', withoutPhone);
    expect(body.error.details).toEqual([{ field: 'customer_phone', message: expect.any(String) }]);
    const unlinked = { ...quote, organization_id: stranger };
    expect(errorOf(await partner.post('/payments', unlinked))).toEqual([403, 'RESOURCE_NOT_LINKED']);
  });

  it.each([
    ['of 7 characters', 'a'.repeat(7)],
    ['of 129 characters', 'a'.repeat(129)],
  ])('An idempotency key %s is refused', async (_, key) => {
    expect(errorOf(await partner.post('/payments', quote, key))).toEqual([400, 'REQUEST_INVALID_PAYLOAD']);
  });

  it('An idempotency key may contain any characters', async () => {
    const { status, body } = await partner.post('/payments', { ...quote, nonsense: true }, 'é-ü\t\u00ff-key');
    expect([status, body.error.details[0].field]).toEqual([400, 'nonsense']);
  });

  it('Unknown paths return 404 and other methods 405 in the partners’ envelope', async () => {
    const missing = await stack.get('/v1/partners/nowhere');
    expect(missing.body).toEqual({
      error: { code: 'RESOURCE_NOT_FOUND', message: expect.any(String) },
      request_id: missing.headers.get('x-request-id'),
    });
    expect(missing.status).toBe(404);
    const method = await stack.delete('/v1/partners/balance');
    expect(method.status).toBe(405);
    expect(method.headers.get('allow')).toMatch(/GET/);
    expect(method.body).toMatchObject({ error: { code: 'METHOD_NOT_ALLOWED' }, request_id: expect.any(String) });
  });

  it('Paths are case-sensitive', async () => {
    for (const path of ['/v1/Partners/balance', '/V1/PARTNERS/BALANCE', '/v1/partners/Balance']) {
      const headers = { 'x-partner-signature': signature(partner.signingSecret) };
      expect([path, (await stack.get(path, { token: partner.apiKey, headers })).status]).toEqual([path, 404]);
    }
  });

  it('A response to a partner returns the x-request-id of the request', async () => {
    const { body, headers } = await partner.get('/balance', { 'x-request-id': 'mine-1' });
    expect([body.request_id, headers.get('x-request-id')]).toEqual(['mine-1', 'mine-1']);
  });

  it('A validation error names every field in details', async () => {
    const { status, body } = await partner.post('/quotes', { method: 'cash', amount: 5, extra: 1 }, null);
    expect(status).toBe(400);
    expect(body.error.code).toBe('REQUEST_INVALID_PAYLOAD');
    expect(body.error.details.map(({ field }: { field: string }) => field).sort()).toEqual([
      'amount',
      'extra',
      'method',
    ]);
    for (const { message } of body.error.details) expect(message).toEqual(expect.any(String));
  });

  it('A body above 256 KiB, or one that is not JSON, is refused', async () => {
    const large = JSON.stringify({ method: 'x'.repeat(256 * 1024) });
    expect((await send(large, signature(partner.signingSecret, large)).catch(() => ({ status: 413 }))).status).toBe(
      413,
    );
    for (const broken of ['{"method":', 'method=qris', '{}{}', '[]', '5', 'null']) {
      const answer = await send(broken, signature(partner.signingSecret, broken));
      expect(errorOf(answer)).toEqual([400, 'REQUEST_INVALID_PAYLOAD']);
      expect(answer.body.error.details).toEqual([{ field: 'body', message: expect.any(String) }]);
    }
  });

  it('A chunked body is accepted with a signature over its bytes', async () => {
    const body = JSON.stringify(quote);
    const { hostname, port } = new URL(stack.url);
    const call = request({
      hostname,
      port,
      method: 'POST',
      path: '/v1/partners/quotes',
      headers: {
        authorization: `Bearer ${partner.apiKey}`,
        'x-partner-signature': signature(partner.signingSecret, body),
        'content-type': 'application/json',
        'transfer-encoding': 'chunked',
      },
    });
    for (const character of body) call.write(character);
    call.end();
    const [answer] = await once(call, 'response');
    answer.resume();
    expect(answer.statusCode).toBe(200);
  });
});

describe('Revoked and rotated keys', () => {
  it('A revoked key stops working at once', async () => {
    const other = await buildPartner(stack);
    expect((await other.get('/balance')).status).toBe(200);
    expect((await other.administer('delete', `/keys/${other.keyId}`)).status).toBe(200);
    expect(errorOf(await other.get('/balance'))).toEqual([401, 'AUTH_INVALID_CREDENTIALS']);
  });

  it('A rotated key works for another 24 hours, beside its successor', async () => {
    const other = await buildPartner(stack, { permissions: ['read-gateway'] });
    const { status, body } = await other.administer('post', `/keys/${other.keyId}/rotate`);
    expect({ status, permissions: body.data.permissions }).toEqual({ status: 201, permissions: ['read-gateway'] });
    const successor = () =>
      stack.get('/v1/partners/balance', {
        token: body.data.api_key,
        headers: { 'x-partner-signature': signature(body.data.signing_secret) },
      });
    expect((await successor()).status).toBe(200);
    expect((await other.get('/balance')).status).toBe(200);
    await stack
      .owner()
      .execute("update partner_keys set valid_until = now() - interval '1 second' where id = ?", [other.keyId]);
    expect(errorOf(await other.get('/balance'))).toEqual([401, 'AUTH_INVALID_CREDENTIALS']);
    expect((await successor()).status).toBe(200);
    expect((await other.administer('post', `/keys/${other.keyId}/rotate`)).status).toBe(409);
  });
});

describe('Writes that the partners’ document does not describe', () => {
  const changes = routeGroups
    .flatMap(({ routes }) => routes)
    .filter(({ access, method, path }) => {
      const isNamed = method === 'post' && /\/(payments|payouts|quotes)$/.test(path);
      return access.kind === 'partner' && method !== 'get' && !isNamed;
    })
    .map(({ method, path }): [string, typeof method, string] => [
      `${method.toUpperCase()} ${path}`,
      method,
      path.replace(/:\w+/g, newId()),
    ]);

  it('Sixteen writes are not in the partners’ document', () => {
    expect(changes.map(([name]) => name)).toHaveLength(16);
  });

  it.each(changes)('%s needs a v2 signature, whatever the key’s permissions', async (_, method, path) => {
    const weak = await buildPartner(stack, { permissions: ['read-gateway'] });
    const raw = '{}';
    const ask = (headers: Record<string, string>) =>
      stack[method as 'post'](path, undefined, {
        token: weak.apiKey,
        raw,
        headers: { 'content-type': 'application/json', 'x-idempotency-key': freshKey(), ...headers },
      });
    const alone = await ask({ 'x-partner-signature': signature(weak.signingSecret, raw) });
    expect(alone).toMatchObject({ status: 401, body: { error: { code: 'AUTH_INVALID_CREDENTIALS' } } });
    expect(alone.body.error.message).toContain('x-partner-signature-v2');
    const key = freshKey();
    const whole = signatures(weak.signingSecret, { method, path, raw, key });
    expect((await ask({ ...whole, 'x-idempotency-key': key })).status).toBe(403);
  });

  it('A write cannot be authenticated by the recorded signature of a read', async () => {
    const victim = await buildPartner(stack);
    const recorded = { 'x-partner-signature': signature(victim.signingSecret) };
    const token = victim.apiKey;
    expect((await stack.get('/v1/partners/balance', { token, headers: recorded })).status).toBe(200);
    expect((await stack.post('/v1/partners/keys/rotate', undefined, { token, headers: recorded })).status).toBe(401);
    const path = '/v1/partners/balance';
    const at = Math.floor(Date.now() / 1000);
    const request = { method: 'GET', target: path, idempotencyKey: '', body: Buffer.alloc(0) };
    const whole = { ...recorded, 'x-partner-signature-v2': signRequest(victim.signingSecret, at, request) };
    expect((await stack.get(path, { token, headers: whole })).status).toBe(200);
    expect((await stack.post('/v1/partners/keys/rotate', undefined, { token, headers: whole })).status).toBe(401);
    expect((await victim.get('/balance')).status).toBe(200);
  });

  it('A write is accepted once per signature, in any process, and a read any number of times', async () => {
    const path = '/v1/partners/webhook-endpoints';
    const raw = JSON.stringify({ url: `${stack.url}/hook`, events: ['payment.succeeded'] });
    const whole = signatures(partner.signingSecret, { method: 'post', path, raw });
    const headers: Record<string, string> = { 'content-type': 'application/json', ...whole };
    const options = { token: partner.apiKey, raw, headers };
    const answers = await Promise.all(Array.from({ length: 5 }, () => stack.post(path, undefined, options)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401, 401]);
    const upper = { ...headers, 'x-partner-signature-v2': String(headers['x-partner-signature-v2']).toUpperCase() };
    for (const again of [headers, upper]) {
      const { status, body } = await stack.post(path, undefined, { ...options, headers: again });
      expect([status, body.error.message]).toEqual([401, expect.stringContaining('used before')]);
    }
    const request = { method: 'GET', target: path, idempotencyKey: '', body: Buffer.alloc(0) };
    const read = {
      'x-partner-signature': signature(partner.signingSecret),
      'x-partner-signature-v2': signRequest(partner.signingSecret, Math.floor(Date.now() / 1000), request),
    };
    for (const _ of [1, 2]) {
      expect((await stack.get(path, { token: partner.apiKey, headers: read })).status).toBe(200);
    }
  });
});

describe('Keys that may manage keys', () => {
  const balanceBy = (key: { api_key: string; signing_secret: string }) =>
    stack.get('/v1/partners/balance', {
      token: key.api_key,
      headers: { 'x-partner-signature': signature(key.signing_secret) },
    });

  it('The successor of a rotated key has the same permissions, and both keys work', async () => {
    const own = await buildPartner(stack);
    const { status, body } = await own.post('/keys/rotate', {}, null);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ valid_until: null, revoked_at: null });
    expect(body.data.permissions.toSorted()).toEqual([...partnerPermissions].toSorted());
    expect((await balanceBy(body.data)).status).toBe(200);
    expect((await own.get('/balance')).status).toBe(200);
    const { keys } = (await own.administer('get', '')).body.data;
    const old = keys.find(({ id }: { id: string }) => id === own.keyId);
    const hoursLeft = (Date.parse(old.valid_until) - Date.parse(body.data.created_at)) / 3_600_000;
    expect(hoursLeft).toBeCloseTo(24, 1);
    expect(JSON.stringify(keys)).not.toContain(body.data.signing_secret);
  });

  it('A key is rotated only once, so that a leaked old key cannot replace the new one', async () => {
    const own = await buildPartner(stack);
    const answers = await Promise.all([1, 2, 3].map(() => own.post('/keys/rotate', {}, null)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    const again = await own.post('/keys/rotate', {}, null);
    expect(errorOf(again)).toEqual([409, 'KEY_ALREADY_ROTATED']);
  });

  it('A partner cannot rotate a key that may not manage keys', async () => {
    const own = await buildPartner(stack, { permissions: ['collect-payment', 'read-gateway', 'request-payout'] });
    expect(errorOf(await own.post('/keys/rotate', {}, null))).toEqual([403, 'AUTH_PERMISSION_DENIED']);
  });
});

describe('The rate limit', () => {
  it('Every response states the rate limit, and requests above it return REQUEST_RATE_LIMITED', async () => {
    const limited = await startStack({ env: { RATE_LIMIT_REQUESTS_PER_10S: '5' } });
    try {
      const one = await buildPartner(limited);
      const another = await buildPartner(limited);
      for (let left = 4; left >= 0; left -= 1) {
        const { status, headers } = await one.get(left === 2 ? '/nowhere' : '/balance');
        expect(status).toBe(left === 2 ? 404 : 200);
        expect([headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]).toEqual(['5', String(left)]);
        expect(Number(headers.get('ratelimit-reset'))).toBeGreaterThanOrEqual(1);
      }
      const refused = await one.get('/balance');
      expect(errorOf(refused)).toEqual([429, 'REQUEST_RATE_LIMITED']);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(refused.headers.get('ratelimit-remaining')).toBe('0');
      expect((await another.get('/balance')).status).toBe(200);
    } finally {
      await limited.stop();
    }
  }, 30_000);
});

it('A request refused as invalid leaves its idempotency key unused', async () => {
  const key = freshKey();
  const refused = await partner.post('/payments', { method: 'qris', amount: '0.5' }, key);
  expect(errorOf(refused)).toEqual([400, 'REQUEST_INVALID_PAYLOAD']);
  const again = await partner.post('/payments', { method: 'qris', amount: '10.5' }, key);
  expect(errorOf(again)).toEqual([400, 'REQUEST_INVALID_PAYLOAD']);
});
