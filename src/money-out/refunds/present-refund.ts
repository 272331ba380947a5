import { z } from 'zod';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { amount, moneyString, nameAtBank, prose, text, timestamp, uuid } from '../../platform/http/fields.ts';
import { metadata, shownMetadata } from '../../platform/http/metadata.ts';
import { presentFields } from '../../platform/http/present-fields.ts';
import { showPayoutTexts } from '../payouts/open-payout-texts.ts';
import type { Payout } from '../payouts/payout.entity.ts';
import { isFinalPayout } from '../payouts/payout.ts';
import { refundStatuses, shownRefundStatuses } from './refund.ts';

export const RefundBody = z.strictObject({
  amount: moneyString()
    .optional()
    .meta({ description: 'In whole rupiah. Default: everything that can still be refunded.' }),
  reason: prose(200).meta({ description: 'For your own records; the customer does not see it.' }),
  bank_code: text(32).optional().meta({
    description: 'A `bank_code` of `GET /v1/partners/channels`. Required if the refund is a transfer.',
  }),
  bank_account_number: text(34).optional().meta({ description: 'Required if the refund is a transfer.' }),
  beneficiary_name: nameAtBank(100)
    .optional()
    .meta({ description: "The account holder's name on record at the bank." }),
  metadata: metadata(),
});

export type RefundRequest = z.output<typeof RefundBody>;

const refundFields = {
  id: uuid(),
  payment_id: uuid(),
  reference: z.string().meta({ description: "The platform's own reference." }),
  status: z.enum(refundStatuses),
  is_final: z.boolean(),
  amount: amount(),
  currency: z.literal('IDR'),
  reason: z.string(),
  bank_code: z.string().nullable().meta({ description: 'Null for a refund to the wallet that paid.' }),
  bank_account_number: z.string().nullable().meta({ description: 'Null for a refund to the wallet that paid.' }),
  beneficiary_name: z.string().nullable().meta({ description: "The account holder's name, as sent; null if none." }),
  metadata: shownMetadata(),
  failure_code: z.string().nullable().meta({
    description: 'Why the refund failed, such as `RETURNED_BY_BANK` if the bank returned it; otherwise null.',
  }),
  created_at: timestamp(),
  finalized_at: timestamp().nullable(),
  booked_at: timestamp()
    .nullable()
    .meta({ description: 'When a failed refund was booked because the provider had paid it; otherwise null.' }),
};

export const RefundShape = z
  .object({
    ...refundFields,
    status_url: z.string().optional().meta({ description: 'The path to poll; only in the create response.' }),
  })
  .meta({ id: 'Refund' });

export interface WholeRefund {
  payout: Payout;
  paymentId: string;
}

/** A refund as shown to partners, the same in details, lists and webhooks. */
export async function presentRefund(sealer: Sealer, { payout, paymentId }: WholeRefund) {
  const { reason, bank_account_number, beneficiary_name, metadata } = await showPayoutTexts(sealer, payout);
  return presentFields(refundFields, {
    ...payout,
    payment_id: paymentId,
    status: shownRefundStatuses[payout.status],
    is_final: isFinalPayout(payout.status),
    currency: 'IDR',
    reason: reason ?? '',
    bank_account_number: payout.bank_code ? bank_account_number : null,
    beneficiary_name,
    metadata,
    failure_code: payout.status === 'reversed' ? 'RETURNED_BY_BANK' : payout.failure_code,
  });
}

/** A new refund, shown as pending: it may be final before the response is sent. */
export async function presentNewRefund(sealer: Sealer, refund: WholeRefund) {
  const shown = await presentRefund(sealer, refund);
  const status_url = `/v1/partners/payments/${shown.payment_id}/refunds/${shown.id}`;
  return { ...shown, status: 'pending' as const, is_final: false, failure_code: null, finalized_at: null, status_url };
}
