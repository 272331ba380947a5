import type { EntityManager } from '@mikro-orm/postgresql';
import type { Gateway, ProviderRecord } from '../gateway/gateway.ts';
import { compareMoney, type Money } from '../shared/money.ts';
import { textArray } from '../shared/postgres.ts';
import { isUuid } from '../shared/uuid.ts';
import type { Difference } from './reconciliation.ts';

interface OrderRow {
  id: string;
  status: string;
  amount: Money;
}

/** What is wrong with these payments of the provider: each that succeeded is a receipt of ours of the same amount. */
export async function comparePayments(em: EntityManager, records: readonly ProviderRecord[]): Promise<Difference[]> {
  const paid = records.filter(({ status }) => status === 'succeeded');
  if (paid.length === 0) return [];
  const receipts = await em.execute<{ provider_payment_id: string; amount: Money; state: string; id: string }[]>(
    'select id, provider_payment_id, amount, state from receipts where provider_payment_id = any(?::text[])',
    [textArray(paid.map(({ providerId }) => providerId))],
  );
  const byId = new Map(receipts.map((receipt) => [receipt.provider_payment_id, receipt]));
  const orders = await findOrders(
    em,
    paid.map(({ reference }) => reference),
  );
  return paid.flatMap(({ providerId, reference, status, amount }): Difference[] => {
    const receipt = byId.get(providerId);
    if (receipt && compareMoney(receipt.amount, amount) === 0) return [];
    const order = orders.get(reference);
    const ours = receipt
      ? { status: receipt.state, amount: receipt.amount }
      : order && { status: order.status, amount: order.amount };
    return [
      {
        resourceType: 'payment',
        subject: providerId,
        resourceId: order?.id ?? null,
        reference,
        ours: ours ?? null,
        theirs: { status, amount },
      },
    ];
  });
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

const perPage = 500;

/** Receipts of the period that are not among the provider's records and that it does not know when asked by name. */
export async function findMissingPayments(
  em: EntityManager,
  gateway: Gateway,
  { from, to, seen, signal }: { from: Date; to: Date; seen: ReadonlySet<string>; signal?: AbortSignal },
): Promise<Difference[]> {
  const differences: Difference[] = [];
  for (let after = { at: from, id: '00000000-0000-0000-0000-000000000000' }; ; ) {
    const rows = await em.execute<
      {
        id: string;
        provider_payment_id: string;
        provider_payment_method_id: string;
        reference: string;
        amount: Money;
        state: string;
        resource_id: string | null;
        received_at: string | Date;
      }[]
    >(
      `select id, provider_payment_id, provider_payment_method_id, reference, amount, state, received_at,
         coalesce(order_id, partner_payment_id) as resource_id
       from receipts where received_at >= ? and received_at < ? and (received_at, id) > (?, ?)
       order by received_at, id limit ?`,
      [from, to, after.at, after.id, perPage],
    );
    for (const row of rows.filter(({ provider_payment_id }) => !seen.has(provider_payment_id))) {
      const { provider_payment_method_id: methodId, provider_payment_id: subject, reference } = row;
      if ((await gateway.findPayment(methodId, subject, { ...(signal && { signal }) })) !== null) continue;
      const ours = { status: row.state, amount: row.amount };
      differences.push({
        resourceType: 'payment',
        subject,
        resourceId: row.resource_id,
        reference,
        ours,
        theirs: null,
      });
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < perPage) return differences;
    after = { at: new Date(last.received_at), id: last.id };
  }
}
