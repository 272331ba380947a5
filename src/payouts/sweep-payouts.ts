import type { EntityManager } from '@mikro-orm/postgresql';

/** How payouts meet their workflows; made by `temporal/`, passed in. */
export interface PayoutPort {
  /** Wakes the payout's workflow, or starts it again from its row when there is none. */
  hintPartnerPayout(payoutId: string): Promise<void>;
}

const sweepLimit = 1000;
const atOnce = 20;
/** What was woken is not woken again for so long. */
const restMinutes = 10;

/**
 * Wakes payouts that want to be looked at: pending ones whose workflow is late (Temporal may have lost it), and final
 * ones that may still be taken back. Returns how many.
 */
export async function sweepPayouts(em: EntityManager, port: PayoutPort): Promise<number> {
  const rows = await em.execute<{ id: string }[]>(
    `update payouts set look_again_at = now() + make_interval(mins => ?)
     where id in (select id from payouts where look_again_at < now() order by look_again_at limit ?
       for update skip locked) returning id`,
    [restMinutes, sweepLimit],
  );
  for (let start = 0; start < rows.length; start += atOnce) {
    await Promise.all(rows.slice(start, start + atOnce).map(({ id }) => port.hintPartnerPayout(id)));
  }
  return rows.length;
}
