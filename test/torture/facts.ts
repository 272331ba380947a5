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
  /** Requests of one operation share this: with a key they are meant to have one effect between them. */
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
   * What was requested: IDR, and what for (an id or a reference of the client's own); null where the body names none.
   */
  amount: string | null;
  target: string | null;
  /** The account to be debited, where the request names one. */
  source: string | null;
  /** The payee's bank account; null where there is none. */
  goesTo: BankAccountFact | null;
  sentAt: number;
  endedAt: number;
  /** Null without a complete answer. */
  status: number | null;
  /** The bytes of the answer as text, otherwise why there was none. */
  answer: string;
  /** The id of the created resource, where the answer names one. */
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
  /** The user it names as the actor; null for a partner, and without a request. */
  actorId: string | null;
  /** When its transaction started, by the database's clock, and when it was committed. */
  begunAt: number;
  at: number;
}

/** A resource that only requests create, and the request that created it; null when none is recorded. */
export interface AskedFact {
  kind: string;
  id: string;
  requestId: string | null;
}

/** The status of what a request may have finished. */
export interface EndFact {
  kind: 'order' | 'payment' | 'circle' | 'subscription' | 'goal' | 'donation';
  id: string;
  status: string;
}

/** Resources created by requests, as in the books. */
export interface MadeFact {
  id: string;
  /** The amount by its answers and its request, without a fee paid on top by the payer. IDR, scale 4. */
  amount: string;
  asked: string;
  /** Its target, as its request may have named it. */
  targets: string[];
  /** The fees agreed before it started; null where there are none. */
  fee: string | null;
  dueFee: string | null;
}

export interface OrderFact {
  id: string;
  family: 'payment-order' | 'partner-payment';
  /** Its owner; null for orders of users. */
  partnerId: string | null;
  status: 'PENDING' | 'WAITING_PAYMENT' | 'PAID' | 'FAILED' | 'EXPIRED';
  /** What the payer pays, IDR, scale 4. */
  total: string;
  /** Webhooks that were written; 0 for orders of users. */
  version: number;
  /** The reusable instrument it was paid to, if any. */
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
  /** The client's own reference: that of a refund is its payment's; of a withdrawal, the piece of work. */
  reference: string | null;
  /** Of a refund to the wallet that paid: the provider's id of the payment request. */
  refundOf: string | null;
  fee: string;
  /** The requested amount, IDR, which counts toward a partner's limits; and the partner, of a partner's payout. */
  amount: string;
  partnerId: string | null;
  version: number;
  contradicted: boolean;
  /** It failed because people rejected it, or its decision lapsed. */
  isDecided: boolean;
}

/** The columns that a withdrawal adds to its payout. */
export interface WithdrawalFact {
  id: string;
  userId: string;
  /** Of a disbursement. */
  causeId: string | null;
  /** IDR, with the fee. */
  amount: string;
  /** Whether it may be sent only after two people approved it, judged by its cause and amount as known before. */
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
  /** Its workflow. */
  workflowId: string;
  status: string;
  /** Nothing of it is due now or soon: its next change starts its workflow again, or a sweep does in time. */
  dueLater: boolean;
}

/** The accounts that hold a partner's money, by id. */
export interface PartnerAccounts {
  available: string;
  pending: string;
  reserved: string;
}

/** What operators see, with each list read by its own route. */
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
  /** Completed donations of each cause, IDR; and what a person may withdraw in a day. */
  given: Record<string, string>;
  dailyLimit: string;
  /** The account credited with the money of a released goal, by goal. */
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
   * When things happened, according to the rows; and the earliest and latest possible instant. Milliseconds of the
   * epoch.
   */
  instants: InstantSpan[];
  window: { from: number; to: number };
  /** What was not at rest within the time limit. */
  restless: { what: string; id: string; status: string }[];
  /** What a restore undid and is requested again: by its client, or without its instrument by the product. */
  madeAgain: string[];
  /** Processes that exited without a request to. */
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
  /** The resource whose timeline explains it; null when it is about several or none. */
  resourceId: string | null;
  says: string;
}

export type Oracle = (facts: Facts) => Finding[];
