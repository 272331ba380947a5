import { z } from 'zod';
import type { Config } from '../../platform/config/config.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { partner } from '../../platform/http/access.ts';
import { periodEnd, periodStart, uuid } from '../../platform/http/fields.ts';
import { pageFields, partnerListQuery, presentPage } from '../../platform/http/paging.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { withFieldNames } from '../../shared/errors.ts';
import { webhookTypes } from '../partner.ts';
import { partnerAnswer } from '../partner-answer.ts';
import { DeliveryShape, presentDelivery } from './present-delivery.ts';
import { readDelivery } from './read-delivery.ts';
import { findDeliveries, redeliverWebhook } from './redeliver-webhook.ts';
import { replayDeliveries } from './replay-deliveries.ts';
import type { DeliveryWorkflows } from './webhook-delivery.ts';
import { webhookDeliveryLaw } from './webhook-delivery.ts';

interface Ports {
  config: Pick<Config, 'NODE_ENV'>;
  sealer: Sealer;
  workflows: Pick<DeliveryWorkflows, 'hastenWebhookDelivery' | 'hastenWebhookDeliveries'>;
}

const routes = createRouteGroup<Ports>({ prefix: '/v1/partners/webhook-deliveries', tag: 'Partner API' });

routes.get(
  '/',
  {
    summary: "List the partner's webhook deliveries, newest first",
    description: '`from` and `to` filter by `created_at`. A bare date is the whole day of UTC+7.',
    access: partner('manage-webhooks'),
    query: partnerListQuery().extend({
      status: z.enum(webhookDeliveryLaw.statuses).optional(),
      type: z.enum(webhookTypes).optional(),
      endpoint_id: uuid()
        .optional()
        .meta({ examples: ['019bba56-a840-7c3e-9a51-3f1d0c8e7b24'] }),
      resource_id: uuid()
        .optional()
        .meta({ examples: ['019bba56-a840-7c3e-9a51-3f1d0c8e7b24'] }),
      from: periodStart().optional(),
      to: periodEnd().optional(),
    }),
    answers: { 200: partnerAnswer(z.object({ items: z.array(DeliveryShape), ...pageFields })) },
  },
  async ({ em, caller, query: { endpoint_id: endpointId, resource_id: resourceId, ...query } }) => {
    const filter = { partnerId: caller.partnerId, endpointId, resourceId, ...query };
    const { items, ...listed } = await findDeliveries(em, filter);
    return { items: items.map(presentDelivery), ...presentPage(query, listed) };
  },
);

routes.get(
  '/:id',
  {
    summary: 'Read a webhook delivery',
    description: 'In development it includes the `body` to be sent, which `amanah-listen` forwards.',
    access: partner('manage-webhooks'),
    params: z.object({ id: uuid() }),
    answers: {
      200: partnerAnswer(
        DeliveryShape.extend({
          body: z.string().optional().meta({ description: 'The exact bytes sent. In development only.' }),
        }).meta({ id: 'WebhookDeliveryWithBody' }),
      ),
    },
  },
  async ({ em, deps, caller: { partnerId }, params: { id } }) => {
    const { delivery, body } = await readDelivery(em, deps.sealer, { partnerId, deliveryId: id });
    return { ...presentDelivery(delivery), ...(deps.config.NODE_ENV === 'production' ? {} : { body }) };
  },
);

routes.post(
  '/:id/redeliver',
  {
    summary: 'Send a webhook again',
    description:
      'Works whatever its status, including parked and delivered, unless its endpoint was deleted or is disabled, ' +
      'or its body is no longer stored. Sent at once, then retried for three days, with the same ' +
      '`webhook-id` and body. Accepts no idempotency key.',
    access: partner('manage-webhooks'),
    params: z.object({ id: uuid() }),
    answers: { 200: partnerAnswer(DeliveryShape) },
    refusals: [404],
  },
  async ({ em, deps, caller: { partnerId }, params, requestId }) =>
    presentDelivery(
      await withFieldNames({ delivery_id: 'id' }, () =>
        redeliverWebhook(em, deps, { caller: null, requestId, partnerId, deliveryId: params.id }),
      ),
    ),
);

routes.post(
  '/replay',
  {
    summary: 'Resend the webhooks of a period',
    description:
      'Resends every delivery created in the period, delivered ones too, if its endpoint is enabled and its body is ' +
      'still stored. More than 10,000 are refused. The oldest are sent first, about twenty a second; `count` is the ' +
      'number of deliveries. They keep their `webhook-id` and body. With `dry_run` they are only counted. A replay ' +
      'starts after earlier ones have been sent; if that takes more than ten minutes, it is refused (`429`, with ' +
      '`Retry-After`). Accepts no idempotency key.',
    access: partner('manage-webhooks'),
    body: z.strictObject({
      from: periodStart(),
      to: periodEnd(),
      endpoint_id: uuid().optional().meta({ description: 'Only deliveries to this endpoint.' }),
      dry_run: z.boolean().optional().meta({ description: 'Counts without sending anything.' }),
    }),
    answers: { 200: partnerAnswer(z.object({ count: z.int() })) },
    refusals: [404],
  },
  async ({ em, deps, caller: { partnerId }, body, requestId }) => {
    const { from, to, endpoint_id: endpointId, dry_run: dryRun = false } = body;
    return { count: await replayDeliveries(em, deps, { partnerId, requestId, from, to, endpointId, dryRun }) };
  },
);

export const partnerWebhooksRoutes = routes;
