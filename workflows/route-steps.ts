import { type WorkflowInterceptors, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { type StepQueue, taskQueueOf } from '../src/platform/config/step-queues.ts';

/** The dependency that each step waits for, which selects its task queue. The compiler rejects a missing step. */
const queues: Record<keyof Activities, StepQueue> = {
  openPaymentOrder: 'ledger',
  requestInstrument: 'provider',
  confirmPayment: 'provider',
  settlePayment: 'ledger',
  closePayment: 'ledger',
  expireInstrument: 'provider',
  openReceipt: 'provider',
  settleReceipt: 'provider',
  sweepOverduePayments: 'background',
  sweepReceipts: 'background',
  redeliverCallbacks: 'background',
  moveCircle: 'ledger',
  sweepSavingCircles: 'background',
  allocateDonations: 'ledger',
  openSubscription: 'ledger',
  paySubscriptionPeriod: 'ledger',
  sweepSubscriptions: 'background',
  sweepDecisions: 'background',
  openPartnerPayment: 'ledger',
  requestPartnerInstrument: 'provider',
  confirmPartnerPayment: 'provider',
  expirePartnerInstrument: 'provider',
  settlePartnerPayment: 'ledger',
  closePartnerPayment: 'ledger',
  releasePartnerPayment: 'ledger',
  openPartnerInstrument: 'ledger',
  obtainPaymentCode: 'provider',
  collectInstrumentPayments: 'provider',
  deliverWebhook: 'webhooks',
  sweepDeliveries: 'background',
  reservePayout: 'ledger',
  reserveWithdrawal: 'ledger',
  reserveRefund: 'ledger',
  sendTransfer: 'provider',
  askTransfer: 'provider',
  settlePayout: 'provider',
  sweepPayouts: 'background',
  lookAtPayoutBatch: 'ledger',
  beginBatchPayouts: 'ledger',
  findDaysToReconcile: 'background',
  reconcileDay: 'background',
  measureClearing: 'background',
  judgeClearing: 'background',
  findLedgerChecks: 'background',
  runLedgerCheck: 'background',
  makeSeal: 'background',
  forgetOldRows: 'background',
  continueErasure: 'background',
};

const isKnown = (name: string): name is keyof Activities => name in queues;

/** Schedules each step on its task queue; local activities run where their workflow runs. */
export function interceptors(): WorkflowInterceptors {
  return {
    outbound: [
      {
        scheduleActivity(input, next) {
          const queue = isKnown(input.activityType) ? queues[input.activityType] : 'ledger';
          const taskQueue = taskQueueOf(workflowInfo().taskQueue, queue);
          return next({ ...input, options: { taskQueue, ...input.options } });
        },
      },
    ],
  };
}
