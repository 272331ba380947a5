import { awaitCall } from '../call-budget.ts';
import { ProviderUnknown } from '../gateway.ts';
import type { ClientSettings } from './settings.ts';

/** What became of the requests of one exchange on their way out. */
export interface Passage {
  /** How many were written to the wire, as far as anybody can tell. */
  sent: number;
  /** How long the last answer asked to be left alone, in milliseconds. */
  restMs: number;
}

/** A request waits for its turn for at most this share of its exchange's time; the rest is for the call itself. */
const patience = 3 / 8;

/**
 * `fetch` as the SDK is given it: takes each request out of the budget, asks `beforeSend` right before it is written, and
 * notes what happened. Throws ProviderUnknown when the request must not or cannot be made now.
 */
export function passThrough(
  { fetch: send, budget, payout, timeoutMs }: ClientSettings,
  passage: Passage,
  { signal, beforeSend }: { signal: AbortSignal; beforeSend: (() => Promise<boolean>) | undefined },
) {
  // A process that was stopped hears of its signal's time only after it has gone on.
  const endsAt = performance.now() + timeoutMs;
  return async (input: string, init: RequestInit): Promise<Response> => {
    await awaitCall(budget, { payout, patienceMs: timeoutMs * patience, signal });
    if (beforeSend && !(await beforeSend())) throw new ProviderUnknown('the request may not be made any more');
    signal.throwIfAborted();
    if (performance.now() > endsAt) throw new ProviderUnknown('the time for the request is over');
    passage.sent += 1;
    // A redirect would carry the key elsewhere or turn a POST into a GET.
    const answer = await send(input, { ...init, signal, redirect: 'error' });
    if (answer.status === 429) passage.restMs = retryAfterMs(answer.headers.get('retry-after'));
    return answer;
  };
}

/** Where the provider does not say how long. */
const usualRestMs = 5_000;
const longestRestMs = 24 * 60 * 60 * 1000;

/** `Retry-After`, seconds or a date, in milliseconds: from 1 second to a day. */
export function retryAfterMs(header: string | null, now = Date.now()): number {
  const text = header?.trim() ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(ms) ? usualRestMs : Math.min(Math.max(ms, 1_000), longestRestMs);
}
