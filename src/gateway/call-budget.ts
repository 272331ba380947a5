import { setTimeout as sleep } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import { must } from '../shared/assert.ts';
import { ProviderUnknown } from './gateway.ts';

/** What calls to the provider are taken out of. */
export interface CallBudget {
  /** 0 when a call may be made now, which is counted; otherwise the milliseconds after which to try again. */
  take(call: { payout: boolean }): Promise<number>;
  /** The provider asked not to be called for so many milliseconds. */
  pause(ms: number): Promise<void>;
}

export const unlimited: CallBudget = { take: async () => 0, pause: async () => {} };

/** A limit is per minute: nobody is held back for longer by one answer. */
const longestPauseMs = 60_000;

/**
 * The budget that all processes on this database share: `perMinute` calls in any minute, of which payouts are served
 * first, as half of what may be made at once is kept for them (`take_provider_call`). 0 does not limit.
 */
export function createCallBudget(orm: MikroORM, perMinute: number): CallBudget {
  if (perMinute === 0) return unlimited;
  return {
    async take({ payout }) {
      const [row] = await orm.em
        .fork()
        .execute<{ seconds: number }[]>('select take_provider_call(?, ?) as seconds', [perMinute, payout]);
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
 * `patienceMs`: nothing waits here without a bound.
 */
export async function awaitCall(
  budget: CallBudget,
  { payout, patienceMs, signal }: { payout: boolean; patienceMs: number; signal: AbortSignal },
): Promise<void> {
  const until = performance.now() + patienceMs;
  for (;;) {
    const restMs = await budget.take({ payout });
    if (restMs === 0) return;
    if (performance.now() + restMs > until) {
      throw new ProviderUnknown('the calls to the provider are used up', { restMs });
    }
    await sleep(restMs, undefined, { signal });
  }
}
