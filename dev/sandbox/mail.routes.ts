import { Router } from '@koa/router';
import type { Context } from 'koa';
import { queryValue } from './http.ts';
import { renderMail, renderMails } from './mail-pages.ts';
import { findMail, listMails } from './mail-server.ts';
import { renderMessage } from './page.ts';
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

/** What was caught of the platform's e-mail: pages for people, and JSON for tests. */
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
    if (!mail) return answer(ctx, renderMessage('There is no such mail.'), "frame-ancestors 'none'", 404);
    answer(ctx, renderMail(mail), "frame-src 'self'; frame-ancestors 'none'");
  });
  // As a mail program would show it; its links open a page of their own.
  router.get('/mail/:id/html', (ctx) => {
    const mail = findMail(store, String(ctx.params.id));
    if (!mail) return answer(ctx, renderMessage('There is no such mail.'), "frame-ancestors 'self'", 404);
    const html = mail.html.replace('<head>', '<head><base target="_blank">');
    answer(ctx, html, "sandbox allow-popups allow-popups-to-escape-sandbox; frame-ancestors 'self'");
  });
  return router;
}
