import type { EntityManager } from '@mikro-orm/postgresql';
import type { Money } from '../../shared/money.ts';
import type { OpeningStamp } from '../../shared/opening.ts';
import type { PayoutStatus } from '../payouts/payout.ts';

/** Input, ports and terms of withdrawals: payouts from a person's or organization's account to their bank account. */

/** A request as passed to the workflow: ids and amounts (docs/contract.md 9). IDR, scale 4. */
export interface WithdrawalOpening {
  userId: string;
  accountId: string;
  bankAccountId: string;
  /** The amount that leaves the account: `net` plus `fee`. */
  amount: Money;
  fee: Money;
  /** The amount that reaches the bank: whole rupiah. */
  net: Money;
  requestId: string;
  /** For a disbursement: the cause, and the purpose, sealed until it is public. */
  disbursement: { causeId: string; noteSealed: string } | null;
  /** For a request with an idempotency key. */
  idempotency: { keyHash: string; fingerprint: string } | null;
  stamp: OpeningStamp;
}

/** The input of a withdrawal's workflow; a withdrawal is a payout and has its id. */
export interface WithdrawalInput {
  payoutId: string;
  /** The request; absent when the workflow resumes an existing row. */
  opening?: WithdrawalOpening;
}

/** The withdrawal workflows' port for use cases; implemented in `temporal/`. */
export interface WithdrawalWorkflows {
  /**
   * Starts the workflow of a withdrawal, or joins the running one, and waits at most `waitMs` milliseconds until the
   * money is reserved. Null if the wait times out. Throws as the reservation does, and SERVICE_UNAVAILABLE if Temporal
   * is unavailable.
   */
  startWithdrawal(withdrawalId: string, opening: WithdrawalOpening, waitMs: number): Promise<PayoutStatus | null>;
}

/** A disbursement's effects on its cause, in the transaction that moves the money; provided by `src/wiring/`. */
export interface CausePort {
  startCause(tx: EntityManager, causeId: string, by: { actorId: string; requestId: string | null }): Promise<void>;
  completeClosedCause: CausePort['startCause'];
  receiveLateMoney(tx: EntityManager, causeId: string): Promise<void>;
}

/** The configured terms of withdrawals; IDR. */
export interface WithdrawalTerms {
  WITHDRAWAL_FEE: Money;
  WITHDRAWAL_DAILY_LIMIT: Money;
  /** A disbursement above this needs two approvals. */
  DISBURSEMENT_APPROVAL_ABOVE: Money;
}

/** Length limits of a disbursement's purpose note, in characters. */
export const purposeNoteLimits = { shortest: 10, longest: 500 } as const;

/** Where the note is sealed in transit; its row stores it unencrypted, as it is public. */
export const placeOfNote = (withdrawalId: string) => ({
  table: 'withdrawals',
  column: 'purpose_note',
  row: withdrawalId,
});
