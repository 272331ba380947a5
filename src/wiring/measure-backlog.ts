import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { overdueCircles } from '../circles/sweep-circles.ts';
import type { Backlog } from '../control/operations/read-overview.ts';
import { unreceiptedPayments } from '../control/reconciliation/compare-payments.ts';
import { unreconciledDays } from '../control/reconciliation/reconciled-days.ts';
import { overdueSubscriptions } from '../giving/donations/sweep-subscriptions.ts';
import {
  overdue,
  overdueInstruments,
  overdueReleases,
  withoutInstrument,
} from '../money-in/callbacks/sweep-overdue-payments.ts';
import { acceptedSince, isUnheard } from '../money-out/payouts/find-stuck-payouts.ts';
import { overdueBatches, overduePayouts } from '../money-out/payouts/sweep-payouts.ts';
import { overdueDeliveries } from '../partners/webhooks/redeliver-webhook.ts';
import { collectTogether, gauge, type Metrics } from '../platform/metrics/metrics.ts';
import { isDataError } from '../shared/errors.ts';

/** How long results are cached, so that several or frequent scrapers do not repeat the queries. */
const keptForMs = 30_000;

const count = (what: string, rows: string): string =>
  `select '${what}' as what, count(*)::int as rows, min(since) as oldest from (${rows}) ${what}`;

/** Rows that a sweep should have woken by now. */
const forFiveMinutes = (due: string): string =>
  `select since from (${due}) due where since < now() - interval '5 minutes'`;

/**
 * Overdue rows, by kind. Each query reads a partial index, is empty when all is well, and returns the `since` of each
 * waiting row.
 */
const waiting: Record<string, string> = {
  // Unsent payouts wait for the switch while it holds them; the switch has its own alarm.
  unknown_payouts: `select unknown_since as since from payouts
    where unknown_since is not null and (last_word is distinct from 'unsent' or not payouts_held())`,
  payouts_held: 'select changed_at as since from payout_switch where not enabled',
  contradicted_payouts: `select contradicted_at as since from payouts where contradicted_at is not null
    union all select finalized_at from payouts where ${isUnheard} and contradicted_at is null`,
  // A payout is sent after it was created: the index of pending ones by creation narrows the search.
  accepted_payouts: `select since from (select ${acceptedSince} as since from payouts
      where status = 'pending' and last_word = 'accepted' and created_at < now() - interval '1 day') accepted
    where since < now() - interval '1 day'`,
  // The partial index of `look_again_at` covers pending payouts; those that wait for a decision do not count.
  unsent_payouts: `select created_at as since from payouts
    where look_again_at is not null and status = 'pending' and (last_word is null or last_word = 'unsent')
      and created_at < now() - interval '1 hour' and not payouts_held()
      and not exists (select from decisions d where d.withdrawal_id = payouts.id and d.status = 'pending')`,
  overdue_payouts: forFiveMinutes(overduePayouts),
  overdue_payout_batches: forFiveMinutes(overdueBatches),
  suspended_receipts: "select received_at as since from receipts where state = 'suspended'",
  // Only a decision by two people can move this money. Its age counts from the erasure; the ledger has the time of
  // arrival.
  money_of_erased: `select u.erased_at as since from users u join accounts a on a.user_id = u.id
    join account_balances b on b.account_id = a.id
    where u.erased_at is not null and b.balance <> 0 group by a.id, u.erased_at having sum(b.balance) <> 0`,
  unreceipted_payments: unreceiptedPayments,
  undelivered_callbacks:
    'select received_at as since from gateway_callbacks where delivered_at is null and unread is null',
  unread_callbacks: `select received_at as since from gateway_callbacks
    where unread is not null and received_at > now() - interval '1 day'`,
  overdue_webhooks: overdueDeliveries,
  overdue_mails: `select created_at as since from mails where status = 'pending' and created_at < now() - interval '5 minutes'
    union all select told_at from mail_rounds where ended_at is null and told_at < now() - interval '5 minutes'`,
  parked_mails:
    "select created_at as since from mails where status = 'parked' and created_at > now() - interval '7 days'",
  overdue_payment_orders: `${overdue('payment_orders')} and settling_since is null`,
  overdue_partner_payments: `${overdue('partner_payments')} and settling_since is null`,
  overdue_instruments: forFiveMinutes(overdueInstruments),
  settling_payments: `select since from (select settling_since as since from payment_orders
      where settling_since is not null and status in ('PENDING', 'WAITING_PAYMENT')
    union all select settling_since from partner_payments
      where settling_since is not null and status in ('PENDING', 'WAITING_PAYMENT')) settling
    where since < now() - interval '10 minutes'`,
  pending_instruments: `${withoutInstrument('payment_orders')} union all ${withoutInstrument('partner_payments')}`,
  overdue_releases: overdueReleases,
  overdue_circles: overdueCircles,
  overdue_subscriptions: overdueSubscriptions,
  // Approved but not carried out, or past its lifetime; a sweep handles both.
  overdue_decisions: `select coalesce(approved_at + interval '2 minutes', created_at + decision_lives(kind)) as since from decisions
    where status = 'pending' and (approved_at < now() - interval '2 minutes'
      or created_at < now() - decision_lives(kind) - interval '2 minutes')`,
  // Not a backlog: reports a newly admitted approver, or a first approval, for a day.
  new_approvers: `select greatest(approver_since, first_approval_at) as since from users
    where approver_since is not null and greatest(approver_since, first_approval_at) > now() - interval '1 day'`,
  open_reconciliations: "select created_at as since from reconciliations where state = 'open'",
  unreconciled_days: unreconciledDays,
};
const everything = Object.entries(waiting)
  .map(([what, rows]) => count(what, rows))
  .join(' union all ');

interface Found {
  what: string;
  rows: number;
  oldest: Date | string | null;
}

/** The epoch: rows that cannot be dated or read count as waiting longest, and are examined first. */
const forEver = new Date(0);

/**
 * Reads the rows that wait for a person or a retry, by kind. A kind that cannot be read counts as waiting longest, and
 * does not hide the others.
 */
export async function readBacklog(em: EntityManager): Promise<Backlog[]> {
  const read = (sql: string) => em.execute<Found[]>(sql);
  const found = await read(everything).catch((error: unknown) => {
    if (!isDataError(error)) throw error;
    return readEach(read);
  });
  return found.map(({ what, rows, oldest }) => ({ what, rows, oldest: oldest === null ? null : readable(oldest) }));
}

async function readEach(read: (sql: string) => Promise<Found[]>): Promise<Found[]> {
  const found: Found[] = [];
  for (const [what, rows] of Object.entries(waiting)) {
    const kind = await read(count(what, rows)).catch((error: unknown) => {
      if (!isDataError(error)) throw error;
      return [{ what, rows: 1, oldest: forEver }];
    });
    found.push(...kind);
  }
  return found;
}

function readable(instant: Date | string): Date {
  const date = new Date(instant);
  return Number.isNaN(date.getTime()) ? forEver : date;
}

/**
 * Registers gauges of the rows that wait for a person or a retry, by kind: number, and age of the oldest. Read on
 * scrape.
 */
export function measureBacklog(metrics: Metrics, orm: MikroORM): void {
  const rows = gauge(metrics, 'amanah_waiting', 'Rows that wait for an operator or a retry, by kind; 0 is healthy.', [
    'what',
  ]);
  const age = gauge(metrics, 'amanah_waiting_oldest_seconds', 'How long the oldest of its kind has waited.', ['what']);
  let read = Number.NEGATIVE_INFINITY;
  const refresh = async () => {
    if (performance.now() - read < keptForMs) return;
    read = performance.now();
    rows.reset();
    age.reset();
    // While the database is down these have no value; the database has its own alarms.
    const found = await readBacklog(orm.em.fork()).catch(() => []);
    for (const { what, rows: waiters, oldest } of found) {
      rows.set({ what }, waiters);
      age.set({ what }, oldest === null ? 0 : Math.max(0, (Date.now() - oldest.getTime()) / 1000));
    }
  };
  collectTogether([rows, age], refresh);
}
