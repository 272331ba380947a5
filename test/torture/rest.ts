import { setTimeout as sleep } from 'node:timers/promises';
import type { PayoutPlace } from '../../src/money-out/payouts/payout.ts';
import { workflowIds } from '../../src/shared/workflow-ids.ts';
import { readBacklog } from '../../src/wiring/measure-backlog.ts';
import type { Facts } from './facts.ts';
import { readCallbacks, sendCallback } from './forge.ts';
import { listWorkflows } from './harm-workflows.ts';
import { refusedRefund, silentRefund } from './plan-refunds.ts';
import { readProvider, workOfPayout } from './read-facts.ts';
import type { Topology } from './topology.ts';
import { ageForSweeps, readWaiting } from './waiting-rows.ts';

export interface RestOptions {
  topology: Topology;
  /** Pieces of work whose payouts the provider never completes. */
  endless: ReadonlySet<string>;
  /**
   * Pieces of work whose payouts the provider refuses: if the first request has an unknown outcome, refusals of later
   * ones settle nothing.
   */
  refused: ReadonlySet<string>;
  /** Called with a workflow that is missing although the plan did not remove it, e.g. after a crash. */
  missed(workflowId: string): void;
  /** Workflows that the plan stopped by hand or lost with Temporal's data. */
  takenWorkflows: ReadonlySet<string>;
  boundMs: number;
  progress(text: string): void;
}

type Restless = Facts['restless'];

const pollMs = 2_000;
/** For this long nothing is triggered, so that work can come to rest by itself. */
const patienceMs = 12_000;
/** The maximum total time, as a multiple of the time limit, even with steady progress. */
const mostBounds = 5;

/**
 * Completes open work at the provider, and waits until nothing of ours is pending. Returns what is still pending when
 * nothing has come to rest for the length of the time limit: a busy machine is slow, but makes progress. Two waits of
 * hours are shortened: rows without a workflow are aged, so that the sweeps find them, and workflows of payments whose
 * callback was lost are signalled. Starts sweeps, but no workflow of a row.
 */
export async function comeToRest(options: RestOptions): Promise<Restless> {
  const { topology, boundMs, progress, takenWorkflows, missed } = options;
  const begun = Date.now();
  let restless: Restless = [];
  const aged = new Set<string>();
  let fewest = Number.POSITIVE_INFINITY;
  let movedAt = Date.now();
  const isTimeLeft = () => Date.now() - movedAt < boundMs && Date.now() - begun < mostBounds * boundMs;
  for (let round = 0; isTimeLeft(); round += 1) {
    await closeAtProvider(topology).catch(() => undefined);
    restless = await findRestless(options).catch((error: unknown) => [
      { what: 'reading', id: '', status: String(error).slice(0, 200) },
    ]);
    if (restless.length === 0) return [];
    if (restless.length < fewest) {
      fewest = restless.length;
      movedAt = Date.now();
    }
    const [first] = restless;
    const example = first === undefined ? '' : `, e.g. ${first.what} ${first.id} ${first.status}`;
    const seconds = Math.round((Date.now() - begun) / 1000);
    progress(`${seconds} s of coming to rest: ${restless.length} rows or workflows are not at rest${example}`);
    if (Date.now() - begun > patienceMs && round % 5 === 0) {
      await nudge(topology).catch(() => undefined);
      const alone = await ageForSweeps(topology, aged).catch(() => []);
      for (const workflowId of alone) if (!takenWorkflows.has(workflowId)) missed(workflowId);
    }
    await sleep(pollMs);
  }
  return restless;
}

/** Signals workflows that would wait too long by the product's own clock. */
async function nudge(topology: Topology): Promise<void> {
  const running = new Set((await listWorkflows(topology, ['Running'])).map(({ id }) => id));
  // A failure of one does not prevent the others.
  for (const wake of [wakeForLostCallbacks, hastenWebhooks, hastenMails, hastenRepeats, tellEnded]) {
    await wake(topology, running).catch(() => undefined);
  }
}

/**
 * Expires unpaid instruments of open orders, unless the order was cancelled and completes by itself; lets transfers and
 * refunds that wait for an operator succeed.
 */
async function closeAtProvider({ sandbox, em }: Topology): Promise<void> {
  const { body } = await sandbox.get('/sandbox/records');
  const open = await em().execute<{ id: string }[]>(`
    select id::text from payment_orders where status in ('PENDING', 'WAITING_PAYMENT') and cancelled_at is null
    union all select id::text from partner_payments
      where status in ('PENDING', 'WAITING_PAYMENT') and cancelled_at is null`);
  const waits = new Set(open.map(({ id }) => id));
  for (const { status, payment_code, reference_id } of body.payments) {
    if ((status === 'PENDING' || status === 'REQUIRES_ACTION') && waits.has(reference_id)) {
      await sandbox.post('/sandbox/expire', { payment_code });
    }
  }
  for (const { status, reference_id } of body.transfers) {
    if (status === 'ACCEPTED') await sandbox.post('/sandbox/payouts/settle', { reference_id, status: 'SUCCEEDED' });
  }
  for (const { status, reference_id } of body.refunds) {
    if (status === 'PENDING') await sandbox.post('/sandbox/refunds/settle', { reference_id, status: 'SUCCEEDED' });
  }
}

async function findRestless({ topology, endless, refused }: RestOptions): Promise<Restless> {
  const em = topology.em();
  // A payout that the provider never completes, or without requests left, is at rest once operators are informed.
  const rows = await em.execute<
    (Restless[number] & { work: string | null; refunded: number | null; told: boolean; asked: number })[]
  >(`
    select 'payment order' as what, id::text, status, null as work, null::int as refunded, false as told, 0 as asked
      from payment_orders
      where status in ('PENDING', 'WAITING_PAYMENT')
    union all select 'partner payment', id::text, status, null, null, false, 0 from partner_payments
      where status in ('PENDING', 'WAITING_PAYMENT') or (status = 'PAID' and released_at is null and available_at < now())
    union all select 'payout', id::text, status, case when refund_of is null then ${workOfPayout} end,
      case when refund_of is not null then net_amount::int end, unknown_since is not null,
      (select count(*)::int from payout_attempts a where a.payout_id = payouts.id and a.outcome is distinct from 'unsent')
      from payouts where status = 'pending'
    union all select 'batch of payouts', id::text, status, null, null, false, 0 from payout_batches where status = 'processing'
    union all select 'instrument', id::text, 'closing', null, null, false, 0 from partner_instruments
      where status = 'active' and (closing_at is not null or payment_code is null)
    union all select 'webhook', id::text, status, null, null, false, 0 from webhook_deliveries where status = 'pending'
    union all select 'mail', id::text, status, null, null, false, 0 from mails where status = 'pending'
    union all select 'callback', id::text, 'stored', null, null, false, 0 from gateway_callbacks where delivered_at is null`);
  const restless: Restless = rows
    .filter(({ work, refunded, told, asked }) => {
      const isEndless = refunded === silentRefund || (work !== null && endless.has(work));
      const isRefused = refunded === refusedRefund || (work !== null && refused.has(work));
      return !told || !(isEndless || (isRefused && asked >= hastenedRepeats));
    })
    .map(({ what, id, status }) => ({ what, id, status }));
  const { requests, transfers } = await readProvider(topology);
  const receipts = await em.execute<{ id: string }[]>('select provider_payment_id as id from receipts');
  const booked = new Set(receipts.map(({ id }) => id));
  for (const { payments } of requests) {
    for (const { id, status } of payments) {
      if (status === 'SUCCEEDED' && !booked.has(id)) restless.push({ what: 'money', id, status: 'without a receipt' });
    }
  }
  const reversed = transfers.filter(({ status }) => status === 'REVERSED').map(({ reference }) => reference);
  const taken = await em.execute<{ id: string; status: string }[]>(
    "select id::text, status from payouts where id::text = any(?::text[]) and status <> 'reversed'",
    [`{${reversed.join(',')}}`],
  );
  restless.push(...taken.map(({ id, status }) => ({ what: 'reversed payout', id, status })));
  for (const { what, rows: late } of await readBacklog(em)) {
    if (late > 0 && what.startsWith('overdue_')) restless.push({ what, id: '', status: `${late} rows` });
  }
  const running = new Set((await listWorkflows(topology, ['Running'])).map(({ id }) => id));
  for (const { what, id } of await findEnded(topology)) {
    if (running.has(endedWorkflows[what](id))) restless.push({ what, id, status: 'final, but its workflow runs' });
  }
  for (const { family, id, status, workflowId, dueLater } of await readWaiting(em)) {
    if (!dueLater && !running.has(workflowId)) {
      restless.push({ what: `row of ${family}`, id, status: `${status}, without a workflow` });
    }
  }
  return restless;
}

/**
 * Compensates for lost callbacks: signals running workflows, which would poll within the hour, and resends callbacks of
 * money that arrived after everything was final, which the next day's reconciliation would find.
 */
async function wakeForLostCallbacks(topology: Topology, running: ReadonlySet<string>): Promise<void> {
  const { workflows } = topology.deps;
  const { gatewayPayment, partnerPayment, partnerInstrument } = workflowIds;
  for (const { event, data, body, state } of readCallbacks(topology)) {
    if (state !== 'dropped') continue;
    const id = String(data.reference_id);
    const isOfPayout = /^(payout|refund)\./.test(event);
    const payout = isOfPayout ? payoutWorkflows.find(({ workflowId }) => running.has(workflowId(id))) : undefined;
    if (payout !== undefined) await workflows.hintPayout({ id, kind: payout.kind });
    else if (!isOfPayout && running.has(gatewayPayment(id))) await workflows.hintGatewayPayment(id);
    else if (!isOfPayout && running.has(partnerPayment(id))) await workflows.hintPartnerPayment(id);
    else if (!isOfPayout && running.has(partnerInstrument(id))) await workflows.hintPartnerInstrument(id);
    else await sendCallback(topology, body);
  }
}

const payoutWorkflows = [
  { kind: 'partner_payout', workflowId: workflowIds.partnerPayout },
  { kind: 'withdrawal', workflowId: workflowIds.withdrawal },
  { kind: 'payment_refund', workflowId: workflowIds.paymentRefund },
] as const;

const endedWorkflows = { circle: workflowIds.savingCircle, subscription: workflowIds.donationSubscription };

/**
 * Resources finished by a request, whose workflow may not have been signalled because the process died or lost the
 * answer to its commit.
 */
const findEnded = ({ em }: Topology) =>
  em().execute<{ what: keyof typeof endedWorkflows; id: string }[]>(`
    select 'circle' as what, id::text from saving_circles where status = 'cancelled'
    union all select 'subscription', id::text from donation_subscriptions where status = 'stopped'`);

/** Backdates such resources by minutes and starts the sweeps, which would otherwise find them within minutes. */
async function tellEnded(topology: Topology, running: ReadonlySet<string>): Promise<void> {
  const { owner, deps } = topology;
  const { client, taskQueue } = deps.workflows;
  const untold = (await findEnded(topology)).filter(({ what, id }) => running.has(endedWorkflows[what](id)));
  if (untold.length === 0) return;
  const ids = `{${untold.map(({ id }) => id).join(',')}}`;
  for (const table of ['saving_circles', 'donation_subscriptions']) {
    await owner().execute(`update ${table} set ended_at = now() - interval '2 minutes' where id = any(?::uuid[])`, [
      ids,
    ]);
  }
  await owner().execute('delete from sweep_looks where subject_id = any(?::uuid[])', [ids]);
  await client.workflow
    .start('sweep', { workflowId: 'torture/rest/sweep', taskQueue, args: [] })
    .catch(() => undefined);
}

/** After this many requests of a payout the next follows an hour later. */
const hastenedRepeats = 3;
const hastened = new Set<string>();
/** Ages a waiting payout's attempts by ten minutes, after which its third request is due. */
async function hastenRepeats({ em, owner, deps }: Topology): Promise<void> {
  const waiting = await em().execute<PayoutPlace[]>(
    `select p.id::text, p.kind from payouts p join payout_attempts a on a.payout_id = p.id
     where p.status = 'pending' and p.unknown_since is not null group by p.id having count(*) > 1`,
  );
  for (const { id, kind } of waiting.filter((payout) => !hastened.has(payout.id))) {
    hastened.add(id);
    await owner().execute(
      `update payout_attempts set sent_at = sent_at - interval '10 minutes',
         answered_at = answered_at - interval '10 minutes', not_known_at = not_known_at - interval '10 minutes'
       where payout_id = ?`,
      [id],
    );
    await deps.workflows.hintPayout({ id, kind });
  }
}

/** Makes failed mails due now; otherwise they are retried after minutes. */
async function hastenMails({ owner }: Topology): Promise<void> {
  await owner().execute("delete from sweep_looks where kind = 'mail'");
}

/** Resends pending webhooks at once, as an operator would; otherwise they are retried after minutes. */
async function hastenWebhooks(topology: Topology, running: ReadonlySet<string>): Promise<void> {
  const { em, deps } = topology;
  const waiting = await em().execute<{ id: string }[]>("select id from webhook_deliveries where status = 'pending'");
  for (const { id } of waiting) {
    if (running.has(workflowIds.webhookDelivery(id))) await deps.workflows.hastenWebhookDelivery(id);
  }
}
