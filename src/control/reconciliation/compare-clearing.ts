import type { EntityManager } from '@mikro-orm/postgresql';
import { systemAccounts } from '../../ledger/accounts/account.ts';
import { byPlatform, recordAction } from '../../platform/events/record-event.ts';
import type { Gateways } from '../../platform/gateway/gateway.ts';
import { must } from '../../shared/assert.ts';
import { westernIndonesiaDay } from '../../shared/clock.ts';
import { addMoney, compareMoney, type Money, subtractMoney } from '../../shared/money.ts';
import {
  type Booked,
  type ClearingMeasurement,
  type ClearingVerdict,
  judgeRange,
  type Moved,
  type OffsetRange,
  rangeOf,
} from './clearing.ts';

/** The longest time between a journal's date and its commit. */
const longestTransactionSeconds = 60;
const clearing = systemAccounts.gatewayClearing;

/**
 * Reads our books, then asks the provider for its balance, and stores both as the day's measurement, which
 * `judgeClearing` reads. Returns the day. Throws ProviderUnknown.
 */
export async function measureClearing(
  em: EntityManager,
  gateways: Gateways,
  { signal }: { signal: AbortSignal },
): Promise<{ day: string }> {
  const ours = await readBooks(em);
  const providerBalance = await gateways.readBalance({ signal });
  const { at } = await readBooks(em);
  const measured: ClearingMeasurement = {
    day: westernIndonesiaDay(ours.at),
    readAt: ours.at.toISOString(),
    answeredAt: at.toISOString(),
    providerBalance,
    clearingBalance: ours.balance,
    bookedSince: ours.since.toISOString(),
    booked: { received: ours.received, spent: ours.spent, returned: ours.returned },
  };
  await em.execute(
    `insert into clearing_measurements (day, measured) values (?, ?::jsonb)
     on conflict (day) do update set measured = excluded.measured, measured_at = excluded.measured_at`,
    [measured.day, JSON.stringify(measured)],
  );
  return { day: measured.day };
}

interface Books extends Booked {
  at: Date;
  since: Date;
  balance: Money;
}

/** A single statement, so that the recent postings it sums are exactly those included in the balance. */
async function readBooks(em: EntityManager): Promise<Books> {
  const [row] = await em.execute<Record<keyof Books, string>[]>(
    `with since as (select clock_timestamp() as now, clock_timestamp() - make_interval(secs => ?) as at)
     select since.now as at, since.at as since, (-account_balance(?))::numeric(20, 4) as balance, booked.*
     from since cross join (${bookedSince}) booked`,
    [longestTransactionSeconds, clearing, clearing],
  );
  const { at, since, ...amounts } = must(row, 'the query returns one row');
  return { ...amounts, at: new Date(at), since: new Date(since) };
}

/** Bookings dated after `since.at`; its parameter is the account. */
const bookedSince = `
  select moved.*, returned.* from
    (select coalesce(-sum(amount) filter (where amount < 0), 0)::numeric(20, 4) as received,
       coalesce(sum(amount) filter (where amount > 0), 0)::numeric(20, 4) as spent
     from postings where account_id = ? and created_at > (select at from since)) moved,
    (select coalesce(sum(net_amount + provider_fee), 0)::numeric(20, 4) as returned
     from payouts where status = 'failed' and finalized_at > (select at from since)) returned`;

/**
 * Evaluates a day's measurement some minutes later, when everything that the provider had done by then is booked: the
 * unexplained rest is the day's difference, recorded with an event. Re-measuring a day re-evaluates it.
 */
export function judgeClearing(em: EntityManager, { day }: { day: string }): Promise<ClearingVerdict> {
  return em.transactional(async (tx) => {
    const [row] = await tx.execute<{ measured: ClearingMeasurement }[]>(
      'select measured from clearing_measurements where day = ?',
      [day],
    );
    const { measured } = must(row, 'a judged day was measured');
    const underWay = await findUnderWay(tx, measured);
    const before = await findAgreed(tx, measured.day);
    const { difference, range } = judgeRange(before, rangeOf(measured, underWay));
    const agreed = compareMoney(difference, '0') === 0;
    const isNews = await keep(tx, measured, { underWay, before, difference, range, agreed });
    if (!agreed && isNews) {
      await recordAction(tx, byPlatform, ['CLEARING_DIFFERENCE', 'HIGH'], ['clearing_comparison', measured.day], {
        difference,
        provider_balance: measured.providerBalance,
        clearing_balance: measured.clearingBalance,
      });
    }
    return { day: measured.day, agreed, difference };
  });
}

/**
 * Sums money in transit when the provider was asked: bookings since our books were read, and transfers sent by then
 * that are still pending, or have since failed and been returned.
 */
async function findUnderWay(tx: EntityManager, measured: ClearingMeasurement): Promise<Moved> {
  const { booked: before, answeredAt } = measured;
  const [now] = await tx.execute<(Booked & { pending: Money })[]>(
    `with since as (select ?::timestamptz as at)
     select booked.*, pending.* from (${bookedSince}) booked,
       (select coalesce(sum(net_amount + provider_fee), 0)::numeric(20, 4) as pending from payouts p
        where status = 'pending' and exists (select from payout_attempts a where a.payout_id = p.id
          and a.sent_at <= ?::timestamptz and a.outcome is distinct from 'unsent')) pending`,
    [measured.bookedSince, clearing, answeredAt],
  );
  const { received, spent, returned, pending } = must(now, 'an aggregate has a row');
  return {
    received: subtractMoney(received, before.received),
    spent: addMoney(subtractMoney(spent, before.spent), subtractMoney(returned, before.returned), pending),
  };
}

interface AgreedRow extends OffsetRange {
  day: string;
  provider_balance: Money;
  clearing_balance: Money;
}

async function findAgreed(tx: EntityManager, day: string): Promise<AgreedRow | null> {
  const [row] = await tx.execute<AgreedRow[]>(
    `select to_char(day, 'YYYY-MM-DD') as day, provider_balance, clearing_balance, offset_low as low, offset_high as high
     from clearing_comparisons where agreed and day < ? order by day desc limit 1`,
    [day],
  );
  return row ?? null;
}

interface Judged {
  underWay: Moved;
  before: AgreedRow | null;
  difference: Money;
  range: OffsetRange;
  agreed: boolean;
}

/** Stores the day; returns whether its difference is new or has changed. */
async function keep(
  tx: EntityManager,
  { day, readAt, providerBalance, clearingBalance }: ClearingMeasurement,
  { underWay, before, difference, range, agreed }: Judged,
): Promise<boolean> {
  const [known] = await tx.execute<{ difference: Money }[]>(
    'select difference from clearing_comparisons where day = ?',
    [day],
  );
  await tx.execute(
    `insert into clearing_comparisons (day, measured_at, provider_balance, clearing_balance, agreed_day,
       provider_change, clearing_change, received_under_way, spent_under_way, offset_low, offset_high, difference, agreed)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     on conflict (day) do update set measured_at = excluded.measured_at, provider_balance = excluded.provider_balance,
       clearing_balance = excluded.clearing_balance, agreed_day = excluded.agreed_day,
       provider_change = excluded.provider_change, clearing_change = excluded.clearing_change,
       received_under_way = excluded.received_under_way, spent_under_way = excluded.spent_under_way,
       offset_low = excluded.offset_low, offset_high = excluded.offset_high, difference = excluded.difference,
       agreed = excluded.agreed, updated_at = now()`,
    [
      day,
      readAt,
      providerBalance,
      clearingBalance,
      before?.day ?? null,
      before && subtractMoney(providerBalance, before.provider_balance),
      before && subtractMoney(clearingBalance, before.clearing_balance),
      underWay.received,
      underWay.spent,
      range.low,
      range.high,
      difference,
      agreed,
    ],
  );
  return known === undefined || compareMoney(known.difference, difference) !== 0;
}
