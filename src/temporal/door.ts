import { type Client, WithStartWorkflowOperation, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { type SearchAttributePair, TypedSearchAttributes, type Workflow } from '@temporalio/common';
import type { gatewayPayment } from '../../workflows/gateway-payment.ts';
import type { savingCircle } from '../../workflows/saving-circle.ts';
import type { unmatchedReceipt } from '../../workflows/unmatched-receipt.ts';
import type { WorkflowPort } from '../callbacks/deliver-callback.ts';
import type { CircleHint, CircleOpening, CircleWorkflows } from '../circles/circle-contract.ts';
import type { PaymentOpening, StrayPayment } from '../payments/payment-contract.ts';
import type { PaymentOrderStatus } from '../payments/payment-order.ts';
import { receiptReusePolicy } from '../payments/receipt.ts';
import { budgets } from '../shared/budgets.ts';
import { refuse } from '../shared/errors.ts';
import { workflowIds } from '../shared/ids.ts';
import { wholeRupiah } from '../shared/money.ts';
import { canonicalId } from '../shared/uuid.ts';
import { createHints } from './hints.ts';
import { createPartnerCalls, type PartnerCalls } from './partner-calls.ts';
import { withPatience } from './patience.ts';
import { createPayoutCalls, type PayoutCalls } from './payout-calls.ts';
import { searchAttributeKeys } from './search-attributes.ts';
import { callTimeoutMs, withinWait } from './within-wait.ts';

export { withinWait } from './within-wait.ts';

/** Reaching Temporal at all takes less than this, or it is away (a 503 within 3 seconds). */
const reachTimeoutMs = budgets.reach.temporal;
/** Of a process that is too busy to hear the answer: it is patient, but not for ever. */
const longestReachMs = 10_000;
const retryAfterSeconds = 2;

/** Where the API and the activities meet Temporal. Calls from a request have bounds; nothing here knows the database. */
export interface TemporalDoor extends WorkflowPort, CircleWorkflows, PartnerCalls, PayoutCalls {
  /** Throws unless Temporal answers within a second and a half. */
  ping(): Promise<void>;
  /**
   * Starts the order's workflow, or joins the one that runs, and waits at most `waitMs` for its instrument. Null when
   * the wait ended without an answer. Refuses what the first step refuses, and with SERVICE_UNAVAILABLE when Temporal
   * is away.
   */
  startGatewayPayment(orderId: string, opening: PaymentOpening, waitMs: number): Promise<PaymentOrderStatus | null>;
  /**
   * Starts the circle's workflow and waits at most `waitMs` for its row. Refuses with SERVICE_UNAVAILABLE when Temporal is
   * away.
   */
  startSavingCircle(circleId: string, opening: CircleOpening, waitMs: number): Promise<void>;
  /** The link to a workflow in the web UI, where one is configured. */
  client: Client;
  taskQueue: string;
  close(): Promise<void>;
}

/** Refuses with SERVICE_UNAVAILABLE when Temporal is away: asked before anything is begun. */
export async function reachTemporal(ping: () => Promise<void>): Promise<void> {
  try {
    await ping();
  } catch (cause) {
    refuse('SERVICE_UNAVAILABLE', 'Temporal cannot be reached; try again', { cause, retryAfterSeconds });
  }
}

/** Wraps a client of Temporal as the door of one task queue. */
export function createTemporalDoor(client: Client, taskQueue: string): TemporalDoor {
  const ping = async (): Promise<void> => {
    // The abort ends the SDK's own retries too, which a deadline alone lets run on.
    await withPatience(reachTimeoutMs, (signal) =>
      client.withAbortSignal(signal, () =>
        client.withDeadline(Date.now() + longestReachMs, () => client.workflowService.getSystemInfo({})),
      ),
    );
  };
  const reach = () => reachTemporal(ping);
  const hints = createHints();
  const signalCircle = async (circleId: string, hint: CircleHint): Promise<void> => {
    await client.withDeadline(Date.now() + callTimeoutMs, () =>
      client.workflow.signalWithStart<typeof savingCircle>('savingCircle', {
        workflowId: workflowIds.savingCircle(circleId),
        taskQueue,
        args: [{ circleId: canonicalId(circleId) }],
        signal: hint,
        staticSummary: 'A saving circle, looked after again',
      }),
    );
  };
  return {
    client,
    taskQueue,
    ping,
    ...createPartnerCalls(client, taskQueue, reach),
    ...createPayoutCalls(client, taskQueue, reach),
    async startGatewayPayment(orderId, opening, waitMs) {
      await reach();
      const startWorkflowOperation = new WithStartWorkflowOperation<typeof gatewayPayment>('gatewayPayment', {
        workflowId: workflowIds.gatewayPayment(orderId),
        taskQueue,
        args: [{ orderId, opening }],
        workflowIdConflictPolicy: 'USE_EXISTING',
        staticSummary: `${opening.referenceType}: IDR ${opening.nominal} + fee ${opening.adminFee}`,
        typedSearchAttributes: paymentAttributes(opening),
      });
      return withinWait(client, waitMs, () =>
        client.workflow.executeUpdateWithStart<Workflow, PaymentOrderStatus, []>('awaitInstrument', {
          startWorkflowOperation,
        }),
      );
    },
    async hintGatewayPayment(orderId) {
      await client.withDeadline(Date.now() + callTimeoutMs, () =>
        client.workflow.signalWithStart<typeof gatewayPayment>('gatewayPayment', {
          workflowId: workflowIds.gatewayPayment(orderId),
          taskQueue,
          args: [{ orderId: canonicalId(orderId) }],
          signal: 'callbackArrived',
          staticSummary: 'A payment order, looked after again',
        }),
      );
    },
    async startSavingCircle(circleId, opening, waitMs) {
      await reach();
      const startWorkflowOperation = new WithStartWorkflowOperation<typeof savingCircle>('savingCircle', {
        workflowId: workflowIds.savingCircle(circleId),
        taskQueue,
        args: [{ circleId, opening }],
        workflowIdConflictPolicy: 'USE_EXISTING',
        staticSummary: `A saving circle of IDR ${opening.amount}, ${opening.roundInterval}, by ${opening.turnOrder}`,
        typedSearchAttributes: circleAttributes(opening),
      });
      await withinWait(client, waitMs, () =>
        client.workflow.executeUpdateWithStart<Workflow, void, []>('awaitCircle', { startWorkflowOperation }),
      );
    },
    wakeSavingCircle: (circleId, hint) => hints.send(() => signalCircle(circleId, hint)),
    lookAfterSavingCircle: (circleId) => signalCircle(circleId, 'circleChanged'),
    async openUnmatchedReceipt(stray: StrayPayment) {
      try {
        await client.withDeadline(Date.now() + callTimeoutMs, () =>
          client.workflow.start<typeof unmatchedReceipt>('unmatchedReceipt', {
            workflowId: workflowIds.unmatchedReceipt(stray.receiptId),
            taskQueue,
            args: [stray],
            workflowIdConflictPolicy: 'USE_EXISTING',
            workflowIdReusePolicy: receiptReusePolicy,
            staticSummary: 'Money that could not be applied to an order',
          }),
        );
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    },
    close: async () => {
      await hints.settled();
      await client.connection.close();
    },
  };
}

function circleAttributes({ organizationId, amount }: CircleOpening): TypedSearchAttributes {
  const pairs: SearchAttributePair[] = [{ key: searchAttributeKeys.AmountIdr, value: wholeRupiah(amount) }];
  if (organizationId !== null) pairs.push({ key: searchAttributeKeys.OrganizationId, value: organizationId });
  return new TypedSearchAttributes(pairs);
}

function paymentAttributes({ referenceType, organizationId, nominal }: PaymentOpening): TypedSearchAttributes {
  const pairs: SearchAttributePair[] = [
    { key: searchAttributeKeys.PaymentState, value: 'PENDING' },
    { key: searchAttributeKeys.ReferenceType, value: referenceType },
    { key: searchAttributeKeys.AmountIdr, value: wholeRupiah(nominal) },
  ];
  if (organizationId !== null) pairs.push({ key: searchAttributeKeys.OrganizationId, value: organizationId });
  return new TypedSearchAttributes(pairs);
}
