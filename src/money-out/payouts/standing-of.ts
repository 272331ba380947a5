import type { Payout } from './payout.entity.ts';
import type { PayoutStanding } from './payout.ts';

/** Returns the state of a payout for its workflow. */
export const standingOf = (payout: Payout, deliveryIds: string[] = []): PayoutStanding => ({
  status: payout.status,
  reservedAt: payout.created_at.toISOString(),
  unknownSince: payout.unknown_since?.toISOString() ?? null,
  deliveryIds,
});
