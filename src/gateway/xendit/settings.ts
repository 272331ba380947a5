import type { CallBudget } from '../call-budget.ts';

/** What an exchange with the provider is made with. */
export interface ClientSettings {
  secretKey: string;
  /** The provider's base URL; the sandbox's in development. */
  url: string;
  fetch: typeof fetch;
  /** What one exchange may take, all its requests together. */
  timeoutMs: number;
  /** What every request is taken out of, and whether it is one that goes first. */
  budget: CallBudget;
  payout: boolean;
}

/** For transfers, and for questions about them. */
export const first = (settings: ClientSettings): ClientSettings => ({ ...settings, payout: true });
