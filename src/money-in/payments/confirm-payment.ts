import type { EntityManager } from '@mikro-orm/postgresql';
import { doCallbacksCome } from '../../platform/callbacks/do-callbacks-come.ts';
import type { Gateways, InstrumentState, ProviderPayment } from '../../platform/gateway/gateway.ts';
import { receiptIdFor } from '../../shared/ids.ts';
import { compareMoney } from '../../shared/money.ts';
import { findReceiptStates } from './find-receipts.ts';
import { type InstrumentRow, type InstrumentTable, readInstrument } from './instrument-row.ts';
import type { Confirmation, ConfirmedPayment, StrayPayment, Verdict } from './payment-contract.ts';
import { isFinalOrder } from './payment-order.ts';
import type { Receipt } from './receipt.entity.ts';
import type { ReceiptState } from './receipt.ts';

export interface InstrumentQuestion {
  table: InstrumentTable;
  id: string;
  signal: AbortSignal;
  /** Skips looking for payments if the provider reports that the instrument is unpaid. */
  briefly?: boolean | undefined;
}

/**
 * Compares the provider's payments with our row, read after the provider answers. The first payment of exactly the
 * total pays an open row; other confirmed payments without a receipt are strays. Throws ProviderUnknown without an
 * answer.
 */
export async function confirmInstrument(
  em: EntityManager,
  gateways: Gateways,
  { table, id, signal, briefly = false }: InstrumentQuestion,
): Promise<Confirmation> {
  const { provider, partnerId } = await readInstrument(em, table, id);
  const state = await gateways.of(provider).findInstrument(id, { signal, briefly, partnerId });
  const expected = await readInstrument(em, table, id);
  const verdict = await judge(em, { table, id }, state, expected);
  return {
    ...verdict,
    deadline: expected.deadline.toISOString(),
    status: expected.status,
    ...(verdict.outcome === 'waiting' && (await doCallbacksCome(em)) && { callbacksCome: true }),
  };
}

async function judge(
  em: EntityManager,
  { table, id: reference }: Pick<InstrumentQuestion, 'table' | 'id'>,
  state: InstrumentState | null,
  { provider, total, status: ours, requestId }: InstrumentRow,
): Promise<Verdict> {
  const isOpen = !isFinalOrder(ours);
  if (state === null) {
    // The provider never deletes payment methods: absence from its list proves nothing about payments.
    const isForgotten = isOpen && requestId !== null;
    await noteSettling(em, table, reference, isForgotten);
    return { outcome: isForgotten ? 'settling' : 'waiting', strays: [] };
  }
  const succeeded = state.payments.filter(({ status }) => status === 'succeeded');
  const receipts = await findReceiptStates(
    em,
    succeeded.map(({ providerPaymentId }) => providerPaymentId),
    ...(isOpen ? [{ reference, amount: total }] : []),
  );
  const received = succeeded.filter(({ providerPaymentId }) => !receipts.has(providerPaymentId));
  const pays = (payment: ProviderPayment) =>
    payment.reference === reference && compareMoney(payment.amount, total) === 0;
  const paying = isOpen ? received.find(pays) : undefined;
  const strays = received.filter((payment) => payment !== paying).map((payment) => strayOf(provider, payment));
  const isUnsettled = isOpen && paying === undefined && isSettling(state, pays, receipts);
  const next = isUnsettled ? ({ outcome: 'settling' } as const) : outcomeOf(state);
  // A final row keeps `settling_since`.
  if (isUnsettled || (paying === undefined && next.outcome === 'waiting')) {
    await noteSettling(em, table, reference, isUnsettled);
  }
  if (paying !== undefined) {
    const { providerPaymentId, providerPaymentMethodId, providerPaymentRequestId, amount } = paying;
    const request = providerPaymentRequestId ? { providerPaymentRequestId } : {};
    return { outcome: 'paid', payment: { providerPaymentId, providerPaymentMethodId, amount, ...request }, strays };
  }
  return { ...next, strays };
}

/**
 * Whether the provider has a pending payment that would pay, or reports paid although no listed payment explains it. A
 * payment explains it if voided, if its receipt was credited or refunded, or if it is in suspense and would pay.
 */
function isSettling(
  { status, payments }: InstrumentState,
  pays: (payment: ProviderPayment) => boolean,
  receipts: ReadonlyMap<string, ReceiptState>,
): boolean {
  if (payments.some((payment) => payment.status === 'pending' && pays(payment))) return true;
  const explains = (payment: ProviderPayment) => {
    const receipt = receipts.get(payment.providerPaymentId);
    if (payment.status === 'voided') return true;
    // An applied receipt has paid another row, as this row is still open.
    return receipt !== undefined && receipt !== 'applied' && (receipt !== 'suspended' || pays(payment));
  };
  return status === 'paid' && !payments.some(explains);
}

/** Sets when an open row began settling; clears it once the row waits for a payment again. */
async function noteSettling(em: EntityManager, table: InstrumentTable, id: string, settling: boolean): Promise<void> {
  await em.execute(
    `update ${table} set settling_since = case when ? then now() end
     where id = ? and status in ('PENDING', 'WAITING_PAYMENT') and (settling_since is not null) <> ?`,
    [settling, id, settling],
  );
}

/** An unmatched payment, as the input of its receipt's workflow. */
export const strayOf = (
  provider: string,
  { providerPaymentId, providerPaymentMethodId }: Omit<ConfirmedPayment, 'amount'>,
): StrayPayment => ({
  receiptId: receiptIdFor(providerPaymentId),
  provider,
  providerPaymentId,
  providerPaymentMethodId,
});

export const strayOfReceipt = ({ provider, ...receipt }: Receipt): StrayPayment =>
  strayOf(provider, {
    providerPaymentId: receipt.provider_payment_id,
    providerPaymentMethodId: receipt.provider_payment_method_id,
  });

function outcomeOf(
  state: InstrumentState,
): { outcome: 'refused'; failureCode: string } | { outcome: 'expired' | 'waiting' } {
  if (state.status === 'failed') return { outcome: 'refused', failureCode: state.failureCode ?? 'PAYMENT_FAILED' };
  return { outcome: state.status === 'expired' ? 'expired' : 'waiting' };
}
