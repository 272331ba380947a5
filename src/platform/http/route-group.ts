import type { EntityManager } from '@mikro-orm/postgresql';
import type { Context } from 'koa';
import { z } from 'zod';
import type { Caller } from '../../shared/caller.ts';
import type { KeyedRequest } from '../../shared/opening.ts';
import type { Access, Open, PartnerAccess } from './access.ts';
import type { Answer } from './answer.ts';
import { nullsAsAbsent } from './nulls-as-absent.ts';
import type { DocumentFormat } from './stream-document.ts';

/** The partner of an API key, as authenticated. */
export interface PartnerCaller {
  partnerId: string;
  organizationId: string;
  keyId: string;
  permissions: ReadonlySet<string>;
  /** Set on idempotent routes. */
  idempotency: KeyedRequest | null;
}

/** The caller passed to a handler of a route with this access. */
export type CallerOf<A extends Access> = A extends PartnerAccess ? PartnerCaller : A extends Open ? null : Caller;

/**
 * A handler's input: validated values, an authorized caller, its own entity manager, and the ports that its group
 * declares.
 */
export interface RouteContext<
  Ports,
  A extends Access = Access,
  B extends z.ZodType = z.ZodType,
  Q extends z.ZodType = z.ZodType,
  P extends z.ZodType = z.ZodType,
> {
  body: z.output<B>;
  query: z.output<Q>;
  params: z.output<P>;
  caller: CallerOf<A>;
  em: EntityManager;
  deps: Ports;
  ctx: Context;
  requestId: string;
  /** The body's bytes as received, for signatures. */
  bytes: () => Promise<Buffer>;
}

/** A route's declaration: it validates requests, types the handler, and feeds the permission matrix and OpenAPI. */
export interface RouteDeclaration<A extends Access, B extends z.ZodType, Q extends z.ZodType, P extends z.ZodType> {
  summary: string;
  description?: string;
  access: A;
  body?: B;
  query?: Q;
  params?: P;
  /** The successful responses by status: a schema, or a sentence for one that is not JSON. */
  answers: Record<number, z.ZodType | string>;
  /** The formats of a document, chosen by `Accept`; JSON has the schema in `answers`. */
  formats?: readonly DocumentFormat[];
  /** Statuses of refusals beyond those that every route has. */
  refusals?: readonly number[];
  /** The dates of deprecation and removal, sent with every response (`Deprecation`, `Sunset`). */
  deprecated?: { since: string; until: string };
  /** Accepts an idempotency key (`Idempotency-Key`; partners: `X-Idempotency-Key`). */
  idempotent?: boolean;
  /** Maximum bytes of the body, if not the usual limit (`bodyLimitBytes`). */
  bodyLimit?: number;
  /** How long a change may wait for the caller's earlier ones, in milliseconds; by default `budgets.requests.away`. */
  turnWithinMs?: number;
  /** A body that the handler reads itself, described here for OpenAPI only; `optional` bodies may be missing. */
  upload?: { contentType: string; schema: z.ZodType; optional?: boolean };
}

export type Handler<Ports> = (context: RouteContext<Ports>) => Promise<object | Answer>;
export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** A declared route with its full path. Without `Ports` it can be inspected but not called. */
export interface Route<Ports = never> extends RouteDeclaration<Access, z.ZodType, z.ZodType, z.ZodType> {
  method: Method;
  /** With `:parameters`. */
  path: string;
  tag: string;
  handler: Handler<Ports>;
}

/** A group of routes under one prefix; `src/wiring/app.ts` lists them. */
export interface RouteGroup<Ports = never> {
  prefix: string;
  tag: string;
  description: string | undefined;
  routes: readonly Route<Ports>[];
}

type Declare<Ports> = <
  const A extends Access,
  B extends z.ZodType = z.ZodUndefined,
  Q extends z.ZodType = z.ZodObject,
  P extends z.ZodType = z.ZodObject,
>(
  path: string,
  declaration: RouteDeclaration<A, B, Q, P>,
  handler: (context: RouteContext<Ports, A, B, Q, P>) => Promise<object | Answer>,
) => void;

/**
 * Creates a group of routes whose handlers need `Ports`; its methods declare routes. Throws for a path parameter
 * without a schema and for a route without access.
 */
export function createRouteGroup<Ports = object>(options: {
  prefix: string;
  tag: string;
  description?: string;
}): RouteGroup<Ports> & Record<Method, Declare<Ports>> {
  const { prefix, tag, description } = options;
  const routes: Route<Ports>[] = [];
  const declare =
    (method: Method): Declare<Ports> =>
    (path, declaration, handler) => {
      const whole = `${prefix}${path === '/' ? '' : path}`;
      if (!declaration.access) throw new Error(`${method} ${whole} declares no access`);
      const shape: object = declaration.params instanceof z.ZodObject ? declaration.params.shape : {};
      for (const [, name = ''] of whole.matchAll(/:(\w+)/g)) {
        if (!(name in shape)) throw new Error(`${method} ${whole} has no schema for :${name}`);
      }
      // The cast is safe: the handler gets values validated by its declared schemas.
      const body =
        method === 'post' && declaration.body ? nullsAsAbsent<z.ZodType>(declaration.body) : declaration.body;
      routes.push({
        ...declaration,
        ...(body && { body }),
        method,
        path: whole,
        tag,
        handler: handler as Handler<Ports>,
      });
    };
  return {
    prefix,
    tag,
    description,
    routes,
    get: declare('get'),
    post: declare('post'),
    put: declare('put'),
    patch: declare('patch'),
    delete: declare('delete'),
  };
}
