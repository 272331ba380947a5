import type { EntityManager } from '@mikro-orm/postgresql';
import { systemAccounts } from '../../ledger/accounts/account.ts';
import { type BookDay, isDaySealed } from '../../ledger/seals/day-seal.ts';
import type { PartnerBalance } from '../../partners/read-balance.ts';
import { readInSnapshot } from '../../platform/database/read-in-snapshot.ts';
import { must } from '../../shared/assert.ts';
import { addMoney } from '../../shared/money.ts';
import {
  groupOf,
  type SettlementGroup,
  type SettlementLine,
  type SettlementTotal,
  settlementGroups,
} from './settlement.ts';

export interface SettlementFacts {
  day: string;
  currency: 'IDR';
  /** Whether it is final; until then lines may be added. */
  sealed: boolean;
  opening: PartnerBalance;
  closing: PartnerBalance;
  totals: Record<SettlementGroup, SettlementTotal>;
}

/** Journals read per batch, which bounds the memory a settlement takes. */
const batchSize = 1000;

/**
 * Query for the day's journals on the partner's balance, each with its effect on available and pending, and its fee.
 * `pending` includes reserved money. `amount` is gross: an increase plus the fee, a decrease less the fee or, if the
 * balance does not change, the amount moved within it.
 */
const journalsOfDay = `select m.created_at, m.journal_id, j.kind, j.business_key, m.available, m.pending, f.fee,
    case when m.available + m.pending = 0 then abs(m.available)
      when m.available + m.pending > 0 then m.available + m.pending + f.fee
      else -(m.available + m.pending) - f.fee end as amount
  from (
    select p.journal_id, min(p.created_at) as created_at,
      coalesce(sum(p.amount) filter (where p.account_id = t.available_account_id), 0) as available,
      coalesce(sum(p.amount) filter (where p.account_id <> t.available_account_id), 0) as pending
    from partners t
    join postings p on p.account_id in (t.available_account_id, t.pending_account_id, t.reserved_account_id)
    where t.id = ? and p.created_at >= ? and p.created_at < ?
    group by p.journal_id) m
  join journals j on j.id = m.journal_id
  cross join lateral (select coalesce(sum(o.amount), 0) as fee from postings o
    where o.journal_id = m.journal_id and o.account_id = '${systemAccounts.feeRevenue}') f`;

/**
 * Reads a partner's settlement of a day: opening and closing balance, totals by group, and then a line per journal in
 * order of time, all from one database snapshot, so that they agree. Holds a connection until it is read to the end or
 * `return` is called.
 */
export function readSettlement(
  em: EntityManager,
  partnerId: string,
  day: BookDay,
): AsyncGenerator<SettlementFacts | { lines: SettlementLine[] }, void, undefined> {
  return readInSnapshot(em, async function* (tx) {
    const of = [partnerId, day.from, day.to];
    yield {
      day: day.day,
      currency: 'IDR',
      sealed: await isDaySealed(tx, day),
      ...(await readBalances(tx, partnerId, day)),
      totals: await readTotals(tx, of),
    };
    await tx.execute(
      `declare settlement_lines no scroll cursor for
       select l.created_at, l.kind, l.business_key, l.journal_id, l.amount::numeric(20, 4)::text, l.fee::numeric(20, 4)::text,
         l.available::numeric(20, 4)::text, l.pending::numeric(20, 4)::text, coalesce(c.external_ref, o.external_ref) as external_ref
       from (${journalsOfDay}) l
       left join partner_payments c on c.id = substring(l.business_key from '^partner-payment/([0-9a-f-]{36})/')::uuid
       left join payouts o on o.id = case when split_part(l.business_key, '/', 1) in ('partner-payout', 'payment-refund')
         then split_part(l.business_key, '/', 2)::uuid end
       order by l.created_at, l.journal_id`,
      of,
    );
    for (;;) {
      const rows = await tx.execute<Row[]>(`fetch ${batchSize} from settlement_lines`);
      yield { lines: rows.map(lineOf) };
      if (rows.length < batchSize) break;
    }
  });
}

interface Row extends Omit<SettlementLine, 'created_at' | 'group' | 'resource_id'> {
  created_at: Date | string;
  business_key: string;
}

const lineOf = ({ created_at, business_key, ...row }: Row): SettlementLine => {
  const group = groupOf(row.kind);
  const { kind, external_ref, amount, fee, available, pending, journal_id } = row;
  const resource_id = group === 'other' ? null : (business_key.split('/')[1] ?? null);
  const at = new Date(created_at).toISOString();
  return { created_at: at, group, kind, resource_id, external_ref, amount, fee, available, pending, journal_id };
};

async function readBalances(
  tx: EntityManager,
  partnerId: string,
  { from, to }: BookDay,
): Promise<{ opening: PartnerBalance; closing: PartnerBalance }> {
  const rows = await tx.execute<PartnerBalance[]>(
    `select (available + pending)::numeric(20, 4)::text as balance, available::numeric(20, 4)::text,
       pending::numeric(20, 4)::text
     from partners t
     cross join unnest(array[?, ?]::timestamptz[]) with ordinality as bound (at, place)
     cross join lateral (select balance_before(t.available_account_id, bound.at) as available,
       balance_before(t.pending_account_id, bound.at) + balance_before(t.reserved_account_id, bound.at) as pending) held
     where t.id = ? order by bound.place`,
    [from, to, partnerId],
  );
  const [opening, closing] = rows;
  return { opening: must(opening, 'a partner has accounts'), closing: must(closing, 'a partner has accounts') };
}

async function readTotals(tx: EntityManager, of: unknown[]): Promise<Record<SettlementGroup, SettlementTotal>> {
  const rows = await tx.execute<(Omit<SettlementTotal, 'count'> & { kind: string; count: string })[]>(
    `select kind, count(*) as count, sum(amount)::numeric(20, 4)::text as amount, sum(fee)::numeric(20, 4)::text as fee,
       sum(available)::numeric(20, 4)::text as available, sum(pending)::numeric(20, 4)::text as pending
     from (${journalsOfDay}) l group by kind`,
    of,
  );
  const totals = Object.fromEntries(settlementGroups.map((group) => [group, { ...nothing }])) as Record<
    SettlementGroup,
    SettlementTotal
  >;
  for (const row of rows) {
    const group = groupOf(row.kind);
    const { count, amount, fee, available, pending } = totals[group];
    totals[group] = {
      count: count + Number(row.count),
      amount: addMoney(amount, row.amount),
      fee: addMoney(fee, row.fee),
      available: addMoney(available, row.available),
      pending: addMoney(pending, row.pending),
    };
  }
  return totals;
}

const nothing: SettlementTotal = {
  count: 0,
  amount: '0.0000',
  fee: '0.0000',
  available: '0.0000',
  pending: '0.0000',
};
