import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import {
  type Gateway,
  type Gateways,
  type InstrumentOutcome,
  type InstrumentRequest,
  isNeverSent,
  ProviderUnknown,
} from '../../platform/gateway/gateway.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { type InstrumentTable, readInstrument } from './instrument-row.ts';

/**
 * The provider may list an instrument only some time after making it: that it knows nothing under a reference proves
 * something only this long after the last attempt it may have received.
 */
const listingGraceSeconds = 120;

/**
 * Whether an instrument last asked for at `at`, if ever, may still appear at the provider; `now` is the database's
 * clock.
 */
export const mayYetAppear = (at: Date | null | undefined, now: Date): boolean =>
  at instanceof Date && now.getTime() - at.getTime() < listingGraceSeconds * 1000;

export interface InstrumentSearch {
  table: InstrumentTable;
  /** This attempt, noted before. */
  attempt: Attempt;
  request: InstrumentRequest;
  signal: AbortSignal;
  /** The partner whose instrument it is, if it is one's. */
  partnerId?: string;
  /** The failpoint between the provider's answer and its handling. */
  after: string;
}

/**
 * Asks the provider for an instrument under the row's own id, in every attempt. A refusal only speaks for the attempt
 * it answers: when an earlier one may have been received, its instrument is looked up by reference. That also happens
 * when this attempt has no answer: after a change of configuration it may ask for something else and never get one. The
 * refusal is believed when the provider still knows nothing two minutes after the earlier attempt; the row is closed by
 * it under `expectNoAttempt`. Throws ProviderUnknown while the outcome is unknown; asking again joins the first request at
 * the provider.
 */
export async function obtainInstrument(
  em: EntityManager,
  gateway: Gateway,
  { table, attempt: earlier, request, after, ...options }: InstrumentSearch,
): Promise<InstrumentOutcome> {
  const { reference } = request;
  const answer = await gateway.requestInstrument(request, options).catch(async (error: unknown) => {
    if (isNeverSent(error)) await forgetAttempt(em, table, reference, earlier);
    if (isNeverSent(error) || earlier.at === null) throw error;
    // The provider may only ever answer that it was asked for something else before: then that is the instrument.
    const made = await gateway.findInstrument(reference, options);
    if (made === null) throw error;
    return { outcome: 'accepted' as const, instrument: made.instrument };
  });
  await failpoint(after);
  if (answer.outcome === 'accepted') return answer;
  const made = await gateway.findInstrument(reference, options);
  if (made !== null) return { outcome: 'accepted', instrument: made.instrument };
  // It runs beside a later one when Temporal has given this one up, or the worker whose workflow task it belongs to.
  if (!(await forgetAttempt(em, table, reference, earlier))) throw laterAttempt();
  if (earlier.at !== null && earlier.age < listingGraceSeconds) {
    throw new ProviderUnknown('request instrument: refused, and what an earlier attempt made may yet appear');
  }
  return answer;
}

/** The last attempt before this one that the provider may have received; `at` is null when there was none. */
export interface Attempt {
  /** When this attempt was written down, so that undoing it does not undo a later one. */
  mine: string;
  at: string | null;
  /** Seconds since then, by the database's clock. */
  age: number;
}

/** The columns of an `Attempt`, of an update that sets `instrument_asked_at`. */
export const attemptNoted = `new.instrument_asked_at::text as mine, old.instrument_asked_at::text as at,
  coalesce(extract(epoch from now() - old.instrument_asked_at), 0)::float as age`;

/**
 * Writes down, before sending, that the provider may receive an attempt; returns the previous one. Throws
 * ProviderUnknown for a row that is cancelled or has ended: nothing may be sent.
 */
export async function noteAttempt(em: EntityManager, table: InstrumentTable, id: string): Promise<Attempt> {
  const [earlier] = await em.execute<Attempt[]>(
    `update ${table} set instrument_asked_at = now() where id = ? and status = 'PENDING' and cancelled_at is null
     returning ${attemptNoted}`,
    [id],
  );
  if (earlier === undefined)
    throw new ProviderUnknown('request instrument: cancelled or ended before it was asked for');
  return earlier;
}

/**
 * Restores the previous attempt: this one was refused or never sent, so the provider has made nothing from it. False
 * when there is a later one, which stays written down.
 */
export async function forgetAttempt(
  em: EntityManager,
  table: InstrumentTable,
  id: string,
  earlier: Attempt,
): Promise<boolean> {
  const forgotten = await em.execute<unknown[]>(
    `update ${table} set instrument_asked_at = ?::timestamptz where id = ? and instrument_asked_at = ?::timestamptz
     returning 1`,
    [earlier.at, id, earlier.mine],
  );
  return forgotten.length > 0;
}

const laterAttempt = () => new ProviderUnknown('request instrument: refused, and a later attempt may be accepted');

/** Throws ProviderUnknown when an attempt is written down after the refused one, which closes its row, held by `tx`. */
export async function expectNoAttempt(
  tx: EntityManager,
  table: InstrumentTable,
  id: string,
  refused: Attempt,
): Promise<void> {
  const sql = `select from ${table} where id = ? and instrument_asked_at is not distinct from ?::timestamptz`;
  if ((await tx.execute<unknown[]>(sql, [id, refused.at])).length === 0) throw laterAttempt();
}

/**
 * Expires an instrument, by the provider's id of its payment method or, where none was stored, by its reference, so that
 * the provider's next answer is final. Throws ProviderUnknown when the provider does not answer, and for a cancelled row
 * while the provider may still list an instrument it has made, which would stay open until its own deadline.
 */
export async function expireInstrument(
  em: EntityManager,
  gateways: Gateways,
  { table, id, signal }: { table: InstrumentTable; id: string; signal: AbortSignal },
): Promise<void> {
  const row = await readInstrument(em, table, id);
  const gateway = gateways.of(row.provider);
  const options = { signal, partnerId: row.partnerId };
  const methodId = row.methodId ?? (await gateway.findInstrument(id, options))?.instrument.providerPaymentMethodId;
  if (methodId !== undefined) return gateway.expireInstrument(methodId, options);
  if (row.isCancelled && mayYetAppear(row.askedAt, await readDatabaseClock(em))) {
    throw new ProviderUnknown('expire instrument: what was asked for may yet appear');
  }
}
