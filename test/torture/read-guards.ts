import { existsSync, readFileSync } from 'node:fs';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { InstantSpan } from '../support/read-instants.ts';
import type { GuardFacts, PayoutLimitsFact } from './guard-facts.ts';
import { findBlindChecks } from './plant-violations.ts';
import type { Topology } from './topology.ts';

/** The column whose instants the torture itself moves (`make-periods-due.ts`). */
const movedColumn = 'donation_subscriptions.started_at';

const week = "interval '7 days'";
const moved = '(select count(*) from torture.periods m where m.subscription_id = s.id)';

const queries = {
  refused: 'select resource_id::text as id from requests where made is not null and refused_upto > 0',
  limits: `select id::text, max_payout_amount::text as single, max_daily_amount::text as daily, max_hourly_count as hourly
    from partners where max_daily_amount is not null`,
  subscriptions: `select s.id::text, s.periods_paid as "periodsPaid",
      1 + floor(extract(epoch from now() - s.started_at) / extract(epoch from ${week}))::integer as "periodsDue",
      (select count(*)::integer from donations d where d.subscription_id = s.id) as donations,
      (select count(*)::integer from donation_subscription_attempts a
        where a.subscription_id = s.id and a.due_at > a.created_at + interval '1 minute') as "triedEarly"
    from donation_subscriptions s where s.interval = 'weekly'`,
  receipts: `select d.id::text as "donationId", u.email_confirmed_at is not null as due, count(m.id)::integer as written,
      count(m.id) filter (where m.status = 'sent' or (m.status = 'silenced' and d.status = 'refunded'))::integer as sent
    from donations d join users u on u.id = d.user_id
    left join mails m on m.resource_id = d.id and m.kind in ('donation', 'subscription_period')
    where d.status in ('completed', 'refunded') group by d.id, u.id`,
  started: `select extract(epoch from min(s.started_at + ${moved} * ${week})) * 1000 as earliest,
      extract(epoch from max(s.started_at + ${moved} * ${week})) * 1000 as latest
    from donation_subscriptions s having count(*) > 0`,
} as const;

/** Reads the facts about the product's guards, once the system is at rest. */
export async function readGuards(topology: Topology): Promise<GuardFacts> {
  const em = topology.em();
  const refused = await em.execute<{ id: string }[]>(queries.refused);
  const limited = await em.execute<({ id: string } & PayoutLimitsFact)[]>(queries.limits);
  // Read before violations are planted, because planting locks rows.
  const deadlocks = readDeadlocks(topology.logFile('postgres'));
  const { blind, unproved } = await findBlindChecks(topology.owner());
  return {
    refusedOpenings: refused.map(({ id }) => id),
    payoutLimits: Object.fromEntries(limited.map(({ id, ...limits }) => [id, limits])),
    subscriptions: await topology.owner().execute(queries.subscriptions),
    receipts: await topology.owner().execute(queries.receipts),
    deadlocks,
    blindChecks: blind,
    unprovedChecks: unproved,
  };
}

/** Restores the original values of the instants that the torture moved. */
export async function withTrueStarts(owner: EntityManager, instants: InstantSpan[]): Promise<InstantSpan[]> {
  const rows = await owner.execute<{ earliest: string; latest: string }[]>(queries.started);
  const started = rows.map(({ earliest, latest }) => ({
    place: movedColumn,
    earliest: Number(earliest),
    latest: Number(latest),
  }));
  return [...instants.filter(({ place }) => place !== movedColumn), ...started];
}

const deadlock = 'deadlock detected';
/** How many lines of the log describe a deadlock: who waited for whom, and in which statement. */
const toldLines = 6;

function readDeadlocks(file: string): string[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.flatMap((line, index) =>
    line.includes(deadlock)
      ? [
          lines
            .slice(index, index + toldLines)
            .join(' ')
            .slice(0, 600),
        ]
      : [],
  );
}
