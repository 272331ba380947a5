import type { EntityManager } from '@mikro-orm/postgresql';
import { firstDayOf, partitionOf } from './archived-month.ts';
import { quoteName } from './month-rows.ts';

/** Per table: conditions for rows that are still needed, each with the reason. */
const needed: Record<string, readonly [condition: string, reason: string][]> = {
  events: [
    [
      "impact = 'LOW' and event not in ('USER_LOGGED_IN', 'USER_LOGGED_OUT')",
      'housekeeping has not yet deleted its read events, which it does after 90 days',
    ],
  ],
  gateway_callbacks: [
    ['delivered_at is null and unread is null', 'callbacks are undelivered'],
    ['body_sealed is not null', 'bodies of callbacks are still kept (BODIES_KEPT_DAYS)'],
    [
      // Callbacks are delivered again when their payment becomes final.
      `reference in (select id::text from payment_orders where status in ('PENDING', 'WAITING_PAYMENT')
         union all select id::text from partner_payments where status in ('PENDING', 'WAITING_PAYMENT'))`,
      'callbacks refer to open payments',
    ],
  ],
  webhook_deliveries: [
    ["status = 'pending'", 'webhooks are pending'],
    ['body_sealed is not null', 'bodies of webhooks are still kept (BODIES_KEPT_DAYS)'],
  ],
};

/**
 * Returns why a month cannot be archived: it ended less than `afterMonths` months ago, or its last day is not sealed.
 * Null if it can.
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

/** Returns why a table's month is still needed, or null if it is not. */
export async function whyNeeded(em: EntityManager, table: string, month: string): Promise<string | null> {
  const reasons = needed[table];
  if (reasons === undefined) return `no rule defines when ${table} is no longer needed`;
  for (const [condition, reason] of reasons) {
    const [found] = await em.execute<[{ is: boolean }]>(
      `select exists (select from months.${quoteName(partitionOf(table, month))} where ${condition}) as is`,
    );
    if (found.is) return reason;
  }
  return null;
}
