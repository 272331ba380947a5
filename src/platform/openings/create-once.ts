import { setTimeout as delay } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import { isAway } from '../../shared/away.ts';
import { DomainError, isDomainError } from '../../shared/errors.ts';
import type { OpeningPlace, OpeningStamp } from '../../shared/opening.ts';
import { isVerdict, refuseOnce } from './open-once.ts';

export interface Creation<Found, Prepared> {
  /** The resource that was made, as it is in the database now. */
  find(em: EntityManager): Promise<Found | null>;
  /** Throws whatever can be refused before the workflow starts. */
  prepare(): Promise<Prepared>;
  /** Starts the workflow or joins the running one, and waits for its first step: null in vain. Throws that step's refusal. */
  start(prepared: Prepared & { stamp: OpeningStamp }): Promise<NonNullable<unknown> | null>;
}

type Opening = OpeningPlace & { stamp: OpeningStamp; unavailable: string };

/** A request without a key lives no longer than it waits: nobody joins what it has begun. */
const isKeyed = ({ stamp }: Opening): boolean => stamp.livesMs === undefined;

/** One step of such a run takes less than the time of all looks. */
const mostLooks = 15;
const lookEveryMs = 200;

/**
 * Creates a resource that a workflow owns. A refusal is final here too: an earlier request under the same key, or the
 * workflow that reported the refusal, may still be running. So a refusal is written down before it is returned, and a
 * resource that was made meanwhile is returned instead. Without a key no other request can have this id: nothing is written
 * until the workflow has started. `stamp` is taken when the request arrives, before it waits for anything. Throws what the steps refuse, and SERVICE_UNAVAILABLE with `unavailable` when nothing was made in time: a
 * retry under the same key joins what may still begin, and without a key, where a retry is another request, nothing
 * begins any more. If the database cannot be asked after the workflow has answered, the resource may have been made: only
 * a key makes it safe to repeat that, and without one the refusal names the resource and is not to be repeated.
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
      // It came through Temporal, which anybody with access can write to: write it down first, or return what is written
      // already.
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
