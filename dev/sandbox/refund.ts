import type { SandboxInstrument } from './instrument.ts';
import type { Step } from './steps.ts';

/** A refund as the sandbox stores it. */
export interface SandboxRefund {
  id: string;
  requestId: string;
  referenceId: string;
  idempotencyKey: string;
  channelCode: string;
  amount: number;
  reason: string;
  metadata: object | null;
  status: 'PENDING' | 'SUCCEEDED' | 'FAILED' | 'CANCELLED';
  failureCode: string | null;
  /** The statuses that it will reach automatically, in order. */
  steps: Step<'SUCCEEDED' | 'FAILED'>[];
  created: string;
  updated: string;
}

/** How the amount of a refund determines its outcome (docs/sandbox.md). */
interface RefundFate {
  /** Refused at once with this code; nothing is created. */
  refused?: string;
  steps: SandboxRefund['steps'];
  /** The caller gets no answer: after the refund was created, or without creating it. */
  silence?: 'after' | 'instead';
}

const succeeds = { afterMs: 300, status: 'SUCCEEDED', failureCode: null } as const;

const fates: Record<number, RefundFate> = {
  121212: { refused: 'INELIGIBLE_TRANSACTION', steps: [] },
  999999: { steps: [{ afterMs: 300, status: 'FAILED', failureCode: 'REFUND_FAILED' }] },
  131313: { steps: [] },
  900003: { steps: [succeeds], silence: 'after' },
  900004: { steps: [], silence: 'instead' },
};

/** The outcome of a refund of this many rupiah; any amount but the magic ones succeeds within a second. */
export const refundFateOf = (amount: number): RefundFate => fates[amount] ?? { steps: [succeeds] };

/** The refund in the provider's wire format, the same in answers and callbacks. */
export const presentRefund = (refund: SandboxRefund) => ({
  id: refund.id,
  payment_request_id: refund.requestId,
  payment_id: refund.requestId,
  invoice_id: null,
  payment_method_type: 'EWALLET' satisfies SandboxInstrument['type'],
  reference_id: refund.referenceId,
  channel_code: refund.channelCode,
  country: 'ID',
  currency: 'IDR',
  amount: refund.amount,
  reason: refund.reason,
  status: refund.status,
  failure_code: refund.failureCode,
  refund_fee_amount: null,
  metadata: refund.metadata,
  created: refund.created,
  updated: refund.updated,
});
