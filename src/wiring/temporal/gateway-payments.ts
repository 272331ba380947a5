import type { SearchAttributePair } from '@temporalio/common';
import type { GatewayPaymentWorkflows, PaymentOpening } from '../../money-in/payments/payment-contract.ts';
import { wholeRupiah } from '../../shared/money.ts';
import { canonicalId } from '../../shared/uuid.ts';
import { ofOrganization, searchAttributeKeys } from './search-attributes.ts';
import type { Temporal } from './temporal.ts';

export const createGatewayPaymentWorkflows = (temporal: Temporal): GatewayPaymentWorkflows => ({
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
      attributes: attributesOf(opening),
    };
    return temporal.startAndAwait(run, { name: 'awaitInstrument' }, waitMs);
  },
  hintGatewayPayment(orderId) {
    const run = {
      workflow: 'gatewayPayment' as const,
      subject: orderId,
      input: { orderId: canonicalId(orderId) },
      summary: 'A payment order, looked after again',
    };
    return temporal.signalWithStart(run, 'callbackArrived');
  },
});

const summaryOf = ({ order: { reference_type, nominal, admin_fee } }: PaymentOpening): string =>
  `${reference_type}: IDR ${nominal} + fee ${admin_fee}`;

const attributesOf = ({ order }: PaymentOpening): SearchAttributePair[] => [
  { key: searchAttributeKeys.PaymentState, value: 'PENDING' },
  { key: searchAttributeKeys.ReferenceType, value: order.reference_type },
  { key: searchAttributeKeys.AmountIdr, value: wholeRupiah(order.nominal) },
  ...ofOrganization(order.organization_id ?? null),
];
