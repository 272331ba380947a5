const minuteMs = 60_000;

/** A payment that has been settling for this long is listed for operators. */
export const settlingBoundMs = 10 * minuteMs;

/**
 * Milliseconds to wait at `now` while the provider says paid or pending and nothing can be settled, by how long it has
 * done so: 5 seconds at first, growing to 30 within ten minutes, and then an hour. The deadline is looked at when it
 * comes. All instants are milliseconds of the epoch.
 */
export function settlingWaitMs({ since, deadline, now }: { since: number; deadline: number; now: number }): number {
  const elapsed = now - since;
  const interval = elapsed < settlingBoundMs ? Math.min(Math.max(elapsed / 4, 5_000), 30_000) : 60 * minuteMs;
  const left = deadline - now;
  return Math.round(left > 0 ? Math.min(interval, left) : interval);
}
