import { Router } from '@koa/router';
import type { Context } from 'koa';
import { queryValue } from './http.ts';
import { type CaughtMail, findMail, listMails } from './mail-server.ts';
import { escapeHtml, moment, page, renderMessage, table } from './page.ts';
import type { Store } from './store.ts';

const shown = 100;

function answer(ctx: Context, html: string, policy: string, status = 200): void {
  ctx.status = status;
  ctx.type = 'html';
  ctx.set(
    'content-security-policy',
    `default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; ${policy}`,
  );
  ctx.set('cache-control', 'no-store');
  ctx.body = html;
}

/** The platform's caught mail: pages for people, and JSON for tests. */
export function mailRoutes({ store }: { store: Store }): Router {
  const router = new Router();
  router.get('/sandbox/mail', (ctx) => {
    ctx.body = { mail: listMails(store, { to: queryValue(ctx, 'to') }) };
  });
  router.get('/mail', (ctx) => {
    const to = queryValue(ctx, 'to')?.trim() || undefined;
    answer(ctx, renderMails(listMails(store, { to, limit: shown })), "frame-ancestors 'none'");
  });
  router.get('/mail/:id', (ctx) => {
    const mail = findMail(store, String(ctx.params.id));
    if (!mail) return answer(ctx, renderMessage('The message was not found'), "frame-ancestors 'none'", 404);
    answer(ctx, renderMail(mail), "frame-src 'self'; frame-ancestors 'none'");
  });
  // The message as a mail client shows it; links open in a new tab.
  router.get('/mail/:id/html', (ctx) => {
    const mail = findMail(store, String(ctx.params.id));
    if (!mail) return answer(ctx, renderMessage('The message was not found'), "frame-ancestors 'self'", 404);
    const html = mail.html.replace('<head>', '<head><base target="_blank">');
    answer(ctx, html, "sandbox allow-popups allow-popups-to-escape-sandbox; frame-ancestors 'self'");
  });
  return router;
}

/** The list of caught messages. */
function renderMails(mails: readonly CaughtMail[]): string {
  const rows = mails.map(({ id, to, subject, received_at }) => [
    moment(received_at),
    escapeHtml(to),
    `<a href="/mail/${encodeURIComponent(id)}">${escapeHtml(subject)}</a>`,
  ]);
  return page(
    'Mail',
    `<main><h1>Mail</h1><p class="lead">Every email the platform sends is caught here. Newest first. As JSON: <a href="/sandbox/mail">/sandbox/mail</a>.</p>
${mails.length === 0 ? '<p>No email has been sent yet.</p>' : table('Mail', ['Received', 'To', 'Subject'], rows)}</main>`,
  );
}

/** One message, as a mail client shows it and as plain text. */
function renderMail({ id, from, to, subject, text, received_at }: CaughtMail): string {
  return page(
    subject,
    `<main><h1>${escapeHtml(subject)}</h1><p class="lead">From ${escapeHtml(from)} to ${escapeHtml(to)}, ${moment(received_at)}</p>
<iframe title="The message" src="/mail/${encodeURIComponent(id)}/html" sandbox="allow-popups allow-popups-to-escape-sandbox" style="width:100%;height:28rem;border:1px solid var(--line);border-radius:.5rem"></iframe>
<h2>Plain text</h2><pre style="white-space:pre-wrap;overflow-wrap:anywhere">${escapeHtml(text).replace(/https?:\/\/\S+/g, '<a href="$&" rel="noreferrer">$&</a>')}</pre></main>`,
  );
}
