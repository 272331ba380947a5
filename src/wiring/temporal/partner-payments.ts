import type { SearchAttributePair } from '@temporalio/common';
import type { PartnerPaymentOpening, PartnerPaymentWorkflows } from '../../money-in/collections/partner-payment.ts';
import { wholeRupiah } from '../../shared/money.ts';
import { canonicalId } from '../../shared/uuid.ts';
import { ofOrganization, searchAttributeKeys } from './search-attributes.ts';
import type { Temporal } from './temporal.ts';
import { updateIdOf } from './update-id.ts';

export const createPartnerPaymentWorkflows = (temporal: Temporal): PartnerPaymentWorkflows => ({
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
        summary: `Partner payment: IDR ${opening.gross}, of it fee ${opening.fee}`,
        attributes: attributesOf(opening),
      }),
    };
    const id = opening === null ? `instrument-${paymentId}` : updateIdOf('instrument', paymentId);
    const update = { name: 'awaitInstrument' as const, id };
    return temporal.startAndAwait(run, update, waitMs);
  },
  hintPartnerPayment(paymentId) {
    const run = {
      workflow: 'partnerPayment' as const,
      subject: paymentId,
      input: { paymentId: canonicalId(paymentId) },
      summary: 'A partner payment, looked after again',
    };
    return temporal.signalWithStart(run, 'callbackArrived');
  },
});

const attributesOf = ({ partnerId, organizationId, gross }: PartnerPaymentOpening): SearchAttributePair[] => [
  { key: searchAttributeKeys.PaymentState, value: 'PENDING' },
  { key: searchAttributeKeys.PartnerId, value: partnerId },
  { key: searchAttributeKeys.AmountIdr, value: wholeRupiah(gross) },
  ...ofOrganization(organizationId),
];
