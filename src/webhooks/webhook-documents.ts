import { z } from 'zod';
import { PartnerPaymentShape } from '../collections/present-partner-payment.ts';
import { timestamp } from '../http/fields.ts';
import type { WebhookDocument } from '../http/openapi.ts';
import { type WebhookEvent, webhookEvents } from '../partners/partner.ts';
import { PayoutShape } from '../payouts/present-payout.ts';

const summaries: Record<WebhookEvent, string> = {
  'payment.succeeded': 'The customer paid; the net is owed to the partner',
  'payment.failed': 'The provider refused the payment',
  'payment.expired': 'The deadline passed unpaid',
  'payout.succeeded': 'The bank took the transfer',
  'payout.failed': 'The transfer failed; the whole reservation is available again',
  'payout.reversed': 'The bank returned the transfer after success; the net is available again, the fee stays',
};

const version = z.int().meta({ description: 'Grows with each event of the resource: a lower one came late.' });

const PaymentTold = PartnerPaymentShape.extend({ version }).meta({ id: 'WebhookPayment' });
const PayoutTold = PayoutShape.extend({ version }).meta({ id: 'WebhookPayout' });

/** What partners are told, as the document shows it; the body is the resource as its read endpoint shows it. */
export const webhookDocuments: readonly WebhookDocument[] = webhookEvents.map((type) => ({
  type,
  summary: summaries[type],
  body: z.object({
    type: z.literal(type),
    timestamp: timestamp(),
    data: type.startsWith('payment.') ? PaymentTold : PayoutTold,
  }),
}));
