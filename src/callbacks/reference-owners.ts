import type { EntityManager } from '@mikro-orm/postgresql';
import { isFinalOrder, type PaymentOrderStatus } from '../payments/payment-order.ts';
import type { Money } from '../shared/money.ts';
import { canonicalId, isUuid } from '../shared/uuid.ts';
import type { CallbackWorkflows } from './callback-workflows.ts';

/** A kind of thing of ours whose id the provider knows as a reference. A new kind is one entry in `kinds`. */
interface Kind {
  /** What there is under this id, as its row writes it; null when it is none of these. */
  find(em: EntityManager, id: string): Promise<Found | null>;
  hint(workflows: CallbackWorkflows, id: string): Promise<void>;
}

interface Found {
  /** Whether it waits for what the provider says; otherwise it is done with it. */
  isOpen: boolean;
  /** What it collects, where money may come in for it. */
  collection: Collection | null;
}

/** Who of ours a reference means. */
export interface ReferenceOwner extends Found {
  /** Its own id, in the one spelling that its workflow and the provider know. */
  id: string;
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
function instrumentIn(table: 'payment_orders' | 'partner_payments', total: string): Kind['find'] {
  return async (em, id) => {
    const [collection] = await em.execute<Collection[]>(
      `select status, ${total} as total, provider_payment_method_id as "providerPaymentMethodId" from ${table}
       where id = ? for share`,
      [id],
    );
    return collection === undefined ? null : { isOpen: !isFinalOrder(collection.status), collection };
  };
}

/** A payout, which is never done with what the provider says: success may be taken back, and anything contradicted. */
const findPayout: Kind['find'] = async (em, id) => {
  const rows = await em.execute<unknown[]>('select 1 from payouts where id = ?', [id]);
  return rows.length > 0 ? { isOpen: true, collection: null } : null;
};

/** Who may be meant by a reference, asked in this order. */
const kinds: readonly Kind[] = [
  {
    find: instrumentIn('payment_orders', 'nominal + admin_fee'),
    hint: (workflows, id) => workflows.hintGatewayPayment(id),
  },
  { find: instrumentIn('partner_payments', 'amount'), hint: (workflows, id) => workflows.hintPartnerPayment(id) },
  { find: findPayout, hint: (workflows, id) => workflows.hintPartnerPayout(id) },
];

/** Who of ours is meant by a reference, open or final, however it is written; null when nobody is. */
export async function findOwner(em: EntityManager, reference: string): Promise<ReferenceOwner | null> {
  if (!isUuid(reference)) return null;
  const id = canonicalId(reference);
  for (const kind of kinds) {
    const found = await kind.find(em, id);
    if (found !== null) return { ...found, id, hint: (workflows) => kind.hint(workflows, id) };
  }
  return null;
}
