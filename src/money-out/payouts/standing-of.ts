import type { Payout } from './payout.entity.ts';
import type { PayoutStanding } from './payout.ts';

/** A payout as passed to its workflow. */
export const standingOf = (payout: Payout, deliveryIds: string[] = []): PayoutStanding => ({
  status: payout.status,
  reservedAt: payout.created_at.toISOString(),
  unknownSince: payout.unknown_since?.toISOString() ?? null,
  deliveryIds,
});
