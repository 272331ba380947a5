import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../../platform/events/record-event.ts';
import { budgets } from '../../shared/budgets.ts';
import { refuse } from '../../shared/errors.ts';
import { getInstrument, type InstrumentWithChannel } from './find-partner-instruments.ts';
import { instrumentPath, type PartnerInstrumentWorkflows } from './partner-instrument.ts';

const lookEveryMs = 100;

/**
 * Closes an instrument and returns it: expires it at the provider and turns money paid before into payments. Returns a
 * closed instrument unchanged. Throws RESOURCE_NOT_FOUND, and PROVIDER_INDETERMINATE if the provider has not closed it
 * in time: closing continues in the background.
 */
export async function closePartnerInstrument(
  em: EntityManager,
  workflows: Pick<PartnerInstrumentWorkflows, 'hintPartnerInstrument'>,
  { partnerId, instrumentId, requestId }: { partnerId: string; instrumentId: string; requestId: string },
): Promise<InstrumentWithChannel> {
  const find = () => getInstrument(em.fork(), { partnerId, id: instrumentId });
  const found = await find();
  if (found.instrument.status === 'closed') return found;
  await em.transactional(async (tx) => {
    const asked = await tx.execute<unknown[]>(
      `update partner_instruments set closing_at = now(), read_from = null, read_before = null, look_again_at = now() + interval '1 minute', updated_at = now()
       where id = ? and status = 'active' and closing_at is null returning 1`,
      [instrumentId],
    );
    if (asked.length === 0) return;
    await recordEvent(tx, {
      event: 'RESOURCE_UPDATED',
      resourceType: 'partner_instrument',
      resourceId: instrumentId,
      actorId: null,
      requestId,
      data: { partner_id: partnerId, closing: true },
    });
  });
  await workflows.hintPartnerInstrument(instrumentId);
  const endsAt = performance.now() + budgets.requests.cancellation;
  for (;;) {
    const now = await find();
    if (now.instrument.status === 'closed') return now;
    if (performance.now() > endsAt) break;
    await sleep(lookEveryMs);
  }
  return refuse('PROVIDER_INDETERMINATE', 'The provider has not closed the instrument yet: poll it, or try again', {
    details: { instrument_id: instrumentId, status_url: instrumentPath(instrumentId) },
  });
}
