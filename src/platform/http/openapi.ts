import { z } from 'zod';
import {
  type CreateDocumentOptions,
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiResponsesObject,
} from 'zod-openapi';
import { type Access, needsWholeSignature } from './access.ts';
import { answerHeaders, headersOf } from './answer-headers.ts';
import { describeRefusals, type RefusalsOf, statusesOfRefusals } from './document-refusals.ts';
import { isPartnerPath } from './errors.ts';
import { addExamples } from './examples.ts';
import { describeFields, type FieldTexts } from './field-texts.ts';
import { operationId } from './operation-id.ts';
import { placeExamples, type WrittenExamples } from './place-examples.ts';
import type { Route, RouteGroup } from './route-group.ts';
import { mediaTypeOf } from './stream-document.ts';

/** A webhook in the document. */
export interface WebhookDocument {
  type: string;
  summary: string;
  body: z.ZodType;
}

const webhookDescription =
  'Signed as Standard Webhooks: `webhook-signature` carries `v1,` and the base64 HMAC-SHA256 of ' +
  '`webhook-id.webhook-timestamp.body` under the webhook secret, once for each live secret. Verify it over the bytes ' +
  'received, reject a timestamp older than five minutes, and process each `webhook-id` once: the same webhook may be ' +
  'delivered again. Anything but a 2xx within 15 seconds is retried at growing intervals for three days.';

function webhookOperation({ type, summary, body }: WebhookDocument): ZodOpenApiOperationObject {
  return {
    tags: ['Partner API'],
    operationId: `webhook_${type.replace('.', '_')}`,
    summary,
    description: webhookDescription,
    security: [],
    requestParams: {
      header: z.object({
        'webhook-id': z.string().meta({ description: 'The same for every attempt.' }),
        'webhook-timestamp': z.string().meta({ description: 'The time of this attempt, in seconds since 1970.' }),
        'webhook-signature': z.string(),
      }),
    },
    requestBody: { required: true, content: { 'application/json': { schema: body } } },
    responses: { '2XX': { description: 'Accepted; it is not sent again.' } },
  };
}

/** Describes who may use a route, as a sentence in the document. */
export function describeAccess(access: Access): string {
  if (access.kind === 'open') return `Open to anyone${access.note ? `: ${access.note}` : ''}.`;
  if (access.kind === 'partner') return `Partner permission \`${access.permission}\`.`;
  const types = access.userTypes ? `user types ${access.userTypes.join(', ')}` : 'every user type';
  if (access.kind === 'signed in') {
    return `A valid token; ${types}. Scope: ${access.scope}.${access.note ? ` ${access.note}.` : ''}`;
  }
  const needed = access.permissions.map((permission) => `\`${permission}\``).join(' or ');
  return `Permission ${needed}; ${types}${access.role ? `, role \`${access.role}\`` : ''}. Scope: ${access.scope}.`;
}

const keyText = z
  .string()
  .min(8)
  .max(128)
  .meta({ description: 'Makes retries safe: the same key and body return the first response again.' });
/** The idempotency header of each API: partners may use any characters, people printable ones. */
const partnersKey = z.object({ 'X-Idempotency-Key': keyText });
const peoplesKey = z.object({
  'Idempotency-Key': keyText
    .regex(/^[\x20-\x7e]+$/)
    .meta(keyText.meta() ?? {})
    .optional(),
});

/** Returns the formats of a document other than JSON, all of them texts. */
const otherFormats = ({ formats = [] }: Route): Record<string, { schema: z.ZodType }> =>
  Object.fromEntries(
    formats.filter((format) => format !== 'json').map((format) => [mediaTypeOf(format), { schema: z.string() }]),
  );

function operationOf(route: Route, refusals: RefusalsOf | undefined): ZodOpenApiOperationObject {
  const partners = isPartnerPath(route.path);
  const responses: ZodOpenApiResponsesObject = {};
  for (const [status, shape] of Object.entries(route.answers)) {
    responses[status as `${1 | 2 | 3}${string}`] =
      typeof shape === 'string'
        ? { description: shape, headers: headersOf(route, Number(status)) }
        : {
            description: describeSuccess(route),
            headers: headersOf(route, Number(status)),
            content: { 'application/json': { schema: shape }, ...otherFormats(route) },
          };
  }
  for (const status of statusesOfRefusals(route)) {
    responses[String(status) as `${4 | 5}${string}`] = describeRefusals(route, status, refusals);
  }
  const header = route.idempotent ? (partners ? partnersKey : peoplesKey) : undefined;
  const content = route.upload
    ? { [route.upload.contentType]: { schema: route.upload.schema } }
    : route.body && { 'application/json': { schema: route.body } };
  return {
    tags: [route.tag],
    operationId: operationId(route),
    summary: route.summary,
    description: [route.description, describeAccess(route.access)].filter(Boolean).join('\n\n'),
    ...(route.deprecated && { deprecated: true }),
    security: securityOf(route),
    requestParams: {
      ...(route.params instanceof z.ZodObject ? { path: route.params } : {}),
      ...(route.query instanceof z.ZodObject ? { query: route.query } : {}),
      ...(header ? { header } : {}),
    },
    ...(content ? { requestBody: { content, required: needsBody(route) } } : {}),
    responses,
    'x-access': route.access,
  };
}

/** Describes a success by the route's summary. */
const describeSuccess = ({ summary }: Route): string => `Succeeded: ${summary}.`;

const needsBody = ({ body, upload }: Route): boolean =>
  upload ? upload.optional !== true : !body?.safeParse({}).success;

function securityOf({ access, method }: Pick<Route, 'access' | 'method'>): Record<string, string[]>[] {
  if (access.kind === 'open') return [];
  if (access.kind === 'partner') {
    const signed = { partnerKey: [], partnerSignature: [] };
    const whole = { ...signed, partnerSignatureV2: [] };
    return needsWholeSignature(access, method) ? [whole] : [signed, whole];
  }
  return [{ bearer: [] }, { cookie: [] }];
}

function tagsOf(routeGroups: readonly RouteGroup[]): { name: string; description?: string }[] {
  const tags = new Map<string, Set<string>>();
  for (const { tag, description } of routeGroups) {
    const said = tags.get(tag) ?? new Set();
    tags.set(tag, description === undefined ? said : said.add(description));
  }
  return [...tags].map(([name, said]) => ({ name, ...(said.size > 0 && { description: [...said].join(' ') }) }));
}

/**
 * For a transforming schema, Zod omits `default` and `examples` from the input, as they might describe the output.
 * Those in our `meta` always describe the input.
 */
const keepWritten: CreateDocumentOptions['override'] = ({ zodSchema, jsonSchema }) => {
  const { default: standard, examples } = z.globalRegistry.get(zodSchema) ?? {};
  if (standard !== undefined) jsonSchema.default = standard;
  if (examples !== undefined) jsonSchema.examples = examples;
};

const introduction = `Payments for giving and saving: collect, save, give, pay out. Money is IDR; amounts in responses
are decimal strings with four decimals, timestamps ISO 8601 UTC.

**Signing in.** People log in at \`POST /v1/auth/login\` and send the access token as \`Authorization: Bearer\` or as
the cookie \`access_token\` (then writes need an allowed \`Origin\`). Partners send their API key as \`Authorization:
Bearer\` and the hex HMAC-SHA256 of the raw body under their signing secret as \`x-partner-signature\`, on every call,
reads included. A second signature, \`x-partner-signature-v2: t=<unix seconds>,v1=<hex>\`, covers the whole request:
HMAC-SHA256 over five lines, joined by line feeds (0x0A): \`t\`, method, path with query as sent, idempotency key or
empty, hex SHA-256 of the body. If sent, it must be correct and at most five minutes old. Writes other than quotes and
creating payments and payouts require it, and a key may require it everywhere; without an idempotency key each
signature is accepted once.

**Idempotency.** A header \`Idempotency-Key\` (partners: \`X-Idempotency-Key\`) of 8 to 128 characters makes retries
safe: the same key and body return the first response again, with \`Idempotency-Replayed: true\`.

**Errors** are \`{ message, statusCode, error, code }\`, under \`/v1/partners\` \`{ error: { code, message, details?
}, request_id }\`; programs should branch on \`code\`. A 4xx is final: the request will not take effect later. A 503
carries \`Retry-After\`, and the request may still take effect for two minutes; after a 503, a 504 or no response at
all, retry with the same key, never with another. Without an optional key, a retry may create a second resource: an
unknown outcome is then a 503 without \`Retry-After\`, whose message names the transaction or the resource to look for
before you retry.

**Request ids.** An \`x-request-id\` that you send (up to 64 printable characters) is used; every response has it as a
header.

**Lists** accept \`page\` and \`limit\` (at most 100). While rows follow, a response has \`next\`; send it as
\`after\` in place of \`page\`, so that new rows neither repeat nor hide others. \`next\` is opaque and works even
when rows are deleted; without it, the list is complete. \`after\` also accepts the id of a row of yours in this list.`;

/** Builds the OpenAPI 3.1 document from the same declarations that validate requests (docs/contract.md 10). */
export function buildOpenApi(
  routeGroups: readonly RouteGroup[],
  options: {
    version: string;
    url: string;
    webhooks?: readonly WebhookDocument[];
    /** Field descriptions by path prefix, in order of precedence. */
    texts?: Readonly<Record<string, readonly FieldTexts[]>>;
    examples?: WrittenExamples;
    /** Further paragraphs of the introduction. */
    introduction?: string;
  },
): object {
  const paths: NonNullable<ZodOpenApiObject['paths']> = {};
  for (const route of routeGroups.flatMap(({ routes }) => routes)) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method]: operationOf(route, options.examples?.refusals) };
  }
  const webhooks = Object.fromEntries(
    (options.webhooks ?? []).map((webhook) => [webhook.type, { post: webhookOperation(webhook) }]),
  );
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Amanah',
        license: { name: 'MIT', identifier: 'MIT' },
        version: options.version,
        description: [introduction, options.introduction].filter(Boolean).join('\n\n'),
      },
      servers: [{ url: options.url }],
      tags: tagsOf(routeGroups),
      paths,
      webhooks,
      components: {
        headers: answerHeaders,
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
          cookie: {
            type: 'apiKey',
            in: 'cookie',
            name: 'access_token',
            description: 'Writes must carry an allowed Origin.',
          },
          partnerKey: { type: 'http', scheme: 'bearer', description: 'A partner API key.' },
          partnerSignature: {
            type: 'apiKey',
            in: 'header',
            name: 'x-partner-signature',
            description:
              'Hex HMAC-SHA256 of the raw body under the signing secret; of the empty string without a body.',
          },
          partnerSignatureV2: {
            type: 'apiKey',
            in: 'header',
            name: 'x-partner-signature-v2',
            description:
              '`t=<unix seconds>,v1=<hex>`: HMAC-SHA256 under the signing secret over five lines, joined by line ' +
              'feeds: `t`, method, path with query as sent, idempotency key or empty, hex SHA-256 of the body; at ' +
              'most five minutes old. Sent in addition to the first signature. Where an operation has no idempotency ' +
              'key, each is accepted once.',
          },
        },
      },
    },
    { allowEmptySchema: { unknown: true, any: true, custom: true }, override: keepWritten },
  );
  for (const [prefix, tables] of Object.entries(options.texts ?? {})) describeFields(document, prefix, tables);
  if (options.examples) placeExamples(document, options.examples);
  if (routeGroups.some(({ routes }) => routes.some(({ path }) => !isPartnerPath(path)))) nameApart(document);
  return addExamples(document, options.examples?.app);
}

/**
 * In a document with the operations of people and partners, prefixes the names of partners' operations: the
 * `createPayment` of their own document becomes `partnersCreatePayment`.
 */
function nameApart(document: object): void {
  const { paths = {} } = document as { paths?: Record<string, Record<string, { operationId?: string }>> };
  for (const [path, item] of Object.entries(paths)) {
    if (!isPartnerPath(path)) continue;
    for (const operation of Object.values(item)) {
      const { operationId: id = '' } = operation;
      operation.operationId = `partners${id.charAt(0).toUpperCase()}${id.slice(1)}`;
    }
  }
}
