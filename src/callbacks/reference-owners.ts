import type { EntityManager } from '@mikro-orm/postgresql';
import { isFinalOrder, type PaymentOrderStatus } from '../payments/payment-order.ts';
import type { PayoutPlace } from '../payouts/payout.ts';
import type { Money } from '../shared/money.ts';
import { canonicalId, isUuid } from '../shared/uuid.ts';
import type { CallbackWorkflows } from './callback-workflows.ts';

/**
 * Finds what there is of one kind under this id, as its row writes it; null when it is none of these. The provider knows
 * the id as a reference. A new kind is one entry in `kinds`.
 */
type Find = (em: EntityManager, id: string) => Promise<Omit<ReferenceOwner, 'id'> | null>;

/** Who of ours a reference means. */
export interface ReferenceOwner {
  /** Its own id, in the one spelling that its workflow and the provider know. */
  id: string;
  /** Whether it waits for what the provider says; otherwise it is done with it. */
  isOpen: boolean;
  /** What it collects, where money may come in for it. */
  collection: Collection | null;
  /** Wakes its workflow, or starts that again from the row. */
  hint(workflows: CallbackWorkflows): Promise<void>;
}

/** Something of ours that money is collected for. */
export interface Collection {
  status: PaymentOrderStatus;
  /** IDR, scale 4: what exactly pays it. */
  total: Money;
  /** The provider's payment method under which its money comes; null while that is not known. */
  providerPaymentMethodId: string | null;
}

/**
 * An instrument: a row of `table`, with the states of a payment order, that is paid by exactly `total`. Whoever is ending
 * it is waited for: what they tell again is what they could see, and all that comes later finds it ended.
 */
function instrumentIn(
  table: 'payment_orders' | 'partner_payments',
  total: string,
  hint: (workflows: CallbackWorkflows, id: string) => Promise<void>,
): Find {
  return async (em, id) => {
    const [collection] = await em.execute<Collection[]>(
      `select status, ${total} as total, provider_payment_method_id as "providerPaymentMethodId" from ${table}
       where id = ? for share`,
      [id],
    );
    if (collection === undefined) return null;
    return { isOpen: !isFinalOrder(collection.status), collection, hint: (workflows) => hint(workflows, id) };
  };
}

/** A payout, which is never done with what the provider says: success may be taken back, and anything contradicted. */
const findPayout: Find = async (em, id) => {
  const [payout] = await em.execute<PayoutPlace[]>('select id, kind from payouts where id = ?', [id]);
  if (payout === undefined) return null;
  return { isOpen: true, collection: null, hint: (workflows) => workflows.hintPayout(payout) };
};

/** Who may be meant by a reference, asked in this order. */
const kinds: readonly Find[] = [
  instrumentIn('payment_orders', 'nominal + admin_fee', (workflows, id) => workflows.hintGatewayPayment(id)),
  instrumentIn('partner_payments', 'amount', (workflows, id) => workflows.hintPartnerPayment(id)),
  findPayout,
];

/** Who of ours is meant by a reference, open or final, however it is written; null when nobody is. */
export async function findOwner(em: EntityManager, reference: string): Promise<ReferenceOwner | null> {
  if (!isUuid(reference)) return null;
  const id = canonicalId(reference);
  for (const find of kinds) {
    const found = await find(em, id);
    if (found !== null) return { ...found, id };
  }
  return null;
}
