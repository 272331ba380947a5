import type { Money } from '../shared/money.ts';

/** Pure facts about reconciliation (decisions 8). */
export const reconciliationTransitions = {
  open: ['explained', 'resolved'],
  explained: ['open'],
  resolved: ['open'],
} as const satisfies Record<string, readonly string[]>;
export type ReconciliationState = keyof typeof reconciliationTransitions;
export const reconciliationStates = Object.keys(reconciliationTransitions) as ReconciliationState[];

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
