import Router from '@koa/router';
import type { MikroORM } from '@mikro-orm/postgresql';
import { isUuid } from '../../shared/uuid.ts';
import { findPaidState } from './instrument-row.ts';
import { paidPage } from './paid-page.ts';
import { paidPath } from './return-url.ts';

/** `GET /paid/:id`: where wallets send payers back to. Public, rendered by the server, without scripts. */
export function paidPages({ orm }: { orm: MikroORM }): Router {
  const router = new Router({ sensitive: true });
  router.get(paidPath(':id'), async (ctx) => {
    const id = ctx.params.id ?? '';
    const state = isUuid(id) ? await findPaidState(orm.em.fork(), id) : null;
    ctx.status = state === null ? 404 : 200;
    ctx.set('Cache-Control', 'no-store');
    ctx.type = 'text/html';
    ctx.body = paidPage(state);
  });
  return router;
}
