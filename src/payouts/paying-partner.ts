import type { WebhookEvent } from '../partners/partner.ts';
import { must } from '../shared/assert.ts';
import { recordWebhook } from '../webhooks/record-webhook.ts';
import type { PayoutHandling } from './handling.ts';
import { presentWholePayout } from './present-payout.ts';

/** A partner's payout: the partner is told how it ended. */
export const payingPartner: PayoutHandling = {
  resourceType: 'payout',
  async moved(tx, sealer, payout, { at }) {
    return recordWebhook(tx, sealer, {
      partnerId: must(payout.partner_id, "a partner's payout has its partner"),
      resourceType: 'payout',
      resourceId: payout.id,
      version: payout.version,
      type: `payout.${payout.status}` as WebhookEvent,
      at,
      data: await presentWholePayout(sealer, payout),
    });
  },
};
