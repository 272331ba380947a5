import { z } from 'zod';
import { openUnlessGone } from '../../platform/encryption/open-unless-gone.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { amount, timestamp, uuid } from '../../platform/http/fields.ts';
import { shownMetadata } from '../../platform/http/metadata.ts';
import type { InstrumentWithChannel } from './find-partner-instruments.ts';
import {
  type InstrumentTexts,
  instrumentMethods,
  instrumentTextsPlace,
  partnerInstrumentLaw,
} from './partner-instrument.ts';

/** An instrument as shown to partners. */
export async function presentInstrument(sealer: Sealer, { instrument, channel }: InstrumentWithChannel) {
  const { id, texts_sealed: sealed } = instrument;
  const opened = sealed ? await openUnlessGone(sealer, instrumentTextsPlace(id), sealed) : null;
  const texts: InstrumentTexts | null = opened === null ? null : JSON.parse(opened);
  return {
    id,
    external_ref: instrument.external_ref ?? null,
    status: instrument.status,
    method: channel.method as (typeof instrumentMethods)[number],
    channel: channel.method === 'qris' ? null : channel.channel_code,
    amount: instrument.amount ?? null,
    currency: 'IDR' as const,
    payment_code: instrument.payment_code ?? null,
    customer_name: texts?.customer_name ?? null,
    metadata: texts?.metadata ?? null,
    failure_code: instrument.failure_code ?? null,
    created_at: instrument.created_at.toISOString(),
    closed_at: instrument.closed_at?.toISOString() ?? null,
  };
}

export const PartnerInstrumentShape = z
  .object({
    id: uuid().meta({ description: "The instrument's id; its payments carry it as `instrument_id`." }),
    external_ref: z
      .string()
      .nullable()
      .meta({ description: "The partner's own reference, as sent; null if there is none." }),
    status: z.enum(partnerInstrumentLaw.statuses).meta({
      description: '`active` until it is closed or the provider refuses it; then `closed` permanently.',
    }),
    method: z.enum(instrumentMethods),
    channel: z.string().nullable().meta({ description: 'The bank of a virtual account; null for QRIS.' }),
    amount: amount().nullable().meta({ description: 'The exact amount of each payment, in IDR; null for any amount.' }),
    currency: z.literal('IDR'),
    payment_code: z.string().nullable().meta({
      description: 'The reusable account number or QR payload; null until the provider has created it.',
    }),
    customer_name: z.string().nullable().meta({ description: "The customer's name, as sent; null if none." }),
    metadata: shownMetadata(),
    failure_code: z.string().nullable().meta({ description: 'Why the provider refused it; otherwise null.' }),
    created_at: timestamp(),
    closed_at: timestamp().nullable().meta({ description: 'When it was closed; null before.' }),
    status_url: z.string().optional().meta({ description: 'The path to poll; only in the create response.' }),
  })
  .meta({ id: 'Instrument' });
