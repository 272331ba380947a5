import type { EntityManager } from '@mikro-orm/postgresql';
import { withTime } from '../database/database-time-outs.ts';
import { budgets } from '../shared/budgets.ts';

/** What is swept, by the names that logs, metrics and `sweep_looks` know it by. */
export const sweptKinds = [
  'callback',
  'decision',
  'donation_subscription',
  'partner_payment',
  'partner_payment_instrument',
  'partner_payment_release',
  'payment_order',
  'payment_order_instrument',
  'payout',
  'receipt',
  'reconciliation',
  'saving_circle',
  'webhook_delivery',
] as const;
export type SweptKind = (typeof sweptKinds)[number];

/** Rows of one kind that wait for a workflow, and how it is woken, or started again from the row. */
export interface Sweep {
  kind: SweptKind;
  /** A query of those that wait too long: `id` and `since` when. */
  due: string;
  /** The longest wait between two looks, a day unless said: shorter where what is due does not live that long. */
  longestWaitMinutes?: number;
  wake(id: string): Promise<unknown>;
}

/** Rows that wait for one reason or another. */
export const either = (...queries: string[]): string => queries.join(' union all ');

/** Told of each row whose workflow could not be woken; it is looked at again in its time. */
export type SweepFailure = (kind: SweptKind, id: string, error: unknown) => void;

/** How many of a kind are claimed, and then woken, before more are. */
const rowsPerClaim = 100;
const atOnce = 20;
/** After so long a sweep claims no more of a kind, and the next goes on: shorter than the step that sweeps. */
const longestMs = 10_000;
/** The first wait; each one after it is twice as long. */
const firstWaitMinutes = 1;
/** A row that has not been due for so long, and is again, begins with short waits again. */
const forgivenAfterDays = 2;
const forgottenAfterDays = 30;

/**
 * Wakes what waits too long, each row at growing intervals, from a minute to a day: an execution
 * takes 10,000 signals, and one a day reaches that in 27 years. The claim is committed before anybody
 * is woken, so that two sweeps at once do not both wake a row. One that fails does not hold up the others; throws only
 * what keeps a whole kind from being claimed, after the other kinds. Returns how many were woken.
 */
export async function sweepRows(em: EntityManager, sweeps: readonly Sweep[], failed: SweepFailure): Promise<number> {
  const broken: unknown[] = [];
  let woken = 0;
  for (const sweep of sweeps) {
    try {
      woken += await sweepKind(em, sweep, failed);
    } catch (error) {
      broken.push(error);
    }
  }
  if (broken.length > 0) throw broken[0];
  return woken;
}

async function sweepKind(em: EntityManager, sweep: Sweep, failed: SweepFailure): Promise<number> {
  const { kind, wake } = sweep;
  const startedAt = performance.now();
  let woken = 0;
  for (;;) {
    // What waits is found among all that is active: that may take longer than a request has.
    const ids = await withTime(em, budgets.database.sweep, (tx) => claim(tx, sweep));
    for (let start = 0; start < ids.length; start += atOnce) {
      const part = ids.slice(start, start + atOnce);
      const outcomes = await Promise.allSettled(part.map((id) => wake(id)));
      for (const [index, outcome] of outcomes.entries()) {
        if (outcome.status === 'fulfilled') woken += 1;
        else failed(kind, part[index] ?? '', outcome.reason);
      }
    }
    if (ids.length < rowsPerClaim || performance.now() - startedAt > longestMs) return woken;
  }
}

/** Takes the rows that are to be looked at now, the longest waiting first, and says when each is next. */
async function claim(em: EntityManager, { kind, due, longestWaitMinutes = 24 * 60 }: Sweep): Promise<string[]> {
  const rows = await em.execute<{ subject_id: string }[]>(
    `insert into sweep_looks as look (kind, subject_id, looks, look_again_at)
     select ?, id, 1, now() + make_interval(mins => ?) from (select id, min(since) as since from (${due}) waiting
       where not exists (select from sweep_looks l where l.kind = ? and l.subject_id = waiting.id
         and l.look_again_at > now())
       group by id order by 2, 1 limit ?) claimed
     on conflict (kind, subject_id) do update set (looks, look_again_at) = (
       select n, now() + make_interval(mins => least(?, ? * 2 ^ least(n - 1, 20))::int)
       from (select case when look.look_again_at < now() - make_interval(days => ?) then 1 else look.looks + 1 end) t (n))
       where look.look_again_at <= now()
     returning subject_id`,
    [kind, firstWaitMinutes, kind, rowsPerClaim, longestWaitMinutes, firstWaitMinutes, forgivenAfterDays],
  );
  return rows.map(({ subject_id }) => subject_id);
}

/** Temporal knows nothing of us (it is new, or was lost): whatever waits is looked at anew, at the next sweep. */
export async function lookAtEverythingAgain(em: EntityManager): Promise<void> {
  await em.execute('delete from sweep_looks');
}

/** Forgets the looks at what has not waited for long; returns how many. */
export async function forgetOldLooks(em: EntityManager, limit: number): Promise<number> {
  const rows = await em.execute<unknown[]>(
    `delete from sweep_looks where ctid = any (array(select ctid from sweep_looks
       where look_again_at < now() - make_interval(days => ?) order by look_again_at limit ?)) returning 1`,
    [forgottenAfterDays, limit],
  );
  return rows.length;
}
