import type { EntityManager } from '@mikro-orm/postgresql';
import type { WebhookEvent } from '../../partners/partner.ts';
import { recordWebhook } from '../../partners/webhooks/record-webhook.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { must } from '../../shared/assert.ts';
import type { PayoutHandling } from './handling.ts';
import type { Payout } from './payout.entity.ts';
import { presentWholePayout } from './present-payout.ts';

/** A partner's payout: the partner gets a webhook about its final status and, if subscribed, about a delay. */
export const payingPartner: PayoutHandling = {
  moved: (tx, sealer, payout, { at }) =>
    tell(tx, sealer, payout, { type: `payout.${payout.status}` as WebhookEvent, version: payout.version, at }),
  async delayed(tx, sealer, payout, { at }) {
    const version = payout.version + 1;
    const ids = await tell(tx, sealer, payout, { type: 'payout.delayed', version, at });
    // Increase the version only if a webhook was written.
    if (ids.length > 0) payout.version = version;
    return ids;
  },
};

async function tell(
  tx: EntityManager,
  sealer: Sealer,
  payout: Payout,
  event: { type: WebhookEvent; version: number; at: Date },
): Promise<string[]> {
  return recordWebhook(tx, sealer, {
    ...event,
    partnerId: must(payout.partner_id, "a partner's payout has a partner"),
    resourceType: 'payout',
    resourceId: payout.id,
    batchId: payout.batch_id,
    data: await presentWholePayout(sealer, payout),
  });
}
