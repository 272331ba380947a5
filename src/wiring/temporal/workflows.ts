import type { Client } from '@temporalio/client';
import type { CircleWorkflows } from '../../circles/circle-contract.ts';
import type { ErasureWorkflows } from '../../control/erasure/erasure.ts';
import type { AllocationWorkflows } from '../../giving/donations/allocation.ts';
import type { SubscriptionWorkflows } from '../../giving/donations/subscription.ts';
import type { PartnerPaymentWorkflows } from '../../money-in/collections/partner-payment.ts';
import type { PartnerInstrumentWorkflows } from '../../money-in/partner-instruments/partner-instrument.ts';
import type { GatewayPaymentWorkflows, ReceiptWorkflows } from '../../money-in/payments/payment-contract.ts';
import type { PayoutBatchWorkflows } from '../../money-out/payout-batches/payout-batch.ts';
import type { PayoutWorkflows } from '../../money-out/payouts/payout.ts';
import type { RefundWorkflows } from '../../money-out/refunds/refund.ts';
import type { WithdrawalWorkflows } from '../../money-out/withdrawals/withdrawal.ts';
import type { DeliveryWorkflows } from '../../partners/webhooks/webhook-delivery.ts';
import type { Prover } from '../../platform/encryption/prover.ts';
import { canonicalId } from '../../shared/uuid.ts';
import { createAllocationWorkflows, createSubscriptionWorkflows } from './giving.ts';
import { createHints } from './hints.ts';
import { createMoneyInWorkflows } from './money-in.ts';
import { createMoneyOutWorkflows, createPayoutBatchWorkflows } from './money-out.ts';
import { createCircleWorkflows } from './saving-circles.ts';
import { createTemporal, type Temporal } from './temporal.ts';
import { createDeliveryWorkflows } from './webhook-deliveries.ts';

/** The workflows as use cases see them: each use case accepts the ports it needs, which its own module declares. */
export interface Workflows
  extends GatewayPaymentWorkflows,
    ReceiptWorkflows,
    PartnerPaymentWorkflows,
    PartnerInstrumentWorkflows,
    PayoutWorkflows,
    PayoutBatchWorkflows,
    WithdrawalWorkflows,
    RefundWorkflows,
    CircleWorkflows,
    AllocationWorkflows,
    SubscriptionWorkflows,
    DeliveryWorkflows,
    ErasureWorkflows {
  client: Client;
  taskQueue: string;
  /** Throws unless Temporal answers within a second and a half. */
  ping(): Promise<void>;
  /** Returns the version of the Temporal server; throws like `ping`. */
  serverVersion(): Promise<string>;
  /** Waits for pending hints, then closes the connection. */
  close(): Promise<void>;
}

/**
 * Creates the workflows of one task queue, through a Temporal client. Without a prover no workflow can be started, only
 * signalled or resumed.
 */
export function createWorkflows(client: Client, taskQueue: string, prover?: Prover, publicUrl?: string): Workflows {
  const temporal = createTemporal(client, taskQueue, prover, publicUrl);
  const hints = createHints();
  return {
    client,
    taskQueue,
    ping: temporal.ping,
    serverVersion: temporal.serverVersion,
    ...createMoneyInWorkflows(temporal),
    ...createMoneyOutWorkflows(temporal),
    ...createPayoutBatchWorkflows(temporal, hints),
    ...createCircleWorkflows(temporal, hints),
    ...createAllocationWorkflows(temporal),
    ...createSubscriptionWorkflows(temporal, hints),
    ...createDeliveryWorkflows(temporal, hints),
    ...createErasureWorkflows(temporal),
    close: async () => {
      await hints.settled();
      await client.connection.close();
    },
  };
}

const createErasureWorkflows = (temporal: Temporal): ErasureWorkflows => ({
  lookAfterErasure: (erasureId) =>
    temporal.startOnce({
      workflow: 'personErasure',
      subject: erasureId,
      input: { erasureId: canonicalId(erasureId) },
      summary: 'The erasure of a person, as decided by two people',
    }),
});
