import { html } from 'hono/html';
import type { Context } from 'koa';
import type { Config } from '../../../platform/config/config.ts';
import type { Answer } from '../../../platform/http/answer.ts';
import type { Markup } from '../../../platform/http/card-page.ts';
import { asDomainError, noteRefusal } from '../../../platform/http/errors.ts';
import type { Method, RouteGroup } from '../../../platform/http/route-group.ts';
import { callRoute, type Doors, type ServingPorts } from '../../../platform/http/serve-route.ts';
import type { Logger } from '../../../platform/process/log.ts';
import { must } from '../../../shared/assert.ts';
import { type DomainError, errorStatuses } from '../../../shared/errors.ts';
import { layout, type SwitchShown } from './layout.ts';
import { type Listed, type Part, unreadable } from './part.ts';

/** The logged-in user. */
export interface Me {
  id: string;
  name: string;
  permissions: string[];
  role?: { name: string } | null;
}

interface Input {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: object;
}

/** Shared by all operators' pages: the API's own routes, called as the logged-in user, and the frame around pages. */
export type Console = ReturnType<typeof createConsole>;

/** The dependencies of the pages. */
export interface PagePorts extends ServingPorts {
  config: Pick<Config, 'PUBLIC_URL' | 'NODE_ENV' | 'TEMPORAL_UI_URL' | 'TEMPORAL_NAMESPACE'>;
  log: Logger;
}

export function createConsole<Ports extends PagePorts>({
  routeGroups,
  deps,
  doors,
}: {
  routeGroups: readonly RouteGroup<Ports>[];
  deps: Ports;
  doors: Doors;
}) {
  const routes = new Map(
    routeGroups.flatMap((routes) => routes.routes).map((route) => [`${route.method} ${route.path}`, route]),
  );

  /** Calls a route of the API as the logged-in user. */
  async function call<Data>(
    ctx: Context,
    method: Method,
    path: string,
    { params = {}, query = {}, body }: Input = {},
  ): Promise<Data> {
    const route = must(routes.get(`${method} ${path}`), `there is ${method} ${path}`);
    const bytes = async () => Buffer.alloc(0);
    const answered: Answer = await callRoute(route, deps, doors, {
      ctx,
      params,
      query,
      bytes,
      readBody: async () => body ?? {},
    });
    // A response stored under an idempotency key is already in bytes.
    const sent: unknown = Buffer.isBuffer(answered.body) ? JSON.parse(String(answered.body)) : answered.body;
    return (sent as { data: Data }).data;
  }

  /**
   * Like `call`, for a part of a page: returns null if the caller may not read it, and `unreadable` if it is
   * temporarily unavailable, instead of failing the page.
   */
  async function readPart<Data>(...asked: Parameters<typeof call>): Promise<Part<Data>> {
    try {
      return await call<Data>(...asked);
    } catch (thrown) {
      const error = asDomainError(thrown);
      if (error.code === 'FORBIDDEN') return null;
      if (errorStatuses[error.code] < 500) throw error;
      noteRefusal(deps.log, asked[0], error);
      return unreadable;
    }
  }
  const listPart = <Item>(ctx: Context, path: string, query: Record<string, string>): Promise<Part<Listed<Item>>> =>
    readPart(ctx, 'get', path, { query: { limit: '100', ...query } });

  const readMe = (ctx: Context): Promise<Me> => call<Me>(ctx, 'get', '/v1/auth/me');

  /** Reads people's names by id, as far as the caller may. */
  async function readNames(ctx: Context, ids: readonly (string | null)[]): Promise<Map<string, string>> {
    const known = new Set(ids.filter((id) => id !== null));
    const users = await Promise.all(
      [...known].map((id) => readPart<Me>(ctx, 'get', '/v1/users/:user_id', { params: { user_id: id } })),
    );
    const read = users.filter((user) => user !== null && user !== unreadable);
    return new Map(read.map(({ id, name }) => [id, name]));
  }

  /** Shows a page; logged-in users see a banner while all payouts are held. */
  async function show(ctx: Context, title: string, content: Markup, me: Me | null, status = 200): Promise<void> {
    const stands = me && (await readPart<SwitchShown>(ctx, 'get', '/v1/operations/payouts'));
    const held = stands !== null && stands !== unreadable && !stands.enabled ? stands : null;
    ctx.status = status;
    ctx.type = 'text/html';
    ctx.body = String(layout(title, content, me, held));
  }
  const goTo = (ctx: Context, path: string): void => {
    ctx.redirect(path);
    // Redirects, so that reloading the next page does not repeat what the form did.
    ctx.status = 303;
  };

  const workflowLink = (workflowId: string): Markup | string => {
    const { TEMPORAL_UI_URL: url, TEMPORAL_NAMESPACE: namespace } = deps.config;
    if (url === undefined) return '';
    const to = `${url.replace(/\/$/, '')}/namespaces/${namespace}/workflows/${encodeURIComponent(workflowId)}`;
    return html`<p><a href="${to}">Workflow in Temporal</a></p>`;
  };

  /** Carries out a form's action; shows a refusal with the form. */
  async function orShowWhy(
    ctx: Context,
    act: () => Promise<void>,
    showWhy: (error: DomainError) => void | Promise<void>,
  ): Promise<void> {
    try {
      await act();
    } catch (thrown) {
      const error = asDomainError(thrown);
      noteRefusal(deps.log, ctx, error);
      await showWhy(error);
    }
  }
  return { deps, call, readPart, listPart, readMe, readNames, show, goTo, workflowLink, orShowWhy };
}
