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

/** The provider may list a new instrument late: absence proves something only this long after the last attempt. */
const listingGraceSeconds = 120;

/** Whether an instrument last requested at `at` may still appear at the provider; `now` is the database's time. */
export const mayYetAppear = (at: Date | null | undefined, now: Date): boolean =>
  at instanceof Date && now.getTime() - at.getTime() < listingGraceSeconds * 1000;

export interface InstrumentSearch {
  table: InstrumentTable;
  /** The attempt before this one, as returned when this one was recorded. */
  attempt: Attempt;
  request: InstrumentRequest;
  signal: AbortSignal;
  partnerId?: string;
  /** The failpoint between the provider's answer and its handling. */
  after: string;
}

/**
 * Requests an instrument from the provider under the row's own id. A refusal applies only to its own attempt, so the
 * instrument of an earlier attempt is looked up by reference. The same happens if this attempt gets no answer: after a
 * configuration change the request may differ from the earlier one and never be answered. The refusal is final if the
 * provider still has no instrument two minutes after the earlier attempt; the caller then closes the row, checking
 * `expectNoAttempt`. Throws ProviderUnknown while the outcome is unknown; a retry joins the first request at the
 * provider.
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
    // The provider may reject each retry as different from an earlier request: then the instrument of that request
    // counts.
    const made = await gateway.findInstrument(reference, options);
    if (made === null) throw error;
    return { outcome: 'accepted' as const, instrument: made.instrument };
  });
  await failpoint(after);
  if (answer.outcome === 'accepted') return answer;
  const made = await gateway.findInstrument(reference, options);
  if (made !== null) return { outcome: 'accepted', instrument: made.instrument };
  // This attempt may run concurrently with a later one if Temporal has timed out this attempt or its worker.
  if (!(await forgetAttempt(em, table, reference, earlier))) throw laterAttempt();
  if (earlier.at !== null && earlier.age < listingGraceSeconds) {
    throw new ProviderUnknown('request instrument: refused, but an earlier attempt may have created one');
  }
  return answer;
}

/** The last earlier attempt that the provider may have received; `at` is null if there was none. */
export interface Attempt {
  /** When the current attempt was recorded, so that undoing it does not undo a later one. */
  mine: string;
  at: string | null;
  /** Seconds since `at`, by the database's clock. */
  age: number;
}

/** The columns of an `Attempt`, returned by an update that sets `instrument_asked_at`. */
export const attemptNoted = `new.instrument_asked_at::text as mine, old.instrument_asked_at::text as at,
  coalesce(extract(epoch from now() - old.instrument_asked_at), 0)::float as age`;

/**
 * Records an attempt before sending; returns the previous one. Throws ProviderUnknown unless the row is open and
 * `PENDING`.
 */
export async function noteAttempt(em: EntityManager, table: InstrumentTable, id: string): Promise<Attempt> {
  const [earlier] = await em.execute<Attempt[]>(
    `update ${table} set instrument_asked_at = now() where id = ? and status = 'PENDING' and cancelled_at is null
     returning ${attemptNoted}`,
    [id],
  );
  if (earlier === undefined) throw new ProviderUnknown('request instrument: cancelled or final before the request');
  return earlier;
}

/** Undoes an attempt that was refused or never sent, so created nothing. False if a later attempt is recorded. */
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

/** Throws ProviderUnknown if an attempt was recorded after the refused attempt that closes the row, locked by `tx`. */
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
 * Expires an instrument, found by method id or reference, so that the provider's next answer is final. Throws
 * ProviderUnknown without an answer, and for a cancelled row whose instrument may still appear open.
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
    throw new ProviderUnknown('expire instrument: it may still appear');
  }
}
