import { z } from 'zod';
import { allow } from '../http/access.ts';
import { periodEnd, periodStart, text, timestamp, uuid } from '../http/fields.ts';
import { listQuery, pageFields, presentPage } from '../http/paging.ts';
import { createRouteGroup } from '../http/route-group.ts';
import { eventImpacts } from './event.ts';
import { countedEvents, type EventRow, listEvents } from './list-events.ts';

const routes = createRouteGroup({
  prefix: '/v1/events',
  tag: 'Events',
  description: 'Who changed what, and in which request.',
});

const EventAnswer = z
  .object({
    id: z.guid(),
    event: z.string(),
    impact: z.enum(eventImpacts),
    resource_type: z.string(),
    resource_id: z.string().nullable(),
    actor_id: z.guid().nullable(),
    request_id: z.string().nullable(),
    data: z.looseObject({}).nullable(),
    created_at: timestamp(),
  })
  .meta({ id: 'Event' });

const presentEvent = (event: EventRow) => ({ ...event, created_at: new Date(event.created_at).toISOString() });

routes.get(
  '/',
  {
    summary: 'List business events, newest first',
    description: `\`total\` is exact up to ${countedEvents}. Events of reads are retained for 90 days. \`after\` accepts any id: ids are in the order of events.`,
    access: allow('read-event', { userTypes: ['platform'], scope: 'all' }),
    query: listQuery().extend({
      event: text(64).optional(),
      resource_type: text(64).optional(),
      resource_id: text(64).optional(),
      actor_id: uuid().optional(),
      from: periodStart().optional(),
      to: periodEnd().optional(),
    }),
    answers: {
      200: z.object({ message: z.string(), data: z.object({ items: z.array(EventAnswer), ...pageFields }) }),
    },
  },
  async ({ query, em }) => {
    const { resource_type: resourceType, resource_id: resourceId, actor_id: actorId, ...rest } = query;
    const { events, ...listed } = await listEvents(em, { resourceType, resourceId, actorId, ...rest });
    return { message: 'Events found', data: { items: events.map(presentEvent), ...presentPage(query, listed) } };
  },
);

export const eventsRoutes = routes;
