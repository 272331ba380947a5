import { z } from 'zod';
import { amount, timestamp, uuid } from '../../platform/http/fields.ts';
import { formatMoney } from '../../shared/money.ts';
import type { Donation } from './donation.entity.ts';
import { donationLaw, donationTypes } from './donation.ts';

/** A donation as the API shows it. */
export const DonationAnswer = z
  .object({
    id: uuid(),
    user_id: uuid(),
    type: z.enum(donationTypes),
    amount: amount(),
    status: z.enum(donationLaw.statuses),
    cause_id: uuid().nullable().meta({ description: 'Null while open and unallocated.' }),
    allocation_batch_id: uuid().nullable(),
    transaction_id: uuid().nullable().meta({ description: 'The ledger transaction that paid it; null until then.' }),
    payment_order_id: uuid().nullable(),
    subscription_id: uuid().nullable(),
    refund_transaction_id: uuid()
      .nullable()
      .meta({ description: 'The ledger transaction that refunded it; null unless `refunded`.' }),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'Donation' });

export const presentDonation = (donation: Donation): z.input<typeof DonationAnswer> => ({
  id: donation.id,
  user_id: donation.user_id,
  type: donation.type,
  amount: formatMoney(donation.amount),
  status: donation.status,
  cause_id: donation.cause_id ?? null,
  allocation_batch_id: donation.allocation_batch_id ?? null,
  transaction_id: donation.transaction_id ?? null,
  payment_order_id: donation.payment_order_id ?? null,
  subscription_id: donation.subscription_id ?? null,
  refund_transaction_id: donation.refund_transaction_id ?? null,
  created_at: donation.created_at.toISOString(),
  updated_at: donation.updated_at.toISOString(),
});
