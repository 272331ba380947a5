import Router from '@koa/router';
import type { MikroORM } from '@mikro-orm/postgresql';
import { html } from 'hono/html';
import { cardPage } from '../../platform/http/card-page.ts';
import { rupiah } from '../../shared/money.ts';
import { isUuid } from '../../shared/uuid.ts';
import { findPaidState, type PaidState } from './instrument-row.ts';
import type { PaymentOrderStatus } from './payment-order.ts';
import { paidPath } from './return-url.ts';

interface Told {
  title: string;
  /** The explanation and the next step, in two sentences. */
  text: string;
}

const waiting: Told = {
  title: 'Not received yet',
  text:
    'If you have just paid, it may take a minute to arrive: check again then. If you have not paid, go back to where ' +
    'you started and open the payment again.',
};

const told: Record<PaymentOrderStatus, Told> = {
  PENDING: waiting,
  WAITING_PAYMENT: waiting,
  PAID: {
    title: 'Paid',
    text: 'We have received this payment and are notifying the recipient. You can close this page.',
  },
  FAILED: {
    title: 'Not paid',
    text:
      'The payment was declined and will not be retried. Go back to where you started to try again or pay in another ' +
      'way.',
  },
  EXPIRED: {
    title: 'No longer payable',
    text:
      'This payment can no longer be paid: go back to where you started to make a new one. If money has left your ' +
      'account anyway, contact the recipient.',
  },
};

const unknown: Told = {
  title: 'Payment not found',
  text: 'The address of this page is wrong. Go back to where you started and open the payment there.',
};

const style = `.sum { font-size: 1.75rem; font-weight: 600; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; margin: 0.5rem 0 0; }
.text { margin: 1rem 0 0; }
.again { margin: 1.25rem 0 0; }
a { display: inline-block; padding: 0.5rem 1rem; color: var(--act); border: 1px solid currentcolor; border-radius: 6px;
  text-decoration: none; font-weight: 600; }
`;

/** The page for a payer who returns from a wallet: status and amount only; null for an unknown payment. */
function paidPage(state: PaidState | null): string {
  const { title, text } = state === null ? unknown : told[state.status];
  const content = html`${state && html`<p class="sum">${rupiah(state.total)}</p>`}
<p class="text">${text}</p>
${state !== null && told[state.status] === waiting ? html`<p class="again"><a href="">Check again</a></p>` : ''}`;
  return String(cardPage({ lang: 'en', title, style }, content));
}

/** `GET /paid/:id`: the page to which wallets return payers. Public, rendered by the server, without scripts. */
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
