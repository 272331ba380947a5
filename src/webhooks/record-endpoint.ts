import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../events/record-event.ts';
import type { Caller } from '../identity/caller.ts';
import type { WebhookEndpoint } from './webhook-endpoint.entity.ts';

/** Who changes the endpoints of which partner: an operator, or with null the partner itself, whose request it is. */
export interface EndpointChange {
  caller: Pick<Caller, 'userId'> | null;
  requestId: string | null;
  partnerId: string;
}

/** The event of a change of an endpoint, in the change's transaction. Never the address: it may carry a token. */
export function recordEndpoint(
  tx: EntityManager,
  { caller, requestId }: Pick<EndpointChange, 'caller' | 'requestId'>,
  event: 'RESOURCE_CREATED' | 'RESOURCE_UPDATED' | 'RESOURCE_DELETED' | 'WEBHOOK_ENDPOINT_DISABLED',
  { id, partner_id }: WebhookEndpoint,
  data: object = {},
): Promise<void> {
  return recordEvent(tx, {
    event,
    impact: 'HIGH',
    resourceType: 'webhook_endpoint',
    resourceId: id,
    actorId: caller?.userId ?? null,
    requestId,
    data: { partner_id, ...data },
  });
}
