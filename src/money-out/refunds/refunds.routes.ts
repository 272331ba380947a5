import type { EntityManager } from '@mikro-orm/postgresql';
import { z } from 'zod';
import { partnerAnswer } from '../../partners/partner-answer.ts';
import { TimelineShape } from '../../partners/timeline.ts';
import type { Config } from '../../platform/config/config.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { partner } from '../../platform/http/access.ts';
import { uuid } from '../../platform/http/fields.ts';
import { pageFields, partnerListQuery, presentPage } from '../../platform/http/paging.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { must } from '../../shared/assert.ts';
import type { PayoutKinds } from '../payouts/handling.ts';
import { tellPayoutTimeline } from '../payouts/payout-timeline.ts';
import { createRefund } from './create-refund.ts';
import { findRefunds, getRefund } from './find-refunds.ts';
import { presentNewRefund, presentRefund, RefundBody, RefundShape } from './present-refund.ts';
import type { RefundWorkflows } from './refund.ts';

interface Ports {
  /** Throws RESOURCE_NOT_FOUND unless the payment is this partner's. */
  getPartnerPayment(em: EntityManager, of: { partnerId: string; paymentId: string }): Promise<unknown>;
  payoutKinds: PayoutKinds;
  config: Pick<Config, 'PAYOUT_RESEND_HOURS'>;
  sealer: Sealer;
  workflows: RefundWorkflows;
}

const routes = createRouteGroup<Ports>({ prefix: '/v1/partners/payments', tag: 'Partner API' });
const paymentParams = z.object({ id: uuid() });
const params = z.object({ id: uuid(), refund_id: uuid() });

routes.post(
  '/:id/refunds',
  {
    summary: 'Refund a payment in full or in part',
    description:
      "Paid from the available balance; the payment's fee is not refunded. If the channel supports it, a " +
      'refund within a number of days goes back to the wallet through the provider and ignores the bank ' +
      'fields, unless the provider refused or failed an earlier refund of this payment to the wallet. All ' +
      'other refunds are transfers to the bank account given here. Returns as soon as the money is ' +
      'reserved. The sum of all refunds never exceeds the payment: FUNDS_REFUND_EXCEEDED.',
    access: partner('refund-payment'),
    params: paymentParams,
    body: RefundBody,
    idempotent: true,
    answers: { 200: partnerAnswer(RefundShape) },
    refusals: [404, 409, 422, 503],
  },
  async ({ em, deps, caller, params: { id: paymentId }, body, requestId }) => {
    const { partnerId } = caller;
    const idempotency = must(caller.idempotency, 'an idempotent route has a key');
    const refund = await createRefund(em, deps, { partnerId, paymentId, body, idempotency, requestId });
    return presentNewRefund(deps.sealer, refund);
  },
);

routes.get(
  '/:id/refunds',
  {
    summary: 'List the refunds of a payment, newest first',
    access: partner('read-gateway'),
    params: paymentParams,
    query: partnerListQuery(),
    answers: { 200: partnerAnswer(z.object({ items: z.array(RefundShape), ...pageFields })) },
    refusals: [404],
  },
  async ({ em, deps, caller, params: { id: paymentId }, query }) => {
    await deps.getPartnerPayment(em, { partnerId: caller.partnerId, paymentId });
    const { items, ...listed } = await findRefunds(em, paymentId, query);
    const shown = await Promise.all(items.map((refund) => presentRefund(deps.sealer, refund)));
    return { items: shown, ...presentPage(query, listed) };
  },
);

routes.get(
  '/:id/refunds/:refund_id',
  {
    summary: 'Read a refund',
    access: partner('read-gateway'),
    params,
    answers: { 200: partnerAnswer(RefundShape) },
    refusals: [404],
  },
  async ({ em, deps, caller: { partnerId }, params: { id: paymentId, refund_id: id } }) =>
    presentRefund(deps.sealer, await getRefund(em, { partnerId, paymentId, id })),
);

routes.get(
  '/:id/refunds/:refund_id/timeline',
  {
    summary: 'What happened to a refund, in plain words, and what happens next',
    access: partner('read-gateway'),
    params,
    answers: { 200: partnerAnswer(TimelineShape) },
    refusals: [404],
  },
  async ({ em, deps, caller: { partnerId }, params: { id: paymentId, refund_id: id } }) => {
    const { payout } = await getRefund(em, { partnerId, paymentId, id });
    return tellPayoutTimeline(em, payout, { ...deps, resendHours: deps.config.PAYOUT_RESEND_HOURS });
  },
);

export const refundsRoutes = routes;
