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

/** What is asked for: of a workflow, or (without a kind) from a balance. */
type Asked = Omit<OpeningPlace, 'kind'> & { kind: OpeningKind | null };

interface RequestRow {
  is_made: boolean;
  /** Whether a refusal is of this request or a later one, and whether it was for the same body. */
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
/** A refusal has no instant at which it was asked for, and does not lapse. */
const ageOf = (stamp: OpeningStamp | null) => [
  stamp?.askedAt ?? null,
  (stamp?.livesMs ?? budgets.opening.lives) / 1000,
];

/** Where the row is: `owner_id` and `key_hash`. */
const rowOf = ({ resourceId, claim }: Pick<Asked, 'resourceId' | 'claim'>): string[] =>
  claim ? placeOf(claim) : [resourceId, ''];

/** Says in the row for what it was decided; its parameters. */
const ofThis = `fingerprint = ?, resource_id = ?, kind = ?, decided_at = clock_timestamp()
  where owner_id = ? and key_hash = ?`;
const thisOf = (asked: Asked) => [asked.claim?.fingerprint ?? '', asked.resourceId, asked.kind, ...rowOf(asked)];

/**
 * Blocks every other attempt at this resource, every refusal of it, and whatever else is asked for under its key, until
 * the transaction ends.
 */
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
  return must(rows[0], 'an upsert answers its row');
}

/** The resource if it exists already, read in the transaction that holds the row of its request. */
async function findMade<T>(tx: EntityManager, asked: Asked, { is_made }: RequestRow, find: Find<T>): Promise<T | null> {
  const existing = await find(tx);
  // The row has been deleted since.
  if (existing !== null && !is_made) {
    const sql =
      "update requests set made = nextval('opening_numbers'), refusal = null where owner_id = ? and key_hash = ?";
    await tx.execute(sql, rowOf(asked));
  }
  return existing;
}

/** Throws where something else was made under the key, or this request or a later one was refused. */
function refuseDecided({ claim }: Asked, { is_made, is_refused, is_this, refusal }: RequestRow): void {
  if (is_made) refuseReused(must(claim, 'what was made is there'));
  if (is_refused && !is_this) throw busy('Another request with this key came between; try again');
  if (is_refused) throw fromStored(must(refusal, 'what was refused has its refusal'));
}

/**
 * Makes a resource in the first step of its workflow, once, and so that a refusal is final: what was refused is never
 * made by this request, however long one of its attempts was held up. What `find` finds is returned as it stands.
 * `prepare` runs before the transaction. Throws what `prepare` and `make` refuse, after writing it down; the same refusal
 * again to every attempt of this request and of earlier ones; and SERVICE_UNAVAILABLE, with nothing done, for a request
 * that is older than it may live.
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
      // What cannot be made at all, as its key was lost, ends so.
      if (row.has_lapsed) refuseLapsed();
      const made = await make(tx, prepared);
      await tx.flush();
      const decided = await tx.execute<unknown[]>(
        `update requests set made = ?::bigint, refusal = null, ${ofThis} and not ${hasLapsed} returning 1`,
        [stamp.number, ...thisOf(opening), ...ageOf(stamp)],
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
 * Refuses a resource for good: no earlier request, not even a running one, will create it. If one already has, its
 * resource is returned instead. `number` is the refused request's, or null when it was refused before it had one.
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
    // Where the key stands for something else, nothing is made by this request anyway.
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

/** Greater than every number: no refusal applies yet to a request without one. */
const noNumber = String(2n ** 63n - 1n);

/**
 * Whether the error tells the caller that nothing has happened and nothing will: a 4xx, which is written down first.
 */
export const isVerdict = (error: unknown): error is DomainError =>
  isDomainError(error) && errorStatuses[error.code] >= 400 && errorStatuses[error.code] < 500;

const refuseLapsed = (): never =>
  refuse('SERVICE_UNAVAILABLE', 'The request is too old to start; try again', { retryAfterSeconds: 1 });

/** A refusal as it is written down, with its first complaints: a batch may have thousands. */
export const toStored = ({ code, complaint, field, messages, details }: DomainError): StoredRefusal => ({
  code,
  complaint,
  ...(field !== undefined && { field }),
  ...(messages && { messages: messages.slice(0, mostComplaints) }),
  details: Array.isArray(details) ? details.slice(0, mostComplaints) : (details ?? null),
});

/** A complaint names unknown fields as they were sent; the database stores neither NUL nor half of a character. */
const storable = (_: string, value: unknown): unknown =>
  typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\u{FFFD}') : value;

/** A stored refusal as the error it was. */
export const fromStored = ({ code, complaint, ...options }: StoredRefusal): DomainError =>
  new DomainError(code, complaint, options);

export interface Creation<Found, Prepared> {
  /** The created resource, as it is in the database now. */
  find(em: EntityManager): Promise<Found | null>;
  /** Throws whatever can be refused before the workflow starts. */
  prepare(): Promise<Prepared>;
  /** Starts the workflow or joins the running one, and waits for its first step: null in vain. Throws that step's refusal. */
  start(prepared: Prepared & { stamp: OpeningStamp }): Promise<NonNullable<unknown> | null>;
}

type Opening = OpeningPlace & { stamp: OpeningStamp; unavailable: string };

/** A request without a key lives no longer than it waits: nobody joins what it has begun. */
const isKeyed = ({ stamp }: Opening): boolean => stamp.livesMs === undefined;

/** One step of such a run is shorter than all looks together. */
const mostLooks = 15;
const lookEveryMs = 200;

/**
 * Creates a resource that a workflow owns. A refusal is final here too: an earlier request under the same key, or the
 * workflow that reported the refusal, may still be running. So a refusal is written down before it is returned, and a
 * resource that was made meanwhile is returned instead. Without a key no other request can have this id: nothing is written
 * until the workflow has started. `stamp` is taken when the request arrives, before it waits for anything. Throws what
 * the steps refuse, and SERVICE_UNAVAILABLE with `unavailable` when nothing was made in time: a retry under the same key
 * joins what may still begin, and without a key, where a retry is another request, nothing begins any more. If the
 * database cannot be asked after the workflow has answered, the resource may have been made: only a key makes it safe to
 * repeat that, and without one the refusal names the resource and is not to be repeated.
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
  try {
    return await begin(em, opening, creation, prepared);
  } catch (cause) {
    if (isKeyed(opening) || isDomainError(cause) || !isAway(cause)) throw cause;
    const unknown = `It is not known whether this was made. If it was, its id is ${opening.resourceId}`;
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
      // It came through Temporal, which anyone with access can write to: record it first, or return the recorded one.
      return refuseOnce(em, { ...opening, number: stamp.number }, find, error);
    }
    const found = await find(em.fork());
    if (found !== null) return found;
    // A run that answers without a row began before the database was restored. The question wakes it, it finds its row
    // gone, and ends: the next one begins anew.
    if (answer === null || looks === mostLooks) break;
    await delay(lookEveryMs);
  }
  const unavailable = new DomainError('SERVICE_UNAVAILABLE', opening.unavailable, { retryAfterSeconds: 2 });
  if (isKeyed(opening)) throw unavailable;
  return refuseOnce(em, { ...opening, number: stamp.number }, find, unavailable);
}
