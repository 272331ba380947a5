import type { EntityManager } from '@mikro-orm/postgresql';
import type { NewEvent } from './event.ts';

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

/** Writes what happened inside the transaction of the change: one insert. */
export async function recordEvent(tx: EntityManager, event: NewEvent): Promise<void> {
  await tx.execute(insert, valuesOf(event));
}

/** Writes that something was read (impact LOW): one insert that does not wait for the disk. */
export async function recordRead(em: EntityManager, event: Omit<NewEvent, 'event' | 'impact'>): Promise<void> {
  // One statement: set_config is local to its transaction, and the CTE is evaluated before the insert commits.
  await em.execute(
    `with quick as materialized (select set_config('synchronous_commit', 'off', true) as quick)
     insert into events (event, impact, resource_type, resource_id, actor_id, request_id, data)
     select ?, ?, ?, ?, ?::uuid, ?, ?::jsonb from quick where quick is not null`,
    valuesOf({ ...event, event: 'RESOURCE_FETCHED', impact: 'LOW' }),
  );
}
