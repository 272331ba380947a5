import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../../shared/assert.ts';
import { budgets, type DatabaseBudget } from '../../shared/budgets.ts';
import { asRefusal, DomainError, type ErrorCode, errorStatuses, isDomainError, refuse } from '../../shared/errors.ts';
import { withTime } from '../database/database-time-outs.ts';
import type { OpeningPlace, OpeningStamp } from './opening.ts';

export interface StoredRefusal {
  code: ErrorCode;
  complaint: string;
  field?: string;
  messages?: string[];
  details: unknown;
}

interface OpeningRow {
  is_made: boolean;
  /** The refusal that applies to this request, if any. */
  refusal: StoredRefusal | null;
  has_lapsed: boolean;
}

type Find<T> = (tx: EntityManager) => Promise<T | null>;

const hasLapsed = 'coalesce(clock_timestamp() - ?::timestamptz > make_interval(secs => ?), false)';
const secondsOf = (livesMs: number = budgets.opening.lives): number => livesMs / 1000;

/**
 * Blocks every other attempt at this resource, and every refusal of it, until the transaction ends. A refusal has no
 * instant at which it was asked for, and does not lapse.
 */
async function lockOpening(
  tx: EntityManager,
  { resourceId, kind }: OpeningPlace,
  { number, askedAt, livesMs }: Omit<OpeningStamp, 'askedAt'> & { askedAt: string | null },
): Promise<OpeningRow> {
  const [row] = await tx.execute<OpeningRow[]>(
    `insert into openings (resource_id, kind) values (?, ?)
     on conflict (resource_id) do update set kind = excluded.kind
     returning made is not null as is_made, case when refused_upto >= ?::bigint then refusal end as refusal,
       ${hasLapsed} as has_lapsed`,
    [resourceId, kind, number, askedAt, secondsOf(livesMs)],
  );
  return must(row, 'an upsert answers its row');
}

/** The resource if it exists already, read in the transaction that holds the opening's lock. */
async function findMade<T>(
  tx: EntityManager,
  { resourceId }: OpeningPlace,
  { is_made }: OpeningRow,
  find: Find<T>,
): Promise<T | null> {
  const existing = await find(tx);
  // Its opening has been deleted since.
  if (existing !== null && !is_made) {
    await tx.execute("update openings set made = nextval('opening_numbers') where resource_id = ?", [resourceId]);
  }
  return existing;
}

/** A transaction with the given time budget, or the usual one. */
function within<T>(em: EntityManager, budget: DatabaseBudget | undefined, work: (tx: EntityManager) => Promise<T>) {
  return budget === undefined ? em.fork().transactional(work) : withTime(em.fork(), budget, work);
}

/**
 * Makes a resource in the first step of its workflow, once, and so that a refusal is final: what was refused is never
 * made by this request, however long one of its attempts was held up. What `find` finds is returned as it stands.
 * Throws what `make` refuses, after writing it down; the same refusal again to every attempt of this request and of
 * earlier ones; and SERVICE_UNAVAILABLE, with nothing done, for a request that is older than it may live.
 */
export async function openOnce<T>(
  em: EntityManager,
  opening: OpeningPlace & { stamp: OpeningStamp; budget?: DatabaseBudget },
  { find, make }: { find: Find<T>; make: (tx: EntityManager) => Promise<T> },
): Promise<T> {
  const { stamp } = opening;
  try {
    return await within(em, opening.budget, async (tx) => {
      const row = await lockOpening(tx, opening, stamp);
      const existing = await findMade(tx, opening, row, find);
      if (existing !== null) return existing;
      if (row.refusal !== null) throw toldAgain(row.refusal);
      if (row.has_lapsed) refuseLapsed();
      const made = await make(tx);
      await tx.flush();
      const decided = await tx.execute<unknown[]>(
        `update openings set decided_at = clock_timestamp(),
           made = case when refused_upto >= ?::bigint then nextval('opening_numbers') else ?::bigint end
         where resource_id = ? and not ${hasLapsed} returning 1`,
        [stamp.number, stamp.number, opening.resourceId, stamp.askedAt, secondsOf(stamp.livesMs)],
      );
      // It waited for locks until the request had become too old.
      if (decided.length === 0) refuseLapsed();
      return made;
    });
  } catch (error) {
    const refusal = asRefusal(error);
    if (!isVerdict(refusal)) throw error;
    return refuseOnce(em, { ...opening, number: stamp.number }, find, refusal);
  }
}

/**
 * Refuses a resource for good: no request made before this moment will make it, not even a running one. If one has made
 * it meanwhile, that resource is returned instead. `number` is the refused request's, or null when it was refused
 * before it had one.
 */
export async function refuseOnce<T>(
  em: EntityManager,
  opening: OpeningPlace & { number: string | null },
  find: Find<T>,
  refusal: DomainError,
): Promise<T> {
  const existing = await em.fork().transactional(async (tx) => {
    const row = await lockOpening(tx, opening, { number: opening.number ?? noNumber, askedAt: null });
    const made = await findMade(tx, opening, row, find);
    if (made !== null) return made;
    if (row.refusal !== null) throw toldAgain(row.refusal);
    await tx.execute(
      `update openings set refused_upto = greatest(refused_upto, ?::bigint, nextval('opening_numbers')),
         refusal = ?::jsonb, decided_at = clock_timestamp() where resource_id = ?`,
      [opening.number, JSON.stringify(toStored(refusal)), opening.resourceId],
    );
    return null;
  });
  if (existing !== null) return existing;
  throw refusal;
}

/** Greater than every number: no refusal applies yet to a request without one. */
const noNumber = String(2n ** 63n - 1n);

/** The refusal that applies to the request of this number, or null. */
export async function findRefusal(
  em: EntityManager,
  { resourceId, number }: { resourceId: string; number: string },
): Promise<DomainError | null> {
  const [row] = await em.execute<{ refusal: StoredRefusal }[]>(
    'select refusal from openings where resource_id = ? and refused_upto >= ?::bigint',
    [resourceId, number],
  );
  return row === undefined ? null : fromStored(row.refusal);
}

/**
 * Whether the error tells the caller that nothing has happened and nothing will: a 4xx that is not written down yet.
 */
export const isVerdict = (error: unknown): error is DomainError =>
  isDomainError(error) && !standing.has(error) && errorStatuses[error.code] >= 400 && errorStatuses[error.code] < 500;

/** Refusals that are written down already. */
const standing = new WeakSet<DomainError>();

function toldAgain(stored: StoredRefusal): DomainError {
  const refusal = fromStored(stored);
  standing.add(refusal);
  return refusal;
}

/** A refusal as it is written down. */
export const toStored = ({ code, complaint, field, messages, details }: DomainError): StoredRefusal => ({
  code,
  complaint,
  ...(field !== undefined && { field }),
  ...(messages && { messages }),
  details: details ?? null,
});

/** A stored refusal as the error it was. */
export const fromStored = ({ code, complaint, ...options }: StoredRefusal): DomainError =>
  new DomainError(code, complaint, options);

const refuseLapsed = (): never =>
  refuse('SERVICE_UNAVAILABLE', 'The request is too old to begin; try again', { retryAfterSeconds: 1 });
