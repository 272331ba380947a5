import Router from '@koa/router';
import { html } from 'hono/html';
import type { Context } from 'koa';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import type { Markup } from '../../platform/http/card-page.ts';
import { asDomainError, noteRefusal, sentenceOf } from '../../platform/http/errors.ts';
import { readForm } from '../../platform/http/forms.ts';
import type { RouteGroup } from '../../platform/http/route-group.ts';
import { callRoute, type Doors, type ServingPorts } from '../../platform/http/serve-route.ts';
import type { Logger } from '../../platform/process/log.ts';
import { must } from '../../shared/assert.ts';
import { errorStatuses } from '../../shared/errors.ts';
import { unsubscribe, unsubscribePath } from '../mail/unsubscribe.ts';
import { accountPage, messagePage } from './account-page.ts';

interface PagePorts extends ServingPorts {
  log: Logger;
  sealer: Sealer;
}

interface Pages<Ports> {
  routeGroups: readonly RouteGroup<Ports>[];
  deps: Ports;
  doors: Doors;
}

interface TokenPage {
  path: string;
  title: string;
  text: string;
  button: string;
  takesPassword: boolean;
  /** The API route that the form calls. */
  route: string;
  done: string;
}

const pages: readonly TokenPage[] = [
  {
    path: '/confirm-email',
    title: 'Konfirmasi alamat surel · Confirm your address',
    text: 'Tekan tombol untuk mengonfirmasi. Press the button to confirm that this is your e-mail address.',
    button: 'Konfirmasi · Confirm',
    takesPassword: false,
    route: '/v1/auth/email/confirm',
    done: 'Alamat Anda telah dikonfirmasi. Your address is confirmed.',
  },
  {
    path: '/reset-password',
    title: 'Kata sandi baru · New password',
    text: 'Pilih kata sandi baru, paling sedikit 12 karakter. Choose a new password of at least 12 characters.',
    button: 'Simpan · Save',
    takesPassword: true,
    route: '/v1/auth/password/reset',
    done: 'Kata sandi Anda telah diganti; silakan login. Your password is changed; log in with it.',
  },
  {
    path: '/accept-invitation',
    title: 'Undangan · Invitation',
    text: 'Pilih kata sandi, paling sedikit 12 karakter. Choose a password of at least 12 characters to accept.',
    button: 'Terima · Accept',
    takesPassword: true,
    route: '/v1/auth/invitations/accept',
    done: 'Undangan telah diterima; silakan login. You have accepted; log in with your password.',
  },
];

/** Returns a function that reads a parameter, empty if absent. Koa's own parsing takes quadratic time. */
function parametersOf({ querystring }: Context): (name: string) => string {
  const parameters = new URLSearchParams(querystring);
  return (name) => parameters.get(name) ?? '';
}

/**
 * Creates the pages behind the links in e-mails, which call the API's own routes and have no scripts. Opening a page
 * changes nothing, because mail clients open links by themselves; pressing its button does. The token in the form
 * authenticates, so no cookie is needed.
 */
export function accountPages<Ports extends PagePorts>({ routeGroups, deps, doors }: Pages<Ports>): Router {
  const router = new Router({ sensitive: true });
  const routes = new Map(routeGroups.flatMap((group) => group.routes).map((route) => [route.path, route]));
  const show = (ctx: Context, page: Markup, status = 200) => {
    ctx.status = status;
    ctx.set('Cache-Control', 'no-store');
    ctx.set('Referrer-Policy', 'no-referrer');
    ctx.type = 'text/html';
    ctx.body = String(page);
  };
  const orShowWhy = async (ctx: Context, act: () => Promise<void>, showWhy: (why: string) => Markup) => {
    try {
      await act();
    } catch (thrown) {
      const error = asDomainError(thrown);
      noteRefusal(deps.log, ctx, error);
      show(ctx, showWhy(sentenceOf(error)), errorStatuses[error.code]);
    }
  };

  for (const page of pages) {
    const route = must(routes.get(page.route), `there is ${page.route}`);
    router.get(page.path, (ctx) => show(ctx, accountPage(page, parametersOf(ctx)('token'), null)));
    router.post(page.path, async (ctx) => {
      let form: Record<string, string> = {};
      await orShowWhy(
        ctx,
        async () => {
          form = await readForm(ctx);
          const { token = '', password = '' } = form;
          const body = page.takesPassword ? { token, password } : { token };
          const call = { ctx, params: {}, query: {}, bytes: async () => Buffer.alloc(0), readBody: async () => body };
          await callRoute(route, deps, doors, call);
          // Set no cookie: another site that submits this form must not log the browser in to its own account.
          ctx.remove('Set-Cookie');
          show(ctx, messagePage(page.title, page.done));
        },
        (why) => accountPage(page, form.token ?? '', why),
      );
    });
  }

  const title = 'Berhenti menerima surel · Stop these e-mails';
  const asked = (ctx: Context) => {
    const read = parametersOf(ctx);
    return { user: read('user'), from: read('from'), proof: read('proof') };
  };
  router.get(unsubscribePath, (ctx) => {
    const form = html`<form method="post" action="${`${unsubscribePath}?${new URLSearchParams(asked(ctx))}`}">
<button>Berhenti · Stop</button></form>`;
    show(
      ctx,
      messagePage(title, 'Tekan tombol untuk berhenti. Press the button to stop receiving e-mails of this kind.', form),
    );
  });
  // Mail clients send this themselves (RFC 8058); the link authenticates it.
  router.post(unsubscribePath, (ctx) =>
    orShowWhy(
      ctx,
      async () => {
        const stopped = await unsubscribe(deps.orm.em.fork(), deps.sealer, asked(ctx));
        if (!stopped) return show(ctx, messagePage(title, 'Tautan ini tidak berlaku. This link is not valid.'), 400);
        show(ctx, messagePage(title, 'Sudah dihentikan. You will receive no more e-mails of this kind.'));
      },
      (why) => messagePage(title, why),
    ),
  );
  return router;
}
