import type { EntityManager } from '@mikro-orm/postgresql';
import type { Gateway, InstrumentState, ProviderPayment } from '../gateway/gateway.ts';
import { receiptIdFor } from '../shared/ids.ts';
import { addMoney, compareMoney, type Money } from '../shared/money.ts';
import type { Confirmation, StrayPayment } from './payment-contract.ts';
import { PaymentOrder } from './payment-order.entity.ts';
import { isFinalOrder, type PaymentOrderStatus } from './payment-order.ts';
import { Receipt } from './receipt.entity.ts';

/**
 * Asks the provider what became of an order and compares reference and amount with ours. The first payment of exactly
 * the order's total pays an open order; every other confirmed payment that has no receipt yet is a stray. Throws
 * ProviderUnknown when the provider does not answer.
 */
export async function confirmPayment(
  em: EntityManager,
  gateway: Gateway,
  { orderId, signal }: { orderId: string; signal: AbortSignal },
): Promise<Confirmation> {
  return confirmInstrument(em, gateway, {
    reference: orderId,
    signal,
    expect: async () => {
      const order = await em.findOneOrFail(PaymentOrder, { id: orderId });
      return { total: addMoney(order.nominal, order.admin_fee), status: order.status };
    },
  });
}

/** What of ours is read after the provider has answered: what exactly pays it, and whether it still waits for that. */
export interface ExpectedPayment {
  /** IDR, scale 4. */
  total: Money;
  status: PaymentOrderStatus;
}

/** As `confirmPayment`, for anything that has an instrument under its own id. */
export async function confirmInstrument(
  em: EntityManager,
  gateway: Gateway,
  { reference, signal, expect }: { reference: string; signal: AbortSignal; expect: () => Promise<ExpectedPayment> },
): Promise<Confirmation> {
  const state = await gateway.findInstrument(reference, { signal });
  const { total, status: ours } = await expect();
  if (state === null) return { outcome: 'waiting', strays: [] };
  const received = await withoutReceipt(
    em,
    state.payments.filter(({ status }) => status === 'succeeded'),
  );
  const paying = isFinalOrder(ours)
    ? undefined
    : received.find((payment) => payment.reference === reference && compareMoney(payment.amount, total) === 0);
  const strays = received.filter((payment) => payment !== paying).map(strayOf);
  if (paying !== undefined) {
    const { providerPaymentId, providerPaymentMethodId, amount } = paying;
    return { outcome: 'paid', payment: { providerPaymentId, providerPaymentMethodId, amount }, strays };
  }
  return { ...outcomeOf(state), strays };
}

const strayOf = ({ providerPaymentId, providerPaymentMethodId }: ProviderPayment): StrayPayment => ({
  receiptId: receiptIdFor(providerPaymentId),
  providerPaymentId,
  providerPaymentMethodId,
});

async function withoutReceipt(em: EntityManager, payments: ProviderPayment[]): Promise<ProviderPayment[]> {
  if (payments.length === 0) return [];
  const known = await em.find(
    Receipt,
    { provider_payment_id: { $in: payments.map(({ providerPaymentId }) => providerPaymentId) } },
    { fields: ['provider_payment_id'] },
  );
  const ids = new Set(known.map(({ provider_payment_id }) => provider_payment_id));
  return payments.filter(({ providerPaymentId }) => !ids.has(providerPaymentId));
}

function outcomeOf(
  state: InstrumentState,
): { outcome: 'refused'; failureCode: string } | { outcome: 'expired' | 'waiting' } {
  if (state.status === 'failed') return { outcome: 'refused', failureCode: state.failureCode ?? 'PAYMENT_FAILED' };
  return { outcome: state.status === 'expired' ? 'expired' : 'waiting' };
}
