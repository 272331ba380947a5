import type { Money } from '../shared/money.ts';
import { type StatusOf, statusLaw } from '../shared/status-law.ts';

/**
 * Pure facts about reconciliation (docs/contract.md 8). A difference that has changed, or is back, is open anew; one that is
 * gone may be explained all the same, for the contradiction of its payout that is left.
 */
export const reconciliationLaw = statusLaw({
  initial: ['open'],
  transitions: {
    open: ['explained', 'resolved'],
    explained: ['open'],
    resolved: ['open', 'explained'],
  },
});
export type ReconciliationState = StatusOf<typeof reconciliationLaw>;

/** A day is compared again by hand, after records that were not ended, and for differences that are open. */
export const reconciledDayLaw = statusLaw({
  initial: ['pending'],
  transitions: {
    pending: ['running'],
    running: ['pending', 'done'],
    done: ['running'],
  },
});

/** What a run compares, one after the other: the provider's records, and then ours that are not among them. */
export const dayPhaseLaw = statusLaw({
  initial: ['records'],
  transitions: {
    records: ['transfers', 'payments'],
    transfers: ['payments', 'records'],
    payments: ['records'],
  },
});
export type DayPhase = StatusOf<typeof dayPhaseLaw>;

export const reconciledResources = ['payout', 'payment'] as const;
export type ReconciledResource = (typeof reconciledResources)[number];

/** One side's word on money that moved. */
export interface Side {
  status: string;
  /** IDR, scale 4; null where the provider's cannot be read (status `unreadable`). */
  amount: Money | null;
}

/** What we and the provider say differently. */
export interface Difference {
  resourceType: ReconciledResource;
  /** What it is told apart by: the provider's id of the money, or ours where the provider knows none. */
  subject: string;
  /** Ours; null when we know nothing of it. */
  resourceId: string | null;
  reference: string;
  ours: Side | null;
  theirs: Side | null;
}

export interface ReconciliationSummary {
  /** `YYYY-MM-DD`, in UTC+7. */
  day: string;
  /** Records of the provider that were compared. */
  compared: number;
  /** Differences of this run. */
  differences: number;
  /** Of them, those that nobody has explained. */
  open: number;
  /** Differences of earlier runs that are gone. */
  resolved: number;
}
