import type { EntityManager } from '@mikro-orm/postgresql';
import { type SweepFailure, sweepRows } from '../sweep-rows.ts';

/** How payouts meet their workflows; made by `temporal/`, passed in. */
export interface PayoutPort {
  /** Wakes the payout's workflow, or starts it again from its row when there is none. */
  hintPartnerPayout(payoutId: string): Promise<void>;
}

/** Payouts that want to be looked at; whoever looks says when it is next. */
export const overduePayouts = 'select id, look_again_at as since from payouts where look_again_at < now()';

/**
 * Wakes payouts that want to be looked at: pending ones whose workflow is late (Temporal may have lost it), and final
 * ones that may still be taken back. Returns how many.
 */
export function sweepPayouts(em: EntityManager, port: PayoutPort, failed: SweepFailure): Promise<number> {
  const wake = (id: string) => port.hintPartnerPayout(id);
  return sweepRows(em, [{ kind: 'payout', due: overduePayouts, wake }], failed);
}
