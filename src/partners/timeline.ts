import type { EntityManager } from '@mikro-orm/postgresql';
import { z } from 'zod';
import { callbacksSince } from '../platform/callbacks/callbacks-since.ts';
import { timestamp } from '../platform/http/fields.ts';
import type { WebhookedResource } from './keep-sealed-answer.ts';

export const timelineTypes = [
  'request',
  'reservation',
  'provider',
  'callback',
  'ledger',
  'webhook',
  'outcome',
] as const;

/** A step in the history of a payment, payout or refund, in plain words. */
export interface TimelineItem {
  at: Date;
  type: (typeof timelineTypes)[number] | 'decision';
  text: string;
}

const shapeOf = (types: readonly TimelineItem['type'][]) =>
  z.object({
    items: z.array(z.object({ at: timestamp(), type: z.enum(types), text: z.string() })),
    next: z.object({ at: timestamp().nullable(), text: z.string() }).nullable(),
  });

export const TimelineShape = shapeOf(timelineTypes).meta({ id: 'PartnerTimeline' });
/** For payouts that may need operators' approval. */
export const DecidedTimelineShape = shapeOf([...timelineTypes, 'decision']).meta({ id: 'WithdrawalTimeline' });

/** The timeline as shown to partners: items oldest first, and what happens next and when. */
export function presentTimeline(items: readonly TimelineItem[], next: { at: Date | null; text: string } | null) {
  return {
    items: items
      .toSorted((left, right) => left.at.getTime() - right.at.getTime())
      .map(({ at, type, text }) => ({ at: at.toISOString(), type, text })),
    next: next === null ? null : { at: next.at?.toISOString() ?? null, text: next.text },
  };
}

/** The first 50 callbacks about a payment or payout; omits the provider's answers to our own requests. */
export async function findCallbackItems(
  em: EntityManager,
  { id, created_at }: { id: string; created_at: Date },
): Promise<TimelineItem[]> {
  const rows = await em.execute<{ event: string; received_at: Date | string }[]>(
    `select event, received_at from gateway_callbacks where reference = ? and id >= first_id_at(?::timestamptz)
     order by received_at limit 50`,
    [id, callbacksSince(created_at)],
  );
  return rows.map(({ event, received_at }) => ({
    at: new Date(received_at),
    type: 'callback',
    text: `The provider called back (${event}).`,
  }));
}

/** The webhooks about a payment or payout, one per endpoint, with their delivery state. */
export async function findWebhookItems(
  em: EntityManager,
  resourceType: WebhookedResource,
  resourceId: string,
): Promise<TimelineItem[]> {
  const rows = await em.execute<
    {
      type: string;
      status: string;
      attempts: number;
      created_at: Date | string;
      delivered_at: Date | string | null;
      url: string | null;
    }[]
  >(
    `select d.type, d.status, d.attempts, d.created_at, d.delivered_at, e.url
     from webhook_version_keys k join webhook_deliveries d on d.id = k.delivery_id
     left join webhook_endpoints e on e.id = d.endpoint_id
     where k.resource_type = ? and k.resource_id = ? order by k.version, d.created_at, d.id`,
    [resourceType, resourceId],
  );
  return rows.map(({ type, status, attempts, created_at, delivered_at, url }) => ({
    at: new Date(delivered_at ?? created_at),
    type: 'webhook',
    text:
      status === 'delivered'
        ? `The webhook ${type} was delivered to ${placeOf(url)}, at attempt ${attempts}.`
        : `The webhook ${type} to ${placeOf(url)} is ${status === 'parked' ? 'parked' : 'on its way'}, after ${attempts} attempts.`,
  }));
}

/**
 * The destination of a webhook, in words. Only the host: the rest of a URL may be secret, and keys without permission
 * to read endpoints can read this.
 */
const placeOf = (url: string | null): string => (url === null ? 'an endpoint that was deleted' : new URL(url).host);
