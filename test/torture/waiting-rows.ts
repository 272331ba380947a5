import type { EntityManager } from '@mikro-orm/postgresql';
import { minimumMembers } from '../../src/circles/saving-circle.ts';
import { workflowIds } from '../../src/shared/workflow-ids.ts';
import type { WaitingRow } from './facts.ts';
import { listWorkflows } from './harm-workflows.ts';
import type { Topology } from './topology.ts';

type Family = keyof typeof workflowOf;

const workflowOf = {
  payment_orders: workflowIds.gatewayPayment,
  partner_payments: workflowIds.partnerPayment,
  payouts: workflowIds.partnerPayout,
  payout_batches: workflowIds.partnerPayoutBatch,
  partner_instruments: workflowIds.partnerInstrument,
  withdrawals: workflowIds.withdrawal,
  payment_refunds: workflowIds.paymentRefund,
  saving_circles: workflowIds.savingCircle,
  donation_subscriptions: workflowIds.donationSubscription,
  receipts: workflowIds.unmatchedReceipt,
  webhook_deliveries: workflowIds.webhookDelivery,
};

/** Open rounds of a circle that have not been reported as overdue. */
const openRounds = `select from saving_circle_rounds r
  where r.saving_circle_id = c.id and r.paid_at is null and r.overdue_reported_at is null`;

/**
 * The rows that each workflow is responsible for. A circle may wait for members to join or, once all missing payments
 * are reported, to pay: either restarts its workflow. A subscription waits weeks for its next period.
 */
const waitingRows = `select 'payment_orders' as family, id::text, status, false as "dueLater" from payment_orders
    where status in ('PENDING', 'WAITING_PAYMENT')
  union all select 'partner_payments', id::text, status, false from partner_payments
    where status in ('PENDING', 'WAITING_PAYMENT') or (status = 'PAID' and released_at is null)
  union all select case kind when 'withdrawal' then 'withdrawals' when 'payment_refund' then 'payment_refunds' else 'payouts' end, id::text, status, false
    from payouts where status = 'pending'
  union all select 'saving_circles', c.id::text, c.status,
    case c.status when 'active' then c.next_opens_at is null and not exists (${openRounds})
      else (select count(*) from saving_circle_members m where m.saving_circle_id = c.id) < ${minimumMembers} end
    from saving_circles c where c.status in ('new', 'active')
  union all select 'payout_batches', id::text, status, false from payout_batches
    where status in ('needs_approval', 'processing')
  union all select 'partner_instruments', id::text, status, false from partner_instruments where status = 'active'
  union all select 'donation_subscriptions', id::text, status, true from donation_subscriptions where status = 'active'
  union all select 'receipts', id::text, state, false from receipts where state = 'suspended'
  union all select 'webhook_deliveries', id::text, status, false from webhook_deliveries where status = 'pending'`;

export async function readWaiting(em: EntityManager): Promise<(WaitingRow & { family: Family; id: string })[]> {
  const rows = await em.execute<{ family: Family; id: string; status: string; dueLater: boolean }[]>(waitingRows);
  return rows.map((row) => ({ ...row, workflowId: workflowOf[row.family](row.id) }));
}

/** The columns to backdate so that a row's sweep finds it. */
const dueColumns: Record<Family, string[]> = {
  payment_orders: ['expires_at'],
  partner_payments: ['expires_at', 'available_at'],
  payouts: ['look_again_at'],
  payout_batches: ['look_again_at'],
  partner_instruments: ['look_again_at'],
  withdrawals: ['look_again_at'],
  payment_refunds: ['look_again_at'],
  saving_circles: ['starts_at', 'next_opens_at'],
  donation_subscriptions: [],
  receipts: ['received_at'],
  webhook_deliveries: ['next_attempt_at'],
};
/** The tables that extend a payout. */
const tableOf: Partial<Record<Family, string>> = { withdrawals: 'payouts', payment_refunds: 'payouts' };
const late = "now() - interval '10 minutes'";

/**
 * Ages waiting rows without a workflow, once each, and leaves the rest to the product's sweeps. Returns the workflows
 * that were missing.
 */
export async function ageForSweeps(topology: Topology, aged: Set<string>): Promise<string[]> {
  const running = new Set((await listWorkflows(topology, ['Running'])).map(({ id }) => id));
  const alone = (await readWaiting(topology.em())).filter(
    // Only once: a row whose workflow was restarted may wait for its next due time.
    ({ workflowId, dueLater }) => !dueLater && !running.has(workflowId) && !aged.has(workflowId),
  );
  const owner = topology.owner();
  for (const [family, rows] of Map.groupBy(alone, ({ family }) => family)) {
    const ids = `{${rows.map(({ id }) => id).join(',')}}`;
    for (const column of dueColumns[family]) {
      await owner.execute(
        `update ${tableOf[family] ?? family} set ${column} = ${late} where id::text = any(?::text[]) and ${column} > ${late}`,
        [ids],
      );
    }
    if (family === 'saving_circles') {
      await owner.execute(
        `update saving_circle_rounds set due_at = ${late} where saving_circle_id::text = any(?::text[]) and due_at > ${late}`,
        [ids],
      );
    }
  }
  for (const { workflowId } of alone) aged.add(workflowId);
  // A bank's return after a success is found by polling over days.
  const ended = (
    await topology.em().execute<{ id: string }[]>("select id::text from payouts where status = 'succeeded'")
  ).filter(({ id }) => !aged.has(`success of ${id}`));
  await owner.execute(
    `update payouts set look_again_at = ${late} where id::text = any(?::text[]) and look_again_at > ${late}`,
    [`{${ended.map(({ id }) => id).join(',')}}`],
  );
  for (const { id } of ended) aged.add(`success of ${id}`);
  // Otherwise a row that was just checked would be checked again only after minutes.
  await owner.execute('delete from sweep_looks');
  return alone.map(({ workflowId }) => workflowId);
}
