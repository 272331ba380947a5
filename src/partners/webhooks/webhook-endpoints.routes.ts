import { z } from 'zod';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { partner } from '../../platform/http/access.ts';
import { text, uuid } from '../../platform/http/fields.ts';
import { pageFields, partnerListQuery, presentPage } from '../../platform/http/paging.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { endpointTest, webhookTypes } from '../partner.ts';
import { partnerAnswer } from '../partner-answer.ts';
import {
  askedEvents,
  ChangedEndpointShape,
  CreatedEndpointShape,
  EndpointShape,
  presentChangedEndpoint,
  presentEndpoint,
  presentSecretEndpoint,
  SecretEndpointShape,
} from '../present-endpoint.ts';
import { aboutWebhooks } from '../reference-tags.ts';
import { webhookEndpointLaw } from '../webhook-endpoint.ts';
import { createEndpoint } from './create-endpoint.ts';
import { findEndpoints } from './find-endpoints.ts';
import { DeliveryShape, presentDelivery } from './present-delivery.ts';
import { testEndpoint } from './test-endpoint.ts';
import { deleteEndpoint, rotateEndpointSecret, updateEndpoint } from './update-endpoint.ts';
import type { DeliveryWorkflows } from './webhook-delivery.ts';
import { targetRules } from './webhook-target.ts';

interface Ports {
  config: Parameters<typeof targetRules>[0];
  sealer: Sealer;
  workflows: Pick<DeliveryWorkflows, 'hastenWebhookDeliveries'>;
}

const routes = createRouteGroup<Ports>({
  prefix: '/v1/partners/webhook-endpoints',
  tag: 'Partner API',
  description: aboutWebhooks,
});

const access = partner('manage-webhooks');
const params = z.object({ id: uuid() });
const url = text(2000).meta({
  description: 'A public https URL without credentials. Webhooks are sent by POST; redirects are not followed.',
  examples: ['https://partner.example/webhooks'],
});
const events = askedEvents();
const status = z.enum(webhookEndpointLaw.statuses);

/** Attributes the change to the partner itself, not to a platform user. */
const changeOf = ({ caller, requestId }: { caller: { partnerId: string }; requestId: string }) => ({
  caller: null,
  requestId,
  partnerId: caller.partnerId,
});

routes.post(
  '/',
  {
    summary: 'Add an endpoint',
    description:
      'Webhooks are signed as Standard Webhooks with the `whsec_` secret, which only this response ' +
      'contains. Accepts no idempotency key: if the response is lost, delete the endpoint or rotate its ' +
      'secret. An eleventh endpoint is refused.',
    access,
    body: z.strictObject({ url, events, status: status.default('enabled') }),
    answers: { 200: partnerAnswer(CreatedEndpointShape) },
  },
  async ({ em, deps, body, ...call }) => {
    const ports = { sealer: deps.sealer, rules: targetRules(deps.config) };
    const made = await createEndpoint(em, ports, { ...changeOf(call), ...body });
    return { ...presentSecretEndpoint(made), ...presentChangedEndpoint(made) };
  },
);

routes.get(
  '/',
  {
    summary: "List the partner's endpoints, newest first",
    access,
    query: partnerListQuery(),
    answers: { 200: partnerAnswer(z.object({ items: z.array(EndpointShape), ...pageFields })) },
  },
  async ({ em, caller, query }) => {
    const { items, ...listed } = await findEndpoints(em, { partnerId: caller.partnerId, ...query });
    return { items: items.map(presentEndpoint), ...presentPage(query, listed) };
  },
);

routes.patch(
  '/:id',
  {
    summary: 'Change an endpoint',
    description:
      'Fields that are not sent stay unchanged. Events are not queued for a disabled endpoint, and its ' +
      'pending deliveries are parked at their next attempt. After enabling it, replay the period to resend ' +
      'them.',
    access,
    params,
    body: z.strictObject({ url: url.optional(), events: events.optional(), status: status.optional() }),
    answers: { 200: partnerAnswer(ChangedEndpointShape) },
  },
  async ({ em, deps, body, params: { id }, ...call }) => {
    const input = { ...changeOf(call), endpointId: id, changes: body };
    return presentChangedEndpoint(await updateEndpoint(em, { rules: targetRules(deps.config) }, input));
  },
);

routes.delete(
  '/:id',
  {
    summary: 'Delete an endpoint',
    description: 'Returns the deleted endpoint. Its deliveries stay listed; pending ones are parked.',
    access,
    params,
    answers: { 200: partnerAnswer(EndpointShape) },
  },
  async ({ em, params: { id }, ...call }) =>
    presentEndpoint(await deleteEndpoint(em, { ...changeOf(call), endpointId: id })),
);

routes.post(
  '/:id/rotate-secret',
  {
    summary: "Rotate an endpoint's secret",
    description:
      'Only this response contains the new secret; the old one also signs for 24 hours. Accepts no ' +
      'idempotency key: if the response is lost, rotate again. At most four earlier secrets sign at a time; ' +
      'a rotation beyond that is refused.',
    access,
    params,
    answers: { 200: partnerAnswer(SecretEndpointShape) },
  },
  async ({ em, deps, params: { id }, ...call }) =>
    presentSecretEndpoint(await rotateEndpointSecret(em, deps.sealer, { ...changeOf(call), endpointId: id })),
);

routes.post(
  '/:id/test',
  {
    summary: 'Send a test to an endpoint',
    description:
      'Sends an example webhook with `"test": true` at its top level, whatever events the endpoint ' +
      'subscribes to, and returns the delivery, which is retried like any other. The resource in the ' +
      'example does not exist. A disabled endpoint is refused. Accepts no idempotency key.',
    access,
    params,
    body: z.strictObject({
      type: z.enum(webhookTypes).default(endpointTest).meta({ description: 'The event type of the example.' }),
    }),
    answers: { 200: partnerAnswer(DeliveryShape) },
  },
  async ({ em, deps, body: { type }, params: { id }, ...call }) =>
    presentDelivery(await testEndpoint(em, deps, { ...changeOf(call), endpointId: id, type })),
);

export const webhookEndpointsRoutes = routes;
