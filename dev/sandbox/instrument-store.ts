import type { SandboxInstrument, SandboxPayment } from './instrument.ts';
import type { Row, Store } from './store.ts';

function instrumentIn(row: Row | undefined): SandboxInstrument | null {
  if (!row) return null;
  const instrument: SandboxInstrument = JSON.parse(String(row.document));
  return instrument;
}

const instrumentsIn = (rows: Row[]): SandboxInstrument[] => rows.map(instrumentIn).filter((found) => found !== null);

/** Stores a new instrument. Its payment code is unique among all ever issued. */
export function insertInstrument(store: Store, instrument: SandboxInstrument): void {
  store.run(
    `insert into instruments
       (request_id, method_id, reference_id, method_reference_id, payment_code, expires_at, document)
     values (?, ?, ?, ?, ?, ?, ?)`,
    instrument.requestId,
    instrument.methodId,
    instrument.referenceId,
    instrument.methodReferenceId,
    instrument.paymentCode,
    Date.parse(instrument.expiresAt),
    JSON.stringify(instrument),
  );
}

/** Stores a changed instrument; a final one no longer waits for its expiry. */
export function updateInstrument(store: Store, instrument: SandboxInstrument, open: boolean): void {
  store.run(
    'update instruments set document = ?, expires_at = ? where request_id = ?',
    JSON.stringify(instrument),
    open ? Date.parse(instrument.expiresAt) : null,
    instrument.requestId,
  );
}

/** Finds an instrument by its payment code, by either of the provider's ids, or by its reference: OVO shows no code. */
export function findInstrumentByCode(store: Store, code: string): SandboxInstrument | null {
  return instrumentIn(
    store.get(
      'select document from instruments where payment_code = ?1 or request_id = ?1 or method_id = ?1 or reference_id = ?1 limit 1',
      code,
    ),
  );
}

export function findInstrumentByRequest(store: Store, requestId: string): SandboxInstrument | null {
  return instrumentIn(store.get('select document from instruments where request_id = ?', requestId));
}

export function findInstrumentByMethod(store: Store, methodId: string): SandboxInstrument | null {
  return instrumentIn(store.get('select document from instruments where method_id = ?', methodId));
}

export function isPaymentCodeTaken(store: Store, code: string): boolean {
  return store.get('select 1 as taken from instruments where payment_code = ?', code) !== undefined;
}

/** The instruments whose expiry has passed. */
export function findDueInstruments(store: Store, now: number, limit: number): SandboxInstrument[] {
  return instrumentsIn(
    store.all('select document from instruments where expires_at <= ? order by expires_at limit ?', now, limit),
  );
}

/** The instruments that still wait for their expiry. */
export const findOpenInstruments = (store: Store): SandboxInstrument[] =>
  instrumentsIn(store.all('select document from instruments where expires_at is not null'));

export function nextExpiry(store: Store): number | null {
  const row = store.get('select min(expires_at) as expires_at from instruments where expires_at is not null');
  return row?.expires_at == null ? null : Number(row.expires_at);
}

export interface InstrumentFilter {
  ids?: string[];
  references?: string[];
  afterId?: string | undefined;
  limit: number;
}

/** Newest first, with one row more than `limit`, so that the caller sees whether more rows follow. */
export function listInstruments(
  store: Store,
  by: 'request' | 'method',
  { ids = [], references = [], afterId, limit }: InstrumentFilter,
): SandboxInstrument[] {
  const idColumn = by === 'request' ? 'request_id' : 'method_id';
  const referenceColumn = by === 'request' ? 'reference_id' : 'method_reference_id';
  const marks = (values: string[]) => values.map(() => '?').join(', ');
  const conditions = [
    ...(by === 'request' ? ["document ->> 'isReusable' is null"] : []),
    ...(ids.length > 0 ? [`${idColumn} in (${marks(ids)})`] : []),
    ...(references.length > 0 ? [`${referenceColumn} in (${marks(references)})`] : []),
    ...(afterId === undefined ? [] : [`seq < (select seq from instruments where ${idColumn} = ?)`]),
  ];
  const where = conditions.length > 0 ? `where ${conditions.join(' and ')}` : '';
  return instrumentsIn(
    store.all(
      `select document from instruments ${where} order by seq desc limit ?`,
      ...ids,
      ...references,
      ...(afterId === undefined ? [] : [afterId]),
      limit + 1,
    ),
  );
}

/** The instruments shown on the page, newest first, and their total: open or closed ones. */
export function listInstrumentsForPage(store: Store, which: 'open' | 'ended', limit: number) {
  const where = `where expires_at is ${which === 'open' ? 'not ' : ''}null`;
  return {
    rows: instrumentsIn(store.all(`select document from instruments ${where} order by seq desc limit ?`, limit)),
    total: Number(store.get(`select count(*) as total from instruments ${where}`)?.total),
  };
}

export function insertPayment(store: Store, methodId: string, payment: SandboxPayment): void {
  store.run(
    'insert into payments (id, method_id, created, document) values (?, ?, ?, ?)',
    payment.id,
    methodId,
    Date.parse(payment.created),
    JSON.stringify(payment),
  );
}

export function updatePayment(store: Store, payment: SandboxPayment): void {
  store.run('update payments set document = ? where id = ?', JSON.stringify(payment), payment.id);
}

/** A payment by its own id, with its instrument. */
export function findPayment(
  store: Store,
  id: string,
): { instrument: SandboxInstrument; payment: SandboxPayment } | null {
  const row = store.get('select method_id, document from payments where id = ?', id);
  const instrument = row && findInstrumentByMethod(store, String(row.method_id));
  if (!row || !instrument) return null;
  const payment: SandboxPayment = JSON.parse(String(row.document));
  return { instrument, payment };
}

export interface PaymentFilter {
  createdGte?: number | undefined;
  createdLte?: number | undefined;
  limit: number;
}

/** Newest first, with one row more than `limit`. */
export function listPayments(store: Store, methodId: string, filter: PaymentFilter): SandboxPayment[] {
  return store
    .all(
      `select document from payments where method_id = ? and created between ? and ?
       order by created desc, seq desc limit ?`,
      methodId,
      filter.createdGte ?? 0,
      filter.createdLte ?? Number.MAX_SAFE_INTEGER,
      filter.limit + 1,
    )
    .map((row) => {
      const payment: SandboxPayment = JSON.parse(String(row.document));
      return payment;
    });
}
