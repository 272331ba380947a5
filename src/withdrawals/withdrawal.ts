import type { OpeningStamp } from '../openings/opening.ts';
import type { PayoutStatus } from '../payouts/payout.ts';
import type { Money } from '../shared/money.ts';

/** Pure facts about withdrawals: payouts from an account of a person or an organization to a bank account of theirs. */

/** What a request asks of the workflow: ids and amounts (docs/contract.md 9). IDR, scale 4. */
export interface WithdrawalOpening {
  userId: string;
  accountId: string;
  bankAccountId: string;
  /** What leaves the account: `net` and `fee`. */
  amount: Money;
  fee: Money;
  /** What reaches the bank: whole rupiah. */
  net: Money;
  requestId: string;
  /** Of a disbursement: the cause, and what it is for, sealed until it is public. */
  disbursement: { causeId: string; noteSealed: string } | null;
  /** Of a request with an idempotency key. */
  idempotency: { keyHash: string; fingerprint: string } | null;
  stamp: OpeningStamp;
}

/** What the workflow of a withdrawal is started with; a withdrawal is a payout, and its id is that payout's. */
export interface WithdrawalInput {
  payoutId: string;
  /** What the request asked for. Absent when a withdrawal that has its row is looked after again. */
  opening?: WithdrawalOpening;
}

/** The workflows of withdrawals, as use cases meet them; made by `temporal/`, passed in. */
export interface WithdrawalWorkflows {
  /**
   * Starts the workflow of a withdrawal, or joins the one that runs, and waits at most `waitMs` until the money is
   * reserved. Null when the wait ended without an answer. Refuses what the reservation refuses, and with
   * SERVICE_UNAVAILABLE when Temporal is away.
   */
  startWithdrawal(withdrawalId: string, opening: WithdrawalOpening, waitMs: number): Promise<PayoutStatus | null>;
}

/** What the configuration says of withdrawals; IDR. */
export interface WithdrawalTerms {
  WITHDRAWAL_FEE: Money;
  WITHDRAWAL_DAILY_LIMIT: Money;
  /** A disbursement of more than this waits for two people. */
  DISBURSEMENT_APPROVAL_ABOVE: Money;
}

/** The fewest and the most characters of what a disbursement is for. */
export const purposeNoteLimits = { shortest: 10, longest: 500 } as const;

/** Where the note travels sealed; its row keeps it in the clear, as everybody may read it. */
export const placeOfNote = (withdrawalId: string) => ({
  table: 'withdrawals',
  column: 'purpose_note',
  row: withdrawalId,
});
