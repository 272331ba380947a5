import { businessId } from './outbox.ts';
import type { Step } from './steps.ts';

/** A payout as the sandbox stores it. */
export interface SandboxTransfer {
  id: string;
  referenceId: string;
  idempotencyKey: string;
  channelCode: string;
  accountNumber: string;
  accountHolderName: string | null;
  amount: number;
  /** The provider's fee on top of the amount, unless the transfer fails. */
  cost: number;
  description: string | null;
  metadata: object | null;
  status: 'ACCEPTED' | 'SUCCEEDED' | 'FAILED' | 'REVERSED' | 'CANCELLED';
  failureCode: string | null;
  /** The statuses that it will reach automatically, in order. */
  steps: TransferStep[];
  created: string;
  updated: string;
}

type TransferStep = Step<'SUCCEEDED' | 'FAILED' | 'REVERSED'>;

/** How the last six digits of the account number determine a transfer's outcome (docs/sandbox.md). */
export interface Fate {
  /** Refused at once with this code; nothing is created. */
  refused?: string;
  steps: TransferStep[];
  /** The caller gets no answer: after the transfer was created, without creating it, or the first time only. */
  silence?: 'after' | 'instead' | 'at first';
}

const soon = 300;
const succeeds: TransferStep = { afterMs: soon, status: 'SUCCEEDED', failureCode: null };
const fails = (failureCode: string): TransferStep => ({ afterMs: soon, status: 'FAILED', failureCode });

const fates: Record<string, Fate> = {
  '121212': { refused: 'INVALID_DESTINATION', steps: [] },
  '999999': { steps: [fails('REJECTED_BY_CHANNEL')] },
  '123456': { steps: [fails('TEMPORARY_TRANSFER_ERROR')] },
  '131313': { steps: [] },
  '654321': { steps: [succeeds, { afterMs: 3_000, status: 'REVERSED', failureCode: 'REJECTED_BY_CHANNEL' }] },
  '900003': { steps: [succeeds], silence: 'after' },
  '900004': { steps: [], silence: 'instead' },
  '900005': { steps: [succeeds], silence: 'at first' },
};

/** The outcome of a transfer to this account; any number but the magic ones succeeds within a second. */
export function fateOf(accountNumber: string): Fate {
  return fates[accountNumber.slice(-6)] ?? { steps: [succeeds] };
}

/** The payout in the provider's wire format, the same in answers and callbacks. */
export function presentTransfer(transfer: SandboxTransfer) {
  return {
    id: transfer.id,
    amount: transfer.amount,
    channel_code: transfer.channelCode,
    currency: 'IDR',
    description: transfer.description,
    reference_id: transfer.referenceId,
    status: transfer.status,
    created: transfer.created,
    updated: transfer.updated,
    estimated_arrival_time: new Date(Date.parse(transfer.created) + 15 * 60 * 1000).toISOString(),
    ...(transfer.failureCode === null ? {} : { failure_code: transfer.failureCode }),
    business_id: businessId,
    channel_properties: {
      account_number: transfer.accountNumber,
      account_holder_name: transfer.accountHolderName,
    },
    receipt_notification: null,
    metadata: transfer.metadata,
  };
}
