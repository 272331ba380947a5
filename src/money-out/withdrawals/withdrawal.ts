import type { EntityManager } from '@mikro-orm/postgresql';
import type { Money } from '../../shared/money.ts';
import type { OpeningStamp } from '../../shared/opening.ts';
import type { PayoutStatus } from '../payouts/payout.ts';

/** Pure facts about withdrawals: payouts from an account of a person or an organization to a bank account of theirs. */

/** What a request asks the workflow for: ids and amounts (docs/contract.md 9). IDR, scale 4. */
export interface WithdrawalOpening {
  userId: string;
  accountId: string;
  bankAccountId: string;
  /** What leaves the account: `net` plus `fee`. */
  amount: Money;
  fee: Money;
  /** What reaches the bank: whole rupiah. */
  net: Money;
  requestId: string;
  /** For a disbursement: the cause, and its purpose, sealed until it is public. */
  disbursement: { causeId: string; noteSealed: string } | null;
  /** For a request with an idempotency key. */
  idempotency: { keyHash: string; fingerprint: string } | null;
  stamp: OpeningStamp;
}

/** The input of a withdrawal's workflow; a withdrawal is a payout, and has its id. */
export interface WithdrawalInput {
  payoutId: string;
  /** What the request asked for. Absent when the workflow resumes a withdrawal that has its row. */
  opening?: WithdrawalOpening;
}

/** The withdrawal workflows' port for use cases; implemented in `temporal/`. */
export interface WithdrawalWorkflows {
  /**
   * Starts the workflow of a withdrawal, or joins the running one, and waits at most `waitMs` milliseconds until the
   * money is reserved. Null when that time passed without an answer. Throws what the reservation throws, and
   * SERVICE_UNAVAILABLE when Temporal is unavailable.
   */
  startWithdrawal(withdrawalId: string, opening: WithdrawalOpening, waitMs: number): Promise<PayoutStatus | null>;
}

/** What a disbursement does to its cause, in the transaction that moves the money; handed in by `src/wiring/`. */
export interface CausePort {
  startCause(tx: EntityManager, causeId: string, by: { actorId: string; requestId: string | null }): Promise<void>;
  completeClosedCause: CausePort['startCause'];
  receiveLateMoney(tx: EntityManager, causeId: string): Promise<void>;
}

/** The configured terms of withdrawals; IDR. */
export interface WithdrawalTerms {
  WITHDRAWAL_FEE: Money;
  WITHDRAWAL_DAILY_LIMIT: Money;
  /** A disbursement above this waits for the approval of two people. */
  DISBURSEMENT_APPROVAL_ABOVE: Money;
}

/** Length limits of a disbursement's purpose note, in characters. */
export const purposeNoteLimits = { shortest: 10, longest: 500 } as const;

/** The note travels sealed under this place; its row keeps it unencrypted, as everybody may read it. */
export const placeOfNote = (withdrawalId: string) => ({
  table: 'withdrawals',
  column: 'purpose_note',
  row: withdrawalId,
});
