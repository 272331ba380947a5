import { partnerPaymentStatuses } from '../../../money-in/collections/partner-payment.ts';
import { receiptLaw } from '../../../money-in/payments/receipt.ts';
import { decisionKinds, decisionLaw } from '../../../money-out/decisions/decision.ts';
import { payoutBatchLaw } from '../../../money-out/payout-batches/payout-batch.ts';
import { payoutKinds, payoutLaw } from '../../../money-out/payouts/payout.ts';
import { webhookDeliveryLaw } from '../../../partners/webhooks/webhook-delivery.ts';
import { decidedColumn } from './decision-page.ts';
import { instant, money, searchFor, words } from './spell.ts';

/** A row of a list as returned by the API. */
export type Row = Record<string, unknown>;

interface Column {
  head: string;
  /** The displayed value. */
  cell(row: Row): string;
  /** The value in CSV, if different. */
  csv?(row: Row): string;
  link?(row: Row): string | null;
}

/** A button in each row that posts to a page, which redirects back. */
interface Action {
  label: string;
  to(row: Row): string;
}

interface Filter {
  name: string;
  label: string;
  options?: readonly string[];
  type?: 'date';
}

/** A list of the API as a page. */
export interface ListOf {
  /** Under `/operations`; its parameters are those of `api`. */
  path: string;
  api: string;
  title: string;
  /** The text of an empty list. */
  none: string;
  filters: Filter[];
  columns: Column[];
  action?: (params: Record<string, string>) => Action;
  /** The page that contains this list. */
  within?: { label: string; path: string };
}

const textOf = (name: string) => (row: Row) => (row[name] === null || row[name] === undefined ? '' : String(row[name]));
const wordsIn = (name: string) => (row: Row) => words(textOf(name)(row));
const at = (name: string, head: string): Column => ({
  head,
  cell: (row) => (row[name] ? instant(String(row[name])) : ''),
  csv: textOf(name),
});
const rupiah = (name: string, head: string): Column => ({
  head,
  cell: (row) => money(textOf(name)(row)),
  csv: textOf(name),
});
const plain = (name: string, head: string): Column => ({ head, cell: textOf(name) });
const said = (name: string, head: string): Column => ({ head, cell: wordsIn(name), csv: textOf(name) });
const linked = (column: Column, path: string, id = 'id'): Column => ({
  ...column,
  link: (row) => (row[id] ? `/operations${path}/${String(row[id])}` : null),
});
const period: Filter[] = [
  { name: 'from', label: 'From', type: 'date' },
  { name: 'to', label: 'To', type: 'date' },
];
const ofPartner: Filter[] = [{ name: 'partner_id', label: 'Partner' }, ...period];
const partnerColumn = linked(plain('partner_name', 'Partner'), '/partners', 'partner_id');
const idColumn = plain('id', 'Id');

/** The items of a batch; each links to its payout once there is one. */
export const batchItemColumns: Column[] = [
  {
    ...plain('external_ref', 'External reference'),
    link: ({ id, status }) =>
      payoutLaw.statuses.some((one) => one === status) ? `/operations/payouts/${String(id)}` : null,
  },
  said('status', 'Status'),
  rupiah('amount', 'Amount'),
  plain('bank_code', 'Bank'),
  plain('bank_account_number', 'Account'),
  plain('beneficiary_name', 'Beneficiary'),
  plain('failure_code', 'Failure'),
];

const pagesOf: Readonly<Record<string, string>> = {
  payout: '/operations/payouts/',
  payout_batch: '/operations/batches/',
  partner_payment: '/operations/payments/',
  decision: '/operations/decisions/',
  partner: '/operations/partners/',
};
export const pageOf = (type: string, id: string): string | null => (pagesOf[type] ? `${pagesOf[type]}${id}` : null);

/** Returns the page of a webhook's resource; instruments and tests have none. */
const pageOfDelivered = (row: Row): string | null => {
  const [about = ''] = textOf('type')(row).split('.');
  return pageOf(about === 'payment' ? 'partner_payment' : about, textOf('resource_id')(row));
};
/** Returns the error of the last attempt or, without one, its HTTP status. */
const responseOf = (row: Row): string => textOf('last_error')(row) || textOf('last_status')(row);

/** A partner's webhook endpoints: there are at most ten, all on the partner's page. */
export const endpointColumns = (partnerId: string): Column[] => [
  {
    ...plain('url', 'URL'),
    link: (row) => `/operations/partners/${partnerId}/deliveries?endpoint_id=${String(row.id)}`,
  },
  { head: 'Events', cell: ({ events }) => (events as string[]).map((one) => (one === '*' ? 'all' : one)).join(', ') },
  {
    head: 'Status',
    cell: (row) =>
      row.status === 'disabled'
        ? `disabled${row.disabled_reason === 'failing' ? ' after failing for three days' : ''} since ${instant(textOf('disabled_at')(row))}`
        : row.failing_since
          ? `failing since ${instant(textOf('failing_since')(row))}`
          : 'enabled',
  },
  {
    head: 'Last delivery',
    cell: ({ last_delivery: last }) => {
      if (last === null) return 'none yet';
      const { type, status, created_at, delivered_at, ...rest } = last as Row;
      const response = status === 'delivered' ? '' : responseOf(rest);
      return `${String(type)}, ${String(status)}, ${instant(String(delivered_at ?? created_at))}${response && `: ${response}`}`;
    },
  },
  { head: 'Set by', cell: (row) => (row.set_by_operator ? 'operators' : 'the partner') },
];

/** Every list that has a page. */
export const listsShown: ListOf[] = [
  {
    path: '/payouts',
    api: '/v1/payouts',
    title: 'Payouts',
    none: 'No payout matches.',
    filters: [
      { name: 'status', label: 'Status', options: payoutLaw.statuses },
      { name: 'kind', label: 'Kind', options: payoutKinds },
      { name: 'bank_code', label: 'Bank' },
      { name: 'reference', label: 'Reference' },
      { name: 'external_ref', label: 'External reference' },
      { name: 'user_id', label: 'User' },
      ...ofPartner,
    ],
    columns: [
      linked(plain('reference', 'Reference'), '/payouts'),
      said('status', 'Status'),
      rupiah('amount', 'Amount'),
      said('kind', 'Kind'),
      partnerColumn,
      plain('bank_code', 'Bank'),
      plain('beneficiary_name', 'Beneficiary'),
      plain('external_ref', 'External reference'),
      at('created_at', 'Requested'),
    ],
  },
  {
    path: '/batches',
    api: '/v1/payout-batches',
    title: 'Batches of payouts',
    none: 'No batch matches.',
    filters: [
      { name: 'status', label: 'Status', options: payoutBatchLaw.statuses },
      { name: 'external_ref', label: 'External reference' },
      ...ofPartner,
    ],
    columns: [
      linked(idColumn, '/batches'),
      said('status', 'Status'),
      rupiah('total_amount', 'Amount'),
      plain('count', 'Payouts'),
      partnerColumn,
      plain('external_ref', 'External reference'),
      at('created_at', 'Created'),
    ],
  },
  {
    path: '/payments',
    api: '/v1/partner-payments',
    title: 'Payments of partners',
    none: 'No payment matches.',
    filters: [
      { name: 'status', label: 'Status', options: partnerPaymentStatuses },
      { name: 'reference', label: 'Reference' },
      { name: 'external_ref', label: 'External reference' },
      ...ofPartner,
    ],
    columns: [
      linked(plain('reference', 'Reference'), '/payments'),
      said('status', 'Status'),
      rupiah('amount', 'Amount'),
      said('method', 'Method'),
      plain('channel', 'Channel'),
      partnerColumn,
      at('created_at', 'Requested'),
    ],
  },
  {
    path: '/receipts',
    api: '/v1/receipts',
    title: 'Receipts',
    none: 'No receipt matches.',
    filters: [{ name: 'status', label: 'Status', options: receiptLaw.statuses }],
    columns: [
      { ...plain('reference', 'Reference'), link: ({ reference }) => searchFor(String(reference)) },
      said('status', 'Status'),
      rupiah('amount', 'Amount'),
      said('reason', 'Why'),
      at('received_at', 'Received'),
      idColumn,
    ],
  },
  {
    path: '/decisions',
    api: '/v1/decisions',
    title: 'Decisions',
    none: 'No decision matches.',
    filters: [
      { name: 'status', label: 'Status', options: decisionLaw.statuses },
      { name: 'kind', label: 'Kind', options: decisionKinds },
      { name: 'payout_id', label: 'Payout' },
    ],
    columns: [
      linked(decidedColumn, '/decisions'),
      said('status', 'Status'),
      plain('note', 'Note'),
      at('created_at', 'Proposed'),
      at('ended_at', 'Ended'),
    ],
  },
  {
    path: '/partners',
    api: '/v1/partner-accounts',
    title: 'Partners',
    none: 'No partners.',
    filters: [],
    columns: [
      linked(plain('name', 'Name'), '/partners'),
      said('status', 'Status'),
      { head: 'Payouts', cell: (row) => (row.payouts_enabled ? 'on' : 'suspended') },
      at('created_at', 'Since'),
    ],
  },
  {
    path: '/partners/:id/deliveries',
    api: '/v1/partner-accounts/:id/webhook-deliveries',
    title: 'Webhook deliveries',
    none: 'No delivery matches.',
    within: { label: 'To the partner', path: '/partners/:id' },
    filters: [
      { name: 'status', label: 'Status', options: webhookDeliveryLaw.statuses },
      { name: 'endpoint_id', label: 'Endpoint' },
      { name: 'resource_id', label: 'Payment, payout or refund' },
    ],
    columns: [
      { ...plain('type', 'Type'), link: pageOfDelivered },
      said('status', 'Status'),
      plain('attempts', 'Attempts'),
      { head: 'Last response', cell: responseOf },
      at('next_attempt_at', 'Next attempt'),
      at('created_at', 'Created'),
      at('delivered_at', 'Delivered'),
    ],
    action: ({ id }) => ({
      label: 'Send again',
      to: (row) => `/operations/partners/${id}/webhooks/${String(row.id)}/redeliver`,
    }),
  },
  {
    path: '/events',
    api: '/v1/events',
    title: 'Events',
    none: 'No event matches.',
    filters: [
      { name: 'event', label: 'Event' },
      { name: 'resource_type', label: 'Resource type' },
      { name: 'resource_id', label: 'Resource id' },
      { name: 'actor_id', label: 'Actor' },
      ...period,
    ],
    columns: [
      plain('event', 'Event'),
      said('impact', 'Impact'),
      said('resource_type', 'Resource type'),
      {
        ...plain('resource_id', 'Resource id'),
        link: (row) => pageOf(textOf('resource_type')(row), textOf('resource_id')(row)),
      },
      plain('actor_id', 'Actor'),
      at('created_at', 'When'),
    ],
  },
];
