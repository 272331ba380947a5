import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../../shared/assert.ts';
import type { Money } from '../../shared/money.ts';
import type { Donation } from './donation.entity.ts';

export interface TraceStep {
  type: 'donation' | 'journal' | 'allocation' | 'cause' | 'disbursement' | 'refund';
  /** When it happened, ISO 8601. */
  at: string;
  /** The amount of this donation, or of the whole disbursement; IDR, scale 4. */
  amount: Money;
  [fact: string]: string | number | null;
}

interface Lineage {
  journal_id: string | null;
  journal_at: Date | string;
  source_account_id: string | null;
  account_id: string;
  batch_id: string | null;
  batch_at: Date | string;
  batch_journal_id: string;
  donation_count: number;
  batch_amount: Money;
  cause_id: string | null;
  cause_name: string;
  cause_status: string;
  cause_account_id: string;
  refund_journal_id: string | null;
  refunded_at: Date | string;
  refund_account_id: string;
}

interface Disbursed {
  id: string;
  created_at: Date | string;
  purpose_note: string;
  amount: Money;
  status: string;
  reference: string;
  succeeded_at: Date | string | null;
  /** The total number of disbursements, including those not read. */
  count: number;
}

/** Maximum disbursements of a cause in a trace. */
const mostDisbursements = 100;

const lineage = `select t.batch_id as journal_id, j.created_at as journal_at,
    case when t.destination_account_id is not null then t.source_account_id end as source_account_id,
    coalesce(t.destination_account_id, t.source_account_id) as account_id,
    a.id as batch_id, a.created_at as batch_at, a.journal_id as batch_journal_id, a.donation_count,
    a.total_amount::text as batch_amount,
    c.id as cause_id, c.name as cause_name, c.status as cause_status, c.account_id as cause_account_id,
    r.batch_id as refund_journal_id, r.created_at as refunded_at, r.destination_account_id as refund_account_id
  from donations d
  left join transactions t on t.id = d.transaction_id
  left join journals j on j.id = t.batch_id
  left join donation_allocations a on a.id = d.allocation_batch_id
  left join charitable_causes c on c.id = d.cause_id
  left join transactions r on r.id = d.refund_transaction_id
  where d.id = ?`;

const instant = (value: Date | string): string => new Date(value).toISOString();

/**
 * Traces the money of a donation, in order: the donation, the journal that paid it, the allocation that moved it out of
 * the pool, the cause that holds it, and the first disbursements of that cause since (a hundred by default; the cause's
 * step has their total number), or the refund that returned it. Steps that have not happened are absent.
 */
export async function traceDonation(
  em: EntityManager,
  donation: Donation,
  limits = { mostDisbursements },
): Promise<TraceStep[]> {
  const [row] = await em.execute<Lineage[]>(lineage, [donation.id]);
  const found = must(row, 'the donation exists');
  const { amount } = donation;
  const steps: TraceStep[] = [
    {
      type: 'donation',
      at: donation.created_at.toISOString(),
      amount,
      donation_id: donation.id,
      payment_order_id: donation.payment_order_id ?? null,
      subscription_id: donation.subscription_id ?? null,
    },
  ];
  if (found.journal_id === null) return steps;
  steps.push({
    type: 'journal',
    at: instant(found.journal_at),
    amount,
    journal_id: found.journal_id,
    transaction_id: donation.transaction_id ?? null,
    source_account_id: found.source_account_id,
    account_id: found.account_id,
  });
  if (found.batch_id !== null) {
    steps.push({
      type: 'allocation',
      at: instant(found.batch_at),
      amount,
      allocation_batch_id: found.batch_id,
      journal_id: found.batch_journal_id,
      batch_donation_count: found.donation_count,
      batch_amount: found.batch_amount,
    });
  }
  if (found.cause_id !== null) {
    const since = new Date(found.batch_id === null ? found.journal_at : found.batch_at);
    const disbursed =
      donation.status === 'refunded'
        ? null
        : await findDisbursed(em, { causeId: found.cause_id, since, most: limits.mostDisbursements });
    steps.push({
      type: 'cause',
      at: instant(since),
      amount,
      cause_id: found.cause_id,
      name: found.cause_name,
      status: found.cause_status,
      account_id: found.cause_account_id,
      ...(disbursed && { disbursement_count: disbursed.count }),
    });
    steps.push(...(disbursed?.steps ?? []));
  }
  if (found.refund_journal_id !== null) {
    steps.push({
      type: 'refund',
      at: instant(found.refunded_at),
      amount,
      journal_id: found.refund_journal_id,
      transaction_id: donation.refund_transaction_id ?? null,
      account_id: found.refund_account_id,
    });
  }
  return steps;
}

/**
 * Finds the cause's first disbursements since then, up to a limit, and their total number, without failed ones whose
 * money never left.
 */
async function findDisbursed(
  em: EntityManager,
  { causeId, since, most }: { causeId: string; since: Date; most: number },
): Promise<{ steps: TraceStep[]; count: number }> {
  const rows = await em.execute<Disbursed[]>(
    `select w.id, w.created_at, w.purpose_note, p.amount::text, p.status, p.reference, p.succeeded_at,
       (count(*) over ())::int as count
     from withdrawals w join payouts p on p.id = w.id
     where w.cause_id = ? and w.created_at >= ? and (p.status <> 'failed' or p.has_left) order by w.created_at, w.id limit ?`,
    [causeId, since, most],
  );
  const steps = rows.map(
    (row): TraceStep => ({
      type: 'disbursement',
      at: instant(row.created_at),
      amount: row.amount,
      disbursement_id: row.id,
      cause_id: causeId,
      status: row.status,
      purpose_note: row.purpose_note,
      reference: row.reference,
      succeeded_at: row.succeeded_at === null ? null : instant(row.succeeded_at),
    }),
  );
  return { steps, count: rows[0]?.count ?? 0 };
}
