import type { CallBudget } from '../call-budget.ts';

/** The settings of an exchange with the provider. */
export interface ClientSettings {
  secretKey: string;
  /** The provider's base URL; in development the sandbox's. */
  url: string;
  fetch: typeof fetch;
  /** The time-out of one exchange, over all its requests, in milliseconds. */
  timeoutMs: number;
  /** The call budget, and whether the requests are for a payout, which goes first. */
  budget: CallBudget;
  payout: boolean;
}

/** The settings for transfers and their look-ups, which go first. */
export const first = (settings: ClientSettings): ClientSettings => ({ ...settings, payout: true });
