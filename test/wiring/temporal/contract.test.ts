import type { UpdateDefinition } from '@temporalio/common';
import type { UpdatesOf, WorkflowContract, WorkflowName } from '../../../src/wiring/temporal/workflow-contract.ts';
import * as collecting from '../../../workflows/collect-payment.ts';
import * as subscription from '../../../workflows/donation-subscription.ts';
import * as workflows from '../../../workflows/index.ts';
import * as instrument from '../../../workflows/partner-instrument.ts';
import * as batch from '../../../workflows/partner-payout-batch.ts';
import * as payout from '../../../workflows/pay-out.ts';
import * as circle from '../../../workflows/saving-circle.ts';
import * as receipt from '../../../workflows/unmatched-receipt.ts';
import * as delivery from '../../../workflows/webhook-delivery.ts';

// The compiler compares the types: a workflow that differs from the contract fails the type check.

/** A workflow as the API starts it and awaits its completion. */
type AsStarted<Name extends WorkflowName> = (
  input: WorkflowContract[Name]['input'],
) => Promise<WorkflowContract[Name] extends { result: infer Result } ? Result : unknown>;

/** The updates of a workflow as the API awaits them. */
type AsAwaited<Name extends WorkflowName> = {
  [Update in keyof UpdatesOf<Name>]: UpdateDefinition<
    UpdatesOf<Name>[Update] extends undefined ? void : UpdatesOf<Name>[Update],
    // biome-ignore lint/suspicious/noExplicitAny: what is sent with an update is its own
    any
  >;
};
type Signals = { [Name in WorkflowName]: WorkflowContract[Name] extends { signals: infer Signal } ? Signal[] : [] };

const started: { [Name in WorkflowName]: AsStarted<Name> } = workflows;
const awaited: { [Name in WorkflowName]: AsAwaited<Name> } = {
  gatewayPayment: { awaitInstrument: collecting.awaitInstrument },
  partnerPayment: { awaitInstrument: collecting.awaitInstrument },
  partnerPayout: { awaitReservation: payout.awaitReservation, settlePayout: payout.settlePayout },
  withdrawal: { awaitReservation: payout.awaitReservation, settlePayout: payout.settlePayout },
  paymentRefund: { awaitReservation: payout.awaitReservation, settlePayout: payout.settlePayout },
  savingCircle: {},
  donationSubscription: { awaitFirstPayment: subscription.awaitFirstPayment },
  donationAllocation: {},
  unmatchedReceipt: { settleReceipt: receipt.settleReceipt },
  webhookDelivery: {},
  personErasure: {},
  partnerPayoutBatch: {},
  partnerInstrument: { awaitPaymentCode: instrument.awaitPaymentCode },
};
const signals: Signals = {
  gatewayPayment: ['callbackArrived'],
  partnerPayment: ['callbackArrived'],
  partnerPayout: ['callbackArrived'],
  withdrawal: ['callbackArrived'],
  paymentRefund: ['callbackArrived'],
  savingCircle: ['circleChanged'],
  donationSubscription: ['subscriptionStopped'],
  webhookDelivery: ['redeliveryAsked'],
  donationAllocation: [],
  unmatchedReceipt: [],
  personErasure: [],
  partnerPayoutBatch: ['batchChanged'],
  partnerInstrument: ['callbackArrived'],
};
const definedSignals: Record<WorkflowName, { name: string }[]> = {
  gatewayPayment: [collecting.callbackArrived],
  partnerPayment: [collecting.callbackArrived],
  partnerPayout: [payout.callbackArrived],
  withdrawal: [payout.callbackArrived],
  paymentRefund: [payout.callbackArrived],
  savingCircle: [circle.circleChanged],
  donationSubscription: [subscription.subscriptionStopped],
  webhookDelivery: [delivery.redeliveryAsked],
  donationAllocation: [],
  unmatchedReceipt: [],
  personErasure: [],
  partnerPayoutBatch: [batch.batchChanged],
  partnerInstrument: [collecting.callbackArrived],
};
const names = Object.keys(awaited) as WorkflowName[];

describe('The Temporal contract', () => {
  it.each(names)('The API starts, awaits and signals workflow %s under the names that it defines', (name) => {
    expect(started[name].name).toBe(name);
    for (const [update, definition] of Object.entries(awaited[name])) expect(definition.name).toBe(update);
    expect(definedSignals[name].map((signal) => signal.name)).toEqual(signals[name]);
  });
});
