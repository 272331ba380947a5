/** A subscription, and how often it was paid. */
export interface SubscriptionFact {
  id: string;
  /** Periods recorded as paid, and donations created for them. */
  periodsPaid: number;
  donations: number;
  /** Periods that have started, including the first. */
  periodsDue: number;
  /** Attempts to pay a period that had not started, whether paid or refused. */
  triedEarly: number;
}

/** A paid donation, and the numbers of receipts written and of those that the mail server accepted. */
export interface ReceiptFact {
  donationId: string;
  /** Whether its donor receives receipts. */
  due: boolean;
  written: number;
  /** Sent, or silenced because the donation was refunded first. */
  sent: number;
}

export interface PayoutLimitsFact {
  single: string;
  daily: string;
  hourly: number;
}

/** Facts about the product's limits, subscriptions and receipts, and about its own guards. */
export interface GuardFacts {
  /** Ids whose opening has a stored refusal. */
  refusedOpenings: string[];
  /** What partners may pay out, by id: at once and in a day, in IDR, and how often in an hour. */
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
