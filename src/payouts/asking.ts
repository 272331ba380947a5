const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** A payout that is unknown for this long is marked for operators (decisions 8); it is asked for all the same. */
export const operatorsAfterMs = 10 * minuteMs;

/**
 * How long to wait before asking the provider again, `elapsedMs` after the money was reserved: 5 seconds at first,
 * growing to 30 in the first ten minutes, then with the payout's age to an hour.
 */
export function askingWaitMs(elapsedMs: number): number {
  const wait = elapsedMs < operatorsAfterMs ? Math.min(elapsedMs / 2, 30 * secondMs) : Math.min(elapsedMs / 10, hourMs);
  return Math.round(Math.max(wait, 5 * secondMs));
}

/** After being told to wait, the provider is called again after this long at most, unless it named a longer time. */
const longestRestWaitMs = 30 * secondMs;

/** As `askingWaitMs`, when the provider is not called for `restMs`, because calls to it are limited; 0 is no limit. */
export function nextWaitMs(elapsedMs: number, restMs: number): number {
  const wait = askingWaitMs(elapsedMs);
  return restMs > 0 ? Math.max(restMs, Math.min(wait, longestRestWaitMs)) : wait;
}

/** A pending payout whose workflow is this late with asking has lost it: the sweep starts it again. */
export const overdueGraceMs = 5 * minuteMs;

/** After success, and after an operator's failure, the provider is asked again at these ages: success may be taken back. */
const laterLooksMs = [30 * secondMs, hourMs, 24 * hourMs, 72 * hourMs] as const;

/** When to look at a final payout again; null when it has been looked at for long enough. */
export function nextLookAt(finalizedAt: Date, now: Date): Date | null {
  const age = now.getTime() - finalizedAt.getTime();
  const next = laterLooksMs.find((look) => look > age);
  return next === undefined ? null : new Date(finalizedAt.getTime() + next);
}
