import type { EntityManager } from '@mikro-orm/postgresql';
import type { WorkflowPort } from '../callbacks/deliver-callback.ts';

/** An order this long past its deadline has lost its workflow, or is held up; a hint starts or wakes it. */
const overdueMinutes = 2;
/** How many a sweep looks at; the next one goes on. */
const sweepLimit = 500;

/**
 * Hints the workflow of every open order and partner payment past its deadline, and of every paid net that should be
 * available; one that Temporal lost is started again from its row.
 */
export async function sweepOverduePayments(em: EntityManager, workflows: WorkflowPort): Promise<number> {
  const rows = await em.execute<{ id: string }[]>(
    `select id from payment_orders where status in ('PENDING', 'WAITING_PAYMENT')
       and expires_at < now() - make_interval(mins => ?) order by expires_at limit ?`,
    [overdueMinutes, sweepLimit],
  );
  for (const { id } of rows) await workflows.hintGatewayPayment(id);
  const payments = await em.execute<{ id: string }[]>(
    `select id from partner_payments where (status in ('PENDING', 'WAITING_PAYMENT')
         and expires_at < now() - make_interval(mins => ?))
       or (status = 'PAID' and released_at is null and available_at < now() - make_interval(mins => ?)) limit ?`,
    [overdueMinutes, overdueMinutes, sweepLimit],
  );
  for (const { id } of payments) await workflows.hintPartnerPayment(id);
  return rows.length + payments.length;
}
