import type { EntityManager } from '@mikro-orm/postgresql';
import type { ListWindow } from '../database/find-page.ts';
import { countOnce, cutPage, type Listed, type Placed, positionOf, readNext } from '../database/position.ts';
import { readFresh } from '../database/replica.ts';
import { forgetRows } from '../housekeeping/forget-rows.ts';
import { type EventImpact, readEventsKeptDays } from './event.ts';

export interface EventRow {
  id: string;
  event: string;
  impact: EventImpact;
  resource_type: string;
  resource_id: string | null;
  actor_id: string | null;
  request_id: string | null;
  data: object | null;
  created_at: Date | string;
}

export interface ListEventsInput extends ListWindow {
  event?: string | undefined;
  resourceType?: string | undefined;
  resourceId?: string | undefined;
  actorId?: string | undefined;
  /** Inclusive. */
  from?: Date | undefined;
  /** Exclusive. */
  to?: Date | undefined;
}

const dayMs = 24 * 60 * 60 * 1000;

/** Matches are counted up to this many: a total of exactly this many means "at least". */
export const countedEvents = 100_000;

/**
 * Lists events, newest first by default (`readFresh`). Ids are in order of time, so a page is read along the primary
 * key and may start after any id, existing or not.
 */
export const listEvents = (em: EntityManager, input: ListEventsInput): Promise<Listed & { events: EventRow[] }> =>
  readFresh(em, (reader) => readEvents(reader, input));

async function readEvents(em: EntityManager, input: ListEventsInput): Promise<Listed & { events: EventRow[] }> {
  const { page, limit, order = 'desc', after } = input;
  const filters: [sql: string, value: unknown][] = [
    ['event = ?', input.event],
    ['resource_type = ?', input.resourceType],
    ['resource_id = ?', input.resourceId],
    ['actor_id = ?::uuid', input.actorId],
    ['created_at >= ?::timestamptz', input.from],
    ['created_at < ?::timestamptz', input.to],
    // An event's id gives its time to within a day, so months outside the period are not read.
    ['id >= first_id_at(?::timestamptz)', input.from && new Date(input.from.getTime() - dayMs)],
    ['id < first_id_at(?::timestamptz)', input.to && new Date(input.to.getTime() + dayMs)],
  ];
  const asked = filters.filter(([, value]) => value !== undefined);
  const params = asked.map(([, value]) => value);
  const where = ['true', ...asked.map(([sql]) => sql)].join(' and ');
  const named = after === undefined ? undefined : readNext(after);
  const start = named?.id ?? after;
  const seek = start === undefined ? '' : `and id ${order === 'desc' ? '<' : '>'} ?::uuid`;
  const offset = start === undefined ? (BigInt(page) - 1n) * BigInt(limit) : 0n;
  const read = await em.execute<(EventRow & Placed)[]>(
    `select id, event, impact, resource_type, resource_id, actor_id, request_id, data, created_at,
       ${positionOf('created_at', 'id')} as position from events
     where ${where} ${seek} order by id ${order} limit ${limit + 1} offset ${offset}`,
    [...params, ...(start === undefined ? [] : [start])],
  );
  const counted = await countOnce(named, ['events', asked], async () => {
    const [count] = await em.execute<[{ total: string }]>(
      `select count(*) as total from (select from events where ${where} limit ${countedEvents}) counted`,
      params,
    );
    return Number(count.total);
  });
  const { rows: events, next } = cutPage(read, limit, counted);
  return { events, total: counted.total, next };
}

/** Deletes up to `limit` read events older than `readEventsKeptDays`; returns how many. */
export function sweepReadEvents(em: EntityManager, limit = 10_000): Promise<number> {
  return forgetRows(em, 'read_events', `${readEventsKeptDays} days`, limit);
}
