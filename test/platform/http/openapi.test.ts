import { z } from 'zod';
import { ledgerReferenceTypes } from '../../../src/ledger/transaction.ts';
import { referenceTypes } from '../../../src/money-in/payments/payment-order.ts';
import { webhookTypes } from '../../../src/partners/partner.ts';
import { aboutPayouts, aboutWebhooks } from '../../../src/partners/reference-tags.ts';
import { partnerTexts } from '../../../src/partners/reference-texts.ts';
import { open } from '../../../src/platform/http/access.ts';
import { describeFields, type FieldTexts } from '../../../src/platform/http/field-texts.ts';
import { parseJson } from '../../../src/platform/http/json-body.ts';
import { buildOpenApi } from '../../../src/platform/http/openapi.ts';
import { createRouteGroup } from '../../../src/platform/http/route-group.ts';
import { moneyLiteralKeys } from '../../../src/platform/http/serve-route.ts';
import { appTexts, buildApiDocument } from '../../../src/wiring/api-document.ts';
import { routeGroups } from '../../../src/wiring/app.ts';
import { webhookDocuments } from '../../../src/wiring/webhook-documents.ts';

interface Schema {
  type?: string;
  enum?: unknown[];
  pattern?: string;
  default?: unknown;
  examples?: unknown[];
  items?: Schema;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
}
interface Media {
  schema: Schema;
  example?: unknown;
}
interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  security: object[];
  parameters?: { name: string; example?: unknown; schema: Schema }[];
  requestBody?: { required?: boolean; content: Record<string, Media> };
  responses: Record<string, { description: string; headers?: object; content?: Record<string, Media> }>;
  'x-codeSamples'?: object[];
}
interface Document {
  openapi: string;
  info: { description: string };
  tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
  components: { securitySchemes: Record<string, object> };
}

const build = (): Document => JSON.parse(JSON.stringify(buildApiDocument(routeGroups, 'http://localhost')));
const isThere = <T>(value: T | undefined): value is T => value !== undefined;
const document = build();
const routes = routeGroups.flatMap((group) => group.routes);
const operations = routes.map((route) => {
  const operation = document.paths[route.path.replace(/:(\w+)/g, '{$1}')]?.[route.method];
  if (operation === undefined) throw new Error(`${route.path} is not in the document`);
  return { route, operation, name: `${route.method} ${route.path}` };
});

describe('The OpenAPI document', () => {
  it('The OpenAPI document lists only booleans as values of boolean parameters', () => {
    const wrong = operations.flatMap(({ operation, name }) =>
      (operation.parameters ?? [])
        .filter(({ schema }) => schema.type === 'boolean' && schema.enum?.some((value) => typeof value !== 'boolean'))
        .map((parameter) => `${name}: ${parameter.name}`),
    );
    expect(wrong).toEqual([]);
  });

  it('The OpenAPI document describes every field, parameter and webhook, without unused texts', () => {
    const used = new Set<string>();
    const recorded = (texts: FieldTexts) =>
      new Proxy(texts, {
        get(_, key: string) {
          if (texts[key] !== undefined) used.add(key);
          return texts[key];
        },
      });
    const texts = { partners: recorded(partnerTexts), app: recorded(appTexts) };
    expect(describeFields(buildApiDocument(routeGroups, 'http://localhost', texts), '/', [])).toEqual([]);
    const written = [...Object.keys(partnerTexts), ...Object.keys(appTexts)];
    expect(written.filter((key) => !used.has(key))).toEqual([]);
  });

  it('The OpenAPI document has realistic examples: no value is empty or the name of its field', () => {
    const idle: string[] = [];
    const visit = (value: unknown, name: string, of: string): void => {
      if (typeof value === 'string') {
        if (['', '1', 'text', name.replaceAll('_', ' ')].includes(value)) idle.push(`${of}: ${name} ${value}`);
      } else if (typeof value === 'object' && value !== null) {
        for (const [key, part] of Object.entries(value)) visit(part, Array.isArray(value) ? name : key, of);
      }
    };
    for (const { operation, name } of operations) {
      for (const { content } of [operation.requestBody, ...Object.values(operation.responses)].filter(isThere)) {
        visit(content?.['application/json']?.example, '', name);
      }
    }
    expect(idle).toEqual([]);
    const cause = document.paths['/v1/charitable-causes']?.post?.requestBody?.content['application/json']?.example;
    expect(cause).toMatchObject({ name: 'Clean water for Sumba' });
  });

  it('The OpenAPI document says what each `reference_id` refers to', () => {
    for (const type of [...referenceTypes, ...ledgerReferenceTypes])
      expect(document.info.description).toContain(`\n| \`${type}\` | `);
  });

  it('The OpenAPI document has code samples in five languages for every write, except files and callbacks', () => {
    const without = operations
      .filter(({ route, operation }) => route.method !== 'get' && operation['x-codeSamples']?.length !== 5)
      .map(({ name }) => name);
    expect(without).toEqual([
      'post /v1/mail/bounces',
      'post /v1/documents/upload',
      'post /v1/gateway/callbacks/:provider',
      'post /v1/partner-accounts/:id/payout-batches',
    ]);
  });

  it('The OpenAPI document marks deprecated routes, and lists their Deprecation and Sunset headers', () => {
    const access = open();
    const group = createRouteGroup({ prefix: '/v1/old', tag: 'Old' });
    const deprecated = { since: '2027-01-01', until: '2027-07-01' };
    const answers = { 200: z.object({}) };
    group.get('/', { summary: 'Read it', access, answers, deprecated }, async () => ({}));
    const { paths } = buildOpenApi([group], { version: '1', url: 'http://localhost' }) as Pick<Document, 'paths'>;
    const read = paths['/v1/old']?.get;
    expect(read).toMatchObject({ deprecated: true });
    expect(Object.keys(read?.responses[200]?.headers ?? {})).toEqual(expect.arrayContaining(['Deprecation', 'Sunset']));
  });

  it('The OpenAPI document has an example of every field and parameter that partners may send', () => {
    const isShown = ({ type, examples, enum: words, default: standard, items, anyOf = [] }: Schema): boolean =>
      [type].flat().includes('boolean') ||
      [examples, words, standard, items?.enum].some(Boolean) ||
      anyOf.some(isShown);
    const bare = operations
      .filter(({ route }) => route.access.kind === 'partner')
      .flatMap(({ operation: { requestBody, parameters = [] }, name }) => {
        const { schema, example } = requestBody?.content['application/json'] ?? {};
        const sent = Object.keys(example ?? {});
        return [
          ...Object.entries(schema?.properties ?? {}).filter(([field, one]) => !sent.includes(field) && !isShown(one)),
          ...parameters.filter((one) => one.example === undefined && !isShown(one.schema)).map((one) => [one.name]),
        ].map(([field]) => `${name}: ${field}`);
      });
    expect(bare).toEqual([]);
  });

  it('The OpenAPI document lists the headers of every response to partners', () => {
    const limits = ['Amanah-Version', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
    for (const { route, operation } of operations.filter(({ route: { access } }) => access.kind === 'partner')) {
      for (const [status, { headers = {} }] of Object.entries(operation.responses)) {
        const retry = status === '429' || status === '503' ? ['Retry-After'] : [];
        const replayed = route.idempotent && (status === '200' || status === '502') ? ['Idempotency-Replayed'] : [];
        expect(Object.keys(headers).toSorted()).toEqual([...limits, ...retry, ...replayed, 'x-request-id'].toSorted());
      }
    }
  });

  it('The OpenAPI document requires a body for uploads and logins, but not for callbacks', () => {
    const required = (path: string) => document.paths[path]?.post?.requestBody?.required;
    expect(required('/v1/documents/upload')).toBe(true);
    expect(required('/v1/auth/login')).toBe(true);
    expect(required('/v1/gateway/callbacks/{provider}')).toBe(false);
  });

  it('The OpenAPI document requires printable idempotency keys of users, but not of partners', () => {
    const patterns = (header: string) =>
      operations
        .flatMap(({ operation }) => operation.parameters ?? [])
        .filter(({ name }) => name === header)
        .map(({ schema }) => schema.pattern);
    expect(new Set(patterns('Idempotency-Key'))).toEqual(new Set(['^[\\x20-\\x7e]+$']));
    expect(new Set(patterns('X-Idempotency-Key'))).toEqual(new Set([undefined]));
  });

  it('The OpenAPI document lists the 404 of lists that are filtered by a missing account', () => {
    for (const path of ['/v1/charitable-causes', '/v1/saving-circles']) {
      expect(Object.keys(document.paths[path]?.get?.responses ?? {})).toContain('404');
    }
  });

  it('The OpenAPI document describes every route, with a unique id and a described tag', () => {
    expect(document.openapi).toBe('3.1.0');
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { operation } of operations) {
      expect(operation.summary).toMatch(/^[A-Z]/);
      expect(operation.description).not.toBe('');
      for (const tag of operation.tags) {
        expect(document.tags.find(({ name }) => name === tag)?.description).toMatch(/\w/);
      }
    }
  });

  it('The OpenAPI document repeats no sentence in a tag, and describes the partner API as its reference does', () => {
    for (const { description = '' } of document.tags) {
      const sentences = description.split(/(?<=\.) /);
      expect(new Set(sentences).size).toBe(sentences.length);
    }
    const about = document.tags.find(({ name }) => name === 'Partner API')?.description;
    for (const text of [aboutPayouts, aboutWebhooks]) expect(about).toContain(text);
  });

  it('The OpenAPI document describes every success response', () => {
    for (const { route, operation } of operations) {
      for (const [status, shape] of Object.entries(route.answers)) {
        const expected = typeof shape === 'string' ? shape : `Succeeded: ${operation.summary}.`;
        expect(operation.responses[status]?.description).toBe(expected);
      }
    }
  });

  it('The OpenAPI document explains how to retry a creation after a 503, with a key and without one', () => {
    const saidOf = ({ operation }: (typeof operations)[number]) => operation.responses[503]?.description ?? '';
    const keyed = operations.filter(({ route }) => route.idempotent);
    const partners = keyed.filter(({ route }) => route.path.startsWith('/v1/partners/'));
    expect([partners.length > 0, partners.length < keyed.length]).toEqual([true, true]);
    for (const operation of keyed) {
      expect(saidOf(operation)).toContain('the request may still start for two minutes: retry it with the same key');
      const warns = saidOf(operation).includes('Without a key, a retry may create a second one.');
      expect(warns).toBe(!partners.includes(operation));
    }
    for (const operation of operations.filter(({ route }) => !route.idempotent)) {
      expect(saidOf(operation)).not.toContain('two minutes');
    }
  });

  it('The OpenAPI document has an example of every body, which the route accepts', () => {
    const refused: unknown[] = [];
    for (const { route, operation, name } of operations) {
      const example = operation.requestBody?.content['application/json']?.example;
      if (route.body === undefined) continue;
      const bytes = Buffer.from(JSON.stringify(example ?? null));
      const read = route.body.safeParse(parseJson(bytes, '', moneyLiteralKeys(route.body)));
      if (!read.success) refused.push([name, example, read.error.issues.map(({ path, message }) => [path, message])]);
    }
    expect(refused).toEqual([]);
  });

  it('The OpenAPI document has a valid example of every response, and of every error in its envelope', () => {
    const wrong: unknown[] = [];
    for (const { route, operation, name } of operations) {
      for (const [status, shape] of Object.entries(route.answers)) {
        if (typeof shape === 'string') continue;
        const example = operation.responses[status]?.content?.['application/json']?.example;
        const read = shape.safeParse(example);
        if (!read.success) wrong.push([name, status, read.error.issues.map(({ path, message }) => [path, message])]);
      }
      for (const [status, { content }] of Object.entries(operation.responses)) {
        if (Number(status) < 400) continue;
        const example = content?.['application/json']?.example;
        const envelope = route.path.startsWith('/v1/partners/')
          ? {
              error: expect.objectContaining({ code: expect.any(String), message: expect.any(String) }),
              request_id: expect.any(String),
            }
          : {
              message: expect.any(String),
              statusCode: Number(status),
              error: expect.any(String),
              code: expect.any(String),
            };
        expect(example).toEqual(envelope);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('The OpenAPI document lists the alternative formats of statements, exports and settlements', () => {
    const others = operations.flatMap(({ operation, name }) => {
      const { 'application/json': _, ...content } = operation.responses['200']?.content ?? {};
      return Object.keys(content).map((type) => `${name} ${type}`);
    });
    expect(others.toSorted()).toEqual([
      'get /v1/accounts/:account_id/statement text/csv',
      'get /v1/donations/statements/:year text/csv',
      'get /v1/donations/statements/:year text/html',
      'get /v1/exports/balances text/csv',
      'get /v1/exports/journals text/csv',
      'get /v1/partners/settlements/:day text/csv',
    ]);
  });

  it('The OpenAPI document states each route’s access: bearer or cookie, partner key and signature, or none', () => {
    expect(Object.keys(document.components.securitySchemes).toSorted()).toEqual([
      'bearer',
      'cookie',
      'partnerKey',
      'partnerSignature',
      'partnerSignatureV2',
    ]);
    for (const { route, operation } of operations) {
      const kinds = operation.security.map((scheme) => Object.keys(scheme).toSorted());
      if (route.access.kind === 'open') expect(kinds).toEqual([]);
      else if (route.access.kind === 'partner')
        expect(kinds).toEqual([
          ...(route.method === 'get' || route.access.bodySignatureSuffices ? [['partnerKey', 'partnerSignature']] : []),
          ['partnerKey', 'partnerSignature', 'partnerSignatureV2'],
        ]);
      else expect(kinds).toEqual([['bearer'], ['cookie']]);
    }
  });

  it('The OpenAPI document has every webhook, with an example that its schema accepts', () => {
    expect(Object.keys(document.webhooks)).toEqual([...webhookTypes]);
    for (const { type, body } of webhookDocuments) {
      const example = document.webhooks[type]?.post.requestBody?.content['application/json']?.example;
      expect(body.safeParse(example)).toMatchObject({ success: true });
    }
  });
});
