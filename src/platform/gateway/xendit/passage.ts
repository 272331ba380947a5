import { awaitCall } from '../call-budget.ts';
import { type CallOptions, ProviderUnknown } from '../gateway.ts';
import type { ClientSettings } from './settings.ts';

/** The requests of one exchange. */
export interface Passage {
  /** The number of requests sent, as far as is known. */
  sent: number;
  /** The `Retry-After` of the last 429, in milliseconds. */
  restMs: number;
}

/** The share of an exchange's time that a request may wait for the call budget; the rest is for the call itself. */
const patience = 3 / 8;

/**
 * Returns the `fetch` given to the SDK: counts each request against the call budget, calls `beforeSend` right before
 * sending, and records what happened. Throws ProviderUnknown when the request must not or cannot be sent now.
 */
export function passThrough(
  { fetch: send, budget, payout, timeoutMs }: ClientSettings,
  passage: Passage,
  { signal, beforeSend, partnerId = null, follows = false }: CallOptions & { signal: AbortSignal },
) {
  // A suspended process notices its signal's time-out only after it resumes.
  const endsAt = performance.now() + timeoutMs;
  return async (input: string, init: RequestInit): Promise<Response> => {
    await awaitCall(budget, { payout, partnerId, follows, patienceMs: timeoutMs * patience, signal });
    if (beforeSend && !(await beforeSend())) throw new ProviderUnknown('the request is no longer allowed');
    signal.throwIfAborted();
    if (performance.now() > endsAt) throw new ProviderUnknown('the time for the request is over');
    passage.sent += 1;
    // A redirect would send the API key elsewhere or turn a POST into a GET.
    const answer = await send(input, { ...init, signal, redirect: 'error' });
    if (answer.status === 429) passage.restMs = retryAfterMs(answer.headers.get('retry-after'));
    return answer;
  };
}

/** The default if the provider gives no delay. */
const usualRestMs = 5_000;
/** The provider's limits are per minute: a longer wait would leave a payout unattended for hours. */
const longestRestMs = 60_000;

/** Parses `Retry-After`, in seconds or as a date, into milliseconds, limited to 1 second to 1 minute. */
export function retryAfterMs(header: string | null, now = Date.now()): number {
  const text = header?.trim() ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(ms) ? usualRestMs : Math.min(Math.max(ms, 1_000), longestRestMs);
}
