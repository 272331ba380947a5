import { z } from 'zod';
import { timestamp, uuid } from '../platform/http/fields.ts';
import { allEvents, askableEvents } from './partner.ts';
import type { WebhookEndpoint } from './webhook-endpoint.entity.ts';
import { disabledReasons, webhookEndpointLaw } from './webhook-endpoint.ts';

/** An endpoint, and the ids of the partner's other endpoints with the same URL, each of which gets its own webhooks. */
export interface TwinnedEndpoint {
  endpoint: WebhookEndpoint;
  twins: string[];
}

/** An endpoint's subscriptions: named events, or all. */
export const askedEvents = () =>
  z
    .array(z.enum(askableEvents))
    .min(1, 'must name at least one event')
    .max(askableEvents.length)
    .refine(
      (events) => !events.includes(allEvents) || new Set(events).size === 1,
      'must be ["*"] alone, or name events',
    );

export const EndpointShape = z
  .object({
    id: uuid(),
    url: z.string().meta({ examples: ['https://partner.example/webhooks'] }),
    events: z.array(z.enum(askableEvents)).meta({ description: 'The events that it receives; `*` is all of them.' }),
    status: z.enum(webhookEndpointLaw.statuses).meta({ description: 'Events are not queued for a disabled endpoint.' }),
    disabled_reason: z
      .enum(disabledReasons)
      .nullable()
      .meta({
        description:
          '`requested`: through this API. `failing`: no delivery succeeded for three days. Null while it is ' +
          'enabled.',
      }),
    disabled_at: timestamp().nullable().meta({ description: 'Null while it is enabled.' }),
    failing_since: timestamp().nullable().meta({
      description: 'When deliveries began to fail; null if the last one succeeded or there was none.',
    }),
    set_by_operator: z.boolean().meta({ description: 'Whether the operator set this endpoint.' }),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'WebhookEndpoint' });

/** An endpoint without its secrets, which are shown once. */
export const presentEndpoint = (endpoint: WebhookEndpoint) => ({
  id: endpoint.id,
  url: endpoint.url,
  events: endpoint.events,
  status: endpoint.status,
  disabled_reason: endpoint.disabled_reason ?? null,
  disabled_at: endpoint.disabled_at?.toISOString() ?? null,
  failing_since: endpoint.failing_since?.toISOString() ?? null,
  set_by_operator: endpoint.set_by_operator,
  created_at: endpoint.created_at.toISOString(),
  updated_at: endpoint.updated_at.toISOString(),
});

const warnings = z.array(z.string()).meta({
  description: 'Likely mistakes: another endpoint has the same URL and also receives each event.',
});

export const ChangedEndpointShape = EndpointShape.extend({ warnings }).meta({ id: 'ChangedWebhookEndpoint' });

/** A new or changed endpoint, with a warning about others that have the same URL. */
export const presentChangedEndpoint = ({ endpoint, twins }: TwinnedEndpoint) => ({
  ...presentEndpoint(endpoint),
  warnings: twins.map(
    (id) => `The endpoint ${id} has the same URL: events to which both subscribe are sent there twice`,
  ),
});

export const SecretEndpointShape = EndpointShape.extend({
  secret: z
    .string()
    .meta({ description: 'In this response only.', examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'] }),
}).meta({ id: 'WebhookEndpointWithSecret' });

export const CreatedEndpointShape = SecretEndpointShape.extend({ warnings }).meta({ id: 'CreatedWebhookEndpoint' });

/** An endpoint with its secret, for the only response that shows it. */
export const presentSecretEndpoint = ({ endpoint, secret }: { endpoint: WebhookEndpoint; secret: string }) => ({
  ...presentEndpoint(endpoint),
  secret,
});
