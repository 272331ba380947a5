/** A subscription, and how much of it was paid. */
export interface SubscriptionFact {
  id: string;
  /** Periods that are noted as paid, and donations that were made for it. */
  periodsPaid: number;
  donations: number;
  /** Periods that have begun, the first among them. */
  periodsDue: number;
  /** Attempts to pay a period that had not begun, paid or refused. */
  triedEarly: number;
}

/** A donation that was paid, and the receipts for it: those that were written, and those that the mail server took. */
export interface ReceiptFact {
  donationId: string;
  /** Whether its donor receives receipts. */
  due: boolean;
  written: number;
  sent: number;
}

export interface PayoutLimitsFact {
  single: string;
  daily: string;
  hourly: number;
}

/** What the product's guards report. */
export interface GuardFacts {
  /** Ids whose opening has a recorded refusal. */
  refusedOpenings: string[];
  /** What partners may pay out, by their id: at once and in a day, in IDR, and how often in an hour. */
  payoutLimits: Record<string, PayoutLimitsFact>;
  subscriptions: SubscriptionFact[];
  receipts: ReceiptFact[];
  /** Deadlocks in the database's log. */
  deadlocks: string[];
  /** `check_*` views that missed a violation planted for them and rolled back. */
  blindChecks: string[];
  /** Views for which no violation could be planted. */
  unprovedChecks: string[];
}
