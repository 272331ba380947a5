import type { CheckResult } from '../../src/ledger/run-checks.ts';
import type { InstantSpan } from '../support/read-instants.ts';
import type { DecisionFact, DecisionRow, RefundDecisionFact, VerdictFact } from './decision-facts.ts';
import type { EffortFact } from './effort-facts.ts';
import type { GuardFacts } from './guard-facts.ts';
import type { ProviderRequest, ProviderTransfer, ReceivedWebhook } from './provider-facts.ts';
import type { DonationFact, RefundFact } from './refund-facts.ts';

/** Requests that move money, or create something that will. */
export const operationKinds = [
  'balance',
  'transfer',
  'gateway',
  'partner-payment',
  'payout',
  'payout-batch',
  'instrument',
  'circle',
  'contribution',
  'subscription',
  'allocation',
  'withdrawal',
  'disbursement',
  'refund',
] as const;
/** Requests that finish or refund something; they create nothing, and may be retried without a key. */
export const endingKinds = ['cancel', 'stop', 'cancel-circle', 'release', 'refund-donation'] as const;
export type OperationKind = (typeof operationKinds)[number];
export type EndingKind = (typeof endingKinds)[number];

/** One request of a client, and its answer. Times are milliseconds of the epoch, by the runner's clock. */
export interface Attempt {
  /** The piece of work of the plan that it belongs to. */
  work: string;
  /** Shared by all requests of one operation, which with a key must have one effect in total. */
  operation: string;
  kind: OperationKind | EndingKind;
  requestId: string;
  /** The user whose token was sent; null for a partner. */
  by: string | null;
  /** The partner whose key was sent; null for a user. */
  partner: string | null;
  /** The idempotency key; null when none was sent. */
  key: string | null;
  /** Which body was sent under the key: a client that changes its mind sends `other`. */
  variant: 'same' | 'other';
  /**
   * The requested amount (IDR) and target (an id, or the client's own reference); null where the body names none.
   */
  amount: string | null;
  target: string | null;
  /** The account to be debited; null if the request names none. */
  source: string | null;
  /** The payee's bank account; null where there is none. */
  goesTo: BankAccountFact | null;
  sentAt: number;
  endedAt: number;
  /** Null without a complete answer. */
  status: number | null;
  /** The text of the answer, or why there was none. */
  answer: string;
  /** The id of the created resource; null if the answer names none. */
  resourceId: string | null;
}

/** A bank account, as sent to the provider. */
export interface BankAccountFact {
  account: string;
  holder: string;
}

export interface EffectEvent {
  requestId: string;
  event: string;
  impact: string;
  resourceType: string;
  resourceId: string | null;
  /** The user named as the actor; null for a partner, and without a request. */
  actorId: string | null;
  /** When its transaction started, by the database's clock, and when the transaction was committed. */
  begunAt: number;
  at: number;
}

/** A resource that only requests create, and the request that created it; null when none is recorded. */
export interface AskedFact {
  kind: string;
  id: string;
  requestId: string | null;
}

/** The status of a resource that a request may have finished. */
export interface EndFact {
  kind: 'order' | 'payment' | 'circle' | 'subscription' | 'goal' | 'donation';
  id: string;
  status: string;
}

/** Resources created by requests, as in the books. */
export interface MadeFact {
  id: string;
  /** The amount that answers report, and the requested one, without a fee that the payer adds. IDR, scale 4. */
  amount: string;
  asked: string;
  /** The target, by each name that the request may have used. */
  targets: string[];
  /** The fee charged, and the fee agreed in advance; null where there is none. */
  fee: string | null;
  dueFee: string | null;
}

export interface OrderFact {
  id: string;
  family: 'payment-order' | 'partner-payment';
  /** The owner; null for orders of users. */
  partnerId: string | null;
  status: 'PENDING' | 'WAITING_PAYMENT' | 'PAID' | 'FAILED' | 'EXPIRED';
  /** What the payer pays, IDR, scale 4. */
  total: string;
  /** The number of webhooks written; 0 for orders of users. */
  version: number;
  /** The reusable instrument that was paid, if any. */
  instrumentId?: string | null;
}

/** A batch of payouts, with its items' ids as payouts. */
export interface BatchFact {
  id: string;
  status: string;
  itemIds: string[];
}

/** A number or code that accepts any number of payments; `amount` is the required amount of each. */
export interface InstrumentFact {
  id: string;
  amount: string | null;
}

export interface PayoutFact {
  id: string;
  status: 'pending' | 'succeeded' | 'failed' | 'reversed';
  net: string;
  /** Every kind except withdrawals has webhooks. */
  kind: 'partner_payout' | 'withdrawal' | 'payment_refund';
  /** The client's own reference; for a refund its payment's, for a withdrawal the piece of work. */
  reference: string | null;
  /** For a refund to the wallet that paid: the provider's id of the payment request. */
  refundOf: string | null;
  fee: string;
  /** The requested amount, IDR, which counts towards a partner's limits; and the partner of a partner's payout. */
  amount: string;
  partnerId: string | null;
  version: number;
  contradicted: boolean;
  /** Whether it failed because people rejected it or its decision lapsed. */
  isDecided: boolean;
}

/** The columns that a withdrawal adds to its payout. */
export interface WithdrawalFact {
  id: string;
  userId: string;
  /** The cause of a disbursement. */
  causeId: string | null;
  /** IDR, with the fee. */
  amount: string;
  /** Whether two people must approve it before it is sent, judged by its cause and amount as known before. */
  waits: boolean;
}

export interface ReceiptFact {
  id: string;
  providerPaymentId: string;
  reference: string;
  amount: string;
  state: 'applied' | 'suspended' | 'credited' | 'refunded';
  /** Why it could not be applied; null if it was. */
  reason: string | null;
  /** The order or partner payment that it was applied to. */
  appliedTo: string | null;
  /** The account credited from suspense, by the posting. */
  creditedTo: string | null;
}

export interface JournalFact {
  businessKey: string;
  /** The sum of its positive postings, IDR, scale 4. */
  amount: string;
  /** Accounts of people, organizations and their targets in it; the platform's own are omitted. */
  credited: string[];
  debited: string[];
}

export interface DeliveryFact {
  id: string;
  resourceType: 'payment' | 'payout' | 'refund';
  resourceId: string;
  partnerId: string;
  version: number;
  type: string;
  status: string;
}

export interface TransitionFact {
  /** `table.column` of the status. */
  place: string;
  id: string;
  /** Null for the row's initial status. */
  from: string | null;
  to: string;
  at: number;
}

export interface WaitingRow {
  /** The id of the row's workflow. */
  workflowId: string;
  status: string;
  /** Whether nothing is due soon, so that the workflow may be missing until the next change or a later sweep. */
  dueLater: boolean;
}

/** The accounts that hold a partner's money, by id. */
export interface PartnerAccounts {
  available: string;
  pending: string;
  reserved: string;
}

/** The operators' lists, each read by its own route. */
export interface OperatorsLists {
  /** Payouts of `GET /v1/payouts/stuck`, with the reason shown. */
  stuck: { id: string; reason: string }[];
  /** Receipts whose workflow waits for a decision, and those of `GET /v1/receipts?status=suspended`. */
  suspense: string[];
  receipts: string[];
  /** Workflows in the state `OPERATOR`. */
  searched: string[];
  /** Parked webhooks. */
  parked: string[];
  /** What `npm run verify` reports as waiting, by kind. */
  waiting: { what: string; rows: number }[];
}

/** Everything known once the system is at rest: the answers, the provider's records, the books. */
export interface Facts {
  attempts: Attempt[];
  events: EffectEvent[];
  made: MadeFact[];
  asked: AskedFact[];
  ends: EndFact[];
  orders: OrderFact[];
  payouts: PayoutFact[];
  batches?: BatchFact[];
  instruments?: InstrumentFact[];
  withdrawals: WithdrawalFact[];
  verdicts: VerdictFact[];
  refunds: RefundFact[];
  donations: DonationFact[];
  /** The donations of each cause according to the API, IDR, scale 4, by its id. */
  toldAmounts: Record<string, string>;
  /** The completed donations of each cause, and what a user may withdraw in a day; IDR. */
  given: Record<string, string>;
  dailyLimit: string;
  /** By goal, the account credited with the money of a released goal. */
  released: Record<string, string>;
  guards: GuardFacts;
  receipts: ReceiptFact[];
  journals: JournalFact[];
  deliveries: DeliveryFact[];
  transitions: TransitionFact[];
  waiting: WaitingRow[];
  decisions: DecisionFact[];
  refundDecisions: RefundDecisionFact[];
  /** All decisions. */
  decided: DecisionRow[];
  /** The accounts of each partner, by its id. */
  partnerAccounts: Record<string, PartnerAccounts>;
  /** The accounts of the targets of requests, by id, as they were before the run. */
  accounts: Record<string, string>;
  /** References of payouts to an account that the provider refuses. */
  refusedAccounts: string[];
  /** Workflows of resources that are running, failed, cancelled or terminated. */
  workflows: { id: string; runId: string; type: string; status: string }[];
  checks: Pick<CheckResult, 'check' | 'violations' | 'sample'>[];
  requests: ProviderRequest[];
  transfers: ProviderTransfer[];
  webhooks: ReceivedWebhook[];
  /** The sum of all accounts except the provider's side, IDR, scale 4. */
  money: { before: string; after: string };
  lists: OperatorsLists;
  /**
   * The instants recorded in rows, and the earliest and latest possible instant. Epoch milliseconds.
   */
  instants: InstantSpan[];
  window: { from: number; to: number };
  /** Rows and workflows that were not at rest within the time limit. */
  restless: { what: string; id: string; status: string }[];
  /** Ids of resources that a restore undid and clients created again, and of orders restored without an instrument. */
  madeAgain: string[];
  /** Processes that exited without being stopped. */
  died: string[];
  effort: EffortFact;
  /** The pieces of work done after all faults were over. */
  calm: string[];
  /** Forbidden contents of our logs, by part. */
  leaks: { part: string; what: string }[];
  /** Workflows that the plan stopped by hand, or that were lost with Temporal's data. */
  takenWorkflows: string[];
  /** Runs of workflows that the plan has terminated or reset. */
  endedRuns: string[];
}

/** A violation of an invariant, found by an oracle. */
export interface Finding {
  oracle: string;
  /** The resource whose timeline explains the finding; null if it is about several or none. */
  resourceId: string | null;
  says: string;
}

export type Oracle = (facts: Facts) => Finding[];
