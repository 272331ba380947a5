import type { EntityManager } from '@mikro-orm/postgresql';
import { isFinalOrder, type PaymentOrderStatus } from '../payments/payment-order.ts';
import { isUuid } from '../shared/uuid.ts';
import type { WorkflowPort } from './deliver-callback.ts';

/** Something of ours whose id the provider knows as a reference. A new kind is one entry in `referenceOwners`. */
export interface ReferenceOwner {
  /** Whether it waits for what the provider says (`open`) or is done with it (`final`); null when it is none of these. */
  find(em: EntityManager, reference: string): Promise<'open' | 'final' | null>;
  /** Wakes its workflow, or starts that again from the row. */
  hint(workflows: WorkflowPort, reference: string): Promise<void>;
}

/** An instrument: a row of `table` with the states of a payment order. */
const instrumentIn = (table: 'payment_orders' | 'partner_payments'): ReferenceOwner['find'] => {
  return async (em, reference) => {
    const [row] = await em.execute<{ status: PaymentOrderStatus }[]>(`select status from ${table} where id = ?`, [
      reference,
    ]);
    if (row === undefined) return null;
    return isFinalOrder(row.status) ? 'final' : 'open';
  };
};

/** A payout, which is never done with what the provider says: success may be taken back, and anything contradicted. */
const payout: ReferenceOwner['find'] = async (em, reference) => {
  const rows = await em.execute<unknown[]>('select 1 from payouts where id = ?', [reference]);
  return rows.length > 0 ? 'open' : null;
};

/** Who may be meant by a callback's reference, asked in this order. */
export const referenceOwners: readonly ReferenceOwner[] = [
  { find: instrumentIn('payment_orders'), hint: (workflows, id) => workflows.hintGatewayPayment(id) },
  { find: instrumentIn('partner_payments'), hint: (workflows, id) => workflows.hintPartnerPayment(id) },
  { find: payout, hint: (workflows, id) => workflows.hintPartnerPayout(id) },
];

/** Who of ours waits for news under this reference; null when nobody does. */
export async function findWaiting(em: EntityManager, reference: string): Promise<ReferenceOwner | null> {
  if (!isUuid(reference)) return null;
  for (const owner of referenceOwners) {
    const state = await owner.find(em, reference);
    if (state !== null) return state === 'open' ? owner : null;
  }
  return null;
}
