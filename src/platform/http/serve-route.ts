import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Context } from 'koa';
import { z } from 'zod';
import { assert, must } from '../../shared/assert.ts';
import { budgets } from '../../shared/budgets.ts';
import type { Caller } from '../../shared/caller.ts';
import { createSemaphore } from '../../shared/concurrency.ts';
import { DomainError, errorStatuses, isDomainError, refuse } from '../../shared/errors.ts';
import { mayChangeThings } from '../../shared/organization.ts';
import { type Allow, isSafe, type PartnerAccess, type SignedIn } from './access.ts';
import { type Answer, answer, isAnswer } from './answer.ts';
import { bodyLimitBytes, decodeBody, readBody, refuseCompressed } from './body.ts';
import { deepestLiteral, parseJson } from './json-body.ts';
import { nounOf } from './operation-id.ts';
import type { PartnerCaller, Route } from './route-group.ts';
import { validate } from './validate.ts';

/** A request before its body is read. */
export interface RequestContext {
  ctx: Context;
  em: EntityManager;
  requestId: string;
  bytes: () => Promise<Buffer>;
}

/** A partner's request before its body is read. */
export interface PartnerRequestContext extends RequestContext {
  access: PartnerAccess;
  /** Whether the route requires an idempotency key. */
  idempotent: boolean;
  /** The parsed body; throws if it cannot be read. */
  readBody: () => Promise<unknown>;
}

/** Authentication of users and partners, passed in by `createApp`. */
export interface Doors {
  /** Reads the caller from token or cookie; throws 401, or 403 for a cookie request from a foreign origin. */
  authenticate(request: RequestContext): Promise<Caller>;
  /** Authenticates the partner, then calls `proceed` to validate and run the handler, or replays a stored response. */
  partner?(request: PartnerRequestContext, proceed: (caller: PartnerCaller) => Promise<Answer>): Promise<Answer>;
}

function admit(access: Allow | SignedIn, caller: Caller, method: string): void {
  if (access.userTypes && !access.userTypes.includes(caller.userType)) {
    refuse('FORBIDDEN', `Users of type ${caller.userType} may not use this`);
  }
  if (access.kind === 'allow') {
    if (!access.permissions.some((permission) => caller.permissions.has(permission))) {
      refuse('FORBIDDEN', `The permission ${access.permissions.join(' or ')} is needed`);
    }
    if (access.role === 'platform_super_admin' && !caller.isSuperAdmin) {
      refuse('FORBIDDEN', 'Only a platform super admin may do this');
    }
  }
  const readOnly = !mayChangeThings(caller.organizationStatus) && !isSafe(method);
  if (readOnly && !(access.kind === 'signed in' && access.whenReadOnly)) {
    refuse('FORBIDDEN', `The organization is ${caller.organizationStatus}: its users may read but change nothing`);
  }
}

const noShape = z.object({});
const noFields = z.strictObject({});

/** Returns the body's schema: an empty object if the route declares none, null if the handler reads the body itself. */
export const bodyOf = ({ body, upload }: Pick<Route, 'body' | 'upload'>): z.ZodType | null =>
  body ?? (upload ? null : noFields);

/** The input of one call of a route. */
export interface RouteCall {
  ctx: Context;
  params: Record<string, string>;
  query: Record<string, unknown>;
  /** The bytes of the body, for signatures. */
  bytes: () => Promise<Buffer>;
  /** The parsed body; not called for an upload, which reads it itself. */
  readBody: () => Promise<unknown>;
}

/**
 * Refuses unknown parameters: a partner would take an ignored one for a filter that every row matches (docs/contract.md
 * 8).
 */
function refuseUnknownParameters(schema: z.ZodType, query: Record<string, unknown>): void {
  assert(schema instanceof z.ZodObject, 'a query schema is an object');
  const known = schema.shape;
  const unknown = Object.keys(query).find((name) => !Object.hasOwn(known, name));
  if (unknown === undefined) return;
  const message = `${unknown}: unknown parameter`;
  refuse('REQUEST_INVALID', message, { messages: [message], details: [{ field: unknown, message }] });
}

/** Returns the query parameters, a repeated one as a list. Koa's own parser takes quadratic time in their number. */
function readQuery(querystring: string): Record<string, string | string[]> {
  const read = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(querystring)) read.set(name, read.has(name) ? [value] : value);
  return Object.fromEntries(read);
}

/** Refuses a repeated parameter: using its first or last value would be a guess. */
function refuseRepeatedParameters(query: Record<string, unknown>): void {
  const repeated = Object.keys(query).find((name) => Array.isArray(query[name]));
  if (repeated === undefined) return;
  const message = `${repeated}: must be given once`;
  refuse('REQUEST_INVALID', message, { messages: [message], details: [{ field: repeated, message }] });
}

/** Gives a missing resource named by the path the same message on every route, whatever the parameter's name. */
function asMissing(error: unknown, params: Record<string, string>): unknown {
  if (!isDomainError(error) || errorStatuses[error.code] !== 404 || !((error.field ?? '') in params)) return error;
  const { code, complaint } = error;
  return new DomainError(code, complaint.charAt(0).toUpperCase() + complaint.slice(1), { cause: error });
}

/** The dependencies for serving every route. */
export interface ServingPorts {
  orm: MikroORM;
}

/**
 * One caller's changes may wait for the same row, each holding a database connection: without a limit, a flood of them
 * leaves none to others. Payments (with idempotency keys) and uploads have their own limits.
 */
const changing = createSemaphore(Number.POSITIVE_INFINITY, { perKey: 4, mostWaiting: 500 });

async function changeInTurn(key: string, waitMs: number, change: () => Promise<Answer>): Promise<Answer> {
  const leave = await changing.enter({ key, waitMs });
  try {
    return await change();
  } finally {
    leave();
  }
}

/** Calls one declared route: access check, validation, handler. */
export async function callRoute<Ports extends ServingPorts>(
  route: Route<Ports>,
  deps: Ports,
  doors: Doors,
  call: RouteCall,
): Promise<Answer> {
  const { access, query: querySchema = noShape, params: paramsSchema = noShape } = route;
  const { ctx, bytes, readBody } = call;
  const bodySchema = bodyOf(route);
  const { requestId } = ctx.state;
  const em = deps.orm.em.fork();
  const request: RequestContext = { ctx, em, requestId, bytes };

  const proceed = async (caller: Caller | PartnerCaller | null): Promise<Answer> => {
    // For partners a malformed id is simply not found.
    if (access.kind === 'partner' && !paramsSchema.safeParse(call.params).success) {
      refuse('RESOURCE_NOT_FOUND', `The ${nounOf(route.path)} was not found`);
    }
    const params = validate(paramsSchema, call.params);
    if (access.kind === 'partner') refuseUnknownParameters(querySchema, call.query);
    refuseRepeatedParameters(call.query);
    const query = validate(querySchema, call.query);
    const body = bodySchema === null ? undefined : validate(bodySchema, await readBody());
    // `caller` matches the route's access, from which the handler's type is derived.
    const context = { body, query, params, caller: caller as never, em, deps, ctx, requestId, bytes };
    const handle = async () => {
      const result = await route.handler(context).catch((error) => {
        throw asMissing(error, call.params);
      });
      return isAnswer(result) ? result : answer(200, result);
    };
    if (caller === null || isSafe(route.method) || route.idempotent || route.upload) return handle();
    const key = 'userId' in caller ? caller.userId : caller.partnerId;
    return changeInTurn(key, route.turnWithinMs ?? budgets.requests.away, handle);
  };

  if (access.kind === 'partner') {
    const partnerContext = { ...request, access, idempotent: route.idempotent === true, readBody };
    return must(doors.partner, 'a partner route has a partner door')(partnerContext, proceed);
  }
  if (access.kind === 'open') return proceed(null);
  const caller = await doors.authenticate(request);
  ctx.state.caller = caller;
  admit(access, caller, route.method.toUpperCase());
  return proceed(caller);
}

/** Returns the maximum bytes of a route's body: few for open routes and those under `/v1/auth/`. */
export const bodyLimitOf = ({ access, path, bodyLimit }: Pick<Route, 'access' | 'path' | 'bodyLimit'>): number =>
  bodyLimit ?? (access.kind === 'open' || path.startsWith('/v1/auth/') ? bodyLimitBytes.auth : bodyLimitBytes.usual);

/** Creates the middleware of one declared route: calls it with the request's input and sends its response. */
export function serveRoute<Ports extends ServingPorts>(route: Route<Ports>, deps: Ports, doors: Doors) {
  const literalKeys = moneyLiteralKeys(route.body);
  const limitBytes = bodyLimitOf(route);
  const { deprecated } = route;
  const notice = deprecated && {
    Deprecation: `@${Date.parse(deprecated.since) / 1000}`,
    Sunset: new Date(deprecated.until).toUTCString(),
  };

  return async (ctx: Context & { params: Record<string, string> }): Promise<void> => {
    if (notice) ctx.set(notice);
    const encoding = ctx.get('content-encoding');
    if (route.access.kind === 'open' && !route.upload) refuseCompressed(encoding);
    const bytes = once(() => readBody(ctx.req, { limitBytes }));
    const readJson = once(async () => {
      const plain = await decodeBody(await bytes(), encoding, limitBytes);
      return parseJson(plain, ctx.get('content-type'), literalKeys);
    });
    const { params, querystring } = ctx;
    const call = { ctx, params, query: readQuery(querystring), bytes, readBody: readJson };
    send(ctx, await callRoute(route, deps, doors, call));
  };
}

/** Calls `read` once, and returns its value to every caller. */
function once<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined;
  return () => {
    reading ??= read();
    return reading;
  };
}

function send(ctx: Context, { status, body, headers }: Answer): void {
  ctx.status = status;
  ctx.set('Cache-Control', 'no-store');
  ctx.set(headers);
  if (body !== undefined) ctx.body = body;
  if (Buffer.isBuffer(body) && !headers['content-type'] && !headers['Content-Type']) ctx.type = 'application/json';
}

/**
 * Handles requests that no route served: another method on a known path is 405 with `Allow` (OPTIONS 204), an unknown
 * path 404.
 */
export function refuseUnknown(methodsOf: (path: string) => string[]) {
  return async (ctx: Context): Promise<void> => {
    const methods = methodsOf(ctx.path);
    if (methods.length === 0) throw new DomainError('NOT_FOUND', 'There is nothing at this path');
    ctx.set('Allow', methods.join(', '));
    if (ctx.method === 'OPTIONS') {
      ctx.status = 204;
      return;
    }
    throw new DomainError('METHOD_NOT_ALLOWED', `${ctx.method} is not allowed here; use ${methods.join(', ')}`);
  };
}

/**
 * Returns the names of fields, at any depth of a schema up to `deepestLiteral`, whose numbers are read from their
 * literal digits.
 */
export function moneyLiteralKeys(schema: z.ZodType | undefined): ReadonlySet<string> {
  const found = new Set<string>();
  if (schema) collect(schema, undefined, found, 0);
  return found;
}

function collect(schema: z.ZodType, key: string | undefined, found: Set<string>, depth: number): void {
  if (schema.meta()?.['x-money-literal'] === true && key !== undefined) {
    assert(depth <= deepestLiteral, 'amounts are not nested so deeply');
    found.add(key);
  }
  const def: object = schema.def;
  if ('shape' in def && typeof def.shape === 'object' && def.shape !== null) {
    for (const [name, field] of Object.entries(def.shape)) collect(field, name, found, depth + 1);
  }
  for (const part of ['innerType', 'in', 'out', 'element'] as const) {
    const inner = (def as Partial<Record<typeof part, z.ZodType>>)[part];
    if (inner && inner !== schema) collect(inner, key, found, part === 'element' ? depth + 1 : depth);
  }
  if ('options' in def && Array.isArray(def.options)) {
    for (const option of def.options) collect(option, key, found, depth);
  }
}
