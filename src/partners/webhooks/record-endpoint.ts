import type { EntityManager } from '@mikro-orm/postgresql';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import type { WebhookEndpoint } from '../webhook-endpoint.entity.ts';

/** The author of a change to a partner's endpoints: an operator, or null for the partner itself. */
export interface EndpointChange {
  caller: Pick<Caller, 'userId'> | null;
  requestId: string | null;
  partnerId: string;
}

/** Records a change of an endpoint as an event, in the same transaction. Omits the URL, which may contain a token. */
export function recordEndpoint(
  tx: EntityManager,
  { caller, requestId }: Pick<EndpointChange, 'caller' | 'requestId'>,
  event: 'RESOURCE_CREATED' | 'RESOURCE_UPDATED' | 'RESOURCE_DELETED' | 'WEBHOOK_ENDPOINT_DISABLED',
  { id, partner_id }: WebhookEndpoint,
  data: object = {},
): Promise<void> {
  return recordAction(tx, { caller, requestId }, [event, 'HIGH'], ['webhook_endpoint', id], { partner_id, ...data });
}
