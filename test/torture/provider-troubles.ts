import type { CallbackTrouble, ProviderTrouble } from './plan-faults.ts';

/** The sandbox's setting for each trouble. */
export const providerFaults: Record<ProviderTrouble, object> = {
  slow: { requests: { delay_ms: 2_500 } },
  failing: { requests: { error_rate: 0.8 } },
  'hanging-before': { requests: { hang_rate: 0.6 } },
  'hanging-after': { requests: { hang_rate: 0.6, hang_after_effect: true } },
  busy: { requests: { limit_rate: 0.6 } },
  'listing-late': { listing: { lag_ms: 4_000 } },
};
export const callbackFaults: Record<CallbackTrouble, object> = {
  lost: { callbacks: { drop: true } },
  repeated: { callbacks: { copies: 100 } },
  shuffled: { callbacks: { shuffle: true, copies: 3 } },
  late: { callbacks: { delay_ms: 8_000 } },
};
