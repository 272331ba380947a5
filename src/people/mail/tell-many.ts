import type { EntityManager } from '@mikro-orm/postgresql';
import { westernIndonesiaDay } from '../../shared/clock.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { tell } from './tell.ts';

interface Round {
  kind: 'disbursement' | 'year_statement';
  subject: string;
  told_upto: string;
}

/** Maximum people per batch. */
const batch = 1_000;

/**
 * Queries for the next people of a round, by id, and whether each receives the message, given the subject and the last
 * id.
 */
const next: Record<Round['kind'], string> = {
  // Organizers write the text and may disburse in any number of parts.
  disbursement: `select donor.id, not exists (select from mails m join withdrawals o on o.id = m.resource_id
      where m.user_id = donor.id and m.kind = 'disbursement' and o.cause_id = donor.cause_id
        and m.created_at > clock_timestamp() - interval '1 day') as concerned
    from (select distinct d.user_id as id, w.cause_id
      from (values (?::uuid, ?::uuid)) round (subject, told_upto)
      join withdrawals w on w.id = round.subject join payouts p on p.id = w.id
      join donations d on d.cause_id = w.cause_id and d.user_id > round.told_upto
      where d.status = 'completed' and d.updated_at <= p.succeeded_at
      order by 1 limit ${batch}) donor
    order by 1`,
  year_statement: `select u.id, exists (select from donations d join transactions t on t.id = d.transaction_id
      where d.user_id = u.id and d.status = 'completed'
        and extract(year from t.created_at at time zone 'Asia/Jakarta') = round.subject
      -- Looks up the donations of each person, however many others have donated.
      offset 0) as concerned
    from (values (?::integer, ?::uuid)) round (subject, told_upto)
    cross join lateral (select id from users where id > round.told_upto order by id limit ${batch}) u
    order by u.id`,
};

/**
 * Records the next batch of messages of an open round: about a disbursement, to the donors of its cause who had no such
 * message in the last day, or the year's statement, whose round opens in January. One transaction records a batch and
 * its position, so a crash neither skips anybody nor e-mails anybody twice. Workers share the rounds. Returns whether a
 * round was open.
 */
export async function tellManyMore(em: EntityManager, at?: Date): Promise<boolean> {
  // Every worker runs this every second, so it takes one statement while there is nothing to do.
  const [look] = await em.execute<[{ now: Date | string; has_open: boolean }]>(
    'select clock_timestamp() as now, exists (select from mail_rounds where ended_at is null) as has_open',
  );
  const [year = '', month] = westernIndonesiaDay(at ?? new Date(look.now)).split('-');
  const opened =
    month === '01'
      ? await em.execute<unknown[]>(
          "insert into mail_rounds (kind, subject) values ('year_statement', ?) on conflict do nothing returning 1",
          [String(Number(year) - 1)],
        )
      : [];
  if (!look.has_open && opened.length === 0) return false;
  return em.transactional(async (tx) => {
    // Pick one at random, so that a failing round does not hold up the others.
    const [round] = await tx.execute<Round[]>(
      `select kind, subject, told_upto from mail_rounds where ended_at is null order by random() limit 1
         for update skip locked`,
    );
    if (round === undefined) return false;
    const { kind, subject, told_upto } = round;
    const people = await tx.execute<{ id: string; concerned: boolean }[]>(next[kind], [subject, told_upto]);
    const userIds = people.filter(({ concerned }) => concerned).map(({ id }) => id);
    const of =
      kind === 'disbursement'
        ? { resourceId: subject, turnNumber: null }
        : { resourceId: null, turnNumber: Number(subject) };
    await tell(tx, { kind, ...of, userIds });
    await failpoint('tell-many.told');
    await tx.execute(
      `update mail_rounds set told_upto = ?, told_at = clock_timestamp(),
         ended_at = case when ? then clock_timestamp() end where kind = ? and subject = ?`,
      [people.at(-1)?.id ?? told_upto, people.length < batch, kind, subject],
    );
    return true;
  });
}
