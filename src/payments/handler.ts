import type { EntityManager } from '@mikro-orm/postgresql';
import type { CircleWorkflows } from '../circles/circle-contract.ts';
import type { Payer } from '../identity/caller.ts';
import type { LedgerReferenceType, TransactionPurpose } from '../ledger/transaction.ts';
import type { Money } from '../shared/money.ts';
import type { ReferenceType } from './payment-order.ts';

export type Rail = 'gateway' | 'balance';

/** What `reference_id` names, once it was found and the caller may pay for it. */
export interface PaymentTarget {
  /** The account that is credited. */
  accountId: string;
  /** What is paid where that is more than was named, IDR, scale 4. */
  amount?: Money;
}

export interface PaymentIntent {
  referenceId: string;
  /** IDR, scale 4. */
  amount: Money;
  rail: Rail;
  caller: Payer;
  /** Whom among those that share the target the payment is for, if not the caller. */
  onBehalfOf?: string | null;
  /** In a transaction, whose end it is to hold to: what can be stopped is locked against that. */
  lock?: boolean;
}

/** A payment that is being opened, settled or closed, in the same transaction as the handler's effect. */
export interface HandledPayment {
  /** The payment order, or null on the balance rail. */
  orderId: string | null;
  userId: string;
  organizationId: string | null;
  referenceId: string;
  /** The account that is credited. */
  accountId: string;
  /** The account that is debited on the balance rail, or null on the gateway rail. */
  sourceAccountId: string | null;
  amount: Money;
  /** As in the intent. */
  onBehalfOf: string | null;
  /** The request that asked for it. */
  requestId: string | null;
}

/** The workflows that a settled payment may wake; made by `temporal/`, passed in. */
export type WakingPort = Pick<CircleWorkflows, 'wakeSavingCircle'>;

/** What an effect in SQL knows of a payment: on the balance rail the account is found by the same statement. */
export type EffectPayment = Omit<HandledPayment, 'accountId'>;

/** What a settled payment has become in the ledger. */
export interface SettledIn {
  journalId: string;
  /** Its row of type `price`. */
  transactionId: string;
}

/** A call of an SQL function, e.g. `settle_product(?, ?)`; a refusal of its own is SQLSTATE AM004 with field and complaint. */
export interface SqlCall {
  call: string;
  params: readonly unknown[];
}

/**
 * What follows from a settled payment, in one of two ways. As one SQL call it travels with the journal in one round trip.
 * In the transaction it may take several round trips, which a payment from a balance then costs. On the balance rail
 * there was no `onPending`: `payment.orderId` is null.
 */
export type PaymentEffect =
  | { sql(payment: EffectPayment, settledIn: SettledIn): SqlCall }
  | { inTransaction(tx: EntityManager, payment: HandledPayment, settledIn: SettledIn): Promise<void> };

/** How payments from balances for such targets are made together with others of their kind, in one statement. */
export interface Together {
  /**
   * The accounts of the targets, in the order of the payments, as an SQL expression of type uuid[]: null for one that may
   * not take its payment, which `findTarget` then looks at.
   */
  targets(payments: readonly Pick<PaymentIntent, 'referenceId' | 'amount'>[]): SqlCall;
  /** The handler's `effect` for all of them, as a call over an SQL expression of type balance_payment[]. */
  effect(paid: string): string;
}

/**
 * One kind of payment, as data (docs/contract.md 3). A new kind is one file with one of these and one line in `handlers`;
 * the dispatcher knows no reference type by name.
 */
export interface PaymentHandler {
  referenceType: ReferenceType;
  permission: string;
  rails: readonly Rail[];
  ledgerReferenceType: LedgerReferenceType;
  /** The purpose of its rows on the gateway rail; balance payments are `product_transfer`. */
  gatewayPurpose: TransactionPurpose;
  /**
   * Finds the target: 404 when it is not there, 403 when it is another's, 400 when it takes no payment now. Runs before
   * the transaction of the payment: what must hold at the commit is checked again by `effect`. Where an order is opened,
   * it runs once more in the transaction that makes its row: its request may be minutes old.
   */
  findTarget(em: EntityManager, intent: PaymentIntent): Promise<PaymentTarget>;
  /** Gateway rail only: the pending domain row of a handler with duplicate protection; unique in the database. */
  onPending?(tx: EntityManager, payment: HandledPayment): Promise<void>;
  /**
   * Requests for the same target by the same user take turns in a process, so that a repeat meets the open order in
   * `findTarget` instead of starting a workflow of its own. What protects is the database; this saves the work.
   */
  inTurn?: boolean;
  /** Balance rail: so that payments that arrive together are written together. */
  together?: Together;
  /** The domain effect, in the transaction of the journal, on both rails; none where the money itself is all. */
  effect?: PaymentEffect;
  /**
   * After the commit, on both rails: wakes the workflow that waits for this. A hint that may get lost, so a sweep finds what
   * it was about as well.
   */
  afterSettled?(workflows: WakingPort, payment: Pick<HandledPayment, 'referenceId'>): Promise<void>;
  /** Gateway rail only: the order ended unpaid; what the pending row becomes. */
  onClosed?(tx: EntityManager, payment: HandledPayment, outcome: 'FAILED' | 'EXPIRED'): Promise<void>;
}
