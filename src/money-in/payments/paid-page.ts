import { html } from 'hono/html';
import { cardPage } from '../../platform/http/card-page.ts';
import { rupiah } from '../../shared/money.ts';
import type { PaidState } from './instrument-row.ts';
import type { PaymentOrderStatus } from './payment-order.ts';

interface Told {
  title: string;
  /** What it means and what to do, in two sentences. */
  text: string;
}

const waiting: Told = {
  title: 'Not received yet',
  text:
    'If you have just paid, the money may need a minute to reach us: look again then. ' +
    'If you have not paid, go back to where you began and open the payment there once more.',
};

const told: Record<PaymentOrderStatus, Told> = {
  PENDING: waiting,
  WAITING_PAYMENT: waiting,
  PAID: {
    title: 'Paid',
    text: 'We have received this payment and tell the recipient at once. You can close this page.',
  },
  FAILED: {
    title: 'Not paid',
    text:
      'The payment was declined, and is not tried again. ' +
      'Go back to where you started to pay again, or in another way.',
  },
  EXPIRED: {
    title: 'No longer payable',
    text:
      'This payment takes no more money: go back to where you began to make a new one. ' +
      'If money has left your account for it anyway, tell the recipient.',
  },
};

const unknown: Told = {
  title: 'There is no such payment',
  text: 'The address of this page is not quite right. Go back to where you began, and look at your payment there.',
};

const style = `.sum { font-size: 1.75rem; font-weight: 600; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; margin: 0.5rem 0 0; }
.text { margin: 1rem 0 0; }
.again { margin: 1.25rem 0 0; }
a { display: inline-block; padding: 0.5rem 1rem; color: var(--act); border: 1px solid currentcolor; border-radius: 6px;
  text-decoration: none; font-weight: 600; }
`;

/** The page for a payer who returns from a wallet: status and amount only; null for an unknown payment. */
export function paidPage(state: PaidState | null): string {
  const { title, text } = state === null ? unknown : told[state.status];
  const content = html`${state && html`<p class="sum">${rupiah(state.total)}</p>`}
<p class="text">${text}</p>
${state !== null && told[state.status] === waiting ? html`<p class="again"><a href="">Look again</a></p>` : ''}`;
  return String(cardPage({ lang: 'en', title, style }, content));
}
