import { isOpen, pushWallets, type SandboxInstrument, type SandboxPayment } from './instrument.ts';
import type { CaughtMail } from './mail-server.ts';
import type { SandboxTransfer } from './transfer.ts';

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => escapes[sign] ?? sign);

const rupiah = (amount: number): string => `Rp ${amount.toLocaleString('id-ID')}`;

const clock = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'Asia/Jakarta' });
const moment = (iso: string): string => `<time datetime="${escapeHtml(iso)}">${clock.format(new Date(iso))} WIB</time>`;

const kinds = { VIRTUAL_ACCOUNT: 'virtual account', QR_CODE: 'QRIS', EWALLET: 'e-wallet' } as const;
const sumOf = ({ amount, isReusable }: SandboxInstrument): string =>
  isReusable ? `${amount === 0 ? 'any amount' : rupiah(amount)}, as often as you like` : rupiah(amount);
const nameOf = ({ type, channelCode }: SandboxInstrument): string =>
  type === 'QR_CODE' ? 'QRIS' : `${channelCode} ${kinds[type]}`;

const states: Record<SandboxInstrument['status'], string> = {
  PENDING: 'waiting',
  REQUIRES_ACTION: 'waiting',
  SUCCEEDED: 'paid',
  FAILED: 'declined',
  EXPIRED: 'expired',
};

const style = `
  :root { color-scheme: light dark; --line: #8886; --accent: #0b6e4f; --warn: #b3261e; }
  * { box-sizing: border-box; }
  body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 46rem; padding: 1.5rem 1rem 4rem; }
  h1 { font-size: 1.5rem; margin: 0 0 .75rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
  .lead { margin: 0 0 1.5rem; opacity: .75; }
  table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .5rem .5rem .5rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
  td.amount, th.amount { text-align: right; white-space: nowrap; padding-right: 0; }
  .scroll { overflow-x: auto; }
  .grow { flex: 1 1 16rem; } .grow input { width: 100%; }
  .card { border: 1px solid var(--line); border-radius: .75rem; padding: 1.25rem; }
  .sum { font-size: 2rem; font-weight: 600; margin: .25rem 0; }
  .code { font: 1.25rem ui-monospace, monospace; overflow-wrap: anywhere; user-select: all; }
  .small { font-size: .85rem; }
  img { display: block; width: min(100%, 17rem); height: auto; background: #fff; border-radius: .5rem; margin: .75rem 0; }
  form.actions { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end; margin-top: 1.25rem; }
  label { display: block; font-size: .85rem; }
  input { font: inherit; padding: .5rem .6rem; border: 1px solid var(--line); border-radius: .5rem; background: transparent; color: inherit; width: 12rem; max-width: 100%; }
  button { font: inherit; font-weight: 600; padding: .55rem 1.1rem; border-radius: .5rem; border: 1px solid var(--line); background: transparent; color: inherit; cursor: pointer; }
  button.pay { background: var(--accent); border-color: var(--accent); color: #fff; }
  button.decline { color: var(--warn); border-color: var(--warn); }
  :focus-visible { outline: 3px solid #4c9ffe; outline-offset: 2px; }
  .notice { border-left: 4px solid var(--warn); padding: .5rem .75rem; margin: 0 0 1rem; }
  .state { font-weight: 600; }
  @media (prefers-color-scheme: dark) { :root { --accent: #1b8a66; --warn: #f2857d; } }
`;

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} - Sandbox provider</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
${body}
</body>
</html>
`;
}

const noticeOf = (notice: string | undefined): string =>
  notice === undefined ? '' : `<p class="notice" role="alert">${escapeHtml(notice)}</p>`;

function tableOf(instruments: SandboxInstrument[], caption: string): string {
  const rows = instruments.map(
    (instrument) => `<tr>
<td><a href="/checkout/${escapeHtml(instrument.requestId)}">${escapeHtml(nameOf(instrument))}</a></td>
<td class="small">${instrument.type === 'VIRTUAL_ACCOUNT' ? escapeHtml(instrument.paymentCode) : escapeHtml(instrument.referenceId)}</td>
<td>${states[instrument.status]}</td>
<td class="small">${moment(instrument.created)}</td>
<td class="amount">${sumOf(instrument)}</td>
</tr>`,
  );
  return `<div class="scroll" role="region" tabindex="0" aria-label="${escapeHtml(caption)}"><table>
<thead><tr><th scope="col">Pay by</th><th scope="col">Number or reference</th><th scope="col">State</th><th scope="col">Issued</th><th scope="col" class="amount">Amount</th></tr></thead>
<tbody>${rows.join('\n')}</tbody>
</table></div>`;
}

function transfersOf(transfers: SandboxTransfer[]): string {
  const rows = transfers.map(
    ({ id, channelCode, accountNumber, status, created, amount }) => `<tr>
<td><a href="/payouts/${escapeHtml(id)}">${escapeHtml(channelCode)}</a></td>
<td class="small">${escapeHtml(accountNumber)}</td>
<td>${status.toLowerCase()}</td>
<td class="small">${moment(created)}</td>
<td class="amount">${rupiah(amount)}</td>
</tr>`,
  );
  return `<div class="scroll" role="region" tabindex="0" aria-label="Payouts"><table>
<thead><tr><th scope="col">To</th><th scope="col">Account number</th><th scope="col">State</th><th scope="col">Taken</th><th scope="col" class="amount">Amount</th></tr></thead>
<tbody>${rows.join('\n')}</tbody>
</table></div>`;
}

export interface ListView {
  open: SandboxInstrument[];
  ended: SandboxInstrument[];
  transfers: SandboxTransfer[];
  notice?: string | undefined;
}

/** Everything that can be paid now, and what was paid out, newest first. */
export function renderList({ open, ended, transfers, notice }: ListView): string {
  return page(
    'Payments',
    `<main>
<h1>Sandbox provider</h1>
<p class="lead">You are the payer. No real money moves here.</p>
${noticeOf(notice)}
<form method="get" action="/" class="actions" role="search">
<div class="grow"><label for="code">Account number, QR payload or link</label><input id="code" name="code" autocomplete="off" required></div>
<button type="submit">Open</button>
</form>
<h2>Waiting for payment</h2>
${open.length === 0 ? '<p>Nothing waits. Create a payment and reload this page.</p>' : tableOf(open, 'Waiting for payment')}
${ended.length === 0 ? '' : `<h2>Ended</h2>${tableOf(ended, 'Ended')}`}
${transfers.length === 0 ? '' : `<h2>Payouts</h2>${transfersOf(transfers)}`}
</main>`,
  );
}

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
    return `<p class="small">${escapeHtml(channelCode)} virtual account of ${escapeHtml(customerName ?? '')}</p>
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

/** One instrument and the payer's actions on it. */
export function renderCheckout(view: CheckoutView): string {
  const { instrument, payments, notice } = view;
  const open = isOpen(instrument);
  const back = instrument.returnUrl;
  return page(
    `${nameOf(instrument)} ${sumOf(instrument)}`,
    `<main>
<p><a href="/">All payments</a></p>
<h1>${escapeHtml(nameOf(instrument))}</h1>
${noticeOf(notice)}
<div class="card">
<p class="state" role="status">${open ? 'Waiting for payment' : `This payment is ${states[instrument.status]}`}</p>
<p class="sum">${sumOf(instrument)}</p>
${instrument.description ? `<p>${escapeHtml(instrument.description)}</p>` : ''}
${codeOf(view)}
<p class="small">${open ? 'Payable until' : 'Was payable until'} ${moment(instrument.expiresAt)}. Reference ${escapeHtml(instrument.referenceId)}.</p>
<form method="post" class="actions">
<div><label for="amount">Amount in rupiah</label><input id="amount" name="amount" type="number" min="1" step="any" value="${instrument.amount || ''}" required></div>
<button class="pay" name="action" value="pay">${open ? 'Pay' : 'Pay all the same'}</button>
${open ? '<button class="decline" name="action" value="decline">Decline</button><button name="action" value="expire">Let it expire</button>' : ''}
</form>
${open ? '' : '<p class="small">Paying now is how a late or a double payment is made.</p>'}
</div>
${!open && back ? `<p><a href="${escapeHtml(back)}" rel="noreferrer">Back to the merchant</a></p>` : ''}
${paymentsOf(payments)}
</main>`,
  );
}

/** One payout and its bank's actions on it. */
export function renderTransfer(transfer: SandboxTransfer): string {
  const { channelCode, accountNumber, accountHolderName, amount, status, failureCode, description } = transfer;
  return page(
    `${channelCode} ${rupiah(amount)}`,
    `<main>
<p><a href="/">All payments and payouts</a></p>
<h1>Payout to ${escapeHtml(channelCode)}</h1>
<div class="card">
<p class="state" role="status">This payout is ${status.toLowerCase()}${failureCode === null ? '' : ` (${escapeHtml(failureCode)})`}</p>
<p class="sum">${rupiah(amount)}</p>
<p class="code">${escapeHtml(accountNumber)}</p>
<p>${escapeHtml(accountHolderName ?? '')}</p>
<p class="small">Taken ${moment(transfer.created)}. Reference ${escapeHtml(transfer.referenceId)}${description ? `, ${escapeHtml(description)}` : ''}.</p>
<form method="post" class="actions">
<button class="pay" name="status" value="SUCCEEDED">Let it succeed</button>
<button class="decline" name="status" value="FAILED">Let it fail</button>
<button name="status" value="REVERSED">Give it back</button>
</form>
<p class="small">Each sends a callback, whatever was said before: that is how a contradiction is made.</p>
</div>
</main>`,
  );
}

/** A page with one sentence. */
export function renderMessage(message: string): string {
  return page(message, `<main><h1>${escapeHtml(message)}</h1><p><a href="/">All payments</a></p></main>`);
}

/** The mails that were caught. */
export function renderMails(mails: readonly CaughtMail[]): string {
  const rows = mails.map(
    ({ id, to, subject, received_at }) => `<tr><td>${moment(received_at)}</td><td>${escapeHtml(to)}</td>
<td><a href="/mail/${encodeURIComponent(id)}">${escapeHtml(subject)}</a></td></tr>`,
  );
  const table = `<div class="scroll"><table><thead><tr><th>Received</th><th>To</th><th>Subject</th></tr></thead>
<tbody>${rows.join('')}</tbody></table></div>`;
  return page(
    'Mail',
    `<main><h1>Mail</h1><p class="lead">Every mail that the platform sends ends here, the newest first. As JSON: <a href="/sandbox/mail">/sandbox/mail</a>.</p>
${mails.length === 0 ? '<p>No mail was sent yet.</p>' : table}
<p><a href="/">All payments and payouts</a></p></main>`,
  );
}

/** One mail, as a mail program shows it and as plain text. */
export function renderMail({ id, from, to, subject, text, received_at }: CaughtMail): string {
  return page(
    subject,
    `<main><h1>${escapeHtml(subject)}</h1><p class="lead">From ${escapeHtml(from)} to ${escapeHtml(to)}, ${moment(received_at)}</p>
<iframe title="The mail" src="/mail/${encodeURIComponent(id)}/html" sandbox="allow-popups allow-popups-to-escape-sandbox" style="width:100%;height:28rem;border:1px solid var(--line);border-radius:.5rem"></iframe>
<h2>Plain text</h2><pre style="white-space:pre-wrap;overflow-wrap:anywhere">${escapeHtml(text).replace(/https?:\/\/\S+/g, '<a href="$&" rel="noreferrer">$&</a>')}</pre>
<p><a href="/mail">All mail</a></p></main>`,
  );
}
