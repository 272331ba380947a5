import { z } from 'zod';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { timestamp, uuid } from '../../platform/http/fields.ts';
import { shownMetadata } from '../../platform/http/metadata.ts';
import { maskName, maskNumber } from '../../shared/mask.ts';
import type { OwnedPayout } from './find-payouts.ts';
import { showPayoutTexts } from './open-payout-texts.ts';
import { payoutKinds } from './payout.ts';
import { payoutFields, presentPayout } from './present-payout.ts';

/** A payout of any kind as shown to operators. Masks the beneficiary, but shows enough to compare. */
export async function presentOperatorsPayout(sealer: Sealer, { payout, ...owner }: OwnedPayout) {
  const { bank_account_number, beneficiary_name, metadata } = await showPayoutTexts(sealer, payout);
  return {
    ...presentPayout(payout),
    kind: payout.kind,
    partner_id: payout.partner_id ?? null,
    ...owner,
    bank_code: payout.bank_code ?? null,
    bank_account_number: payout.bank_code ? maskNumber(bank_account_number) : null,
    beneficiary_name: beneficiary_name ? maskName(beneficiary_name) : null,
    metadata: metadata ?? null,
    provider_transfer_id: payout.provider_transfer_id ?? null,
    provider_says: payout.last_word ?? null,
    provider_asked_at: payout.asked_at?.toISOString() ?? null,
    unknown_since: payout.unknown_since?.toISOString() ?? null,
    contradicted_at: payout.contradicted_at?.toISOString() ?? null,
  };
}

export const OperatorsPayoutShape = z
  .object({
    ...payoutFields,
    kind: z.enum(payoutKinds).meta({ description: 'A disbursement is a withdrawal with a `cause_id`.' }),
    partner_id: uuid().nullable().meta({ description: 'Null for a withdrawal.' }),
    partner_name: z
      .string()
      .nullable()
      .meta({ description: 'Null for a withdrawal.', examples: ['Kios Nusantara'] }),
    user_id: uuid().nullable().meta({ description: 'The user who requested a withdrawal; otherwise null.' }),
    organization_id: uuid()
      .nullable()
      .meta({ description: "The organization of a withdrawal from an organization's account; otherwise null." }),
    cause_id: uuid().nullable().meta({ description: 'The cause of a disbursement; otherwise null.' }),
    payment_id: uuid().nullable().meta({ description: 'The payment of a refund; otherwise null.' }),
    bank_code: z.string().nullable().meta({ description: 'Null for a refund to the wallet that paid.' }),
    bank_account_number: z
      .string()
      .nullable()
      .meta({
        description: 'Its last four characters; null for a refund to the wallet that paid.',
        examples: ['*********1111'],
      }),
    beneficiary_name: z
      .string()
      .nullable()
      .meta({ description: 'Masked except for initials; null if there is no name.', examples: ['B*** S******'] }),
    metadata: shownMetadata(),
    provider_transfer_id: z.string().nullable().meta({ description: "The provider's id of the transfer." }),
    provider_says: z
      .string()
      .nullable()
      .meta({ description: "The provider's last reported status; null before the first check." }),
    provider_asked_at: timestamp().nullable().meta({ description: 'When the provider was last checked.' }),
    unknown_since: timestamp().nullable().meta({ description: 'Since when the outcome is unknown.' }),
    contradicted_at: timestamp()
      .nullable()
      .meta({ description: 'Since when the provider has contradicted the final status.' }),
  })
  .meta({ id: 'OperatorsPayout' });
