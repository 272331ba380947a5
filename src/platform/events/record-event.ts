import type { EntityManager } from '@mikro-orm/postgresql';
import { type Actor, type Caller, isPlatform } from '../../shared/caller.ts';
import type { EventImpact, NewEvent } from './event.ts';

const insert = `insert into events (event, impact, resource_type, resource_id, actor_id, request_id, data)
  values (?, ?, ?, ?, ?, ?, ?::jsonb)`;

const valuesOf = ({ event, impact = 'MEDIUM', resourceType, resourceId, actorId, requestId, data }: NewEvent) => [
  event,
  impact,
  resourceType,
  resourceId,
  actorId,
  requestId,
  data === undefined ? null : JSON.stringify(data),
];

/** Records an event inside the transaction of the change: one insert. */
export async function recordEvent(tx: EntityManager, event: NewEvent): Promise<void> {
  await tx.execute(insert, valuesOf(event));
}

/** The actor and the request; both are null if the platform acted on its own. */
type By = { requestId: string | null } & (
  | { caller: Pick<Actor, 'userId'> | null | undefined }
  | { actorId: string | null }
);

export const byPlatform: By = { actorId: null, requestId: null };

/** `recordEvent` for an action on a resource. The impact of RESOURCE_DELETED is HIGH unless given. */
export const recordAction = (
  tx: EntityManager,
  by: By,
  what: string | readonly [event: string, impact: EventImpact],
  [resourceType, resourceId]: readonly [type: string, id: string | null],
  data?: object,
): Promise<void> => {
  const [event, impact]: readonly [string, EventImpact] =
    typeof what === 'string' ? [what, what === 'RESOURCE_DELETED' ? 'HIGH' : 'MEDIUM'] : what;
  const actorId = 'caller' in by ? (by.caller?.userId ?? null) : by.actorId;
  const { requestId } = by;
  return recordEvent(tx, { event, impact, resourceType, resourceId, actorId, requestId, ...(data && { data }) });
};

/** Like `recordEvent`, for any number of events, in order, with one insert. */
export async function recordEvents(tx: EntityManager, events: readonly NewEvent[]): Promise<void> {
  const rows = events.map((event) => ({
    event: event.event,
    impact: event.impact ?? 'MEDIUM',
    resource_type: event.resourceType,
    resource_id: event.resourceId,
    actor_id: event.actorId,
    request_id: event.requestId,
    data: event.data,
  }));
  await tx.execute(
    `insert into events (event, impact, resource_type, resource_id, actor_id, request_id, data)
     select * from jsonb_to_recordset(?::jsonb) as given (event text, impact text, resource_type text,
       resource_id text, actor_id uuid, request_id text, data jsonb)`,
    [JSON.stringify(rows)],
  );
}

/** Records a read (impact LOW): one insert that does not wait for the disk. */
export async function recordRead(em: EntityManager, event: Omit<NewEvent, 'event' | 'impact'>): Promise<void> {
  // A single statement: set_config is local to its transaction, and the CTE is evaluated before the insert commits.
  await em.execute(
    `with quick as materialized (select set_config('synchronous_commit', 'off', true) as quick)
     insert into events (event, impact, resource_type, resource_id, actor_id, request_id, data)
     select ?, ?, ?, ?, ?::uuid, ?, ?::jsonb from quick where quick is not null`,
    valuesOf({ ...event, event: 'RESOURCE_FETCHED', impact: 'LOW' }),
  );
}

/**
 * Records that a platform user read another owner's resource (docs/contract.md 7). Does nothing for the caller's own
 * resources, or for callers of another type, who see only their own or their organization's. `ownerId` is null for a
 * list and for an organization's resource.
 */
export async function recordReadOfOthers(
  em: EntityManager,
  caller: Pick<Caller, 'userId' | 'userType'>,
  read: { resourceType: string; resourceId: string | null; ownerId: string | null | undefined; requestId: string },
): Promise<void> {
  const { ownerId, ...what } = read;
  if (!isPlatform(caller) || ownerId === caller.userId) return;
  await recordRead(em, { ...what, actorId: caller.userId });
}
