import type { EntityManager } from '@mikro-orm/postgresql';
import { firstDayOf, partitionOf } from './archived-month.ts';
import { quoteName } from './month-rows.ts';

/** A condition for rows that are still needed, and the reason. Pending rows are never archived. */
const needed: Record<string, readonly [condition: string, reason: string][]> = {
  events: [
    [
      "impact = 'LOW' and event not in ('USER_LOGGED_IN', 'USER_LOGGED_OUT')",
      'events of reads wait to be forgotten, which housekeeping does after 90 days',
    ],
  ],
  gateway_callbacks: [
    ['delivered_at is null and unread is null', 'callbacks are undelivered'],
    ['body_sealed is not null', 'bodies of callbacks are still kept (BODIES_KEPT_DAYS)'],
    [
      // They are delivered again when the payment becomes final.
      `reference in (select id::text from payment_orders where status in ('PENDING', 'WAITING_PAYMENT')
         union all select id::text from partner_payments where status in ('PENDING', 'WAITING_PAYMENT'))`,
      'payments that callbacks are about are open',
    ],
  ],
  webhook_deliveries: [
    ["status = 'pending'", 'webhooks are pending'],
    ['body_sealed is not null', 'bodies of webhooks are still kept (BODIES_KEPT_DAYS)'],
  ],
};

/**
 * Why a month cannot be archived at all: it ended less than `afterMonths` months ago, or its last day is not sealed. Null
 * when it can.
 */
export async function whyTooEarly(em: EntityManager, month: string, afterMonths: number): Promise<string | null> {
  const [it] = await em.execute<[{ young: boolean; sealed: boolean }]>(
    `select clock_timestamp() < (?::date + make_interval(months => 1 + ?)) at time zone 'UTC' as young,
       exists (select from seals
         where covers_until >= (?::date + interval '1 month') at time zone 'UTC' + interval '30 minutes') as sealed`,
    [firstDayOf(month), afterMonths, firstDayOf(month)],
  );
  if (it.young) return `${month} ended less than ${afterMonths} months ago (ARCHIVE_AFTER_MONTHS)`;
  if (!it.sealed) return `the last day of ${month} is not sealed`;
  return null;
}

/** Why the month of a table is still needed; null when it is not. */
export async function whyNeeded(em: EntityManager, table: string, month: string): Promise<string | null> {
  const reasons = needed[table];
  if (reasons === undefined) return `nothing says when ${table} is no longer needed`;
  for (const [condition, reason] of reasons) {
    const [found] = await em.execute<[{ is: boolean }]>(
      `select exists (select from months.${quoteName(partitionOf(table, month))} where ${condition}) as is`,
    );
    if (found.is) return reason;
  }
  return null;
}
