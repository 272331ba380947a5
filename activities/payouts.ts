import type { EntityManager } from '@mikro-orm/postgresql';
import { cancellationSignal } from '@temporalio/activity';
import { sweepDecisions } from '../src/money-out/decisions/carry-out.ts';
import { beginBatchPayouts } from '../src/money-out/payout-batches/begin-batch-payouts.ts';
import { lookAtPayoutBatch } from '../src/money-out/payout-batches/look-at-payout-batch.ts';
import { askTransfer } from '../src/money-out/payouts/ask-transfer.ts';
import type { PayoutOpening, PayoutSettlement } from '../src/money-out/payouts/payout.ts';
import { reservePayout } from '../src/money-out/payouts/reserve-payout.ts';
import { resolvePayout } from '../src/money-out/payouts/resolve-payout.ts';
import { sendTransfer } from '../src/money-out/payouts/send-transfer.ts';
import { settlePayout } from '../src/money-out/payouts/settle-payout.ts';
import { sweepPayouts } from '../src/money-out/payouts/sweep-payouts.ts';
import type { RefundOpening } from '../src/money-out/refunds/refund.ts';
import { reserveRefund } from '../src/money-out/refunds/reserve-refund.ts';
import { reserveWithdrawal } from '../src/money-out/withdrawals/reserve-withdrawal.ts';
import type { WithdrawalOpening } from '../src/money-out/withdrawals/withdrawal.ts';
import type { Proved } from '../src/platform/encryption/prover.ts';
import { provenOpening } from '../src/platform/openings/prove-opening.ts';
import type { Dependencies } from '../src/wiring/dependencies.ts';
import { reportSweepFailure, step } from './step.ts';

interface OnePayout {
  payoutId: string;
}
/** ISO 8601, the workflow's clock. */
interface At {
  at: string;
}

/**
 * Activities of payouts, their batches and decisions, one per business step; each is idempotent for its row. Sending
 * and asking record the provider's status and then, in a separate transaction, post its effect.
 */
export function createPayoutActivities(deps: Dependencies) {
  const failed = reportSweepFailure(deps);
  const { gateways, sealer, payoutKinds, prover, workflows } = deps;
  const ports = { gateways, sealer, payoutKinds, resendHours: deps.config.PAYOUT_RESEND_HOURS };
  /** The provider's status from `hear`, and the payout once its effect is posted. */
  const thenPosted = (hear: typeof sendTransfer) => async (em: EntityManager, input: OnePayout & At) => ({
    report: await hear(em, ports, { ...input, signal: cancellationSignal() }),
    payout: await resolvePayout(em.fork(), deps, input),
  });
  return {
    reservePayout: step(
      deps,
      'reservePayout',
      (em, { payoutId, opening }: OnePayout & { opening: Proved<PayoutOpening> | null }) =>
        reservePayout(em, sealer, {
          payoutId,
          opening: opening && provenOpening(prover, { kind: 'payout', resourceId: payoutId }, opening),
        }),
    ),
    reserveWithdrawal: step(
      deps,
      'reserveWithdrawal',
      (em, { payoutId, opening }: OnePayout & { opening: Proved<WithdrawalOpening> | null }) =>
        reserveWithdrawal(em, deps, {
          withdrawalId: payoutId,
          opening: opening && provenOpening(prover, { kind: 'withdrawal', resourceId: payoutId }, opening),
        }),
    ),
    reserveRefund: step(
      deps,
      'reserveRefund',
      (em, { payoutId, opening }: OnePayout & { opening: Proved<RefundOpening> | null }) =>
        reserveRefund(em, sealer, {
          refundId: payoutId,
          opening: opening && provenOpening(prover, { kind: 'payment_refund', resourceId: payoutId }, opening),
        }),
    ),
    sendTransfer: step(deps, 'sendTransfer', thenPosted(sendTransfer)),
    askTransfer: step(deps, 'askTransfer', thenPosted(askTransfer)),
    settlePayout: step(deps, 'settlePayout', (em, input: OnePayout & At & { settlement: PayoutSettlement }) =>
      settlePayout(em, deps, { ...input, signal: cancellationSignal() }),
    ),
    lookAtPayoutBatch: step(deps, 'lookAtPayoutBatch', (em, input: { batchId: string }) =>
      lookAtPayoutBatch(em, sealer, input),
    ),
    beginBatchPayouts: step(deps, 'beginBatchPayouts', (em, input: { batchId: string }) =>
      beginBatchPayouts(em, workflows, input),
    ),
    sweepPayouts: step(deps, 'sweepPayouts', (em, _: object) => sweepPayouts(em, workflows, failed)),
    // Decisions are carried out by the activities of their own modules.
    sweepDecisions: step(deps, 'sweepDecisions', (em, _: object) => sweepDecisions(em, deps, failed)),
  };
}
