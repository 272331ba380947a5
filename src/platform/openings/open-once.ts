import { setTimeout as delay } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../../shared/assert.ts';
import { isAway } from '../../shared/away.ts';
import { budgets, type DatabaseBudget } from '../../shared/budgets.ts';
import { busy } from '../../shared/concurrency.ts';
import {
  asRefusal,
  DomainError,
  type ErrorCode,
  errorStatuses,
  isDomainError,
  mostComplaints,
  refuse,
} from '../../shared/errors.ts';
import type { OpeningKind, OpeningPlace, OpeningStamp } from '../../shared/opening.ts';
import { withTime } from '../database/database-time-outs.ts';
import { placeOf, refuseReused } from './idempotency-keys.ts';

export interface StoredRefusal {
  code: ErrorCode;
  complaint: string;
  field?: string;
  messages?: string[];
  details: unknown;
}

/** The requested resource: created by a workflow, or (without a kind) from a balance. */
type Asked = Omit<OpeningPlace, 'kind'> & { kind: OpeningKind | null };

interface RequestRow {
  is_made: boolean;
  /** Whether a refusal is for this request or a later one, and whether it was for the same body. */
  is_refused: boolean;
  is_this: boolean;
  refusal: StoredRefusal | null;
  has_lapsed: boolean;
}

type Find<T> = (tx: EntityManager) => Promise<T | null>;

interface Making<T, Prepared> {
  find: Find<T>;
  prepare?: () => Promise<Prepared>;
  make: (tx: EntityManager, prepared: Prepared) => Promise<T>;
}

const hasLapsed = 'coalesce(clock_timestamp() - ?::timestamptz > make_interval(secs => ?), false)';
/** A refusal has no request time and does not lapse. */
const ageOf = (stamp: OpeningStamp | null) => [
  stamp?.askedAt ?? null,
  (stamp?.livesMs ?? budgets.opening.lives) / 1000,
];

/** The row's location: `owner_id` and `key_hash`. */
const rowOf = ({ resourceId, claim }: Pick<Asked, 'resourceId' | 'claim'>): string[] =>
  claim ? placeOf(claim) : [resourceId, ''];

/** SQL that records in the row which request was decided. */
const ofThis = `fingerprint = ?, resource_id = ?, kind = ?, decided_at = clock_timestamp()
  where owner_id = ? and key_hash = ?`;
const thisOf = (asked: Asked) => [asked.claim?.fingerprint ?? '', asked.resourceId, asked.kind, ...rowOf(asked)];

/** Locks the request's row until the transaction ends: no other attempt, refusal, or request with its key proceeds. */
async function lockRequest(
  tx: EntityManager,
  asked: Asked,
  number: string,
  stamp: OpeningStamp | null,
): Promise<RequestRow> {
  const [fingerprint, resourceId, kind, ...row] = thisOf(asked);
  const rows = await tx.execute<RequestRow[]>(
    `insert into requests as r (owner_id, key_hash, fingerprint, resource_id, kind) values (?, ?, ?, ?, ?)
     on conflict (owner_id, key_hash) do update set decided_at = r.decided_at
     returning made is not null as is_made, refused_upto >= ?::bigint as is_refused, fingerprint in ('', ?) as is_this,
       refusal, ${hasLapsed} as has_lapsed`,
    [...row, fingerprint, resourceId, kind, number, fingerprint, ...ageOf(stamp)],
  );
  return must(rows[0], 'an upsert returns its row');
}

/** Finds the resource if it already exists, in the transaction that locks its request's row. */
async function findMade<T>(tx: EntityManager, asked: Asked, { is_made }: RequestRow, find: Find<T>): Promise<T | null> {
  const existing = await find(tx);
  // The request's row was deleted and has been recreated.
  if (existing !== null && !is_made) {
    const sql =
      "update requests set made = nextval('opening_numbers'), refusal = null where owner_id = ? and key_hash = ?";
    await tx.execute(sql, rowOf(asked));
  }
  return existing;
}

/** Throws if something else was created under the key, or if this request or a later one was refused. */
function refuseDecided({ claim }: Asked, { is_made, is_refused, is_this, refusal }: RequestRow): void {
  if (is_made) refuseReused(must(claim, 'only a key can belong to another resource'));
  if (is_refused && !is_this) throw busy('Another request with this key interfered; try again');
  if (is_refused) throw fromStored(must(refusal, 'a refused request has its refusal'));
}

/**
 * Creates a resource in its workflow's first step, once. A refusal by `prepare`, which runs before the transaction, or
 * by `make` is recorded and final: it is thrown to every attempt of this and earlier requests, however delayed. Throws
 * SERVICE_UNAVAILABLE, with nothing done, for a request that is too old.
 */
export async function openOnce<T, Prepared = void>(
  em: EntityManager,
  opening: OpeningPlace & { stamp: OpeningStamp; budget?: DatabaseBudget },
  { find, prepare, make }: Making<T, Prepared>,
): Promise<T> {
  const { stamp, budget } = opening;
  const within = <T>(work: (tx: EntityManager) => Promise<T>) =>
    budget === undefined ? em.fork().transactional(work) : withTime(em.fork(), budget, work);
  try {
    const prepared = (await prepare?.()) as Prepared;
    return await within(async (tx) => {
      const row = await lockRequest(tx, opening, stamp.number, stamp);
      const existing = await findMade(tx, opening, row, find);
      if (existing !== null) return existing;
      refuseDecided(opening, row);
      // Requests that can never succeed, because their encryption key was lost, also end here.
      if (row.has_lapsed) refuseLapsed();
      const made = await make(tx, prepared);
      await tx.flush();
      const decided = await tx.execute<unknown[]>(
        `update requests set made = ?::bigint, refusal = null, ${ofThis} and not ${hasLapsed} returning 1`,
        [stamp.number, ...thisOf(opening), ...ageOf(stamp)],
      );
      // Waiting for locks made the request too old.
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
 * Refuses a resource permanently: no earlier request, not even a running one, will create it. If one already has, its
 * resource is returned instead. `number` is the refused request's, or null if it was refused before it got a number.
 */
export async function refuseOnce<T>(
  em: EntityManager,
  asked: Asked & { number: string | null },
  find: Find<T>,
  refusal: DomainError,
): Promise<T> {
  const existing = await em.fork().transactional(async (tx) => {
    const row = await lockRequest(tx, asked, asked.number ?? noNumber, null);
    const made = await findMade(tx, asked, row, find);
    // If the key belongs to something else, this request creates nothing anyway.
    if (made !== null || row.is_made) return made;
    if (row.is_refused && row.is_this && row.refusal !== null) throw fromStored(row.refusal);
    await tx.execute(
      `update requests set refused_upto = greatest(refused_upto, ?::bigint, nextval('opening_numbers')),
         refusal = ?::jsonb, ${ofThis}`,
      [asked.number, JSON.stringify(toStored(refusal), storable), ...thisOf(asked)],
    );
    return null;
  });
  if (existing !== null) return existing;
  throw refusal;
}

/** Greater than every number, as no earlier refusal applies to a request without a number. */
const noNumber = String(2n ** 63n - 1n);

/**
 * Whether the error promises that the request has no effect, now or later (a 4xx); it must be recorded before it is
 * returned.
 */
export const isVerdict = (error: unknown): error is DomainError =>
  isDomainError(error) && errorStatuses[error.code] >= 400 && errorStatuses[error.code] < 500;

const refuseLapsed = (): never =>
  refuse('SERVICE_UNAVAILABLE', 'The request is too old to start; try again', { retryAfterSeconds: 1 });

/** Converts a refusal to its stored form, with only its first errors, as a batch may have thousands. */
export const toStored = ({ code, complaint, field, messages, details }: DomainError): StoredRefusal => ({
  code,
  complaint,
  ...(field !== undefined && { field }),
  ...(messages && { messages: messages.slice(0, mostComplaints) }),
  details: Array.isArray(details) ? details.slice(0, mostComplaints) : (details ?? null),
});

/** Replaces NUL and lone surrogates, which the database cannot store, but an error may quote from unknown fields. */
const storable = (_: string, value: unknown): unknown =>
  typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\u{FFFD}') : value;

/** Recreates the error of a stored refusal. */
export const fromStored = ({ code, complaint, ...options }: StoredRefusal): DomainError =>
  new DomainError(code, complaint, options);

export interface Creation<Found, Prepared> {
  find(em: EntityManager): Promise<Found | null>;
  /** Throws the refusals that can be determined before the workflow starts. */
  prepare(): Promise<Prepared>;
  /** Starts or joins the workflow; waits for its first step. Throws its refusal; null on a time-out. */
  start(prepared: Prepared & { stamp: OpeningStamp }): Promise<NonNullable<unknown> | null>;
}

type Opening = OpeningPlace & { stamp: OpeningStamp; unavailable: string };

/** Whether the request has a key. Without a key it lives no longer than it waits, as nobody can join it. */
const isKeyed = ({ stamp }: Pick<Opening, 'stamp'>): boolean => stamp.livesMs === undefined;

/** All look-ups together take longer than one step of a run that answers without a row. */
const mostLooks = 15;
const lookEveryMs = 200;

/**
 * Creates a resource that a workflow owns. An earlier request under the key, or the workflow that reported a refusal,
 * may still be running, so a refusal is recorded before it is returned, and a resource created since is returned
 * instead. Without a key no other request can have this id, so nothing is written until the workflow has started.
 * `stamp` is taken on arrival. Throws the steps' refusals, and SERVICE_UNAVAILABLE with `unavailable` when nothing was
 * created in time: a retry under the key joins a workflow that may still start; without a key nothing starts any more.
 * If the database fails after the workflow has answered, the resource may exist: with a key a retry is safe; without
 * one the error names the resource and must not be retried.
 */
export async function createOnce<Found, Prepared>(
  em: EntityManager,
  opening: Opening,
  creation: Creation<Found, Prepared>,
): Promise<Found> {
  let prepared: Prepared;
  try {
    prepared = await creation.prepare();
  } catch (error) {
    if (!isKeyed(opening) || !isVerdict(error)) throw error;
    return refuseOnce(em, { ...opening, number: null }, creation.find, error);
  }
  return namingUnlessKeyed(opening, () => begin(em, opening, creation, prepared));
}

/**
 * Runs work during which the resource may be created, or already exists. If the database fails, a request without a key
 * is told the resource's id (SERVICE_UNAVAILABLE) and must not be retried.
 */
export async function namingUnlessKeyed<T>(
  opening: Pick<Opening, 'resourceId' | 'stamp'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (isKeyed(opening) || isDomainError(cause) || !isAway(cause)) throw cause;
    const unknown = `The outcome is unknown. If it was created, its id is ${opening.resourceId}`;
    throw new DomainError('SERVICE_UNAVAILABLE', unknown, { cause });
  }
}

async function begin<Found, Prepared>(
  em: EntityManager,
  opening: Opening,
  { find, start }: Creation<Found, Prepared>,
  prepared: Prepared,
): Promise<Found> {
  const { stamp } = opening;
  for (let looks = 1; ; looks += 1) {
    let answer: NonNullable<unknown> | null;
    try {
      answer = await start({ ...prepared, stamp });
    } catch (error) {
      if (!isVerdict(error)) throw error;
      // It came through Temporal, which others may write to: record it first, or return the recorded outcome.
      return refuseOnce(em, { ...opening, number: stamp.number }, find, error);
    }
    const found = await find(em.fork());
    if (found !== null) return found;
    // A run that answers without a row began before the database was restored. Calling it makes it find its row missing
    // and complete, so that the next call starts a new run.
    if (answer === null || looks === mostLooks) break;
    await delay(lookEveryMs);
  }
  const unavailable = new DomainError('SERVICE_UNAVAILABLE', opening.unavailable, { retryAfterSeconds: 2 });
  if (isKeyed(opening)) throw unavailable;
  return refuseOnce(em, { ...opening, number: stamp.number }, find, unavailable);
}
