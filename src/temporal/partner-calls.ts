import { type Client, WithStartWorkflowOperation, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { type SearchAttributePair, TypedSearchAttributes, type Workflow } from '@temporalio/common';
import type { partnerPayment } from '../../workflows/partner-payment.ts';
import type { webhookDelivery } from '../../workflows/webhook-delivery.ts';
import type { PaymentStarter } from '../collections/create-partner-payment.ts';
import type { PartnerPaymentOpening } from '../collections/partner-payment.ts';
import type { PaymentOrderStatus } from '../payments/payment-order.ts';
import { workflowIds } from '../shared/ids.ts';
import { wholeRupiah } from '../shared/money.ts';
import { canonicalId } from '../shared/uuid.ts';
import type { DeliveryPort } from '../webhooks/redeliver-webhook.ts';
import { searchAttributeKeys } from './search-attributes.ts';
import { updateIdOf } from './update-id.ts';
import { callTimeoutMs, withinWait } from './within-wait.ts';

/** What partners' requests and webhooks ask of Temporal. */
export interface PartnerCalls extends DeliveryPort, PaymentStarter {
  /** Wakes the payment's workflow, or starts it again from its row when there is none. */
  hintPartnerPayment(paymentId: string): Promise<void>;
}

export function createPartnerCalls(client: Client, taskQueue: string, reach: () => Promise<void>): PartnerCalls {
  const withinCall = <T>(call: () => Promise<T>): Promise<T> => client.withDeadline(Date.now() + callTimeoutMs, call);
  return {
    async startPartnerPayment(paymentId, opening, waitMs) {
      const startWorkflowOperation = new WithStartWorkflowOperation<typeof partnerPayment>('partnerPayment', {
        workflowId: workflowIds.partnerPayment(paymentId),
        taskQueue,
        args: [opening === null ? { paymentId } : { paymentId, opening }],
        workflowIdConflictPolicy: 'USE_EXISTING',
        ...(opening !== null && {
          staticSummary: `Partner payment: IDR ${opening.gross}, of it fee ${opening.fee}`,
          typedSearchAttributes: attributesOf(opening),
        }),
      });
      const answer = withinWait(client, waitMs, () =>
        client.workflow.executeUpdateWithStart<Workflow, PaymentOrderStatus, []>('awaitInstrument', {
          updateId: updateIdOf('instrument', opening),
          startWorkflowOperation,
        }),
      );
      // At once, as the id is the key's: should the call arrive although Temporal seems away, a retry joins it.
      return Promise.race([answer, reach().then(() => answer)]);
    },
    async hintPartnerPayment(paymentId) {
      await withinCall(() =>
        client.workflow.signalWithStart<typeof partnerPayment>('partnerPayment', {
          workflowId: workflowIds.partnerPayment(paymentId),
          taskQueue,
          args: [{ paymentId: canonicalId(paymentId) }],
          signal: 'callbackArrived',
          staticSummary: 'A partner payment, looked after again',
        }),
      );
    },
    async startWebhookDelivery(deliveryId) {
      try {
        await withinCall(() =>
          client.workflow.start<typeof webhookDelivery>('webhookDelivery', deliveryOf(deliveryId)),
        );
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    },
    async hastenWebhookDelivery(deliveryId) {
      const options = { ...deliveryOf(deliveryId), signal: 'redeliveryAsked' };
      await withinCall(() => client.workflow.signalWithStart<typeof webhookDelivery>('webhookDelivery', options));
    },
  };

  function deliveryOf(deliveryId: string): { workflowId: string; taskQueue: string; args: [{ deliveryId: string }] } {
    return { workflowId: workflowIds.webhookDelivery(deliveryId), taskQueue, args: [{ deliveryId }] };
  }
}

function attributesOf({ partnerId, organizationId, gross }: PartnerPaymentOpening): TypedSearchAttributes {
  const pairs: SearchAttributePair[] = [
    { key: searchAttributeKeys.PaymentState, value: 'PENDING' },
    { key: searchAttributeKeys.PartnerId, value: partnerId },
    { key: searchAttributeKeys.AmountIdr, value: wholeRupiah(gross) },
  ];
  if (organizationId !== null) pairs.push({ key: searchAttributeKeys.OrganizationId, value: organizationId });
  return new TypedSearchAttributes(pairs);
}
