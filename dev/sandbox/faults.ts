import { z } from 'zod';
import type { Store } from './store.ts';

const rate = z.number().min(0).max(1).default(0);

/**
 * What a forged callback gets wrong: the status (the opposite one), the amount, or only the token.
 */
export const forgeries = ['status', 'amount', 'token'] as const;

/** Fields that are absent take their defaults (docs/sandbox.md). */
export const faultsSchema = z.strictObject({
  callbacks: z
    .strictObject({
      copies: z.number().int().min(1).max(1_000).default(1),
      delay_ms: z.number().int().min(0).max(86_400_000).default(0),
      shuffle: z.boolean().default(false),
      drop: z.boolean().default(false),
      /** Sends a forged callback once before each real one. */
      forge: z.enum(forgeries).optional(),
    })
    .prefault({}),
  requests: z
    .strictObject({
      error_rate: rate,
      hang_rate: rate,
      hang_after_effect: z.boolean().default(false),
      /** Delays every request by this much. */
      delay_ms: z.number().int().min(0).max(60_000).default(0),
      /** The share of requests answered 429, without effect, and their `Retry-After`. */
      limit_rate: rate,
      retry_after_seconds: z.number().int().min(1).max(86_400).default(1),
    })
    .prefault({}),
  /** How long a payment is missing from its payment method's list after its request is shown as paid. */
  listing: z.strictObject({ lag_ms: z.number().int().min(0).max(86_400_000).default(0) }).prefault({}),
});

export type Faults = z.infer<typeof faultsSchema>;

/** The current faults; stored on disk like everything else. */
export function readFaults(store: Store): Faults {
  const row = store.get("select value from settings where name = 'faults'");
  return faultsSchema.parse(row ? JSON.parse(String(row.value)) : {});
}

/** Replaces all faults. */
export function writeFaults(store: Store, faults: Faults): void {
  store.run(
    "insert into settings (name, value) values ('faults', ?) on conflict (name) do update set value = excluded.value",
    JSON.stringify(faults),
  );
}
