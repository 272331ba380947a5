import type { EntityManager } from '@mikro-orm/postgresql';
import { recordAction } from '../../platform/events/record-event.ts';
import { forgetLooks } from '../../platform/housekeeping/sweep-rows.ts';
import { refuse } from '../../shared/errors.ts';
import { textArray } from '../../shared/postgres.ts';
import { requireEnabledEndpoint } from './find-endpoints.ts';
import { type DeliveryWorkflows, replayedPerSecond } from './webhook-delivery.ts';

/** Maximum deliveries that one request replays. */
export const mostReplayed = 10_000;
/** How long a replay may wait for the partner's earlier ones: slightly longer than the largest takes. */
const longestWaitSeconds = 600;

interface Replay {
  partnerId: string;
  requestId: string;
  /** Inclusive, of `created_at`. */
  from: Date;
  /** Exclusive. */
  to: Date;
  /** Default: all enabled endpoints. */
  endpointId?: string | undefined;
  /** Only counts the deliveries. */
  dryRun: boolean;
}

/**
 * Resends every webhook of a period whose endpoint is enabled and whose body is still stored, whatever its status,
 * oldest first, at `replayedPerSecond` after the partner's earlier replays; a sweep starts those that were not started
 * in time. Returns the number of deliveries. Throws TOO_MANY_REQUESTS if it would wait for more than ten minutes,
 * REQUEST_INVALID for more than ten thousand, a period that ends before it begins or a disabled endpoint, NOT_FOUND for
 * another partner's endpoint.
 */
export async function replayDeliveries(
  em: EntityManager,
  { workflows }: { workflows: Pick<DeliveryWorkflows, 'hastenWebhookDeliveries'> },
  replay: Replay,
): Promise<number> {
  const { partnerId, requestId, from, to, endpointId, dryRun } = replay;
  // `to` is the first instant after the requested period: if it equals `from`, the period ended before it began.
  if (to <= from) refuse('REQUEST_INVALID', 'must not be before from', { field: 'to' });
  if (endpointId !== undefined) await requireEnabledEndpoint(em, { partnerId, endpointId });
  if (dryRun) return (await chooseDeliveries(em, replay)).length;
  const { ids, inMs } = await em.transactional(async (tx) => {
    const chosen = await chooseDeliveries(tx, replay, 'for update of d');
    const waitSeconds = await takeTurn(tx, partnerId, chosen.length);
    await tx.execute(
      `update webhook_deliveries d set status = 'pending', delivered_at = null, redeliveries = redeliveries + 1,
         next_attempt_at = now() + (? + (place - 1) / ?) * interval '1 second'
       from unnest(?::uuid[]) with ordinality as chosen (id, place) where d.id = chosen.id`,
      [waitSeconds, replayedPerSecond, textArray(chosen)],
    );
    await forgetLooks(tx, 'webhook_delivery', chosen);
    await recordAction(tx, { actorId: null, requestId }, 'RESOURCE_UPDATED', ['webhook_delivery', null], {
      partner_id: partnerId,
      endpoint_id: endpointId ?? null,
      replay: chosen.length,
      from,
      to,
    });
    return { ids: chosen, inMs: waitSeconds * 1000 };
  });
  workflows.hastenWebhookDeliveries(ids, { inMs });
  return ids.length;
}

/**
 * Reserves time in the partner's replay rate for this many deliveries, across all processes; returns the seconds until
 * they start. Throws TOO_MANY_REQUESTS if that is too long. Called once the deliveries are locked, so that payouts,
 * which also lock the partner, wait only for their update.
 */
async function takeTurn(tx: EntityManager, partnerId: string, count: number): Promise<number> {
  if (count === 0) return 0;
  const [row] = await tx.execute<{ wait: number }[]>(
    `select greatest(extract(epoch from replayed_until - clock_timestamp()), 0)::float8 as wait
     from partners where id = ? for no key update`,
    [partnerId],
  );
  const waitSeconds = row?.wait ?? 0;
  if (waitSeconds > longestWaitSeconds) {
    const left = Math.ceil(waitSeconds);
    refuse('TOO_MANY_REQUESTS', `Earlier replays will still be sent for ${left} seconds; try again later`, {
      retryAfterSeconds: Math.ceil(waitSeconds - longestWaitSeconds),
    });
  }
  await tx.execute(
    `update partners set replayed_until = clock_timestamp() + (? + ?::integer / ?::numeric) * interval '1 second'
     where id = ?`,
    [waitSeconds, count, replayedPerSecond, partnerId],
  );
  return waitSeconds;
}

/** The ids to replay, in the order in which concurrent replays lock their rows. */
async function chooseDeliveries(
  em: EntityManager,
  { partnerId, from, to, endpointId }: Replay,
  locking: 'for update of d' | '' = '',
): Promise<string[]> {
  const rows = await em.execute<{ id: string }[]>(
    `select d.id from webhook_deliveries d
     where d.partner_id = ? and d.created_at >= ? and d.created_at < ? and d.body_sealed is not null ${endpointId === undefined ? '' : 'and d.endpoint_id = ?'}
       and d.endpoint_id in (select e.id from webhook_endpoints e where e.partner_id = d.partner_id and e.status = 'enabled')
     order by d.created_at, d.id limit ? ${locking}`,
    [partnerId, from, to, ...(endpointId === undefined ? [] : [endpointId]), mostReplayed + 1],
  );
  if (rows.length > mostReplayed) {
    refuse('REQUEST_INVALID', `the period has more than ${mostReplayed} deliveries; ask for a shorter one`, {
      field: 'from',
    });
  }
  return rows.map(({ id }) => id);
}
