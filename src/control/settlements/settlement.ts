import type { Money } from '../../shared/money.ts';

/** The groups of a settlement, by what happened to the partner's money. */
export const settlementGroups = [
  'paid',
  'settled',
  'payouts',
  'refunds',
  'reserved',
  'returned',
  'reversed',
  'other',
] as const;

export type SettlementGroup = (typeof settlementGroups)[number];

/** Returns the group of a journal kind: payments by their own steps, outgoing money by the steps of payouts. */
export function groupOf(kind: string): SettlementGroup {
  const [family = '', step = ''] = kind.split('.');
  if (family === 'partner-payment') return step === 'settled' ? 'paid' : step === 'released' ? 'settled' : 'other';
  const isRefund = family.includes('refund');
  if (!isRefund && family !== 'partner-payout') return 'other';
  if (step === 'succeeded') return isRefund ? 'refunds' : 'payouts';
  if (step === 'reserved' || step === 'reversed') return step;
  return step === 'failed' ? 'returned' : 'other';
}

/** Sums of a group, IDR, scale 4. */
export interface SettlementTotal {
  count: number;
  /** The amount paid, moved or sent, unsigned. */
  amount: Money;
  /** The platform's fee. */
  fee: Money;
  /** The change of the partner's balance, signed. */
  available: Money;
  pending: Money;
}

/** A journal that moved the partner's money. */
export interface SettlementLine extends Omit<SettlementTotal, 'count'> {
  created_at: string;
  group: SettlementGroup;
  /** The journal's kind, as in statements. */
  kind: string;
  /** The payment, payout or refund; null for other journals. */
  resource_id: string | null;
  external_ref: string | null;
  journal_id: string;
}

/** The columns of a line, in the order of the CSV. */
export const settlementColumns = [
  'created_at',
  'group',
  'kind',
  'resource_id',
  'external_ref',
  'amount',
  'fee',
  'available',
  'pending',
  'journal_id',
] as const;
