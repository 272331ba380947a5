import type { EntityManager } from '@mikro-orm/postgresql';
import type {
  CallbackWorkflows,
  Collection,
  FindOwner,
  ReferenceOwner,
} from '../money-in/callbacks/callback-workflows.ts';
import { priceReceived } from '../money-in/partner-instruments/price-received.ts';
import { isFinalOrder } from '../money-in/payments/payment-order.ts';
import type { PayoutPlace } from '../money-out/payouts/payout.ts';
import type { Money } from '../shared/money.ts';
import { canonicalId, isUuid } from '../shared/uuid.ts';

/**
 * Finds the owner of one kind with this id, which is its reference at the provider; null if there is none. A new kind
 * needs one entry in `kinds`.
 */
type Find = (
  em: EntityManager,
  at: { id: string; provider: string; paidAt: Date | null },
) => Promise<Omit<ReferenceOwner, 'id'> | null>;

/**
 * Finds a row of `table`, which has a payment order's statuses and is paid by exactly `total`. The shared lock waits
 * for a transaction that makes the row final: that transaction's `tellAgain` covers the callbacks it can see, and later
 * callbacks find the row final.
 */
function instrumentIn(
  table: 'payment_orders' | 'partner_payments',
  total: string,
  hint: (workflows: CallbackWorkflows, id: string) => Promise<void>,
): Find {
  return async (em, { id, provider }) => {
    const [collection] = await em.execute<Collection[]>(
      `select status, ${total} as total, provider_payment_method_id as "providerPaymentMethodId" from ${table}
       where id = ? and provider = ? for share`,
      [id, provider],
    );
    if (collection === undefined) return null;
    return { isOpen: !isFinalOrder(collection.status), collection, hint: (workflows) => hint(workflows, id) };
  };
}

/**
 * Finds a reusable instrument, which accepts payments made before it was closed, however late the provider lists them.
 * Takes the same shared lock as `instrumentIn`.
 */
const findReusable: Find = async (em, { id, provider, paidAt }) => {
  const [found] = await em.execute<ReusableRow[]>(
    `select status = 'active' or (closed_at >= ?::timestamptz and payment_code is not null) is true as is_open,
       amount::text as total, provider_payment_method_id as method_id, partner_id, channel_id
     from partner_instruments where id = ? and provider = ? for share`,
    [paidAt, id, provider],
  );
  if (found === undefined) return null;
  const { is_open: isOpen, total, method_id: providerPaymentMethodId } = found;
  const { partner_id: partnerId, channel_id: channelId } = found;
  const takes = async (gross: Money) => 'price' in (await priceReceived(em, { partnerId, channelId, gross }));
  return {
    isOpen,
    collection: { status: isOpen ? 'WAITING_PAYMENT' : 'EXPIRED', total, takes, providerPaymentMethodId },
    hint: async (workflows) => {
      // Starts the next look at this payment: the provider may list it too late for the usual overlap of looks.
      if (paidAt) {
        await em.execute(
          `update partner_instruments set seen_until = ?, read_from = least(read_from, ?) where id = ? and seen_until > ?`,
          [paidAt, paidAt, id, paidAt],
        );
      }
      await workflows.hintPartnerInstrument(id);
    },
  };
};

interface ReusableRow {
  is_open: boolean;
  total: Money | null;
  method_id: string | null;
  partner_id: string;
  channel_id: number;
}

/**
 * Finds a payout, which always accepts the provider's statuses: a success may be reversed, and any status contradicted.
 */
const findPayout: Find = async (em, { id, provider }) => {
  const [payout] = await em.execute<PayoutPlace[]>('select id, kind from payouts where id = ? and provider = ?', [
    id,
    provider,
  ]);
  if (payout === undefined) return null;
  return { isOpen: true, collection: null, hint: (workflows) => workflows.hintPayout(payout) };
};

/** The kinds of owners, tried in this order. */
const kinds: readonly Find[] = [
  instrumentIn('payment_orders', 'nominal + admin_fee', (workflows, id) => workflows.hintGatewayPayment(id)),
  instrumentIn('partner_payments', 'amount', (workflows, id) => workflows.hintPartnerPayment(id)),
  findReusable,
  findPayout,
];

/** Finds the owner of a reference, trying each kind in turn. */
export const findOwner: FindOwner = async (em, { provider, reference, paidAt = null }) => {
  if (!isUuid(reference)) return null;
  const id = canonicalId(reference);
  for (const find of kinds) {
    const found = await find(em, { id, provider, paidAt });
    if (found !== null) return { ...found, id };
  }
  return null;
};
