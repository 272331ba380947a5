import { setTimeout as sleep } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import { must } from '../shared/assert.ts';
import { ProviderUnknown } from './gateway.ts';

/** What decides which call goes first: whether it is of a payout, and for which partner it is made, if for one. */
export interface Call {
  payout: boolean;
  partnerId: string | null;
}

/** The budget that provider calls are counted against. */
export interface CallBudget {
  /** 0 when a call may be made now, which is then counted; otherwise the milliseconds after which to try again. */
  take(call: Call): Promise<number>;
  /** Records that the provider asked not to be called for this many milliseconds. */
  pause(ms: number): Promise<void>;
}

export const unlimited: CallBudget = { take: async () => 0, pause: async () => {} };

/** Limits are per minute, so one answer never blocks calls for longer. */
const longestPauseMs = 60_000;

/**
 * The budget shared by all processes on this database: `perMinute` calls in any minute. Payouts go first, and a partner
 * that takes more than a quarter of all calls gives way to others (`take_provider_call`). 0 is no limit.
 */
export function createCallBudget(orm: MikroORM, perMinute: number): CallBudget {
  if (perMinute === 0) return unlimited;
  return {
    async take({ payout, partnerId }) {
      const [row] = await orm.em
        .fork()
        .execute<{ seconds: number }[]>('select take_provider_call(?, ?, ?) as seconds', [
          perMinute,
          payout,
          partnerId,
        ]);
      return Math.ceil(must(row, 'a function has an answer').seconds * 1000);
    },
    async pause(ms) {
      await orm.em
        .fork()
        .execute(
          'update provider_budget set paused_until = greatest(paused_until, clock_timestamp() + make_interval(secs => ?))',
          [Math.min(ms, longestPauseMs) / 1000],
        );
    },
  };
}

/**
 * Waits until a call may be made. Throws ProviderUnknown, saying when to try again, when that would take longer than
 * `patienceMs`: every wait here is bounded.
 */
export async function awaitCall(
  budget: CallBudget,
  { patienceMs, signal, ...call }: Call & { patienceMs: number; signal: AbortSignal },
): Promise<void> {
  const until = performance.now() + patienceMs;
  for (;;) {
    const restMs = await budget.take(call);
    if (restMs === 0) return;
    if (performance.now() + restMs > until) {
      throw new ProviderUnknown('the calls to the provider are used up', { restMs });
    }
    await sleep(restMs, undefined, { signal });
  }
}
