import { z } from 'zod';
import { PartnerPaymentShape } from '../money-in/collections/present-partner-payment.ts';
import { PartnerInstrumentShape } from '../money-in/partner-instruments/present-partner-instrument.ts';
import { PayoutBatchShape } from '../money-out/payout-batches/present-payout-batch.ts';
import { PayoutShape } from '../money-out/payouts/present-payout.ts';
import { RefundShape } from '../money-out/refunds/present-refund.ts';
import { type WebhookType, webhookTypes } from '../partners/partner.ts';
import { EndpointShape } from '../partners/present-endpoint.ts';
import type { WebhookResource } from '../partners/webhooks/webhook-delivery.ts';
import { amount, timestamp } from '../platform/http/fields.ts';
import type { WebhookDocument } from '../platform/http/openapi.ts';

const summaries: Record<WebhookType, string> = {
  'payment.succeeded': 'The customer paid; the net is owed to the partner',
  'payment.failed': 'The provider refused the payment',
  'payment.expired': 'The deadline passed unpaid',
  'payout.succeeded': 'The bank accepted the transfer',
  'payout.failed': 'The transfer failed; the whole reservation is available again',
  'payout.reversed': 'The bank returned the transfer after success; the net is available again, the fee is kept',
  'refund.succeeded': 'The refund reached the payer',
  'refund.failed': 'A refund failed, or the bank returned it; its money is available again',
  'payout_batch.completed': 'Every payout of the batch is final; each has its own webhook',
  'payment.available': 'The net of a payment is available for payout',
  'payment.unmatched':
    'Money arrived for a payment but does not count towards it: late, a second time, or of another amount',
  'instrument.unmatched':
    'Money arrived on a reusable number but is not a payment: of another amount, or after closing',
  'payout.delayed':
    'The outcome of the transfer has been unknown for ten minutes; another webhook follows once it is known',
  'endpoint.test': 'Somebody on your side requested a test of this endpoint',
};

const version = z.int().meta({ description: 'Increases with each event of the resource; a lower one arrived late.' });

const PaymentTold = PartnerPaymentShape.extend({ version }).meta({ id: 'WebhookPayment' });
const UnmatchedTold = PaymentTold.extend({
  unmatched: z
    .object({ amount: amount(), reason: z.enum(['late', 'double', 'wrong_amount']) })
    .meta({ description: 'The money that arrived. Operators decide what happens to it; the payment does not change.' }),
}).meta({ id: 'WebhookUnmatchedPayment' });
const InstrumentTold = PartnerInstrumentShape.extend({
  version,
  unmatched: z
    .object({
      amount: amount().meta({ description: 'The amount that arrived, in IDR.' }),
      reason: z.enum(['late', 'wrong_amount']).meta({
        description:
          '`late`: after closing. `wrong_amount`: not the fixed amount, or beyond the limits of the channel.',
      }),
    })
    .meta({ description: 'The money that arrived. Operators decide what happens to it.' }),
}).meta({ id: 'WebhookUnmatchedInstrument' });
const PayoutTold = PayoutShape.extend({ version }).meta({ id: 'WebhookPayout' });
const RefundTold = RefundShape.extend({ version }).meta({ id: 'WebhookRefund' });
const PayoutBatchTold = PayoutBatchShape.extend({ version }).meta({ id: 'WebhookPayoutBatch' });
const EndpointTold = EndpointShape.extend({ version }).meta({ id: 'WebhookTest' });

/** The data of a webhook by kind of resource, the first part of its type. */
const told: Record<WebhookResource, z.ZodType> = {
  payment: PaymentTold,
  payout: PayoutTold,
  refund: RefundTold,
  payout_batch: PayoutBatchTold,
  instrument: InstrumentTold,
  endpoint: EndpointTold,
};

/** The webhooks in OpenAPI; `data` is the resource as returned by its read endpoint, with its version. */
export const webhookDocuments: readonly WebhookDocument[] = webhookTypes.map((type) => ({
  type,
  summary: summaries[type],
  body: z.object({
    type: z.literal(type),
    timestamp: timestamp(),
    test: z.literal(true).optional().meta({
      description: 'Somebody on your side requested an example; nothing happened. Absent from every other webhook.',
    }),
    data: type === 'payment.unmatched' ? UnmatchedTold : told[type.split('.')[0] as WebhookResource],
  }),
}));
