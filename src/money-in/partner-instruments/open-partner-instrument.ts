import type { EntityManager } from '@mikro-orm/postgresql';
import { refuseInactivePartner } from '../../partners/inactive.ts';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { recordEvent } from '../../platform/events/record-event.ts';
import { openOnce } from '../../platform/openings/open-once.ts';
import { refuse } from '../../shared/errors.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { PartnerInstrument } from './partner-instrument.entity.ts';
import type { PartnerInstrumentOpening, PartnerInstrumentStatus } from './partner-instrument.ts';

/**
 * The first step of an instrument: writes its row and the idempotency key in one transaction. Returns an existing
 * instrument unchanged. Refuses an inactive partner and a key used for another request; otherwise throws as `openOnce`
 * does.
 */
export async function openPartnerInstrument(
  em: EntityManager,
  { instrumentId, opening }: { instrumentId: string; opening: PartnerInstrumentOpening | null },
): Promise<PartnerInstrumentStatus> {
  const find = (tx: EntityManager) => tx.findOne(PartnerInstrument, { id: instrumentId });
  const make = async (tx: EntityManager, asked: PartnerInstrumentOpening) => {
    await refuseInactivePartner(tx, asked.partnerId);
    return write(tx, instrumentId, asked);
  };
  const instrument =
    opening === null
      ? await find(em)
      : await openOnce(
          em,
          {
            resourceId: instrumentId,
            kind: 'partner_instrument',
            claim: { ...opening.idempotency, partnerId: opening.partnerId },
            stamp: opening.stamp,
          },
          { find, make: (tx) => make(tx, opening) },
        );
  if (instrument === null) refuse('NOT_FOUND', 'The instrument was not found');
  await failpoint('open-partner-instrument.after');
  return instrument.status;
}

async function write(tx: EntityManager, id: string, opening: PartnerInstrumentOpening): Promise<PartnerInstrument> {
  const now = await readDatabaseClock(tx);
  const instrument = tx.create(PartnerInstrument, {
    id,
    partner_id: opening.partnerId,
    channel_id: opening.channelId,
    amount: opening.amount,
    external_ref: opening.externalRef,
    texts_sealed: opening.textsSealed,
    status: 'active',
    look_again_at: new Date(now.getTime() + 120_000),
    request_id: opening.requestId,
    created_at: now,
    updated_at: now,
  });
  await tx.flush();
  await recordEvent(tx, {
    event: 'RESOURCE_CREATED',
    resourceType: 'partner_instrument',
    resourceId: id,
    actorId: null,
    requestId: opening.requestId,
    data: { partner_id: opening.partnerId },
  });
  return instrument;
}
