import type { EntityManager } from '@mikro-orm/postgresql';
import type { ReceiptState } from '../../money-in/payments/receipt.ts';
import type { Gateway, ProviderPayment, ProviderRecord } from '../../platform/gateway/gateway.ts';
import { compareMoney, type Money } from '../../shared/money.ts';
import { textArray } from '../../shared/postgres.ts';
import { canonicalId, isUuid } from '../../shared/uuid.ts';
import { type FoundMissing, findMissing, type MissingPage, readCursor, soughtPerPage } from './missing-page.ts';
import type { Difference } from './reconciliation.ts';

interface OrderRow {
  id: string;
  status: string;
  amount: Money;
}

interface ReceiptRow {
  id: string;
  provider_payment_id: string;
  reference: string;
  amount: Money;
  state: ReceiptState;
}

/**
 * Returns the differences in these payments of the provider: each successful payment must have a receipt of the same
 * amount and reference; others may have one only if we refunded it.
 */
export async function comparePayments(em: EntityManager, records: readonly ProviderRecord[]): Promise<Difference[]> {
  if (records.length === 0) return [];
  const receipts = await em.execute<ReceiptRow[]>(
    'select id, provider_payment_id, reference, amount, state from receipts where provider_payment_id = any(?::text[])',
    [textArray(records.map(({ providerId }) => providerId))],
  );
  const byId = new Map(receipts.map((receipt) => [receipt.provider_payment_id, receipt]));
  const different = records.filter((record) => {
    const receipt = byId.get(record.providerId);
    return receipt ? !agrees(receipt, record) : record.status === 'succeeded';
  });
  const orders = await findOrders(
    em,
    different.map(({ reference }) => reference),
  );
  return different.map(({ providerId, reference, status, amount }): Difference => {
    const receipt = byId.get(providerId);
    const order = orders.get(canonicalId(reference));
    const ours = receipt
      ? { status: receipt.state, amount: receipt.amount }
      : order && { status: order.status, amount: order.amount };
    return {
      resourceType: 'payment',
      subject: providerId,
      resourceId: order?.id ?? null,
      reference,
      ours: ours ?? null,
      theirs: { status, amount },
    };
  });
}

/** Whether a receipt agrees with the provider's payment; a reversed payment agrees only if we refunded it. */
function agrees(
  { state, reference, amount }: Pick<ReceiptRow, 'state' | 'reference' | 'amount'>,
  theirs: { status: ProviderRecord['status'] | ProviderPayment['status']; reference: string; amount: Money },
): boolean {
  const isBack = theirs.status === 'failed' || theirs.status === 'reversed' || theirs.status === 'voided';
  return (
    (theirs.status === 'succeeded' || (isBack && state === 'refunded')) &&
    canonicalId(reference) === canonicalId(theirs.reference) &&
    compareMoney(amount, theirs.amount) === 0
  );
}

async function findOrders(em: EntityManager, references: readonly string[]): Promise<Map<string, OrderRow>> {
  const ids = textArray(references.filter(isUuid));
  const rows = await em.execute<OrderRow[]>(
    `select id, status, nominal + admin_fee as amount from payment_orders where id = any(?::uuid[])
     union all select id, status, amount from partner_payments where id = any(?::uuid[])`,
    [ids, ids],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/**
 * Looks up at the provider a page of the period's receipts that are not among its records; returns those that it does
 * not have or reports differently. Throws ProviderUnknown.
 */
export async function findMissingPayments(
  em: EntityManager,
  gateway: Gateway,
  { provider, day, from, to, after, signal }: MissingPage,
): Promise<FoundMissing> {
  const rows = await em.execute<
    (Omit<ReceiptRow, 'provider_payment_id'> & {
      at: string;
      key: string;
      provider_payment_method_id: string;
      resource_id: string | null;
    })[]
  >(
    `select id, received_at::text as at, provider_payment_id as key, provider_payment_method_id, reference, amount, state,
       coalesce(order_id, partner_payment_id) as resource_id
     from receipts where provider = ? and received_at >= ? and received_at < ? and (received_at, id) > (?, ?)
     order by received_at, id limit ?`,
    [provider, from, to, ...readCursor(after, from), soughtPerPage],
  );
  const { missing, next } = await findMissing(em, { provider, day, kind: 'payment', rows });
  const differences: Difference[] = [];
  for (const row of missing) {
    const { provider_payment_method_id: methodId, key: subject, reference, resource_id } = row;
    const payment = await gateway.findPayment(methodId, subject, { ...(signal && { signal }) });
    if (payment !== null && agrees(row, payment)) continue;
    const ours = { status: row.state, amount: row.amount };
    const theirs = payment && { status: payment.status, amount: payment.amount };
    differences.push({ resourceType: 'payment', subject, resourceId: resource_id, reference, ours, theirs });
  }
  return { differences, next };
}

/** When the provider's successful payments without our receipt were first listed. */
export const unreceiptedPayments = `select created_at as since from reconciliations d
  where state = 'open' and resource_type = 'payment' and theirs ->> 'status' = 'succeeded'
    and not exists (select from receipts r where r.provider_payment_id = d.subject)`;
