import { addMoney, compareMoney, formatMoney } from '../../../src/shared/money.ts';
import type { Facts, Finding } from '../facts.ts';

/**
 * Each item of an approved batch is a payout with at most one transfer; other batches have no payouts. A batch is
 * completed exactly when all its payouts are final.
 */
export function batchesAreWhole({ batches = [], payouts, transfers }: Facts): Finding[] {
  const oracle = 'batches-are-whole';
  const statusOf = new Map(payouts.map(({ id, status }) => [id, status]));
  const sent = Map.groupBy(transfers, ({ reference }) => reference);
  return batches.flatMap(({ id, status, itemIds }): Finding[] => {
    const find = (says: string): Finding[] => [
      { oracle, resourceId: id, says: `the batch ${id} is ${status}, ${says}` },
    ];
    const made = itemIds.filter((item) => statusOf.has(item));
    const isApproved = status === 'processing' || status === 'completed';
    const due = isApproved ? itemIds.length : 0;
    const twice = itemIds.filter((item) => (sent.get(item)?.length ?? 0) > 1);
    const pending = made.filter((item) => statusOf.get(item) === 'pending');
    return [
      ...(made.length === due ? [] : find(`and ${made.length} of its ${itemIds.length} items are payouts`)),
      ...(twice.length === 0 ? [] : find(`and ${twice.join(', ')} were sent more than once`)),
      ...(status === 'completed' && pending.length > 0 ? find(`and ${pending.length} of its payouts are pending`) : []),
      ...(status === 'processing' && pending.length === 0 ? find('although all its payouts are final') : []),
    ];
  });
}

/**
 * The money that the provider received under an instrument equals our payments plus the held money, to the rupiah.
 */
export function instrumentsSumUp({ instruments = [], requests, orders, receipts }: Facts): Finding[] {
  const oracle = 'instruments-sum-up';
  return instruments.flatMap(({ id }): Finding[] => {
    const taken = requests
      .filter(({ reference }) => reference === id)
      .flatMap(({ payments }) => payments.filter(({ status }) => status === 'SUCCEEDED'));
    const theirs = addMoney('0', ...taken.map(({ amount }) => formatMoney(String(amount))));
    const paid = orders.filter(({ instrumentId, status }) => instrumentId === id && status === 'PAID');
    const held = receipts.filter(({ reference, state }) => reference === id && state !== 'applied');
    const ours = addMoney('0', ...paid.map(({ total }) => total), ...held.map(({ amount }) => amount));
    if (compareMoney(theirs, ours) === 0 && taken.length === paid.length + held.length) return [];
    const says = `the provider received ${taken.length} payments of ${theirs} under the instrument ${id}; ${paid.length} are payments and ${held.length} are held, together ${ours}`;
    return [{ oracle, resourceId: id, says }];
  });
}
