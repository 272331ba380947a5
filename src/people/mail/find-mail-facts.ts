import type { EntityManager } from '@mikro-orm/postgresql';
import { rupiah } from '../../shared/money.ts';
import type { Locale } from '../../shared/user.ts';
import type { MailFacts, MailKind } from './mail.ts';

export interface MailSubject {
  user_id: string;
  kind: MailKind;
  resource_id: string | null;
  turn_number: number | null;
  locale: Locale;
}

/** One query per kind, with the columns of its template as text; `shown` formats money and instants. */
const donation = `select d.id::text as reference, d.amount::text as amount, c.name as cause, d.updated_at as at
  from donations d left join charitable_causes c on c.id = d.cause_id
  where d.id = ? and d.status = 'completed'`;
const round = `select c.name as circle, c.amount::text as amount, r.amount::text as pot, r.due_at, r.paid_at as at,
    r.turn_number::text as turn
  from saving_circles c join saving_circle_rounds r on r.saving_circle_id = c.id where c.id = ? and r.turn_number = ?`;
/** Finds a row only while the contribution is missing: the e-mail may be sent days after the report. */
const missing = `${round} and c.status = 'active' and r.paid_at is null and exists (select from saving_circle_members m
    where m.saving_circle_id = c.id and m.user_id = ? and not exists (select from saving_circle_contributions k
      where k.member_id = m.id and k.turn_number = r.turn_number and k.status = 'completed'))`;

const queries: Partial<Record<MailKind, string>> = {
  donation,
  subscription_period: donation,
  allocation: donation,
  contribution: `select k.id::text as reference, k.amount::text as amount, nullif(k.guarantee_amount, 0)::text as guarantee,
      c.name as circle, k.turn_number::text as turn, k.updated_at as at
    from saving_circle_contributions k join saving_circles c on c.id = k.saving_circle_id
    where k.id = ? and k.status = 'completed'`,
  withdrawal: `select p.reference, p.net_amount::text as amount, nullif(p.fee, 0)::text as fee, p.bank_code as bank,
      p.succeeded_at as at
    from payouts p where p.id = ? and p.status = 'succeeded'`,
  top_up: `select o.id::text as reference, o.nominal::text as amount, nullif(o.admin_fee, 0)::text as fee,
      c.name as channel, o.finalized_at as at
    from payment_orders o join payment_channels c on c.id = o.payment_id where o.id = ?`,
  disbursement: `select c.name as cause, p.net_amount::text as amount, w.purpose_note as purpose, p.succeeded_at as at
    from withdrawals w join payouts p on p.id = w.id join charitable_causes c on c.id = w.cause_id
    where w.id = ? and p.status = 'succeeded'`,
  year_statement: `select a.year::text, count(*) filter (where d.status = 'completed')::text as count,
      sum(d.amount) filter (where d.status = 'completed')::text as amount,
      sum(d.amount) filter (where d.status = 'refunded')::text as refunded
    from (values (?::uuid, ?::integer)) a (user_id, year)
    join donations d on d.user_id = a.user_id join transactions t on t.id = d.transaction_id
    where extract(year from t.created_at at time zone 'Asia/Jakarta') = a.year
    group by a.year having bool_or(d.status = 'completed')`,
  cause_approved: "select name as cause, approved_at as at from charitable_causes where id = ? and status = 'active'",
  cause_stopped:
    'select name as cause from charitable_causes where id = ? and ?::integer > 0 and stopped_from is not null',
  circle_invitation: `select c.name as circle, c.amount::text as amount, c.starts_at as at from saving_circles c
    where c.id = ? and c.status = 'new' and c.deleted_at is null`,
  circle_due: missing,
  circle_overdue: missing,
  circle_default: round,
  circle_pot: round,
};

/** Columns that are formatted, by name. */
const shown: Record<string, (value: string, locale: Locale) => string> = {
  amount: rupiah,
  pot: rupiah,
  guarantee: rupiah,
  fee: rupiah,
  refunded: rupiah,
  at: (value, locale) => shownAt(new Date(value), locale),
  due_at: (value, locale) => shownAt(new Date(value), locale),
};

/** Reads the values of a receipt or reminder when it is sent. Returns null if they no longer hold. */
export async function findMailFacts(
  em: EntityManager,
  { kind, user_id, resource_id: id, turn_number: turn, locale }: MailSubject,
): Promise<MailFacts | null> {
  const query = queries[kind];
  if (query === undefined || id === null) return {};
  const about = turn === null ? [id] : [id, turn];
  const params = query === missing ? [...about, user_id] : about;
  const [row] = await em.execute<Record<string, string | null>[]>(query, params);
  return row === undefined ? null : factsOf(row, locale);
}

function factsOf(row: Record<string, string | null>, locale: Locale): MailFacts {
  const facts: MailFacts = {};
  for (const [name, value] of Object.entries(row)) {
    if (value !== null) facts[name] = shown[name]?.(value, locale) ?? value;
  }
  return facts;
}

const clock = { dateStyle: 'long', timeStyle: 'short', timeZone: 'Asia/Jakarta' } as const;
const clocks: Record<Locale, Intl.DateTimeFormat> = {
  id: new Intl.DateTimeFormat('id-ID', clock),
  en: new Intl.DateTimeFormat('en-GB', clock),
};

/** Formats an instant in Western Indonesia Time. */
export const shownAt = (instant: Date, locale: Locale): string => `${clocks[locale].format(instant)} WIB`;
