import { z } from 'zod';
import { partner } from '../http/access.ts';
import { periodEnd, periodStart, uuid } from '../http/fields.ts';
import { listQuery, pageFields, presentPage } from '../http/paging.ts';
import { createRouteGroup } from '../http/route-group.ts';
import { webhookEvents } from '../partners/partner.ts';
import { partnerAnswer } from '../partners/partner-answer.ts';
import { DeliveryShape, presentDelivery } from './present-delivery.ts';
import { findDeliveries, redeliverWebhook } from './redeliver-webhook.ts';
import { webhookDeliveryLaw } from './webhook-delivery.ts';

const routes = createRouteGroup({
  prefix: '/v1/partners/webhook-deliveries',
  tag: 'Partner API',
  description: 'What became of the webhooks of this partner, and how to have them again.',
});

routes.get(
  '/',
  {
    summary: "List the partner's webhook deliveries, newest first",
    description: 'A bare date in `from` or `to`, which are about `created_at`, is the whole day of UTC+7.',
    access: partner('manage-webhooks'),
    query: listQuery({ limit: 50 })
      .omit({ order: true })
      .extend({
        status: z.enum(webhookDeliveryLaw.statuses).optional(),
        type: z.enum(webhookEvents).optional(),
        from: periodStart().optional(),
        to: periodEnd().optional(),
      }),
    answers: { 200: partnerAnswer(z.object({ items: z.array(DeliveryShape), ...pageFields })) },
  },
  async ({ em, caller, query }) => {
    const { items, total } = await findDeliveries(em, { partnerId: caller.partnerId, ...query });
    return { items: items.map(presentDelivery), ...presentPage(query, total) };
  },
);

routes.post(
  '/:id/redeliver',
  {
    summary: 'Have a webhook again',
    description:
      'Whatever became of it: parked and delivered ones too. It is tried at once, then for three days, with the same ' +
      '`webhook-id` and body. Takes no idempotency key.',
    access: partner('manage-webhooks'),
    params: z.object({ id: uuid() }),
    answers: { 200: partnerAnswer(DeliveryShape) },
    refusals: [404],
  },
  async ({ em, deps, caller: { partnerId }, params, requestId }) =>
    presentDelivery(await redeliverWebhook(em, deps, { caller: null, requestId, partnerId, deliveryId: params.id })),
);

export const partnerWebhooksRoutes = routes;
