import { once } from 'node:events';
import { request } from 'node:http';
import { z } from 'zod';
import { allow, open } from '../../../src/platform/http/access.ts';
import { created } from '../../../src/platform/http/answer.ts';
import {
  moneyNumber,
  moneyString,
  moneyStringOrZero,
  nonZeroMoneyString,
  text,
} from '../../../src/platform/http/fields.ts';
import { listQuery, presentPage } from '../../../src/platform/http/paging.ts';
import { createRouteGroup, type RouteGroup } from '../../../src/platform/http/route-group.ts';
import { newId } from '../../../src/shared/ids.ts';
import { createApp, routeGroups } from '../../../src/wiring/app.ts';
import type { Dependencies } from '../../../src/wiring/dependencies.ts';
import { type Stack, startStack } from '../../support/stack.ts';

/** A route group of the test's own, to test the HTTP surface without a domain behind it. */
const workshop = createRouteGroup({ prefix: '/v1/workshop', tag: 'Workshop' });
workshop.post(
  '/money',
  {
    summary: 'Echo money',
    access: open(),
    body: z.strictObject({
      amount: moneyNumber(),
      fee: moneyString().optional(),
      count: z.number().optional(),
      label: text(10).optional(),
    }),
    answers: { 201: z.object({}) },
  },
  async ({ body }) => created({ body }),
);
workshop.get(
  '/list',
  { summary: 'Echo paging', access: open(), query: listQuery(), answers: { 200: z.object({}) } },
  async ({ query }) => ({ ...presentPage(query, { total: 0 }), order: query.order }),
);
workshop.delete(
  '/things',
  {
    summary: 'Delete by body',
    access: open(),
    body: z.strictObject({ names: z.array(z.string()) }),
    answers: { 200: z.object({}) },
  },
  async ({ body }) => ({ names: body.names }),
);
workshop.get('/broken', { summary: 'Fail', access: open(), answers: { 200: z.object({}) } }, async () => {
  throw new Error('a secret of the house');
});
workshop.get('/away', { summary: 'Database away', access: open(), answers: { 200: z.object({}) } }, async () => {
  throw Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:5432'), { code: 'ECONNREFUSED' });
});
workshop.get(
  '/restricted',
  {
    summary: 'Restricted',
    access: allow('read-event', { scope: 'all' }),
    deprecated: { since: '2027-01-01', until: '2027-07-01' },
    answers: { 200: z.object({}) },
  },
  async () => ({}),
);

const threeDecimals = 'has three decimals: a point separates decimals, and fifty thousand is 50000';

describe('The surface of the API', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack({
      own: true,
      isImpatient: true,
      env: { LOG_LEVEL: 'silent' },
      createApp: (deps: Dependencies) => createApp(deps, [...routeGroups, workshop]),
    });
  });
  afterAll(() => stack?.stop());

  it('Even an error response of a deprecated route has the headers Deprecation and Sunset', async () => {
    const { status, headers } = await stack.get('/v1/workshop/restricted');
    expect([status, headers.get('deprecation'), headers.get('sunset')]).toEqual([
      401,
      '@1798761600',
      'Thu, 01 Jul 2027 00:00:00 GMT',
    ]);
    expect((await stack.get('/v1/workshop/list')).headers.has('deprecation')).toBe(false);
  });

  const postRaw = (raw: string | Uint8Array<ArrayBuffer>, path = '/v1/workshop/money') =>
    stack.post(path, undefined, { raw, headers: { 'content-type': 'application/json' } });

  describe('bodies', () => {
    it.each([
      ['50000', '50000'],
      ['50000.0001', '50000.0001'],
      ['0.1', '0.1'],
      ['1e4', '10000'],
      ['1.0E7', '10000000'],
      ['999999999999999', '999999999999999'],
      ['90071992547.4099', '90071992547.4099'],
    ])('A body’s JSON number %s is read as the money %s, digit by digit', async (literal, money) => {
      const answer = await postRaw(`{"amount": ${literal}, "count": 3}`);
      expect([answer.status, answer.body]).toEqual([201, { body: { amount: money, count: 3 } }]);
    });

    it.each([
      ['"50000"', 'amount: must be a number'],
      ['null', 'amount: is required'],
      ['0', 'amount: must be greater than zero'],
      ['-1', 'amount: must be greater than zero'],
      ['1.00001', 'amount: must have at most four decimals'],
      ['1e-5', 'amount: must have at most four decimals'],
      ['1234567890123456', 'amount: must have at most 15 significant digits'],
      ['0.30000000000000004', 'amount: must have at most 15 significant digits'],
      ['1e300', 'amount: is out of range'],
      ['25.000', `amount: ${threeDecimals}`],
    ])('A body’s money number %s is refused with "%s"', async (literal, message) => {
      const answer = await postRaw(`{"amount": ${literal}}`);
      expect([answer.status, answer.body.message]).toEqual([400, message]);
    });

    it.each([
      ['1.00001', 'fee: must have at most four decimals'],
      ['0.0000', 'fee: must be greater than zero'],
      ['-1', 'fee: must be greater than zero'],
      ['1e4', 'fee: must be a decimal string'],
      ['0x10', 'fee: must be a decimal string'],
      ['50.000', `fee: ${threeDecimals}`],
    ])('A body’s money string "%s" is refused with "%s"', async (fee, message) => {
      const answer = await stack.post('/v1/workshop/money', { amount: 1, fee });
      expect([answer.status, answer.body.message]).toEqual([400, message]);
    });

    it.each([
      ['a fee, which may be zero', moneyStringOrZero],
      ['a movement, which may be negative', nonZeroMoneyString],
    ])('A body with three decimals in %s is refused, and with two and four accepted', (_, field) => {
      const schema = field();
      expect(schema.safeParse('50.000').error?.issues[0]?.message).toBe(threeDecimals);
      expect(['50.00', '50.0000', '50'].map((value) => schema.safeParse(value).success)).toEqual([true, true, true]);
    });

    it('A body’s unknown fields are refused, each by name', async () => {
      const answer = await stack.post('/v1/workshop/money', { amount: 1, colour: 'red', shape: 'round' });
      expect(answer.status).toBe(400);
      expect(answer.body).toEqual({
        message: ['colour: unknown field', 'shape: unknown field'],
        statusCode: 400,
        error: 'Bad Request',
        code: 'REQUEST_INVALID',
      });
    });

    it('A GET with a field in its body is refused', async () => {
      const raw = '{"page":2}';
      const headers = { 'content-type': 'application/json', 'content-length': raw.length };
      const call = request(new URL('/v1/workshop/list', stack.url), { method: 'GET', headers });
      call.end(raw);
      const [answer] = await once(call, 'response');
      answer.resume();
      expect(answer.statusCode).toBe(400);
    });

    it('A missing required field is named', async () => {
      for (const body of [{}, { names: null }]) {
        const answer = await stack.delete('/v1/workshop/things', body);
        expect([answer.status, answer.body.message]).toEqual([400, 'names: is required']);
      }
    });

    it('A DELETE’s body is read', async () => {
      const answer = await stack.delete('/v1/workshop/things', { names: ['a'] });
      expect([answer.status, answer.body]).toEqual([200, { names: ['a'] }]);
    });

    it.each(['{"amount":', '[1,', 'nonsense', '{"amount": 1}}'])(
      'A body that is not JSON (%s) returns 400',
      async (raw) => {
        const answer = await postRaw(raw);
        expect([answer.status, answer.body.message]).toEqual([400, 'The body is not well-formed JSON']);
      },
    );

    it('A body of invalid UTF-8 returns 400', async () => {
      const answer = await postRaw(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]));
      expect(answer.status).toBe(400);
    });

    it.each(['[]', '"text"', '7', 'null'])('A body that is not an object (%s) returns 400', async (raw) => {
      expect((await postRaw(raw)).status).toBe(400);
    });

    it('A body of another content type returns 400', async () => {
      const headers = { 'content-type': 'text/plain' };
      const answer = await stack.post('/v1/workshop/money', undefined, { raw: '{"amount":1}', headers });
      expect(answer.status).toBe(400);
    });

    it('A body of more than 256 KiB returns 413', async () => {
      const answer = await postRaw(`{"label": "${'x'.repeat(256 * 1024)}"}`);
      expect([answer.status, answer.body.error]).toEqual([413, 'Payload Too Large']);
    });

    it.each([
      [{ amount: 1, label: 'a\ud800b' }, 'label: must not contain half of a character (a lone surrogate)'],
      [{ amount: 1, count: '2' }, 'count: must be a number'],
      [{ amount: 1, count: null, label: 3 }, 'label: must be text'],
      [{}, 'amount: is required'],
    ])('The error for an invalid field has a plain message: %j', async (body, message) => {
      const answer = await stack.post('/v1/workshop/money', body);
      expect([answer.status, answer.body.message]).toEqual([400, message]);
    });

    it('A body with characters that the database cannot store returns 400', async () => {
      const answer = await stack.post('/v1/workshop/money', { amount: 1, label: 'a\u0000b' });
      expect([answer.status, answer.body.message]).toEqual([400, 'label: must not contain control characters']);
    });
  });

  describe('paging', () => {
    it('Paging starts at page 1 with 10 rows, newest first', async () => {
      const { body } = await stack.get('/v1/workshop/list');
      expect(body).toEqual({ page: 1, limit: 10, total: 0, order: 'desc' });
    });

    it.each([
      'page=0',
      'page=-1',
      'page=1.5',
      'page=one',
      'page=',
      'page=1e3',
      'page=%00',
      'page=1&page=2',
      'limit=0',
      'limit=101',
      'limit=-5',
      'limit=ten',
      'limit=',
      'order=up',
      'after=7',
    ])('Paging with %s returns 400', async (query) => {
      const answer = await stack.get(`/v1/workshop/list?${query}`);
      expect([answer.status, answer.body.error]).toEqual([400, 'Bad Request']);
    });

    it('Paging accepts a limit of 100 and ignores unknown parameters', async () => {
      const { status, body } = await stack.get('/v1/workshop/list?limit=100&page=3&order=asc&colour=red');
      expect([status, body]).toEqual([200, { page: 3, limit: 100, total: 0, order: 'asc' }]);
    });
  });

  describe('errors', () => {
    it('An internal error reveals nothing of its cause', async () => {
      const answer = await stack.get('/v1/workshop/broken');
      expect(answer.status).toBe(500);
      expect(answer.body).toEqual({
        message: 'Internal error',
        statusCode: 500,
        error: 'Internal Server Error',
        code: 'INTERNAL',
      });
    });

    it('An unavailable dependency returns 503 with Retry-After', async () => {
      const answer = await stack.get('/v1/workshop/away');
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2']);
      expect(JSON.stringify(answer.body)).not.toContain('ECONN');
    });

    it('An unknown path returns 404 in the envelope of its prefix', async () => {
      const here = await stack.get('/v1/nothing/here');
      expect([here.status, here.body.error]).toEqual([404, 'Not Found']);
      const partners = await stack.get('/v1/partners/nothing', { headers: { 'x-request-id': 'mine' } });
      expect([partners.status, partners.body]).toEqual([
        404,
        { error: { code: 'RESOURCE_NOT_FOUND', message: 'There is nothing at this path' }, request_id: 'mine' },
      ]);
      const accounts = await stack.get('/v1/partner-accounts-of-nobody');
      expect(accounts.body.statusCode).toBe(404);
    });

    it('A known path with another method returns 405 with Allow', async () => {
      for (const method of ['PUT', 'DELETE', 'PROPFIND']) {
        const answer = await fetch(`${stack.url}/v1/auth/me`, { method });
        expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'GET, HEAD, PATCH']);
      }
    });

    it('A trailing slash does not change the response of a path', async () => {
      const read = async (path: string) => {
        const answer = await stack.http.get(path);
        return [answer.status, answer.body];
      };
      expect(await read('/v1/workshop/list/')).toEqual(await read('/v1/workshop/list'));
      expect((await read('/v1/workshop/list/'))[0]).toBe(200);
    });

    it('A fixed path segment is not matched as a parameter: no organization `sizes` can be patched', async () => {
      for (const method of ['PATCH', 'POST']) {
        const answer = await fetch(`${stack.url}/v1/organizations/sizes`, { method });
        expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'GET, HEAD']);
      }
      const asked = await fetch(`${stack.url}/v1/organizations/sizes`, { method: 'OPTIONS' });
      expect([asked.status, asked.headers.get('allow')]).toEqual([204, 'GET, HEAD']);
    });
  });

  describe('request ids', () => {
    it('A request id of up to 64 printable characters is kept', async () => {
      const id = 'x'.repeat(64);
      const answer = await stack.get('/healthz', { headers: { 'x-request-id': id } });
      expect(answer.headers.get('x-request-id')).toBe(id);
    });

    it('A request id is generated when none is sent or when it is too long', async () => {
      for (const options of [{}, { headers: { 'x-request-id': 'x'.repeat(65) } }]) {
        const answer = await stack.get('/nowhere', options);
        expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
      }
    });
  });

  describe('probes and documents', () => {
    it('/healthz returns ok while the process runs', async () => {
      expect((await stack.get('/healthz')).body).toEqual({ status: 'ok' });
    });

    it('/readyz reports database, Temporal and storage', async () => {
      const { status, body } = await stack.get('/readyz');
      expect([status, body]).toEqual([
        200,
        { status: 'ok', checks: { database: 'ok', temporal: 'ok', storage: 'ok' } },
      ]);
    });

    it('/metrics counts requests by route pattern, not by path', async () => {
      await stack.get(`/v1/organizations/${newId()}`);
      const { body } = await stack.get('/metrics');
      expect(body).toContain('route="/v1/organizations/:organization_id",status="401"');
      expect(body).toContain('process_cpu_seconds_total');
    });

    it('/openapi.json is OpenAPI 3.1 and has every route with its access and schemas', async () => {
      const { body } = await stack.get('/openapi.json');
      expect(body.openapi).toBe('3.1.0');
      for (const { method, path, access } of [...routeGroups, workshop].flatMap((group: RouteGroup) => group.routes)) {
        const operation = body.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method];
        expect([path, operation?.['x-access']?.kind]).toEqual([path, access.kind]);
      }
      const money = body.paths['/v1/workshop/money'].post.requestBody.content['application/json'].schema;
      expect(money.properties.amount).toMatchObject({ type: 'number', exclusiveMinimum: 0 });
      expect(money.additionalProperties).toBe(false);
      const list = body.paths['/v1/workshop/list'].get.parameters;
      expect(list.find(({ name }: { name: string }) => name === 'limit').schema).toMatchObject({ maximum: 100 });
      const ids = Object.values(body.paths).flatMap((item) =>
        Object.values(item as Record<string, { operationId: string }>).map(({ operationId }) => operationId),
      );
      expect(new Set(ids).size).toBe(ids.length);
    });

    it('/ redirects to /docs', async () => {
      const answer = await stack.get('/');
      expect([answer.status, answer.headers.get('location')]).toEqual([302, '/docs']);
    });

    it('/docs loads only our own files', async () => {
      const page = await stack.get('/docs');
      expect(page.headers.get('content-security-policy')).toContain("default-src 'self'");
      const sources = [...String(page.body).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, source]) => String(source));
      // The page has an empty icon, because browsers would otherwise request `/favicon.ico`.
      expect(sources).toEqual(['data:,', '/docs/renderer.js', '/docs/start.js']);
      for (const source of sources.slice(1)) {
        expect((await stack.get(source)).status).toBe(200);
      }
    });
  });

  describe('security headers and CORS', () => {
    it('Security headers are in every response', async () => {
      for (const path of ['/healthz', '/nowhere', '/v1/workshop/broken']) {
        const { headers } = await stack.get(path);
        expect(headers.get('x-content-type-options')).toBe('nosniff');
        expect(headers.get('x-frame-options')).toBe('SAMEORIGIN');
        expect(headers.get('strict-transport-security')).toContain('max-age');
      }
    });

    it('CORS admits an allowed origin and no other', async () => {
      const own = await stack.get('/healthz', { headers: { origin: new URL(stack.url).origin } });
      expect(own.headers.get('access-control-allow-origin')).toBe(new URL(stack.url).origin);
      expect(own.headers.get('access-control-allow-credentials')).toBe('true');
      const foreign = await stack.get('/healthz', { headers: { origin: 'https://evil.example' } });
      expect(foreign.headers.get('access-control-allow-origin')).toBeNull();
    });
  });

  it('The server refuses to start with a route that declares no access', () => {
    const group = createRouteGroup({ prefix: '/v1/mistake', tag: 'Mistake' });
    const declaration = { summary: 'Open by mistake', answers: { 200: z.object({}) } } as never;
    expect(() => group.get('/', declaration, async () => ({}))).toThrow('get /v1/mistake declares no access');
    const smuggled: RouteGroup<object> = { ...group, routes: [{ ...workshop.routes[0], access: undefined } as never] };
    expect(() => createApp(stack.deps, [smuggled])).toThrow('declares no access');
  });
});
