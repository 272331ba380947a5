import Router from '@koa/router';
import { html } from 'hono/html';
import type { Context, Next } from 'koa';
import { type ProposedKind, proposedKinds } from '../../../money-out/decisions/decision.ts';
import { isSafe } from '../../../platform/http/access.ts';
import type { Answer } from '../../../platform/http/answer.ts';
import { asDomainError, noteRefusal } from '../../../platform/http/errors.ts';
import { readForm } from '../../../platform/http/forms.ts';
import type { Method, RouteGroup } from '../../../platform/http/route-group.ts';
import type { Origins } from '../../../platform/http/security.ts';
import { callRoute, type Doors } from '../../../platform/http/serve-route.ts';
import { must } from '../../../shared/assert.ts';
import { type DomainError, errorStatuses, isDomainError, refuse } from '../../../shared/errors.ts';
import type { Dependencies } from '../../../wiring/dependencies.ts';
import { type DecisionShown, decisionPage } from './decision-page.ts';
import { complain, layout, type Markup } from './layout.ts';
import { logInPage } from './log-in-page.ts';
import {
  type DifferenceShown,
  type Listed,
  type OverviewShown,
  overviewPage,
  type Part,
  type PayoutShown,
  type ReceiptShown,
  unreadable,
} from './overview-page.ts';
import { type Filled, proposePage, proposeTitles } from './propose-page.ts';

interface Pages {
  routeGroups: readonly RouteGroup[];
  deps: Dependencies;
  doors: Doors;
  /** The origins of our own pages. */
  origins: Origins;
}

interface Me {
  id: string;
  name: string;
  permissions: string[];
}

/**
 * The operators' pages, rendered on the server without scripts: a client of the API's own routes, called in this
 * process, so that their access rules, validation and refusals decide everything. The login is the API's, with its
 * cookie as session. Forms are accepted from our own origin only.
 */
export function operationsPages({ routeGroups, deps, doors, origins }: Pages): Router {
  const router = new Router({ sensitive: true, prefix: '/operations' });
  const routes = new Map(
    routeGroups.flatMap((routes) => routes.routes).map((route) => [`${route.method} ${route.path}`, route]),
  );

  /** Calls a route of the API as the logged-in user. */
  async function call<Data>(
    ctx: Context,
    method: Method,
    path: string,
    {
      params = {},
      query = {},
      body,
    }: { params?: Record<string, string>; query?: Record<string, string>; body?: object } = {},
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
    return (answered.body as unknown as { data: Data }).data;
  }

  /**
   * The same for a part of a page: null when the caller may not read it. A part that cannot be read now does not fail
   * the page.
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

  /** People's names, as far as the caller may read them. */
  async function readNames(ctx: Context, decisions: readonly DecisionShown[]): Promise<Map<string, string>> {
    const ids = new Set(
      decisions.flatMap((it) => [it.proposed_by, it.approved_by, it.rejected_by].flat()).filter((id) => id !== null),
    );
    const users = await Promise.all(
      [...ids].map((id) => readPart<Me>(ctx, 'get', '/v1/users/:user_id', { params: { user_id: id } })),
    );
    const read = users.filter((user) => user !== null && user !== unreadable);
    return new Map(read.map(({ id, name }) => [id, name]));
  }

  const show = (ctx: Context, title: string, content: Markup, me: Me | null, status = 200): void => {
    ctx.status = status;
    ctx.type = 'text/html';
    ctx.body = String(layout(title, content, me));
  };
  const goTo = (ctx: Context, path: string): void => {
    ctx.redirect(path);
    // Redirects, so that reloading the next page does not repeat what the form did.
    ctx.status = 303;
  };

  /** Does what a form asks for; a refusal is shown beside the form. */
  async function orShowWhy(
    ctx: Context,
    act: () => Promise<void>,
    showWhy: (error: DomainError) => void | Promise<void>,
  ): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (!isDomainError(error)) throw error;
      noteRefusal(deps.log, ctx, error);
      await showWhy(error);
    }
  }

  router.use(async (ctx: Context, next: Next) => {
    ctx.set('Cache-Control', 'no-store');
    // Without a referrer browsers send a form's origin as `null`.
    ctx.set('Referrer-Policy', 'same-origin');
    try {
      if (!isSafe(ctx.method) && !origins.has(ctx.get('origin'))) {
        refuse('FORBIDDEN', `Forms are accepted from our own pages only: open ${deps.config.PUBLIC_URL}/operations`);
      }
      await next();
    } catch (thrown) {
      const error = asDomainError(thrown);
      noteRefusal(deps.log, ctx, error);
      if (error.code === 'UNAUTHENTICATED' && isSafe(ctx.method)) return goTo(ctx, '/operations/log-in');
      const content = refusalPage(sentenceOf(error), error.code === 'UNAUTHENTICATED');
      show(
        ctx,
        isSafe(ctx.method) ? 'This cannot be shown' : 'This could not be done',
        content,
        null,
        errorStatuses[error.code],
      );
    }
  });

  router.get('/log-in', (ctx) => show(ctx, 'Log in', logInPage('', null), null));
  router.post('/log-in', async (ctx) => {
    const { totp_code, ...form } = await readForm(ctx);
    await orShowWhy(
      ctx,
      async () => {
        await call(ctx, 'post', '/v1/auth/login', { body: { ...form, ...(totp_code && { totp_code }) } });
        goTo(ctx, '/operations');
      },
      (error) => show(ctx, 'Log in', logInPage(form.email ?? '', sentenceOf(error)), null, errorStatuses[error.code]),
    );
  });
  router.post('/log-out', async (ctx) => {
    await call(ctx, 'post', '/v1/auth/logout');
    goTo(ctx, '/operations/log-in');
  });

  router.get('/', async (ctx) => {
    const me = await readMe(ctx);
    const oldestFirst = { order: 'asc' };
    const [overview, decisions, payouts, receipts, differences] = await Promise.all([
      readPart<OverviewShown>(ctx, 'get', '/v1/operations/overview'),
      listPart<DecisionShown>(ctx, '/v1/decisions', { status: 'pending', ...oldestFirst }),
      listPart<PayoutShown>(ctx, '/v1/payouts/stuck', { minutes: '0' }),
      listPart<ReceiptShown>(ctx, '/v1/receipts', { status: 'suspended', ...oldestFirst }),
      listPart<DifferenceShown>(ctx, '/v1/reconciliations', { state: 'open', ...oldestFirst }),
    ]);
    if (overview === null && decisions === null) {
      const why = 'These pages are for operators of the platform; log out, then log in as one of them';
      return show(ctx, 'This cannot be shown', html`${complain(why)}`, me, errorStatuses.FORBIDDEN);
    }
    const names = await readNames(ctx, decisions === null || decisions === unreadable ? [] : decisions.items);
    const content = overviewPage({
      ...{ overview, decisions, payouts, receipts, differences, names },
      mayPropose: me.permissions.includes('propose-decision'),
    });
    show(ctx, 'What waits', content, me);
  });

  router.get('/propose', async (ctx) => {
    const me = await readMe(ctx);
    const filled = Object.fromEntries(new URLSearchParams(ctx.querystring));
    const kind = kindOf(filled);
    show(ctx, proposeTitles[kind], proposePage(kind, filled, null), me);
  });
  router.post('/propose', async (ctx) => {
    const me = await readMe(ctx);
    const filled = await readForm(ctx);
    const kind = kindOf(filled);
    const body = Object.fromEntries(Object.entries(filled).filter(([, value]) => value !== ''));
    await orShowWhy(
      ctx,
      async () => {
        const { id } = await call<DecisionShown>(ctx, 'post', '/v1/decisions', { body });
        goTo(ctx, `/operations/decisions/${id}`);
      },
      (error) =>
        show(ctx, proposeTitles[kind], proposePage(kind, filled, sentenceOf(error)), me, errorStatuses[error.code]),
    );
  });

  async function showDecision(ctx: Context, id: string, refusal: DomainError | null = null): Promise<void> {
    const me = await readMe(ctx);
    const decision = await call<DecisionShown>(ctx, 'get', '/v1/decisions/:id', { params: { id } });
    const names = await readNames(ctx, [decision]);
    const mayApprove = me.permissions.includes('approve-decision');
    const complaint = refusal && sentenceOf(refusal);
    const content = decisionPage(decision, { names, userId: me.id, mayApprove, complaint });
    show(
      ctx,
      `Decision ${decision.status.replaceAll('_', ' ')}`,
      content,
      me,
      refusal ? errorStatuses[refusal.code] : 200,
    );
  }
  router.get('/decisions/:id', (ctx) => showDecision(ctx, ctx.params.id ?? ''));
  for (const step of ['approve', 'reject'] as const) {
    router.post(`/decisions/:id/${step}`, async (ctx) => {
      const id = ctx.params.id ?? '';
      await orShowWhy(
        ctx,
        async () => {
          await call(ctx, 'post', `/v1/decisions/:id/${step}`, { params: { id } });
          goTo(ctx, `/operations/decisions/${id}`);
        },
        (error) => showDecision(ctx, id, error),
      );
    });
  }
  return router;
}

/** The kind of decision that a form is about. */
function kindOf({ kind }: Filled): ProposedKind {
  return (
    proposedKinds.find((known) => known === kind) ??
    refuse('REQUEST_INVALID', 'unknown kind of decision', { field: 'kind' })
  );
}

const sentenceOf = ({ message, messages }: DomainError): string => messages?.join('. ') ?? message;

const refusalPage = (sentence: string, needsLogin: boolean): Markup => html`${complain(sentence)}
<p>${needsLogin ? html`<a href="/operations/log-in">Log in again</a>` : html`<a href="/operations">Back to what waits</a>`}</p>`;
