import type { SearchAttributePair } from '@temporalio/common';
import type { PartnerPaymentOpening, PartnerPaymentWorkflows } from '../../money-in/collections/partner-payment.ts';
import type { PartnerInstrumentWorkflows } from '../../money-in/partner-instruments/partner-instrument.ts';
import type {
  GatewayPaymentWorkflows,
  PaymentOpening,
  ReceiptWorkflows,
  StrayPayment,
} from '../../money-in/payments/payment-contract.ts';
import { receiptReusePolicy } from '../../money-in/payments/receipt.ts';
import { wholeRupiah } from '../../shared/money.ts';
import { canonicalId } from '../../shared/uuid.ts';
import { ofOrganization, searchAttributeKeys } from './search-attributes.ts';
import { type Temporal, updateIdOf, type WorkflowRun } from './temporal.ts';

/** Creates the workflows that wait for money: orders, partners' payments, their instruments, and unmatched money. */
export const createMoneyInWorkflows = (
  temporal: Temporal,
): GatewayPaymentWorkflows & PartnerPaymentWorkflows & PartnerInstrumentWorkflows & ReceiptWorkflows => ({
  startGatewayPayment(orderId, opening, waitMs) {
    const run = {
      workflow: 'gatewayPayment' as const,
      subject: orderId,
      input: {
        orderId,
        opening: temporal.prove({ kind: 'payment_order', resourceId: orderId }, opening),
        shown: 'PENDING' as const,
      },
      summary: summaryOf(opening),
      attributes: attributesOfOrder(opening),
    };
    return temporal.startAndAwait(run, { name: 'awaitInstrument' }, waitMs);
  },
  hintGatewayPayment: (id) =>
    temporal.signalWithStart(
      again('gatewayPayment', id, { orderId: canonicalId(id) }, 'A payment order'),
      'callbackArrived',
    ),
  startPartnerPayment(paymentId, opening, waitMs) {
    const run = {
      workflow: 'partnerPayment' as const,
      subject: paymentId,
      input:
        opening === null
          ? { paymentId }
          : {
              paymentId,
              opening: temporal.prove({ kind: 'partner_payment', resourceId: paymentId }, opening),
              shown: 'PENDING' as const,
            },
      ...(opening !== null && {
        summary: `Partner payment: IDR ${opening.gross}, including fee ${opening.fee}`,
        attributes: attributesOfPayment(opening),
      }),
    };
    const id = opening === null ? `instrument-${paymentId}` : updateIdOf('instrument', paymentId);
    const update = { name: 'awaitInstrument' as const, id };
    return temporal.startAndAwait(run, update, waitMs);
  },
  hintPartnerPayment: (id) =>
    temporal.signalWithStart(
      again('partnerPayment', id, { paymentId: canonicalId(id) }, 'A partner payment'),
      'callbackArrived',
    ),
  startPartnerInstrument(instrumentId, opening, waitMs) {
    const place = { kind: 'partner_instrument', resourceId: instrumentId } as const;
    const run = {
      workflow: 'partnerInstrument' as const,
      subject: instrumentId,
      input: opening === null ? { instrumentId } : { instrumentId, opening: temporal.prove(place, opening) },
      ...(opening !== null && {
        summary: `Reusable instrument: ${opening.amount === null ? 'any amount' : `IDR ${opening.amount}`}`,
        attributes: [{ key: searchAttributeKeys.PartnerId, value: opening.partnerId }],
      }),
    };
    const id = opening === null ? `code-${instrumentId}` : updateIdOf('instrument', instrumentId);
    return temporal.startAndAwait(run, { name: 'awaitPaymentCode' as const, id }, waitMs);
  },
  hintPartnerInstrument: (id) =>
    temporal.signalWithStart(
      again('partnerInstrument', id, { instrumentId: canonicalId(id) }, 'A reusable instrument'),
      'callbackArrived',
    ),
  openUnmatchedReceipt: (stray) => temporal.signalWithStart(caseOf(stray), 'receiptChanged'),
});

/** Describes the workflow of an existing row: it is joined if it is running, otherwise restarted. */
const again = <Name extends 'gatewayPayment' | 'partnerPayment' | 'partnerInstrument'>(
  workflow: Name,
  subject: string,
  input: WorkflowRun<Name>['input'],
  what: string,
): WorkflowRun<Name> => ({ workflow, subject, input, summary: `${what}, resumed` });

const summaryOf = ({ order: { reference_type, nominal, admin_fee } }: PaymentOpening): string =>
  `${reference_type}: IDR ${nominal} + fee ${admin_fee}`;

const attributesOfOrder = ({ order }: PaymentOpening): SearchAttributePair[] => [
  { key: searchAttributeKeys.PaymentState, value: 'PENDING' },
  { key: searchAttributeKeys.ReferenceType, value: order.reference_type },
  { key: searchAttributeKeys.AmountIdr, value: wholeRupiah(order.nominal) },
  ...ofOrganization(order.organization_id ?? null),
];

const attributesOfPayment = ({ partnerId, organizationId, gross }: PartnerPaymentOpening): SearchAttributePair[] => [
  { key: searchAttributeKeys.PaymentState, value: 'PENDING' },
  { key: searchAttributeKeys.PartnerId, value: partnerId },
  { key: searchAttributeKeys.AmountIdr, value: wholeRupiah(gross) },
  ...ofOrganization(organizationId),
];

const caseOf = (stray: StrayPayment): WorkflowRun<'unmatchedReceipt'> => ({
  workflow: 'unmatchedReceipt',
  subject: stray.receiptId,
  input: stray,
  reusePolicy: receiptReusePolicy,
  summary: 'Money that could not be applied to an order',
});
