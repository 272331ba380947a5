import { type Client, WithStartWorkflowOperation } from '@temporalio/client';
import { TypedSearchAttributes, type Workflow } from '@temporalio/common';
import type { partnerPayout } from '../../workflows/partner-payout.ts';
import type { PayoutStarter } from '../payouts/create-payout.ts';
import type { PayoutStatus } from '../payouts/payout.ts';
import type { PayoutPort } from '../payouts/sweep-payouts.ts';
import { workflowIds } from '../shared/ids.ts';
import { wholeRupiah } from '../shared/money.ts';
import { canonicalId } from '../shared/uuid.ts';
import { searchAttributeKeys } from './search-attributes.ts';
import { updateIdOf } from './update-id.ts';
import { callTimeoutMs, withinWait } from './within-wait.ts';

/** What payouts ask of Temporal. */
export interface PayoutCalls extends PayoutPort, PayoutStarter {}

export function createPayoutCalls(client: Client, taskQueue: string, reach: () => Promise<void>): PayoutCalls {
  return {
    async startPartnerPayout(payoutId, opening, waitMs) {
      await reach();
      const startWorkflowOperation = new WithStartWorkflowOperation<typeof partnerPayout>('partnerPayout', {
        workflowId: workflowIds.partnerPayout(payoutId),
        taskQueue,
        args: [{ payoutId, opening }],
        workflowIdConflictPolicy: 'USE_EXISTING',
        staticSummary: `Partner payout: IDR ${opening.net} to ${opening.bankCode}, fee ${opening.fee}`,
        typedSearchAttributes: new TypedSearchAttributes([
          { key: searchAttributeKeys.PayoutState, value: 'RESERVED' },
          { key: searchAttributeKeys.PartnerId, value: opening.partnerId },
          { key: searchAttributeKeys.AmountIdr, value: wholeRupiah(opening.amount) },
        ]),
      });
      return withinWait(client, waitMs, () =>
        client.workflow.executeUpdateWithStart<Workflow, PayoutStatus, []>('awaitReservation', {
          updateId: updateIdOf('reservation', opening),
          startWorkflowOperation,
        }),
      );
    },
    async hintPartnerPayout(payoutId) {
      await client.withDeadline(Date.now() + callTimeoutMs, () =>
        client.workflow.signalWithStart<typeof partnerPayout>('partnerPayout', {
          workflowId: workflowIds.partnerPayout(payoutId),
          taskQueue,
          args: [{ payoutId: canonicalId(payoutId) }],
          signal: 'callbackArrived',
          staticSummary: 'A partner payout, looked after again',
        }),
      );
    },
  };
}
