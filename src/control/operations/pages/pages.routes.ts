import Router from '@koa/router';
import { html } from 'hono/html';
import type { Context, Next } from 'koa';
import { type ProposedKind, proposedKinds } from '../../../money-out/decisions/decision.ts';
import { isSafe } from '../../../platform/http/access.ts';
import type { Markup } from '../../../platform/http/card-page.ts';
import { asDomainError, noteRefusal, sentenceOf } from '../../../platform/http/errors.ts';
import { readForm } from '../../../platform/http/forms.ts';
import type { RouteGroup } from '../../../platform/http/route-group.ts';
import type { Origins } from '../../../platform/http/security.ts';
import type { Doors } from '../../../platform/http/serve-route.ts';
import { type DomainError, errorStatuses, refuse } from '../../../shared/errors.ts';
import { isUuid } from '../../../shared/uuid.ts';
import { findAccountShown, findReceiptAccount } from '../find-receipt-account.ts';
import { batchPages } from './batch.routes.ts';
import { createConsole, type PagePorts } from './console.routes.ts';
import { type DecisionShown, decisionPage, peopleOf } from './decision-page.ts';
import { importPages } from './import.routes.ts';
import { complain } from './layout.ts';
import { listPages } from './lists.routes.ts';
import {
  type DifferenceShown,
  type OverviewShown,
  overviewPage,
  type PayoutShown,
  type ReceiptShown,
} from './overview-page.ts';
import { unreadable } from './part.ts';
import {
  goesOnOf,
  moneyOf,
  nextOf,
  type PayoutFacts,
  payoutFacts,
  sectionOf,
  type TimelineShown,
} from './payout-page.ts';
import { type Filled, proposePage, proposeTitles } from './propose-page.ts';
import { type PaymentFacts, paymentFacts, resourcePages } from './resources.routes.ts';
import { money, nameOf, searchFor, words } from './spell.ts';
import { switchPages } from './switch.routes.ts';

/** Renders the login form. */
const logInPage = (email: string, complaint: string | null): Markup => html`${complain(complaint)}
<form method="post" action="/operations/log-in">
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" autocomplete="username" value="${email}" required>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<label for="totp_code">Code of the authenticator app</label>
<input id="totp_code" name="totp_code" inputmode="numeric" autocomplete="one-time-code">
<p class="quiet">If you have a second factor; without one you can propose, but not approve.</p>
<div class="steps"><button>Log in</button></div>
</form>`;

interface Pages<Ports> {
  routeGroups: readonly RouteGroup<Ports>[];
  deps: Ports;
  doors: Doors;
  /** The origins of our own pages. */
  origins: Origins;
}

/**
 * Serves the operators' pages, rendered on the server without scripts: a client of the API's own routes, called in this
 * process, so that their access rules, validation and refusals apply. The login is the API's, with its cookie as
 * session. Forms are accepted from our own origin only.
 */
export function operationsPages<Ports extends PagePorts>({ routeGroups, deps, doors, origins }: Pages<Ports>): Router {
  const router = new Router({ sensitive: true, prefix: '/operations' });
  const pages = createConsole({ routeGroups, deps, doors });
  const { call, readPart, listPart, readMe, readNames, show, goTo, orShowWhy } = pages;

  router.use(async (ctx: Context, next: Next) => {
    ctx.set('Cache-Control', 'no-store');
    // Without a referrer browsers send a form's origin as `null`.
    ctx.set('Referrer-Policy', 'same-origin');
    try {
      if (!isSafe(ctx.method) && !origins.has(ctx.get('origin'))) {
        refuse('FORBIDDEN', `This form did not come from these pages: open ${deps.config.PUBLIC_URL}/operations`);
      }
      await next();
    } catch (thrown) {
      const error = asDomainError(thrown);
      noteRefusal(deps.log, ctx, error);
      if (error.code === 'UNAUTHENTICATED' && isSafe(ctx.method)) return goTo(ctx, '/operations/log-in');
      const content = refusalPage(sentenceOf(error), error.code === 'UNAUTHENTICATED');
      // A logged-in user keeps the navigation, and the banner.
      const me = error.code === 'UNAUTHENTICATED' ? null : await readMe(ctx).catch(() => null);
      const status = errorStatuses[error.code];
      const ofAction = status < 500 ? 'The action failed' : 'It is not known whether this was done';
      const title = isSafe(ctx.method) ? 'This page is not available' : ofAction;
      await show(ctx, title, content, me, status);
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
      const why = 'These pages are for platform operators; log out, then log in as an operator';
      return show(ctx, 'This page is not available', html`${complain(why)}`, me, errorStatuses.FORBIDDEN);
    }
    const names = await readNames(
      ctx,
      decisions === null || decisions === unreadable ? [] : decisions.items.flatMap(peopleOf),
    );
    const content = overviewPage({
      ...{ overview, decisions, payouts, receipts, differences, names },
      mayPropose: me.permissions.includes('propose-decision'),
    });
    await show(ctx, 'Overview', content, me);
  });

  router.get('/propose', async (ctx) => {
    const me = await readMe(ctx);
    const filled = Object.fromEntries(new URLSearchParams(ctx.querystring));
    const kind = kindOf(filled);
    const mayPropose = me.permissions.includes('propose-decision');
    // Nobody has to find and type the account of a receipt's owner.
    if (mayPropose && kind === 'settle_receipt' && isUuid(filled.receipt_id ?? '')) {
      filled.account_id ||= (await findReceiptAccount(deps.orm.em.fork(), filled.receipt_id ?? '')) ?? '';
    }
    await show(ctx, proposeTitles[kind], proposePage(kind, filled, null), me);
  });
  router.post('/propose', async (ctx) => {
    const me = await readMe(ctx);
    const filled = await readForm(ctx);
    const kind = kindOf(filled);
    // A refund names no account, although the form may have been filled in for a credit.
    const isUnused = (name: string) => name === 'account_id' && filled.action === 'refund';
    const body = Object.fromEntries(Object.entries(filled).filter(([name, value]) => value !== '' && !isUnused(name)));
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

  /** Renders the payout of a decision as it is now, and the effect on the money. */
  async function readAbout(ctx: Context, decision: DecisionShown): Promise<Markup | string> {
    if (decision.kind === 'settle_receipt') return readAboutReceipt(ctx, decision);
    const id = decision.payout_id ?? decision.withdrawal_id;
    if (id === null) return '';
    const [payout, timeline] = await Promise.all([
      readPart<PayoutFacts>(ctx, 'get', '/v1/payouts/:id', { params: { id } }),
      readPart<TimelineShown>(ctx, 'get', '/v1/payouts/:id/timeline', { params: { id } }),
    ]);
    const isPending = decision.status === 'pending';
    const about = sectionOf('The payout now', payout, (facts) => {
      const effect = isPending ? moneyOf(facts, decision) : null;
      return html`${payoutFacts(facts)}<p><a href="/operations/payouts/${facts.id}">All details</a></p>
${effect && html`<p><strong>The money</strong>: ${effect}</p>`}`;
    });
    if (timeline === null || timeline === unreadable || !isPending || decision.kind === 'book_transfer') return about;
    return html`${about}${(decision.kind === 'settle_payout' ? goesOnOf : nextOf)(timeline)}`;
  }

  /** Renders what suspended money was paid for, and where the decision sends it. */
  async function readAboutReceipt(ctx: Context, decision: DecisionShown): Promise<Markup | string> {
    const { amount = '0', reference = '' } = decision.evidence.books as { amount?: string; reference?: string };
    const payment = isUuid(reference)
      ? await readPart<PaymentFacts>(ctx, 'get', '/v1/partner-payments/:id', { params: { id: reference } }).catch(
          (error: unknown) => (asDomainError(error).code === 'NOT_FOUND' ? null : Promise.reject(error)),
        )
      : null;
    const to = decision.account_id && (await findAccountShown(deps.orm.em.fork(), decision.account_id));
    const names = await readNames(ctx, [to ? to.user_id : null]);
    const owner = to && (to.owner ?? (to.user_id && nameOf(names, to.user_id)));
    return html`${sectionOf('The payment now', payment, paymentFacts)}
<p><a href="${payment === null ? searchFor(reference) : `/operations/payments/${reference}`}">All details</a></p>
${decision.status === 'pending' && html`<p><strong>The money</strong>: ${money(amount)} ${to ? `goes from suspense to an account of ${owner} (${words(to.kind)})` : 'leaves suspense: the provider has refunded it'}.</p>`}`;
  }

  async function showDecision(ctx: Context, id: string, refusal: DomainError | null = null): Promise<void> {
    const me = await readMe(ctx);
    const decision = await call<DecisionShown>(ctx, 'get', '/v1/decisions/:id', { params: { id } });
    const names = await readNames(ctx, peopleOf(decision));
    const mayApprove = me.permissions.includes('approve-decision');
    const complaint = refusal && sentenceOf(refusal);
    const about = await readAbout(ctx, decision);
    const content = decisionPage(decision, { names, userId: me.id, mayApprove, complaint, about });
    await show(
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
  switchPages(router, pages);
  listPages(router, pages);
  resourcePages(router, pages);
  importPages(router, pages);
  batchPages(router, pages);
  router.get('/{*path}', async (ctx) => {
    await readMe(ctx);
    refuse('NOT_FOUND', 'The page was not found');
  });
  return router;
}

/** The kind of decision that a form proposes. */
function kindOf({ kind }: Filled): ProposedKind {
  return (
    proposedKinds.find((known) => known === kind) ??
    refuse('REQUEST_INVALID', 'unknown kind of decision', { field: 'kind' })
  );
}

const refusalPage = (sentence: string, needsLogin: boolean): Markup => html`${complain(sentence)}
<p>${needsLogin ? html`<a href="/operations/log-in">Log in again</a>` : html`<a href="/operations">Back to the overview</a>`}</p>`;
