import type { EntityManager } from '@mikro-orm/postgresql';
import { openProfile } from '../../people/members/profile.ts';
import { readInSnapshot } from '../../platform/database/read-in-snapshot.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { must } from '../../shared/assert.ts';
import { startOfWesternIndonesiaDay } from '../../shared/clock.ts';
import type { Money } from '../../shared/money.ts';
import type { DonationStatus, DonationType } from './donation.ts';

/** A paid donation. */
export interface DonationStatementLine {
  donation_id: string;
  /** When it was paid. */
  donated_at: string;
  type: DonationType;
  /** Null while open and unallocated. */
  cause_id: string | null;
  cause_name: string | null;
  /** IDR, scale 4. */
  amount: Money;
  /** `completed` or `refunded`. */
  status: DonationStatus;
}

/** The columns of a line, in the order of the CSV. */
export const donationStatementColumns = [
  'donation_id',
  'donated_at',
  'type',
  'cause_id',
  'cause_name',
  'amount',
  'status',
] as const;

export interface DonationStatementFacts {
  year: number;
  donor_id: string;
  donor_name: string;
  currency: 'IDR';
  /** The number of donations. */
  count: number;
  /** Total donated, the part refunded, and the difference; IDR, scale 4. */
  donated: Money;
  refunded: Money;
  total: Money;
}

/** Donations per batch; only one batch is in memory. */
const batchSize = 1000;

/** The year of the payment in UTC+7; a gateway donation may have been started in the year before. */
const ofYear = `from donations d join transactions t on t.id = d.transaction_id
  where d.user_id = ? and d.created_at < ? and t.created_at >= ? and t.created_at < ?`;

/**
 * Reads a person's donations in a year: totals, then each donation in order of payment, from one snapshot of the
 * database. Holds a connection until the generator is exhausted or returned.
 */
export function readDonationStatement(
  em: EntityManager,
  sealer: Sealer,
  { userId, year }: { userId: string; year: number },
): AsyncGenerator<DonationStatementFacts | { lines: DonationStatementLine[] }, void, undefined> {
  const [from, to] = [startOfWesternIndonesiaDay(`${year}-01-01`), startOfWesternIndonesiaDay(`${year + 1}-01-01`)];
  const of = [userId, to, from, to];
  return readInSnapshot(em, async function* (tx) {
    const [sums] = await tx.execute<
      (Pick<DonationStatementFacts, 'donated' | 'refunded' | 'total'> & {
        id: string;
        profile_sealed: string | null;
        count: string;
      })[]
    >(
      `select u.id, u.profile_sealed, s.count, s.donated::numeric(20, 4)::text,
         s.refunded::numeric(20, 4)::text, (s.donated - s.refunded)::numeric(20, 4)::text as total
       from users u, (select count(*) as count, coalesce(sum(d.amount), 0) as donated,
           coalesce(sum(d.amount) filter (where d.status = 'refunded'), 0) as refunded ${ofYear}) s
       where u.id = ?`,
      [...of, userId],
    );
    const { count, donated, refunded, total, ...donor } = must(sums, 'the query returns the donor');
    const { name } = await openProfile(sealer, donor);
    const whose = { donor_id: donor.id, donor_name: name };
    yield { year, currency: 'IDR', ...whose, count: Number(count), donated, refunded, total };
    await tx.execute(
      `declare statement_lines no scroll cursor for
       select d.id as donation_id, t.created_at as donated_at, d.type, d.cause_id, d.amount::text, d.status,
         (select c.name from charitable_causes c where c.id = d.cause_id) as cause_name
       ${ofYear} order by t.created_at, d.id`,
      of,
    );
    for (;;) {
      const rows = await tx.execute<Row[]>(`fetch ${batchSize} from statement_lines`);
      yield { lines: rows.map((row) => ({ ...row, donated_at: new Date(row.donated_at).toISOString() })) };
      if (rows.length < batchSize) break;
    }
  });
}

type Row = Omit<DonationStatementLine, 'donated_at'> & { donated_at: Date | string };
