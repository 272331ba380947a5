import type { EntityManager } from '@mikro-orm/postgresql';
import type { Dependencies } from '../../src/wiring/dependencies.ts';

/** A stack with circles, in this process or in separate processes. */
export interface RoundPlace {
  owner(): EntityManager;
  deps: Pick<Dependencies, 'workflows'>;
}

/** Ends the interval and the grace period of a circle's open round, and expires its orders. */
export async function endInterval(place: RoundPlace, circleId: string): Promise<void> {
  await place.owner().execute(
    `update saving_circle_rounds r set due_at = now() - interval '1 hour' - c.grace_days * interval '1 day'
     from saving_circles c where c.id = r.saving_circle_id and r.saving_circle_id = ? and r.paid_at is null`,
    [circleId],
  );
  await endItsOrders(place, circleId);
  await place.deps.workflows.lookAfterSavingCircle(circleId);
}

/** Expires open orders for contributions to a circle. */
export async function endItsOrders({ owner, deps }: RoundPlace, circleId: string): Promise<void> {
  const orders = await owner().execute<{ id: string }[]>(
    `update payment_orders set expires_at = now() where reference_type = 'saving_circle_contribution'
       and reference_id = ? and status in ('PENDING', 'WAITING_PAYMENT') and expires_at > now() returning id`,
    [circleId],
  );
  for (const { id } of orders) await deps.workflows.hintGatewayPayment(id);
}

/** Opens a circle's next round now. */
export async function openNextRound({ owner, deps }: RoundPlace, circleId: string): Promise<void> {
  await owner().execute('update saving_circles set next_opens_at = now() where id = ? and next_opens_at is not null', [
    circleId,
  ]);
  await deps.workflows.lookAfterSavingCircle(circleId);
}
