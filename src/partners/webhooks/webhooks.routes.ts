import { z } from 'zod';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { text, uuid } from '../../platform/http/fields.ts';
import { listQuery, pageFields, presentPage } from '../../platform/http/paging.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { getPartner } from '../find-partner.ts';
import { askableEvents } from '../partner.ts';
import { managesPartners } from '../partner-accounts.routes.ts';
import { askedEvents, EndpointShape, presentEndpoint } from '../present-endpoint.ts';
import { webhookEndpointLaw } from '../webhook-endpoint.ts';
import { findEndpoints, findLastDeliveries } from './find-endpoints.ts';
import { DeliveryShape, presentDelivery } from './present-delivery.ts';
import { findDeliveries, redeliverWebhook } from './redeliver-webhook.ts';
import { rotateWebhookSecret, setWebhook } from './set-webhook.ts';
import type { DeliveryWorkflows } from './webhook-delivery.ts';
import { webhookDeliveryLaw } from './webhook-delivery.ts';
import { targetRules } from './webhook-target.ts';

interface Ports {
  config: Parameters<typeof targetRules>[0];
  sealer: Sealer;
  workflows: Pick<DeliveryWorkflows, 'hastenWebhookDelivery'>;
}

const routes = createRouteGroup<Ports>({ prefix: '/v1/partner-accounts', tag: 'Partner accounts' });

const message = z.string();
const partnerId = z.object({ id: uuid() });
const DeliveringEndpointShape = EndpointShape.extend({
  last_delivery: DeliveryShape.nullable().meta({ description: 'The newest delivery; null if there was none.' }),
}).meta({ id: 'WebhookEndpointWithLastDelivery' });
const answerOf = <T extends z.ZodType>(data: T) => z.object({ message, data });

routes.put(
  '/:id/webhook',
  {
    summary: 'Set the webhook',
    description:
      'Signed as Standard Webhooks; only the first response contains the `whsec_` secret. Public https ' +
      'targets only. Without a 2xx within 15 seconds, the delivery is retried with backoff for three days, ' +
      'then parked.',
    access: managesPartners,
    params: partnerId,
    body: z.strictObject({ url: text(2000), events: askedEvents() }),
    answers: {
      200: answerOf(
        z.object({ url: z.string(), events: z.array(z.enum(askableEvents)), secret: z.string().optional() }),
      ),
    },
  },
  async ({ params, body, caller, em, deps, requestId }) => {
    const { secret, ...webhook } = await setWebhook(
      em,
      { sealer: deps.sealer, rules: targetRules(deps.config) },
      { caller, requestId, partnerId: params.id, ...body },
    );
    return { message: 'Webhook set', data: { ...webhook, ...(secret === null ? {} : { secret }) } };
  },
);

routes.post(
  '/:id/webhook/rotate-secret',
  {
    summary: 'Rotate the webhook secret',
    description:
      'The old secret also signs for 24 hours. At most four earlier secrets sign at a time; a rotation ' +
      'beyond that is refused.',
    access: managesPartners,
    params: partnerId,
    answers: { 200: answerOf(z.object({ secret: z.string() })) },
  },
  async ({ params, caller, em, deps, requestId }) => {
    const secret = await rotateWebhookSecret(em, deps.sealer, { caller, requestId, partnerId: params.id });
    return { message: 'Webhook secret rotated', data: { secret } };
  },
);

routes.get(
  '/:id/webhook-endpoints',
  {
    summary: 'List webhook endpoints with their last deliveries, newest first',
    description: 'The partner’s own endpoints and the one set by `PUT webhook`, without their secrets.',
    access: managesPartners,
    params: partnerId,
    query: listQuery().extend({ status: z.enum(webhookEndpointLaw.statuses).optional() }),
    answers: { 200: answerOf(z.object({ items: z.array(DeliveringEndpointShape), ...pageFields })) },
  },
  async ({ params, query, em }) => {
    const { id } = await getPartner(em, params.id);
    const { items, ...listed } = await findEndpoints(em, { partnerId: id, ...query });
    const last = await findLastDeliveries(em, items);
    return {
      message: 'Webhook endpoints found',
      data: {
        items: items.map((endpoint) => {
          const delivery = last.get(endpoint.id);
          return { ...presentEndpoint(endpoint), last_delivery: delivery ? presentDelivery(delivery) : null };
        }),
        ...presentPage(query, listed),
      },
    };
  },
);

routes.get(
  '/:id/webhook-deliveries',
  {
    summary: 'List webhook deliveries, newest first',
    access: managesPartners,
    params: partnerId,
    query: listQuery().extend({
      status: z.enum(webhookDeliveryLaw.statuses).optional(),
      endpoint_id: uuid().optional(),
      resource_id: uuid().optional().meta({ description: 'Only deliveries about this resource.' }),
    }),
    answers: { 200: answerOf(z.object({ items: z.array(DeliveryShape), ...pageFields })) },
  },
  async ({ params, query: { endpoint_id: endpointId, resource_id: resourceId, ...query }, em }) => {
    const { id } = await getPartner(em, params.id);
    const { items, ...listed } = await findDeliveries(em, { partnerId: id, endpointId, resourceId, ...query });
    return {
      message: 'Webhook deliveries found',
      data: { items: items.map(presentDelivery), ...presentPage(query, listed) },
    };
  },
);

routes.post(
  '/:id/webhook-deliveries/:delivery_id/redeliver',
  {
    summary: 'Send a webhook again',
    description:
      'Works whatever its status, including parked and delivered. Sent at once, then retried for three days.',
    access: managesPartners,
    params: partnerId.extend({ delivery_id: uuid() }),
    answers: { 200: answerOf(DeliveryShape) },
  },
  async ({ params, caller, em, deps, requestId }) => {
    const input = { caller, requestId, partnerId: params.id, deliveryId: params.delivery_id };
    const delivery = await redeliverWebhook(em, deps, input);
    return { message: 'Webhook will be sent again', data: presentDelivery(delivery) };
  },
);

export const webhooksRoutes = routes;
