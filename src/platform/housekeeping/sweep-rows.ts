import type { EntityManager } from '@mikro-orm/postgresql';
import { budgets } from '../../shared/budgets.ts';
import { withPatience } from '../../shared/patience.ts';
import { textArray } from '../../shared/postgres.ts';
import { withTime } from '../database/database-time-outs.ts';
import { timeLeft } from '../database/time-limit.ts';

/** The kinds of rows that are swept, as logs, metrics and `sweep_looks` name them. */
export const sweptKinds = [
  'callback',
  'decision',
  'donation_subscription',
  'erasure',
  'mail',
  'partner_instrument',
  'partner_payment',
  'partner_payment_instrument',
  'partner_payment_release',
  'payment_order',
  'payment_order_instrument',
  'payout',
  'payout_batch',
  'receipt',
  'reconciliation',
  'saving_circle',
  'webhook_delivery',
] as const;
export type SweptKind = (typeof sweptKinds)[number];

/** Rows of one kind that wait for a workflow, and how to signal it or restart it from the row. */
export interface Sweep {
  kind: SweptKind;
  /** A query for the rows that have waited too long: `id`, and `since` when. */
  due: string;
  /** The longest interval between two looks, a day by default: shorter for rows that expire sooner. */
  longestWaitMinutes?: number;
  /** A wake that takes longer than its sweep is abandoned and counts as failed. */
  wake(id: string): Promise<unknown>;
}

/** Combines queries for several reasons to wait. */
export const either = (...queries: string[]): string => queries.join(' union all ');

/** Called for each row whose workflow could not be woken; the row is tried again when its next look is due. */
export type SweepFailure = (kind: SweptKind, id: string, error: unknown) => void;

/**
 * Rows of a kind claimed and then woken per batch: at first, and at most. A claim scans everything due, so under load
 * it claims as many as are woken in a few seconds: with 200,000 rows, batches of 5,000 are five times as fast as
 * batches of 1,000. The claims of a killed process last until their next look, a minute for new rows.
 */
const rowsPerClaim = { first: 100, most: 5_000, forMs: 4_000 };
const atOnce = 50;
/**
 * How many milliseconds before its step's end a sweep stops claiming rows, stops waking claimed rows, and stops waiting
 * for wakes, to release the rows. The next sweep continues. The kinds of a sweep share the time for claiming: each gets
 * an equal part, and kinds that need more share the rest.
 */
const beforeEnd = { claiming: 20_000, waking: 12_000, waiting: 4_000 };
/** How long after its last claim a kind continues waking, and then waits for wakes in progress. */
const overtime = { waking: beforeEnd.claiming - beforeEnd.waking, waiting: beforeEnd.claiming - beforeEnd.waiting };
/** The first wait; each later one is twice as long. */
const firstWaitMinutes = 1;
/** A row that becomes due again after this long starts over with short waits. */
const forgivenAfterDays = 2;
const forgottenAfterDays = 30;
/** Maximum rows deleted per statement, which takes a second or two. */
const looksAtATime = 100_000;

/**
 * Wakes the workflows of rows that have waited too long, each row at growing intervals from a minute to a day: a
 * workflow execution accepts 10,000 signals, which one a day reaches in 27 years. The claim is committed before the
 * wake, so that two sweeps never both wake a row. One failure does not hold up the rest; only errors that prevent
 * claiming a whole kind are thrown, after the other kinds. Ends before its step does, however slow the wakes become.
 * Returns how many were woken.
 */
export async function sweepRows(em: EntityManager, sweeps: readonly Sweep[], failed: SweepFailure): Promise<number> {
  const broken: unknown[] = [];
  let woken = 0;
  const endsAt = performance.now() + Math.min(budgets.steps.sweep, timeLeft()) - beforeEnd.claiming;
  for (let waiting = sweeps; waiting.length > 0; ) {
    const unfinished: Sweep[] = [];
    for (const [index, sweep] of waiting.entries()) {
      const now = performance.now();
      try {
        const part = Math.max(0, endsAt - now) / (waiting.length - index);
        const swept = await sweepKind(em, sweep, failed, Math.min(endsAt, now + part));
        woken += swept.woken;
        if (swept.hasMore) unfinished.push(sweep);
      } catch (error) {
        broken.push(error);
      }
    }
    waiting = performance.now() < endsAt ? unfinished : [];
  }
  if (broken.length > 0) throw broken[0];
  return woken;
}

async function sweepKind(
  em: EntityManager,
  sweep: Sweep,
  failed: SweepFailure,
  endsAt: number,
): Promise<{ woken: number; hasMore: boolean }> {
  const { kind, wake } = sweep;
  let woken = 0;
  let limit = rowsPerClaim.first;
  for (;;) {
    // The query searches all active rows, which may take longer than a request is allowed.
    const ids = await withTime(em, budgets.database.sweep, (tx) => claim(tx, sweep, limit));
    const claimedAt = performance.now();
    for (let start = 0; start < ids.length; start += atOnce) {
      if (performance.now() > endsAt + overtime.waking) {
        await giveBack(em, kind, ids.slice(start));
        return { woken, hasMore: true };
      }
      const part = ids.slice(start, start + atOnce);
      const waitMs = endsAt + overtime.waiting - performance.now();
      const outcomes = await Promise.allSettled(part.map((id) => withPatience(waitMs, () => wake(id))));
      for (const [index, outcome] of outcomes.entries()) {
        if (outcome.status === 'fulfilled') woken += 1;
        else failed(kind, part[index] ?? '', outcome.reason);
      }
    }
    const now = performance.now();
    if (ids.length < limit) return { woken, hasMore: false };
    if (now > endsAt) return { woken, hasMore: true };
    limit = Math.floor((ids.length * rowsPerClaim.forMs) / Math.max(1, now - claimedAt));
    limit = Math.min(rowsPerClaim.most, Math.max(rowsPerClaim.first, limit));
  }
}

/** Claims the rows due for a look, the longest waiting first, and sets each one's next look. */
async function claim(
  em: EntityManager,
  { kind, due, longestWaitMinutes = 24 * 60 }: Sweep,
  limit: number,
): Promise<string[]> {
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
    [kind, firstWaitMinutes, kind, limit, longestWaitMinutes, firstWaitMinutes, forgivenAfterDays],
  );
  return rows.map(({ subject_id }) => subject_id);
}

/** Releases rows that were claimed but not woken, so that they are due again. */
async function giveBack(em: EntityManager, kind: SweptKind, ids: readonly string[]): Promise<void> {
  const claimed = 'kind = ? and subject_id = any(?::uuid[])';
  await em.execute(
    `with never_looked_at as (delete from sweep_looks where ${claimed} and looks = 1)
     update sweep_looks set looks = looks - 1, look_again_at = now() where ${claimed} and looks > 1`,
    [kind, textArray(ids), kind, textArray(ids)],
  );
}

/**
 * Resets the looks of rows that were requested again, so that the next sweep wakes them, however often it did before.
 * Skips rows that a sweep is claiming now, as it is about to wake them.
 */
export async function forgetLooks(tx: EntityManager, kind: SweptKind, ids: readonly string[]): Promise<void> {
  await tx.execute(
    `delete from sweep_looks where ctid = any (array(select ctid from sweep_looks
       where kind = ? and subject_id = any(?::uuid[]) for update skip locked))`,
    [kind, textArray(ids)],
  );
}

/** Extends the claim of a sweep that is still waking this row, so that no other sweep wakes it. */
export async function renewClaim(em: EntityManager, kind: SweptKind, id: string): Promise<void> {
  await em.execute(
    `update sweep_looks set look_again_at = greatest(look_again_at, now() + make_interval(mins => ?))
     where kind = ? and subject_id = ?`,
    [firstWaitMinutes, kind, id],
  );
}

/** For a Temporal server that lost our workflows (new or reset): the next sweep looks at all waiting rows again. */
export async function lookAtEverythingAgain(em: EntityManager): Promise<void> {
  for (let left = true; left; ) {
    const rows = await withTime(em, budgets.database.sweep, (tx) =>
      tx.execute<unknown[]>(
        'delete from sweep_looks where ctid = any (array(select ctid from sweep_looks limit ?)) returning 1',
        [looksAtATime],
      ),
    );
    left = rows.length === looksAtATime;
  }
}

/** Deletes the looks of rows that have not waited for a long time; returns how many. */
export async function forgetOldLooks(em: EntityManager, limit: number): Promise<number> {
  const rows = await em.execute<unknown[]>(
    `delete from sweep_looks where ctid = any (array(select ctid from sweep_looks
       where look_again_at < now() - make_interval(days => ?) order by look_again_at limit ? for update skip locked)) returning 1`,
    [forgottenAfterDays, limit],
  );
  return rows.length;
}
