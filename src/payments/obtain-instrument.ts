import type { EntityManager } from '@mikro-orm/postgresql';
import {
  type Gateway,
  type InstrumentOutcome,
  type InstrumentRequest,
  isNeverSent,
  ProviderUnknown,
} from '../gateway/gateway.ts';
import { failpoint } from '../shared/failpoint.ts';

/**
 * The provider may list what it made a while after it made it: that it knows nothing under a reference proves something
 * only so long after the last attempt that it may have received.
 */
const listingGraceSeconds = 120;

/** Whether what was last asked for `at`, if ever, may yet appear at the provider; `now` is by the database's clock. */
export const mayYetAppear = (at: Date | null | undefined, now: Date): boolean =>
  at instanceof Date && now.getTime() - at.getTime() < listingGraceSeconds * 1000;

/** A row that has an instrument under its own id. */
export type InstrumentTable = 'payment_orders' | 'partner_payments';

export interface InstrumentSearch {
  table: InstrumentTable;
  request: InstrumentRequest;
  signal: AbortSignal;
  /** The failpoint between the provider's answer and what is made of it. */
  after: string;
}

/**
 * Asks the provider for an instrument under the row's own id, whatever the attempt. A refusal answers only for the
 * attempt that it refuses: when an earlier one may have been received, what that one made is asked for by reference, also
 * when this one has no answer (it may ask otherwise, after a change of configuration, and then never gets one), and the
 * refusal is believed when the provider still knows nothing two minutes after that attempt. Throws ProviderUnknown
 * while nobody can tell; asking again joins the first request at the provider.
 */
export async function obtainInstrument(
  em: EntityManager,
  gateway: Gateway,
  { table, request, signal, after }: InstrumentSearch,
): Promise<InstrumentOutcome> {
  const { reference } = request;
  const earlier = await noteAttempt(em, table, reference);
  const answer = await gateway.requestInstrument(request, { signal }).catch(async (error: unknown) => {
    if (isNeverSent(error)) await forgetAttempt(em, table, reference, earlier);
    if (isNeverSent(error) || earlier.at === null) throw error;
    // The provider may answer for good only that it was asked otherwise before: then that is what it made.
    const made = await gateway.findInstrument(reference, { signal });
    if (made === null) throw error;
    return { outcome: 'accepted' as const, instrument: made.instrument };
  });
  await failpoint(after);
  if (answer.outcome === 'accepted') return answer;
  const made = await gateway.findInstrument(reference, { signal });
  if (made !== null) return { outcome: 'accepted', instrument: made.instrument };
  await forgetAttempt(em, table, reference, earlier);
  if (earlier.at !== null && earlier.age < listingGraceSeconds) {
    throw new ProviderUnknown('request instrument: refused, and what an earlier attempt made may yet appear');
  }
  return answer;
}

/** The last attempt before this one that the provider may have received; `at` is null when there was none. */
interface Attempt {
  /** When this attempt was written down: a twin's later one is not taken back with it. */
  mine: string;
  at: string | null;
  /** Seconds, by the database's clock. */
  age: number;
}

/**
 * Writes down, before anything is sent, that the provider may receive an attempt; answers the one before it. Throws
 * ProviderUnknown, and nothing may be sent, for what was cancelled.
 */
async function noteAttempt(em: EntityManager, table: InstrumentTable, id: string): Promise<Attempt> {
  const [earlier] = await em.execute<Attempt[]>(
    `update ${table} set instrument_asked_at = now() where id = ? and cancelled_at is null
     returning new.instrument_asked_at::text as mine, old.instrument_asked_at::text as at,
       coalesce(extract(epoch from now() - old.instrument_asked_at), 0)::float as age`,
    [id],
  );
  if (earlier === undefined) throw new ProviderUnknown('request instrument: cancelled before it was asked for');
  return earlier;
}

/** An attempt that was refused, or that never left, is none that may have been received. */
async function forgetAttempt(em: EntityManager, table: InstrumentTable, id: string, earlier: Attempt): Promise<void> {
  await em.execute(
    `update ${table} set instrument_asked_at = ?::timestamptz where id = ? and instrument_asked_at = ?::timestamptz`,
    [earlier.at, id, earlier.mine],
  );
}
