import { recordWebhook } from '../../partners/webhooks/record-webhook.ts';
import { must } from '../../shared/assert.ts';
import type { PayoutHandling } from '../payouts/handling.ts';
import { ofPayment } from './find-refunds.ts';
import { presentRefund } from './present-refund.ts';
import { shownRefundStatuses } from './refund.ts';

/**
 * A refund notifies its partner of its final status, or that the bank returned it. If an earlier failed refund turns
 * out to have been paid, an unsent refund that no longer fits fails; about one that may have been sent, the provider is
 * asked, without resending.
 */
export const refundingPayer: PayoutHandling = {
  async heldBy(tx, { id }) {
    const [row] = await tx.execute<{ standing: 'fits' | 'void' | 'barred' }[]>(
      'select standing_of_refund(?) as standing',
      [id],
    );
    const { standing } = must(row, 'a function returns a row');
    return {
      isHeld: false,
      failureCode: standing === 'void' ? 'ALREADY_REFUNDED' : null,
      isBarred: standing !== 'fits',
    };
  },
  async moved(tx, sealer, payout, { at }) {
    return recordWebhook(tx, sealer, {
      type: shownRefundStatuses[payout.status] === 'succeeded' ? 'refund.succeeded' : 'refund.failed',
      version: payout.version,
      at,
      partnerId: must(payout.partner_id, 'a refund has a partner'),
      resourceType: 'refund',
      resourceId: payout.id,
      data: await presentRefund(sealer, await ofPayment(tx, payout)),
    });
  },
};
