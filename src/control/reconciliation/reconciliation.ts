import type { Money } from '../../shared/money.ts';
import { type StatusOf, statusLaw } from '../../shared/status-law.ts';

/**
 * The states of a difference (docs/contract.md 8). A changed or reappeared difference is open again; a resolved
 * difference may still be explained, to close its payout's contradiction.
 */
export const reconciliationLaw = statusLaw({
  initial: ['open'],
  transitions: {
    open: ['explained', 'resolved'],
    explained: ['open', 'resolved'],
    resolved: ['open', 'explained'],
  },
});
export type ReconciliationState = StatusOf<typeof reconciliationLaw>;

/**
 * A day is compared again on request, while its records are not final at the provider, and while differences are open.
 */
export const reconciledDayLaw = statusLaw({
  initial: ['pending'],
  transitions: {
    pending: ['running'],
    running: ['pending', 'done'],
    done: ['running'],
  },
});

/** The phases of a run, in order: the provider's records, then our rows that are not among them. */
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

/** The database derives a difference's kind from what both sides report. */
export const differenceKinds = [
  'DOUBLE_TRANSFER',
  'UNKNOWN_TRANSFER',
  'UNKNOWN_PAYMENT',
  'MISSING',
  'UNREADABLE',
  'AMOUNT',
  'STATUS',
] as const;
export type DifferenceKind = (typeof differenceKinds)[number];

/** A record of a movement of money, ours or the provider's. */
export interface Side {
  status: string;
  /** IDR, scale 4; null where the provider's cannot be read (status `unreadable`). */
  amount: Money | null;
}

/** A disagreement between our books and the provider's. */
export interface Difference {
  resourceType: ReconciledResource;
  /** The record's identity: the provider's id of the movement, or ours if the provider has none. */
  subject: string;
  /** Our resource's id; null when we have none. */
  resourceId: string | null;
  reference: string;
  ours: Side | null;
  theirs: Side | null;
  /** Whether this is a further live transfer under one of our references. */
  isFurther?: boolean;
}

export interface ReconciliationSummary {
  /** `YYYY-MM-DD`, in UTC+7. */
  day: string;
  /** Records of the provider that were compared. */
  compared: number;
  /** Differences found by this run. */
  differences: number;
  /** Differences of the day that are open. */
  open: number;
  /** Differences of earlier runs that are gone. */
  resolved: number;
}
