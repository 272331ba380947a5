import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiResponsesObject,
} from 'zod-openapi';
import { errorStatuses } from '../shared/errors.ts';
import type { Access } from './access.ts';
import { partnerPrefix } from './errors.ts';
import type { Room, Route } from './room.ts';

const Refusal = z
  .object({
    message: z.union([z.string(), z.array(z.string())]),
    statusCode: z.int(),
    error: z.string(),
  })
  .meta({ id: 'Error' });

const PartnerRefusal = z
  .object({
    error: z.object({
      code: z.enum(Object.keys(errorStatuses) as [string, ...string[]]),
      message: z.string(),
      details: z.unknown().optional(),
    }),
    request_id: z.string(),
  })
  .meta({ id: 'PartnerError' });

const reasons: Record<number, string> = {
  400: 'The request is not valid; the message names the field.',
  401: 'No valid token, or what the route calls unauthorized.',
  403: 'Not open to this caller.',
  404: 'Not there.',
  408: 'The body did not arrive in time.',
  409: 'In conflict with what is there.',
  413: 'The body is too large.',
  422: 'The funds do not allow it.',
  429: 'Too many requests; see Retry-After.',
  500: 'Internal error.',
  502: 'The payment provider refused.',
  503: 'Something the service depends on is away; see Retry-After.',
  504: 'The outcome at the provider is not known yet; poll, do not send again under another key.',
};

/** Who may use a route, in one sentence of the document. */
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

function statusesOfRefusals({ access, path, body, params, query, refusals = [] }: Route): number[] {
  const statuses = new Set<number>([500, 503, ...refusals]);
  if (access.kind !== 'open') statuses.add(401).add(403);
  if (access.kind === 'partner') statuses.add(429);
  if (body || params || query) statuses.add(400);
  if (body) statuses.add(413);
  if (path.includes(':')) statuses.add(404);
  return [...statuses].sort((a, b) => a - b);
}

function operationOf(route: Route): ZodOpenApiOperationObject {
  const partners = route.path.startsWith(`${partnerPrefix}/`);
  const responses: ZodOpenApiResponsesObject = {};
  for (const [status, shape] of Object.entries(route.answers)) {
    responses[status as `${1 | 2 | 3}${string}`] =
      typeof shape === 'string'
        ? { description: shape }
        : { description: 'Done.', content: { 'application/json': { schema: shape } } };
  }
  for (const status of statusesOfRefusals(route)) {
    responses[String(status) as `${4 | 5}${string}`] = {
      description: reasons[status] ?? 'Refused.',
      content: { 'application/json': { schema: partners ? PartnerRefusal : Refusal } },
    };
  }
  const header = route.idempotent
    ? z.object({
        [partners ? 'X-Idempotency-Key' : 'Idempotency-Key']: partners
          ? z.string().min(8).max(128)
          : z.string().min(8).max(128).optional(),
      })
    : undefined;
  const content = route.upload
    ? { [route.upload.contentType]: { schema: route.upload.schema } }
    : route.body && { 'application/json': { schema: route.body } };
  return {
    tags: [route.tag],
    operationId: operationId(route),
    summary: route.summary,
    description: [route.description, describeAccess(route.access)].filter(Boolean).join('\n\n'),
    security: securityOf(route.access),
    requestParams: {
      ...(route.params instanceof z.ZodObject ? { path: route.params } : {}),
      ...(route.query instanceof z.ZodObject ? { query: route.query } : {}),
      ...(header ? { header } : {}),
    },
    ...(content ? { requestBody: { content, required: !route.body?.safeParse({}).success } } : {}),
    responses,
    'x-access': route.access,
  };
}

function securityOf({ kind }: Access): Record<string, string[]>[] {
  if (kind === 'open') return [];
  if (kind === 'partner') return [{ partnerKey: [], partnerSignature: [] }];
  return [{ bearer: [] }, { cookie: [] }];
}

const operationId = ({ method, path }: Route): string =>
  `${method}_${path
    .replace(/^\/(v1\/)?/, '')
    .replace(/:/g, '')
    .replace(/[^\w]+/g, '_')}`;

function tagsOf(rooms: readonly Room[]): { name: string; description?: string }[] {
  const tags = new Map<string, { name: string; description?: string }>();
  for (const { tag, description } of rooms) {
    tags.set(tag, { name: tag, ...tags.get(tag), ...(description ? { description } : {}) });
  }
  return [...tags.values()];
}

/** The OpenAPI 3.1 document, made from the same declarations that validate (decisions 10). */
export function buildOpenApi(rooms: readonly Room[], options: { version: string; url: string }): object {
  const paths: NonNullable<ZodOpenApiObject['paths']> = {};
  for (const route of rooms.flatMap(({ routes }) => routes)) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method]: operationOf(route) };
  }
  return createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Amanah',
        version: options.version,
        description: 'Payments for giving and saving: collect, save, give, pay out.',
      },
      servers: [{ url: options.url }],
      tags: tagsOf(rooms),
      paths,
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
          cookie: {
            type: 'apiKey',
            in: 'cookie',
            name: 'access_token',
            description: 'Requests that change something must carry an allowed Origin.',
          },
          partnerKey: { type: 'http', scheme: 'bearer', description: 'A partner API key.' },
          partnerSignature: {
            type: 'apiKey',
            in: 'header',
            name: 'x-partner-signature',
            description:
              'Hex HMAC-SHA256 of the raw body under the signing secret; of the empty string without a body.',
          },
        },
      },
    },
    { allowEmptySchema: { unknown: true, any: true, custom: true } },
  );
}
