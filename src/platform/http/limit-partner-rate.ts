import { createHash } from 'node:crypto';
import type { Context, Next } from 'koa';
import { refuse } from '../../shared/errors.ts';
import { partnerApiVersion } from './answer-headers.ts';
import { bearerOf } from './bearer.ts';
import { isPartnerPath } from './errors.ts';

const windowMs = 10_000;
/** Maximum tracked keys, so that a flood of invented keys cannot exhaust memory; the least recently used is dropped. */
const mostBuckets = 10_000;

/** The times of one key's requests in the last ten seconds, oldest first. */
class Bucket {
  #times: number[] = [];
  #start = 0;

  /** When the newest counted request arrived. */
  get last(): number {
    return this.#times.at(-1) ?? 0;
  }

  /** Counts a request unless the limit is reached; returns how many remain and when the oldest leaves the window. */
  take(now: number, limit: number): { taken: boolean; remaining: number; resetMs: number } {
    while (this.#start < this.#times.length && (this.#times[this.#start] ?? 0) <= now - windowMs) this.#start += 1;
    if (this.#start > this.#times.length / 2) {
      this.#times.splice(0, this.#start);
      this.#start = 0;
    }
    const taken = this.#times.length - this.#start < limit;
    if (taken) this.#times.push(now);
    const used = this.#times.length - this.#start;
    return { taken, remaining: limit - used, resetMs: (this.#times[this.#start] ?? now) + windowMs - now };
  }
}

/**
 * Limits partners to `limit` requests in any ten seconds per API key (per address without one), in the memory of this
 * process (protection, not a quota). Every response under the prefix carries the version and the RateLimit headers, a
 * refused one also `Retry-After`. The window slides, as a fixed one would allow twice the limit around its end.
 */
export function limitPartnerRate(limit: number, clock: () => number = () => performance.now()) {
  const buckets = new Map<string, Bucket>();

  function bucketOf(name: string, now: number): Bucket {
    const bucket = buckets.get(name) ?? new Bucket();
    buckets.delete(name);
    // Together the times of keys that are no longer used would fill the memory.
    for (const [oldest, { last }] of buckets) {
      if (buckets.size < mostBuckets && last > now - windowMs) break;
      buckets.delete(oldest);
    }
    buckets.set(name, bucket);
    return bucket;
  }

  return async (ctx: Context, next: Next): Promise<void> => {
    if (!isPartnerPath(ctx.path)) return next();
    const credential = bearerOf(ctx.get('authorization')) || `address ${ctx.ip}`;
    const name = createHash('sha256').update(credential).digest('base64');
    const now = clock();
    const { taken, remaining, resetMs } = bucketOf(name, now).take(now, limit);
    const resetSeconds = Math.max(1, Math.ceil(resetMs / 1000));
    ctx.set({
      'Amanah-Version': partnerApiVersion,
      'RateLimit-Limit': String(limit),
      'RateLimit-Remaining': String(remaining),
      'RateLimit-Reset': String(resetSeconds),
    });
    if (!taken) {
      refuse('REQUEST_RATE_LIMITED', `At most ${limit} requests in 10 seconds`, { retryAfterSeconds: resetSeconds });
    }
    return next();
  };
}
