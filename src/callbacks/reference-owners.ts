import type { EntityManager } from '@mikro-orm/postgresql';
import { isFinalOrder, type PaymentOrderStatus } from '../payments/payment-order.ts';
import type { Money } from '../shared/money.ts';
import { isUuid } from '../shared/uuid.ts';
import type { WorkflowPort } from './deliver-callback.ts';

/** Something of ours whose id the provider knows as a reference. A new kind is one entry in `referenceOwners`. */
export interface ReferenceOwner {
  /** Whether it waits for what the provider says (`open`) or is done with it (`final`); null when it is none of these. */
  find(em: EntityManager, reference: string): Promise<'open' | 'final' | null>;
  /** Wakes its workflow, or starts that again from the row. */
  hint(workflows: WorkflowPort, reference: string): Promise<void>;
  /** What it collects, where money may come in for it; null when it is none of these. */
  findCollection?(em: EntityManager, reference: string): Promise<Collection | null>;
}

/** Something of ours that money is collected for. */
export interface Collection {
  status: PaymentOrderStatus;
  /** IDR, scale 4: what exactly pays it. */
  total: Money;
  /** The provider's payment method under which its money comes; null while that is not known. */
  providerPaymentMethodId: string | null;
}

/** An instrument: a row of `table`, with the states of a payment order, that is paid by exactly `total`. */
function instrumentIn(table: 'payment_orders' | 'partner_payments', total: string) {
  const findCollection = async (em: EntityManager, reference: string): Promise<Collection | null> => {
    const [row] = await em.execute<Collection[]>(
      `select status, ${total} as total, provider_payment_method_id as "providerPaymentMethodId" from ${table}
       where id = ?`,
      [reference],
    );
    return row ?? null;
  };
  const find: ReferenceOwner['find'] = async (em, reference) => {
    const found = await findCollection(em, reference);
    if (found === null) return null;
    return isFinalOrder(found.status) ? 'final' : 'open';
  };
  return { find, findCollection };
}

/** A payout, which is never done with what the provider says: success may be taken back, and anything contradicted. */
const payout: ReferenceOwner['find'] = async (em, reference) => {
  const rows = await em.execute<unknown[]>('select 1 from payouts where id = ?', [reference]);
  return rows.length > 0 ? 'open' : null;
};

/** Who may be meant by a callback's reference, asked in this order. */
export const referenceOwners: readonly ReferenceOwner[] = [
  {
    ...instrumentIn('payment_orders', 'nominal + admin_fee'),
    hint: (workflows, id) => workflows.hintGatewayPayment(id),
  },
  { ...instrumentIn('partner_payments', 'amount'), hint: (workflows, id) => workflows.hintPartnerPayment(id) },
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

/** What of ours collects money under this reference, open or final, and who to wake for it; null when nothing does. */
export async function findCollector(
  em: EntityManager,
  reference: string,
): Promise<{ owner: ReferenceOwner; collection: Collection } | null> {
  if (!isUuid(reference)) return null;
  for (const owner of referenceOwners) {
    const collection = (await owner.findCollection?.(em, reference)) ?? null;
    if (collection !== null) return { owner, collection };
  }
  return null;
}
