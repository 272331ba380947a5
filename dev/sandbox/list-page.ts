import { nameOf, states, sumOf } from './detail-pages.ts';
import type { SandboxInstrument } from './instrument.ts';
import { escapeHtml, moment, noticeOf, page, rupiah, table } from './page.ts';
import { bankNameOf } from './payout-channels.ts';
import type { SandboxRefund } from './refund.ts';
import { isForHand } from './steps.ts';
import type { SandboxTransfer } from './transfer.ts';

/** The rows that are shown, and how many there are. */
export interface Shown<T> {
  rows: T[];
  total: number;
}

export interface ListView {
  open: Shown<SandboxInstrument>;
  ended: Shown<SandboxInstrument>;
  transfers: Shown<SandboxTransfer>;
  refunds: Shown<SandboxRefund>;
  notice?: string | undefined;
}

const small = (html: string): string => (html === '' ? '' : `<span class="small">${html}</span>`);

/** The status of a transfer or refund; highlighted if it waits for a person. */
const stateOf = (of: SandboxTransfer | SandboxRefund): string =>
  isForHand(of) ? '<strong>waits for you</strong>' : of.status.toLowerCase();

const cellsOfInstrument = (of: SandboxInstrument): string[] => [
  `<a href="/checkout/${escapeHtml(of.requestId)}">${escapeHtml(nameOf(of))}</a>`,
  small(escapeHtml(of.type === 'VIRTUAL_ACCOUNT' ? of.paymentCode : of.referenceId)),
  small(escapeHtml(of.description ?? '')),
  states[of.status],
  small(moment(of.created)),
  sumOf(of),
];
const ofInstruments = ['Pay by', 'Number or id', 'Reference', 'State', 'Issued', 'Amount'];

const cellsOfTransfer = (of: SandboxTransfer): string[] => [
  `<a href="/payouts/${escapeHtml(of.id)}">${escapeHtml(bankNameOf(of.channelCode))}</a>`,
  small(escapeHtml(of.accountNumber)),
  small(escapeHtml(of.description ?? '')),
  stateOf(of),
  small(moment(of.created)),
  rupiah(of.amount),
];
const ofTransfers = ['To', 'Account number', 'Reference', 'State', 'Accepted', 'Amount'];

const cellsOfRefund = (of: SandboxRefund): string[] => [
  `<a href="/refunds/${escapeHtml(of.id)}/by-hand">${escapeHtml(bankNameOf(of.channelCode))}</a>`,
  small(escapeHtml(of.referenceId)),
  stateOf(of),
  small(moment(of.created)),
  rupiah(of.amount),
];
const ofRefunds = ['To', 'Id', 'State', 'Accepted', 'Amount'];

function section<T>(
  title: string,
  { rows, total }: Shown<T>,
  columns: string[],
  cellsOf: (row: T) => string[],
): string {
  if (total === 0) return '';
  const hidden = total - rows.length;
  const more = hidden === 0 ? '' : `<p class="small">${hidden} older ones are not shown.</p>`;
  return `<h2>${title}</h2>${table(title, columns, rows.map(cellsOf))}${more}`;
}

/**
 * The list page: open and closed instruments, payouts and refunds, newest first; payouts and refunds that wait for a
 * person come first.
 */
export function renderList({ open, ended, transfers, refunds, notice }: ListView): string {
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
${section('Waiting for payment', open, ofInstruments, cellsOfInstrument) || '<h2>Waiting for payment</h2><p>None. Create a payment and reload this page.</p>'}
${section('Payouts', transfers, ofTransfers, cellsOfTransfer)}
${section('Refunds', refunds, ofRefunds, cellsOfRefund)}
${section('Ended', ended, ofInstruments, cellsOfInstrument)}
</main>`,
  );
}
