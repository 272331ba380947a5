import type { Grouped } from './plan-grouped.ts';
import type { MoneyOut } from './plan-money-out.ts';
import type { Refunding } from './plan-refunds.ts';
import type { TermsOperation } from './plan-terms.ts';

/** What happens at the provider once a customer has an instrument. */
export const endings = [
  'pay',
  'pay-twice',
  'pay-wrong-then-right',
  'pay-wrong',
  'decline',
  'expire',
  'expire-then-pay',
  'cancel',
  'cancel-while-paying',
  'nothing',
] as const;
export type Ending = (typeof endings)[number];

/** How a client behaves around one operation. */
export interface Manners {
  /** The API for the first request; retries alternate between the two. */
  api: 0 | 1;
  /** Whether the client sends an idempotency key, where it may choose. */
  keyed: boolean;
  /** The client's time-out in milliseconds, after which it treats the answer as lost. */
  patienceMs: number;
  /** How often the client retries under the same key after a lost answer or a 5xx. */
  retries: number;
  /** Whether the client sends the first request to both APIs at once. */
  twin: boolean;
  /** Whether the client changes its mind and sends another body under the same key. */
  otherBody: boolean;
}

export type Operation =
  | { do: 'balance'; user: number; type: PaidType; amount: number }
  | { do: 'transfer'; user: number; amount: number }
  | { do: 'gateway'; user: number; type: PaidType; channel: number; amount: number; ending: Ending; afterMs: number }
  | { do: 'partner-payment'; partner: number; method: string; amount: number; ending: Ending; afterMs: number }
  | { do: 'payout'; partner: number; amount: number; account: string }
  | { do: 'circle'; members: number[]; amount: number; channel: number; rounds: number; end: 'run' | 'cancel' }
  | TermsOperation
  | { do: 'subscription'; user: number; amount: number; stop: boolean }
  | { do: 'allocation'; cause: number }
  /** The next period of every subscription becomes due. */
  | { do: 'period' }
  /** An operator resolves a suspense case: to the account of a user, or as refunded at the provider. */
  | { do: 'operator'; action: 'credit' | 'refund'; user: number }
  | MoneyOut
  | Grouped
  | Refunding;

/** One piece of work: what a client does, and how many milliseconds after the start. */
export type Work = { id: string } & Drawn;
export type Drawn = { at: number } & Operation & Manners;

export const balanceTypes = [
  'charitable_cause_donate',
  'charitable_cause_open_donate',
  'saving_goal_contribution',
  'investment',
  'commodity_financing_payment',
  'takaful_tabaru_contribution',
] as const;
/** Types whose simultaneous payments the product writes together, and that anyone may pay for. */
export const gatheredTypes = balanceTypes.filter((type) => type !== 'saving_goal_contribution');
export const gatewayTypes = [
  ...balanceTypes,
  'account_top_up',
  'trusted_partner_investment',
  'takaful_insurance',
] as const;
/** A reference type that clients pay for. */
export type PaidType = (typeof gatewayTypes)[number];
