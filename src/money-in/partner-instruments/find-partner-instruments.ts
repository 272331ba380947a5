import type { FilterQuery } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { type ListWindow, readPage } from '../../platform/database/find-page.ts';
import type { Listed } from '../../platform/database/position.ts';
import { readFresh } from '../../platform/database/replica.ts';
import { must } from '../../shared/assert.ts';
import { refuse } from '../../shared/errors.ts';
import { PaymentChannel } from '../payments/payment-channel.entity.ts';
import { PartnerInstrument } from './partner-instrument.entity.ts';
import type { PartnerInstrumentStatus } from './partner-instrument.ts';

export interface InstrumentWithChannel {
  instrument: PartnerInstrument;
  channel: Pick<PaymentChannel, 'method' | 'channel_code'>;
}

/** An instrument of this partner; null if there is none. */
export async function findInstrument(
  em: EntityManager,
  { id, partnerId }: { id: string; partnerId: string },
): Promise<InstrumentWithChannel | null> {
  const instrument = await em.findOne(PartnerInstrument, { id, partner_id: partnerId }, { refresh: true });
  if (instrument === null) return null;
  return { instrument, channel: await em.findOneOrFail(PaymentChannel, { id: instrument.channel_id }) };
}

/** An instrument of this partner. Throws RESOURCE_NOT_FOUND for a missing one and for another partner's. */
export async function getInstrument(
  em: EntityManager,
  of: { id: string; partnerId: string },
): Promise<InstrumentWithChannel> {
  return (await findInstrument(em, of)) ?? refuse('RESOURCE_NOT_FOUND', 'The instrument was not found');
}

export interface InstrumentFilter {
  status?: PartnerInstrumentStatus | undefined;
  external_ref?: string | undefined;
  from?: Date | undefined;
  /** Exclusive end of the period. */
  to?: Date | undefined;
}

/** A partner's own instruments, newest first. */
export function findInstruments(
  em: EntityManager,
  partnerId: string,
  { status, external_ref, from, to }: InstrumentFilter,
  window: ListWindow,
): Promise<Listed & { items: InstrumentWithChannel[] }> {
  const within = { partner_id: partnerId };
  const where: FilterQuery<PartnerInstrument> = {
    ...within,
    ...(status && { status }),
    ...(external_ref !== undefined && { external_ref }),
    ...((from ?? to) && { created_at: { ...(from && { $gte: from }), ...(to && { $lt: to }) } }),
  };
  return readFresh(em, async (reader) => {
    const { items, ...listed } = await readPage(reader, PartnerInstrument, where, window, { within });
    const channels = await reader.find(PaymentChannel, { id: { $in: items.map(({ channel_id }) => channel_id) } });
    const channelOf = new Map(channels.map((channel) => [channel.id, channel]));
    return {
      items: items.map((instrument) => ({
        instrument,
        channel: must(channelOf.get(instrument.channel_id), 'an instrument has a channel'),
      })),
      ...listed,
    };
  });
}
