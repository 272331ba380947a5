import { z } from 'zod';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { amount, timestamp, uuid } from '../../platform/http/fields.ts';
import { shownMetadata } from '../../platform/http/metadata.ts';
import { must } from '../../shared/assert.ts';
import { showPayoutTexts } from './open-payout-texts.ts';
import type { Payout } from './payout.entity.ts';
import { isFinalPayout, payoutLaw } from './payout.ts';

/** The fields shown for every kind of payout, without the payee. */
export function presentPayout(payout: Payout) {
  return {
    id: payout.id,
    reference: payout.reference,
    external_ref: payout.external_ref ?? null,
    batch_id: payout.batch_id ?? null,
    status: payout.status,
    is_final: isFinalPayout(payout.status),
    amount: payout.amount,
    fee: payout.fee,
    net_amount: payout.net_amount,
    currency: 'IDR' as const,
    created_at: payout.created_at.toISOString(),
    succeeded_at: payout.succeeded_at?.toISOString() ?? null,
    finalized_at: payout.finalized_at?.toISOString() ?? null,
    booked_at: payout.booked_at?.toISOString() ?? null,
    failure_code: payout.failure_code ?? null,
  };
}

/** A payout as lists show it to partners (docs/contract.md 8): with the beneficiary's name, without the account. */
export async function presentListedPayout(sealer: Sealer, payout: Payout) {
  const { beneficiary_name, metadata } = await showPayoutTexts(sealer, payout);
  return {
    ...presentPayout(payout),
    bank_code: bankOf(payout),
    beneficiary_name: beneficiary_name ?? null,
    metadata: metadata ?? null,
  };
}

/** A payout as shown on creation, in its detail and in webhooks: with the beneficiary decrypted. */
export async function presentWholePayout(sealer: Sealer, payout: Payout) {
  const { bank_account_number } = await showPayoutTexts(sealer, payout);
  return { ...(await presentListedPayout(sealer, payout)), bank_account_number };
}

const bankOf = ({ bank_code }: Payout): string => must(bank_code, 'a payout goes to a bank');

/** A new payout, shown as pending: its transfer may complete before the response is sent. */
export async function presentReservation(sealer: Sealer, payout: Payout) {
  const pending = {
    status: 'pending',
    is_final: false,
    succeeded_at: null,
    finalized_at: null,
    failure_code: null,
  } as const;
  return { ...(await presentWholePayout(sealer, payout)), ...pending };
}

/** The shape of `presentPayout`. */
export const payoutFields = {
  id: uuid(),
  reference: z.string().meta({ description: "The platform's own reference." }),
  external_ref: z
    .string()
    .nullable()
    .meta({ description: "The partner's own reference, as sent; null if there is none." }),
  batch_id: uuid().nullable().meta({ description: 'The batch that contained it; null for a single payout.' }),
  status: z.enum(payoutLaw.statuses),
  is_final: z.boolean(),
  amount: amount(),
  fee: amount(),
  net_amount: amount().meta({ description: 'The amount that reaches the bank.' }),
  currency: z.literal('IDR'),
  created_at: timestamp(),
  succeeded_at: timestamp().nullable().meta({
    description: 'When the money was sent to the bank, even if the bank reversed it later; otherwise null.',
  }),
  finalized_at: timestamp().nullable(),
  booked_at: timestamp().nullable().meta({
    description: 'When a failed or reversed payout was booked because the provider had paid it; otherwise null.',
  }),
  failure_code: z
    .string()
    .nullable()
    .meta({ description: 'Why the payout failed, such as `INVALID_DESTINATION`; otherwise null.' }),
};

const listed = {
  ...payoutFields,
  bank_code: z.string(),
  beneficiary_name: z.string().nullable().meta({ description: "The account holder's name, as sent; null if none." }),
  metadata: shownMetadata(),
};

export const ListedPayoutShape = z.object(listed).meta({ id: 'ListedPayout' });
export const PayoutShape = z
  .object({
    ...listed,
    bank_account_number: z.string(),
    status_url: z.string().optional(),
  })
  .meta({ id: 'Payout' });
