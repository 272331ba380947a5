import type { EntityManager } from '@mikro-orm/postgresql';
import type { LedgerReferenceType, TransactionPurpose } from '../../ledger/transaction.ts';
import { type Caller, type Payer, requirePermission } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import type { Money } from '../../shared/money.ts';
import type { PaymentOrder } from './payment-order.entity.ts';
import type { ReferenceType } from './payment-order.ts';

export type Rail = 'gateway' | 'balance';

/** The target of `reference_id`, found and payable by the caller. */
export interface PaymentTarget {
  /** The account to credit. */
  accountId: string;
  /** The amount to pay, if more than requested; IDR, scale 4. */
  amount?: Money;
  /** The latest deadline of its orders, if any. */
  payableUntil?: Date | null;
}

export interface PaymentIntent {
  referenceId: string;
  /** IDR, scale 4. */
  amount: Money;
  rail: Rail;
  caller: Payer;
  /** The member of a shared target who is paid for, if not the caller. */
  onBehalfOf?: string | null;
  /** Set inside a transaction: locks the target if it can be stopped, until the transaction ends. */
  lock?: boolean;
}

/** A payment being opened, settled or closed, in the same transaction as the handler's effect. */
export interface HandledPayment {
  /** The payment order; null on the balance rail. */
  orderId: string | null;
  userId: string;
  referenceId: string;
  /** The account debited on the balance rail; null on the gateway rail. */
  sourceAccountId: string | null;
  amount: Money;
  /** See `onBehalfOf` of the intent. */
  onBehalfOf: string | null;
  requestId: string | null;
}

/** The workflows that a settled payment may signal; implemented in `temporal/`, injected. */
export interface WakingPort {
  wakeSavingCircle(circleId: string): Promise<void>;
}

/**
 * A call of an SQL function, such as `settle_product(?, ?)`. The function refuses with SQLSTATE AM004, field and text.
 */
export interface SqlCall {
  call: string;
  params: readonly unknown[];
}

/** The domain effect of one settled payment. On the balance rail `onPending` has not run: `payment.orderId` is null. */
export interface PaymentEffect {
  /** Locks what the effect reads or changes, before money is posted and the source checked, to prevent deadlocks. */
  hold?(tx: EntityManager, payment: HandledPayment): Promise<void>;
  /** `transactionId` is the id of the payment's row of type `price`. Refuses as `SqlCall` does. */
  inTransaction(tx: EntityManager, payment: HandledPayment, transactionId: string): Promise<unknown>;
}

/** How balance payments of this kind are made, one or many per statement. */
export interface Together {
  /**
   * The targets in payment order, as an SQL expression of type payment_target[]: accounts or refusals; null for targets
   * locked by others. Locks targets with a limited amount, so that one payment does not get others refused.
   */
  targets(payments: readonly (Pick<PaymentIntent, 'referenceId' | 'amount'> & { payer: Payer })[]): SqlCall;
  /** The domain effect of all the payments, if any: a call over an SQL expression of type balance_payment[]. */
  effect?(paid: string): string;
}

/** One kind of payment (docs/contract.md 3). To add one: a `referenceTypes` name, a file, a `paymentKinds` line. */
export interface PaymentHandler {
  referenceType: ReferenceType;
  /** The resource of `reference_id`, for the API document. */
  referenceOf: string;
  permission: string;
  rails: readonly Rail[];
  ledgerReferenceType: LedgerReferenceType;
  /** The purpose of its rows on the gateway rail. */
  gatewayPurpose: TransactionPurpose;
  /** How balance payments are booked, if not as `balance-payment.<reference type>` for `product_transfer`. */
  movement?: { kind: string; purpose: TransactionPurpose };
  /**
   * Finds the target. 404 if missing, 403 if it is another's, 400 if it accepts no payment now. For an order this runs
   * before the workflow and again in the transaction that creates the row, as the request may be minutes old; for a
   * single balance payment, in the transaction after `effect.hold`.
   */
  findTarget(em: EntityManager, intent: PaymentIntent): Promise<PaymentTarget>;
  /**
   * Gateway rail only: inserts the handler's pending domain row, unique in the database to prevent duplicates.
   */
  onPending?(tx: EntityManager, payment: HandledPayment): Promise<void>;
  /** Balance rail only: batches concurrent payments, including target and effect. */
  together?: Together;
  /** The domain effect of payments made outside `together`, in the journal's transaction; absent if there is none. */
  effect?: PaymentEffect;
  /** Both rails: signals the target's workflow once an order, payment or closing commits. A sweep retries it. */
  wake?(workflows: WakingPort, payment: Pick<HandledPayment, 'referenceId'>): Promise<void>;
  /** Gateway rail only: updates the pending row of an order that closed unpaid. */
  onClosed?(tx: EntityManager, payment: HandledPayment, outcome: 'FAILED' | 'EXPIRED'): Promise<void>;
}

export type PaymentKinds = { [Type in ReferenceType]: PaymentHandler & { referenceType: Type } };

export interface HandlingPorts {
  paymentKinds: PaymentKinds;
  workflows: WakingPort;
}

/** The handler of a payment on a rail. Throws 400 if the rail has none, 403 if the permission is missing. */
export function getHandler(
  { paymentKinds }: Pick<HandlingPorts, 'paymentKinds'>,
  caller: Caller,
  { referenceType, rail }: { referenceType: ReferenceType; rail: Rail },
): PaymentHandler {
  const handler = paymentKinds[referenceType];
  if (!handler.rails.includes(rail)) {
    refuse('REQUEST_INVALID', `${referenceType} cannot be paid by ${rail}`, { field: 'reference_type' });
  }
  requirePermission(caller, handler.permission);
  return handler;
}

/** The handler of an existing order, whose reference type was checked when it was opened. */
export const handlerOfOrder = (
  { paymentKinds }: Pick<HandlingPorts, 'paymentKinds'>,
  order: PaymentOrder,
): PaymentHandler => paymentKinds[order.reference_type];

export const handledPayment = (order: PaymentOrder): HandledPayment => ({
  orderId: order.id,
  userId: order.user_id,
  referenceId: order.reference_id,
  sourceAccountId: null,
  amount: order.nominal,
  onBehalfOf: order.on_behalf_of ?? null,
  requestId: order.request_id ?? null,
});
