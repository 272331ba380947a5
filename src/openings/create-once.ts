import type { EntityManager } from '@mikro-orm/postgresql';
import { refuse } from '../shared/errors.ts';
import { findRefusal, isVerdict, refuseOnce } from './open-once.ts';
import type { OpeningPlace, OpeningStamp } from './opening.ts';

export interface Creation<Found, Prepared> {
  /** What was made, as the database has it now. */
  find(em: EntityManager): Promise<Found | null>;
  /** Refuses what can be refused before the workflow starts; stamps the request. */
  prepare(): Promise<Prepared & { stamp: OpeningStamp }>;
  /** Starts the workflow or joins the one that runs, and waits for its first step. Refuses what that refuses. */
  start(prepared: Prepared): Promise<unknown>;
}

/**
 * Creates what a workflow looks after, as a request asks. A refusal is a promise here too: an earlier request under the
 * same key may still be under way, and so may this one whose workflow says that it was refused: it is written down before
 * it is told, and a resource that was made meanwhile is told instead. `isKeyed` is false where no other request can have
 * this id: then there is nothing to write until the workflow is started.
 * Refuses what the steps refuse, and with SERVICE_UNAVAILABLE and `unavailable` when nothing was made in time.
 */
export async function createOnce<Found, Prepared>(
  em: EntityManager,
  opening: OpeningPlace & { isKeyed: boolean; unavailable: string },
  { find, prepare, start }: Creation<Found, Prepared>,
): Promise<Found> {
  let prepared: Prepared & { stamp: OpeningStamp };
  try {
    prepared = await prepare();
  } catch (error) {
    if (!opening.isKeyed || !isVerdict(error)) throw error;
    return refuseOnce(em, { ...opening, number: null }, find, error);
  }
  try {
    await start(prepared);
  } catch (error) {
    if (!isVerdict(error)) throw error;
    // It came through Temporal, where anybody may say it: it is told once it is written down, or what was written before.
    return refuseOnce(em, { ...opening, number: prepared.stamp.number }, find, error);
  }
  const found = await find(em.fork());
  if (found !== null) return found;
  const refusal = await findRefusal(em, { ...opening, number: prepared.stamp.number });
  throw refusal ?? unavailable(opening.unavailable);
}

const unavailable = (message: string): never => refuse('SERVICE_UNAVAILABLE', message, { retryAfterSeconds: 2 });
