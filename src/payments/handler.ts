import type { EntityManager } from '@mikro-orm/postgresql';
import type { Caller } from '../identity/caller.ts';
import type { LedgerReferenceType, TransactionPurpose } from '../ledger/transaction.ts';
import type { Money } from '../shared/money.ts';
import type { ReferenceType } from './payment-order.ts';

export type Rail = 'gateway' | 'balance';

/** What `reference_id` names, once it was found and the caller may pay for it. */
export interface PaymentTarget {
  /** The account that is credited. */
  accountId: string;
}

export interface PaymentIntent {
  referenceId: string;
  /** IDR, scale 4. */
  amount: Money;
  rail: Rail;
  caller: Caller;
}

/** A payment that is being opened, settled or closed, in the same transaction as the handler's effect. */
export interface HandledPayment {
  /** The payment order, or null on the balance rail. */
  orderId: string | null;
  userId: string;
  organizationId: string | null;
  referenceId: string;
  accountId: string;
  amount: Money;
}

/**
 * One kind of payment, as data (decisions 3). A new kind is one file with one of these and one line in `handlers`;
 * the dispatcher knows no reference type by name.
 */
export interface PaymentHandler {
  referenceType: ReferenceType;
  permission: string;
  rails: readonly Rail[];
  ledgerReferenceType: LedgerReferenceType;
  /** The purpose of its rows on the gateway rail; balance payments are `product_transfer`. */
  gatewayPurpose: TransactionPurpose;
  /** Finds the target: 404 when it is not there, 403 when it is another's, 400 when it takes no payment now. */
  findTarget(em: EntityManager, intent: PaymentIntent): Promise<PaymentTarget>;
  /** The pending domain row of a handler with duplicate protection; unique in the database. */
  onPending?(tx: EntityManager, payment: HandledPayment): Promise<void>;
  /** The domain effect, in the transaction of the journal. */
  onSettled?(tx: EntityManager, payment: HandledPayment, journalId: string): Promise<void>;
  /** The order ended unpaid: what the pending row becomes. */
  onClosed?(tx: EntityManager, payment: HandledPayment, outcome: 'FAILED' | 'EXPIRED'): Promise<void>;
}
