import { isOpen, pushWallets, type SandboxInstrument, type SandboxPayment } from './instrument.ts';
import { escapeHtml, moment, noticeOf, page, rupiah } from './page.ts';
import { bankNameOf } from './payout-channels.ts';
import type { SandboxRefund } from './refund.ts';
import type { SandboxTransfer } from './transfer.ts';

const kinds = { VIRTUAL_ACCOUNT: 'virtual account', QR_CODE: 'QRIS', EWALLET: 'e-wallet' } as const;
export const sumOf = ({ amount, isReusable }: SandboxInstrument): string =>
  isReusable ? `${amount === 0 ? 'any amount' : rupiah(amount)}, as often as you like` : rupiah(amount);
export const nameOf = ({ type, channelCode }: SandboxInstrument): string =>
  type === 'QR_CODE' ? 'QRIS' : `${bankNameOf(channelCode)} ${kinds[type]}`;

export const states: Record<SandboxInstrument['status'], string> = {
  PENDING: 'waiting',
  REQUIRES_ACTION: 'waiting',
  SUCCEEDED: 'paid',
  FAILED: 'declined',
  EXPIRED: 'expired',
};

export interface CheckoutView {
  instrument: SandboxInstrument;
  payments: SandboxPayment[];
  /** The QR code as SVG. */
  qr: string | null;
  notice?: string | undefined;
}

function codeOf({ instrument, qr }: CheckoutView): string {
  const { type, paymentCode, channelCode, customerName, mobileNumber } = instrument;
  if (type === 'QR_CODE') {
    const image = `data:image/svg+xml;base64,${Buffer.from(qr ?? '').toString('base64')}`;
    return `<img src="${image}" alt="QR code of this payment" width="272" height="272">
<details class="small"><summary>QR payload as text</summary><p class="code small">${escapeHtml(paymentCode)}</p></details>`;
  }
  if (type === 'VIRTUAL_ACCOUNT') {
    return `<p class="small">${escapeHtml(bankNameOf(channelCode))} virtual account of ${escapeHtml(customerName ?? '')}</p>
<p class="code">${escapeHtml(paymentCode)}</p>`;
  }
  return pushWallets.has(channelCode)
    ? `<p>${escapeHtml(channelCode)} asks ${escapeHtml(mobileNumber ?? 'the payer')} in its app.</p>`
    : `<p>${escapeHtml(channelCode)} asks you to confirm this payment.</p>`;
}

function paymentsOf(payments: SandboxPayment[]): string {
  if (payments.length === 0) return '';
  const items = payments.map(
    ({ amount, status, created, failureCode }) =>
      `<li>${rupiah(amount)} ${status === 'SUCCEEDED' ? 'paid' : `declined (${escapeHtml(failureCode ?? '')})`}, ${moment(created)}</li>`,
  );
  return `<h2>Payments made</h2><ul>${items.join('')}</ul>`;
}

function payableOf(instrument: SandboxInstrument): string {
  const open = isOpen(instrument);
  if (instrument.isReusable) return open ? 'Payable until it is closed' : 'No longer payable';
  return `${open ? 'Payable until' : 'Was payable until'} ${moment(instrument.expiresAt)}`;
}

/** An instrument and the payer's actions on it. */
export function renderCheckout(view: CheckoutView): string {
  const { instrument, payments, notice } = view;
  const open = isOpen(instrument);
  const back = instrument.returnUrl;
  return page(
    `${nameOf(instrument)} ${sumOf(instrument)}`,
    `<main>
<h1>${escapeHtml(nameOf(instrument))}</h1>
${noticeOf(notice)}
<div class="card">
<p class="state" role="status">${open ? 'Waiting for payment' : `This payment is ${states[instrument.status]}`}</p>
<p class="sum">${sumOf(instrument)}</p>
${instrument.description ? `<p>${escapeHtml(instrument.description)}</p>` : ''}
${codeOf(view)}
<p class="small">${payableOf(instrument)}. Reference ${escapeHtml(instrument.referenceId)}.</p>
<form method="post" class="actions">
<div><label for="amount">Amount in rupiah</label><input id="amount" name="amount" type="number" min="1" step="any" value="${instrument.amount || ''}" required></div>
<button class="pay" name="action" value="pay">${open ? 'Pay' : 'Pay anyway'}</button>
${open ? '<button class="decline" name="action" value="decline">Decline</button><button name="action" value="expire">Let it expire</button>' : ''}
</form>
${open ? '' : '<p class="small">Paying now creates a late or a double payment.</p>'}
</div>
${!open && back ? `<p><a href="${escapeHtml(back)}" rel="noreferrer">Back to the merchant</a></p>` : ''}
${paymentsOf(payments)}
</main>`,
  );
}

interface Ended {
  title: string;
  sum: number;
  state: string;
  /** HTML. */
  about: string;
  actions: readonly (readonly [status: string, label: string])[];
}

/** A page with a payout or refund and buttons that set its status. */
const renderByHand = ({ title, sum, state, about, actions }: Ended): string =>
  page(
    `${title} ${rupiah(sum)}`,
    `<main>
<h1>${escapeHtml(title)}</h1>
<div class="card">
<p class="state" role="status">${escapeHtml(state)}</p>
<p class="sum">${rupiah(sum)}</p>
${about}
<form method="post" class="actions">
${actions.map(([status, label]) => `<button name="status" value="${status}">${label}</button>`).join('\n')}
</form>
<p class="small">Each sends a callback, whatever the current status, so that you can create contradictions.</p>
</div>
</main>`,
  );

const stateOf = (what: string, { status, failureCode }: SandboxTransfer | SandboxRefund): string =>
  `This ${what} is ${status.toLowerCase()}${failureCode === null ? '' : ` (${failureCode})`}`;

/** A payout and its bank's actions on it. */
export function renderTransfer(transfer: SandboxTransfer): string {
  const { channelCode, accountNumber, accountHolderName, amount, created, referenceId, description } = transfer;
  return renderByHand({
    title: `Payout to ${bankNameOf(channelCode)}`,
    sum: amount,
    state: stateOf('payout', transfer),
    about: `<p class="code">${escapeHtml(accountNumber)}</p>
<p>${escapeHtml(accountHolderName ?? '')}</p>
<p class="small">Accepted ${moment(created)}. Reference ${escapeHtml(referenceId)}${description ? `, ${escapeHtml(description)}` : ''}.</p>`,
    actions: [
      ['SUCCEEDED', 'Let it succeed'],
      ['FAILED', 'Let it fail'],
      ['REVERSED', 'Reverse it'],
    ],
  });
}

/** A refund to a wallet, and its actions. */
export function renderRefund(refund: SandboxRefund): string {
  const { channelCode, amount, created, referenceId, requestId, reason } = refund;
  return renderByHand({
    title: `Refund to ${bankNameOf(channelCode)}`,
    sum: amount,
    state: stateOf('refund', refund),
    about: `<p>Refund of <a href="/checkout/${escapeHtml(requestId)}">this payment</a>: ${escapeHtml(reason)}</p>
<p class="small">Accepted ${moment(created)}. Reference ${escapeHtml(referenceId)}.</p>`,
    actions: [
      ['SUCCEEDED', 'Let it succeed'],
      ['FAILED', 'Let it fail'],
    ],
  });
}
