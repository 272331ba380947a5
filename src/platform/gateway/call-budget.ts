import { setTimeout as sleep } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import { must } from '../../shared/assert.ts';
import { createSemaphore, type Semaphore } from '../../shared/concurrency.ts';
import { ProviderUnknown } from './gateway.ts';

/** The priority of a call: whether it is for a payout, and its partner, if any. */
export interface Call {
  payout: boolean;
  partnerId: string | null;
  /** Whether it completes a preceding call that is useless without it; then it goes before all other calls. */
  follows?: boolean | undefined;
}

/** The budget for provider calls. */
export interface CallBudget {
  /** Counts a call and returns 0 if it may be made now; otherwise returns the milliseconds after which to retry. */
  take(call: Call): Promise<number>;
  /** This process's waiting calls, by partner, so that one partner cannot occupy every slot. */
  waiting: Semaphore;
  /** Records that the provider asked not to be called for this many milliseconds. */
  pause(ms: number): Promise<void>;
}

/**
 * Maximum waiting calls of one partner per process: a worker has 40 slots on the provider's queue, and each waiting
 * call occupies one.
 */
const waitingOfPartner = 10;
const createWaiting = () => createSemaphore(Number.POSITIVE_INFINITY, { perKey: waitingOfPartner, mostWaiting: 0 });

export const unlimited: CallBudget = { take: async () => 0, pause: async () => {}, waiting: createWaiting() };

/** Limits are per minute, so a 429 never blocks calls for longer. */
const longestPauseMs = 60_000;

/**
 * Creates the budget of calls to a provider, shared by all processes on this database: `perMinute` calls in any minute.
 * Payouts go first, and a partner with more than a quarter of all calls gives way to others (`take_provider_call`). 0
 * means no limit.
 */
export function createCallBudget(orm: MikroORM, provider: string, perMinute: number): CallBudget {
  if (perMinute === 0) return unlimited;
  return {
    waiting: createWaiting(),
    async take({ payout, partnerId, follows = false }) {
      const [row] = await orm.em
        .fork()
        .execute<{ seconds: number }[]>('select take_provider_call(?, ?, ?, ?, ?) as seconds', [
          provider,
          perMinute,
          payout,
          partnerId,
          follows,
        ]);
      return Math.ceil(must(row, 'the function returns a row').seconds * 1000);
    },
    async pause(ms) {
      await orm.em.fork().execute(
        `update provider_budget set paused_until = greatest(clock_timestamp() + make_interval(secs => ?),
             case when paused_until <= clock_timestamp() + interval '1 minute' then paused_until end)
         where provider = ?`,
        [Math.min(ms, longestPauseMs) / 1000, provider],
      );
    },
  };
}

/**
 * Waits until a call may be made. Throws ProviderUnknown, with the retry delay, if the wait would exceed `patienceMs`
 * or too many calls of the same partner wait in this process.
 */
export async function awaitCall(
  budget: CallBudget,
  { patienceMs, signal, ...call }: Call & { patienceMs: number; signal: AbortSignal },
): Promise<void> {
  const until = performance.now() + patienceMs;
  let leave: (() => void) | undefined;
  try {
    for (;;) {
      const restMs = await budget.take(call);
      if (restMs === 0) return;
      const usedUp = (ms: number) => new ProviderUnknown('the budget of provider calls is used up', { restMs: ms });
      if (performance.now() + restMs > until) throw usedUp(restMs);
      if (call.partnerId !== null) {
        // Retry after the waiting calls, with jitter.
        leave ??= await budget.waiting.enter({ key: call.partnerId }).catch(() => {
          throw usedUp(Math.ceil(Math.max(restMs, patienceMs * (1 + Math.random()))));
        });
      }
      await sleep(restMs, undefined, { signal });
    }
  } finally {
    leave?.();
  }
}
