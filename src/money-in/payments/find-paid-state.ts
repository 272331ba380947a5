import type { EntityManager } from '@mikro-orm/postgresql';
import type { Money } from '../../shared/money.ts';
import type { PaymentOrderStatus } from './payment-order.ts';

/** All that the return page shows of a payment: anybody who has its id can see it. */
export interface PaidState {
  status: PaymentOrderStatus;
  /** What the payer pays: IDR, scale 4. */
  amount: Money;
}

/** The state of an order or a partner's payment; null when neither has this id (a UUID). */
export async function findPaidState(em: EntityManager, id: string): Promise<PaidState | null> {
  const [state] = await em.execute<PaidState[]>(
    `select status, (nominal + admin_fee)::numeric(20, 4)::text as amount from payment_orders where id = ?
     union all
     select status, amount::text from partner_payments where id = ?`,
    [id, id],
  );
  return state ?? null;
}
