import type { EntityManager } from '@mikro-orm/postgresql';
import type { Gateways } from '../../platform/gateway/gateway.ts';
import { must } from '../../shared/assert.ts';
import { startOfWesternIndonesiaDay, westernIndonesiaDay } from '../../shared/clock.ts';
import { refuse } from '../../shared/errors.ts';
import { textArray } from '../../shared/postgres.ts';
import type { DayPhase } from './reconciliation.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** Days back for which missing days and open differences are compared; older ones are compared by hand. */
const lookBackDays = 31;
/** How long a run may go without writing a page before it counts as dead and another may take over its day. */
const takenForMinutes = 2;

/** A run's claim on a day: where it resumes, and how many times the day was taken so far. */
export interface DayRun {
  provider: string;
  day: string;
  take: number;
  phase: DayPhase;
  /** Within the phase; null at its beginning. */
  cursor: string | null;
  startedAt: Date;
}

/** The first instant after a day (UTC+7). */
export const endOfDay = (day: string): Date => new Date(startOfWesternIndonesiaDay(day).getTime() + dayMs);

/**
 * Query for the end of each past day not yet compared: the last 31 since the platform's first event, and older days
 * with a row.
 */
export const unreconciledDays = `
  select (day + 1)::timestamp at time zone interval '7 hours' as since from (
    select generate_series(greatest(today - ${lookBackDays}, coalesce(first, today)), today - 1, interval '1 day')::date as day
    from (select (now() at time zone interval '7 hours')::date as today,
      (select (created_at at time zone interval '7 hours')::date from events order by id limit 1) as first) known
    union select day from reconciled_days) days
  where day < (now() at time zone interval '7 hours')::date
    and coalesce((select bool_or(r.finished_at is null) from reconciled_days r where r.day = days.day), true)`;

/**
 * Returns the days to compare at `at` (ISO 8601): those of the last 31 not fully compared a day after their end, and
 * those with open differences or with records that were not final at the provider. Oldest first, but days whose last
 * run did not finish come last. Yesterday (UTC+7) is the latest. For a new platform or provider, the first is the day
 * of the platform's first event.
 */
export async function findDaysToReconcile(
  em: EntityManager,
  { names: providers }: Pick<Gateways, 'names'>,
  { at }: { at: string },
): Promise<string[]> {
  const now = Date.parse(at);
  const yesterday = westernIndonesiaDay(new Date(now - dayMs));
  const earliest = westernIndonesiaDay(new Date(now - lookBackDays * dayMs));
  await em.execute(
    `insert into reconciled_days (provider, day) select unnest(?::text[]), day from generate_series(greatest(?::date,
       least(?::date, (select (created_at at time zone interval '7 hours')::date from events order by id limit 1))),
       ?::date, interval '1 day') day on conflict do nothing`,
    [textArray(providers), earliest, yesterday, yesterday],
  );
  const rows = await em.execute<{ day: string }[]>(
    `select to_char(day, 'YYYY-MM-DD') as day from (
       select day from reconciled_days where state <> 'done' and provider = any (?::text[])
       union select day from reconciliations where state = 'open') days
     left join reconciled_days r using (day)
     where day between ? and ? group by day order by bool_or(coalesce(r.state = 'running', false)), day`,
    [textArray(providers), earliest, yesterday],
  );
  return rows.map(({ day }) => day);
}

/**
 * Claims a day for a run: resumes where a dead run stopped, and starts over otherwise. A run that began before the day
 * was over is started over too, because later records would be missed. Throws SERVICE_UNAVAILABLE while another run
 * compares the day.
 */
export function takeDay(
  em: EntityManager,
  { provider, day }: Pick<DayRun, 'provider' | 'day'>,
  takenBy: string,
): Promise<DayRun> {
  return em.transactional(async (tx) => {
    await tx.execute('insert into reconciled_days (provider, day) values (?, ?) on conflict do nothing', [
      provider,
      day,
    ]);
    const [held] = await tx.execute<{ others: boolean; resumes: boolean }[]>(
      `select state = 'running' and taken_by <> ? and beat_at >= now() - make_interval(mins => ?) as others,
         state = 'running' and started_at >= ? as resumes
       from reconciled_days where provider = ? and day = ? for update`,
      [takenBy, takenForMinutes, endOfDay(day), provider, day],
    );
    if (held?.others) refuse('SERVICE_UNAVAILABLE', `Another run is reconciling ${day}; try again in a few minutes`);
    if (!held?.resumes) {
      await tx.execute('delete from reconciled_records where provider = ? and day = ?', [provider, day]);
      await tx.execute(
        `update reconciled_days set phase = 'records', cursor = null, compared = 0, differences = 0, unsettled = 0,
           started_at = now()
         where provider = ? and day = ?`,
        [provider, day],
      );
    }
    const [row] = await tx.execute<
      { takes: number; phase: DayPhase; cursor: string | null; started_at: string | Date }[]
    >(
      `update reconciled_days set state = 'running', takes = takes + 1, taken_by = ?, beat_at = now()
       where provider = ? and day = ? returning takes, phase, cursor, started_at`,
      [takenBy, provider, day],
    );
    const { takes: take, phase, cursor, started_at } = must(row, 'the day has a row');
    return { provider, day, take, phase, cursor, startedAt: new Date(started_at) };
  });
}

/** A page's contribution to its run, and where the run resumes. */
export interface DayProgress {
  phase: DayPhase;
  cursor: string | null;
  compared?: number;
  /** How many of the compared records are not final at the provider. */
  unsettled?: number;
  differences?: number;
  /** The keys of the provider's records on this page. */
  listed?: { transfers: readonly string[]; payments: readonly string[] };
}

/** Advances a run, in the transaction that writes its page. Throws when another run has taken over the day. */
export async function advanceDay(
  tx: EntityManager,
  run: DayRun,
  { phase, cursor, compared = 0, unsettled = 0, differences = 0, listed }: DayProgress,
): Promise<void> {
  const rows = await tx.execute<unknown[]>(
    `update reconciled_days set phase = ?, cursor = ?, compared = compared + ?, differences = differences + ?,
       unsettled = unsettled + ?, beat_at = now()
     where provider = ? and day = ? and takes = ? and state = 'running' returning 1`,
    [phase, cursor, compared, differences, unsettled, run.provider, run.day, run.take],
  );
  if (rows.length === 0) throw new Error(`another run has taken over ${run.day}`);
  if (listed) {
    await tx.execute(
      `insert into reconciled_records (provider, day, kind, key) select ?, ?::date, kind, key from (
         select 'transfer' as kind, unnest(?::text[]) as key union select 'payment', unnest(?::text[])) listed
       on conflict do nothing`,
      [run.provider, run.day, textArray(listed.transfers), textArray(listed.payments)],
    );
  }
}

/**
 * Completes a run, in the transaction that resolves differences that are gone. A run that began before the day was over
 * does not count as its comparison. A day is compared again while some of its records are not final at the provider,
 * and always once more a day later, as the provider may list money late. Returns the totals of all its runs. Throws
 * when another run has taken over the day.
 */
export async function finishDay(tx: EntityManager, run: DayRun): Promise<{ compared: number; differences: number }> {
  const isOver = run.startedAt >= endOfDay(run.day);
  const isSettled = run.startedAt.getTime() >= endOfDay(run.day).getTime() + dayMs;
  const [row] = await tx.execute<{ compared: number; differences: number }[]>(
    `update reconciled_days set state = case when ? and unsettled = 0 then 'done' else 'pending' end, cursor = null,
       taken_by = null, beat_at = now(), finished_at = case when ? then now() end
     where provider = ? and day = ? and takes = ? and state = 'running' returning compared, differences`,
    [isSettled, isOver, run.provider, run.day, run.take],
  );
  if (row === undefined) throw new Error(`another run has taken over ${run.day}`);
  await tx.execute('delete from reconciled_records where provider = ? and day = ?', [run.provider, run.day]);
  return row;
}
