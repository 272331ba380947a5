import { createHash } from 'node:crypto';
import { systemAccounts } from '../../src/ledger/accounts/account.ts';

/** The users and resources of a grown database; their ids derive from its size and the instant at which the year ends. */
export interface GrownYear {
  /** Payments, donations, payouts and contributions in the year. */
  rows: number;
  /** The last instant, ISO 8601. */
  end: string;
}

const kindDigest = (kind: string): string => createHash('md5').update(kind).digest('hex').slice(0, 4);

/** The instant of operation `n`, as SQL: the last is at the year's end, the first a year before. */
export const at = (number = 'n'): string =>
  `(timestamptz ':end' - (:rows - (${number})) * (interval '365 days' / :rows))`;

/**
 * The id of a kind's row with this number, as SQL. Like a version 7 UUID it begins with the row's instant, so that
 * indexes grow as in production.
 */
export const id = (kind: string, number = 'n'): string => {
  const digest = kindDigest(kind);
  return `(lpad(to_hex((extract(epoch from ${at(number)}) * 1000)::bigint), 12, '0') || '7${digest.slice(0, 3)}8'
    || lpad(to_hex((${number})::bigint), 15, '0'))::uuid`;
};

/**
 * Every ten operations are three payments to a partner, three donations, two top-ups, a payout and a contribution to a
 * circle.
 */
export const turn = '((n - 1) / 10)';
export const place = '((n - 1) % 10)';
export const isPayment = `${place} < 3`;
export const isDonation = `${place} in (3, 4, 5)`;
export const isOrder = `${place} in (6, 7)`;
export const isPayout = `${place} = 8`;
/** All but the last forty operations are complete. */
export const isEnded = 'n <= :rows - 40';
/** Partners' latest payments are not released yet. */
export const isReleased = 'n <= :rows - 400';

export const users = ({ rows }: GrownYear) => Math.max(20, Math.floor(rows / 100));
export const partners = ({ rows }: GrownYear) => 10 + Math.floor(rows / 5000);
export const causes = ({ rows }: GrownYear) => Math.max(5, Math.floor(rows / 200));
export const products = ({ rows }: GrownYear) => Math.max(2, Math.floor(rows / 500));
/** Circles of two members and two turns, with four contributions each. */
export const circles = ({ rows }: GrownYear) => Math.floor(rows / 40);

/**
 * One operation in fifty belongs to the user with the long history. Four in ten are partners'; five in six of these, a
 * third of all, belong to the big partner.
 */
const userNumber = `case when ${turn} % 50 = 0 then 1 else 2 + ${turn} % (:users - 1) end`;
const partnerNumber = `case when ${turn} % 6 <> 5 then 1 else 2 + ${turn} % (:partners - 1) end`;
const causeNumber = `case when ${turn} % 5 = 0 then 1 else 1 + ${turn} % :causes end`;
/** One cause in five belongs to the user with the long history, the others to organizations. */
export const isPersonal = (number: string) => `(${number}) % 5 = 2`;
export const isForPerson = isPersonal(causeNumber);
export const organizationOfCause = (number: string) => id('organization', `1 + (${number}) % :partners`);
export const user = id('user', userNumber);
export const account = id('account', userNumber);
export const partner = id('partner', partnerNumber);
export const partnerAccount = (kind: 'available' | 'pending' | 'reserved') => id(kind, partnerNumber);
export const endpoint = id('endpoint', partnerNumber);
export const approver = id('approver', partnerNumber);
export const cause = id('cause', causeNumber);
export const causeAccount = id('cause account', causeNumber);
export const causeOrganization = organizationOfCause(causeNumber);

/** The circle, turn and member of contribution `m`, from 0. */
export const contribution = turn;
export const circleNumber = `(1 + ${turn} / 4)`;
export const circleTurn = `(1 + ${turn} % 4 / 2)`;
export const memberNumber = `(2 * (${turn} / 4) + ${turn} % 2)`;
/** One circle in twenty is at its second turn, which is still unpaid. */
const isOpenCircle = (circle: string) => `(${circle} % 20 = 0 or ${circle} > :circles - 2)`;
export const isContribution = `${place} = 9 and not (${circleTurn} = 2 and ${isOpenCircle(circleNumber)})
  and ${circleNumber} <= :circles`;
export const isPot = `${isContribution} and ${turn} % 2 = 1`;
export const openCircle = isOpenCircle;
/** The user with the long history is in one circle in fifty, and in half of the open ones. */
const memberUserNumber = (member: string) =>
  `case when (${member}) % 100 = 0 or (${member}) % 80 = 38 then 1 else 2 + (${member}) % (:users - 1) end`;
export const memberUser = (member: string) => id('user', memberUserNumber(member));
export const memberAccount = (member: string) => id('account', memberUserNumber(member));

export const clearing = `'${systemAccounts.gatewayClearing}'::uuid`;
export const revenue = `'${systemAccounts.feeRevenue}'::uuid`;

/** Every fiftieth operation adds the rarer rows; a tenth of those belong to the user with the long history. */
export const rare = 50;
/** The number of the rare operation, from 1. */
export const rareNumber = `(n / ${rare})`;
const rareUserNumber = `case when ${rareNumber} % 10 = 1 then 1 else 2 + ${turn} % (:users - 1) end`;
export const rareUser = id('user', rareUserNumber);
export const rareAccount = id('account', rareUserNumber);
export const reservedOf = (what: 'account' | 'cause account', number: string) => id(`reserved of ${what}`, number);
export const rareReserved = reservedOf('account', rareUserNumber);
export const rareBankAccount = id('bank account', rareUserNumber);
/** The operators who propose and approve. */
export const operator = (number: 1 | 2 | 3) => id('operator', String(number));

/** SQL with the size and end instant of a year filled in. */
export function ofYear(year: GrownYear, sql: string): string {
  const values: Record<string, string | number> = {
    rows: year.rows,
    end: year.end,
    users: users(year),
    partners: partners(year),
    causes: causes(year),
    products: products(year),
    circles: circles(year),
  };
  return sql.replaceAll(/(?<!:):(rows|end|users|partners|causes|products|circles)\b/g, (_, name: string) =>
    String(values[name]),
  );
}
