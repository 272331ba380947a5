import type { EntityManager } from '@mikro-orm/postgresql';
import { recordWebhook } from '../../partners/webhooks/record-webhook.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import type { UnmatchedMoney } from '../collections/tell-payment.ts';
import { getInstrument } from './find-partner-instruments.ts';
import type { PartnerInstrument } from './partner-instrument.entity.ts';
import { presentInstrument } from './present-partner-instrument.ts';

/**
 * Records the webhook for money paid to an instrument that did not become a payment: the amount was wrong or outside
 * the channel's limits, or the instrument was closed. Runs in the transaction that locks the instrument. Returns the
 * delivery ids.
 */
export async function tellUnmatchedOfInstrument(
  tx: EntityManager,
  sealer: Sealer,
  instrument: PartnerInstrument,
  { at, ...unmatched }: UnmatchedMoney & { at: Date },
): Promise<string[]> {
  if (unmatched.reason === 'unknown') return [];
  const { id, partner_id: partnerId } = instrument;
  const shown = await presentInstrument(sealer, await getInstrument(tx, { id, partnerId }));
  const version = instrument.version + 1;
  const ids = await recordWebhook(tx, sealer, {
    ...{ partnerId, resourceType: 'instrument', resourceId: id, version, type: 'instrument.unmatched', at },
    data: { ...shown, unmatched },
  });
  if (ids.length > 0) instrument.version = version;
  await tx.flush();
  return ids;
}
