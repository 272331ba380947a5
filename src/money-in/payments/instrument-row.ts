import type { EntityManager } from '@mikro-orm/postgresql';
import { refuse } from '../../shared/errors.ts';
import type { Money } from '../../shared/money.ts';
import type { PaymentOrderStatus } from './payment-order.ts';

/** A table whose rows have an instrument under their own id. */
export type InstrumentTable = 'payment_orders' | 'partner_payments';

export interface InstrumentRow {
  provider: string;
  partnerId: string | null;
  /** The exact amount due: IDR, scale 4. */
  total: Money;
  status: PaymentOrderStatus;
  /** The provider's ids; null while unknown. */
  requestId: string | null;
  methodId: string | null;
  askedAt: Date | null;
  /** When the payment was cancelled, otherwise the end of its lifetime. */
  deadline: Date;
  isCancelled: boolean;
}

const own = {
  payment_orders: 'null::uuid as "partnerId", (nominal + admin_fee)::numeric(20, 4)::text as total',
  partner_payments: 'partner_id as "partnerId", amount::text as total',
};

/** Throws NOT_FOUND for a row that a restored database lacks. */
export async function readInstrument(em: EntityManager, table: InstrumentTable, id: string): Promise<InstrumentRow> {
  const [row] = await em.execute<InstrumentRow[]>(
    `select ${own[table]}, provider, status, provider_payment_request_id as "requestId",
       provider_payment_method_id as "methodId", instrument_asked_at as "askedAt",
       coalesce(cancelled_at, expires_at) as deadline, cancelled_at is not null as "isCancelled"
     from ${table} where id = ?`,
    [id],
  );
  const { askedAt, deadline, ...read } = row ?? refuse('NOT_FOUND', 'The payment was not found');
  return { ...read, askedAt: askedAt && new Date(askedAt), deadline: new Date(deadline) };
}

/** All that the return page shows of a payment; anyone with the id can read it. */
export type PaidState = Pick<InstrumentRow, 'status' | 'total'>;

/** The state of an order or a partner's payment; null if neither has this id (a UUID). */
export async function findPaidState(em: EntityManager, id: string): Promise<PaidState | null> {
  const selects = Object.entries(own).map(([table, columns]) => `select ${columns}, status from ${table} where id = ?`);
  const [state] = await em.execute<PaidState[]>(selects.join(' union all '), [id, id]);
  return state ?? null;
}
