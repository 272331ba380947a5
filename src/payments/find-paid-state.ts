import type { EntityManager } from '@mikro-orm/postgresql';
import type { Money } from '../shared/money.ts';
import type { PaymentOrderStatus } from './payment-order.ts';

/** All that a payer who came back may see of a payment, for whoever has its id sees it. */
export interface PaidState {
  status: PaymentOrderStatus;
  /** What the payer pays: IDR, scale 4. */
  amount: Money;
}

/** How an order, or a partner's payment, stands; null when there is neither of this id (a UUID). */
export async function findPaidState(em: EntityManager, id: string): Promise<PaidState | null> {
  const [state] = await em.execute<PaidState[]>(
    `select status, (nominal + admin_fee)::numeric(20, 4)::text as amount from payment_orders where id = ?
     union all
     select status, amount::text from partner_payments where id = ?`,
    [id, id],
  );
  return state ?? null;
}
