import { compareMoney, formatMoney } from '../../../src/shared/money.ts';
import type { Facts, Finding } from '../facts.ts';

const oracle = 'operators-are-told-exactly';

/**
 * Kinds that depend on the date, not on the plan: a day ends at midnight, and a new approver is reported for a day.
 */
const byTheCalendar = new Set(['unreconciled_days', 'new_approvers']);

/** The lists of operators contain exactly the cases that need a person. */
export function operatorsAreToldExactly(facts: Facts): Finding[] {
  const { lists } = facts;
  const cases = moneyOfNobody(facts);
  const unknown = facts.payouts.filter(({ status }) => status === 'pending').map(({ id }) => id);
  const find = (resourceId: string | null, says: string): Finding => ({ oracle, resourceId, says });
  const listed = new Map(lists.suspense.map((id) => [id, facts.receipts.find((receipt) => receipt.id === id)]));
  const shown = new Set([...listed.values()].map((receipt) => receipt?.providerPaymentId));
  const stuck = new Set(lists.stuck.map(({ id }) => id));
  const inOneList = [
    ...lists.suspense.filter((id) => !lists.receipts.includes(id)),
    ...lists.receipts.filter((id) => !lists.suspense.includes(id)),
  ];
  const searched = lists.searched.filter((id) => !unknown.includes(id.split('/').at(-1) ?? id));
  const atProvider = new Set(facts.transfers.map(({ reference }) => reference));
  const counted: Record<string, number> = {
    unknown_payouts: unknown.length,
    suspended_receipts: cases.size,
    // The day is reconciled at the end: a waiting payout that is missing at the provider is a difference.
    open_reconciliations: unknown.filter((id) => !atProvider.has(id)).length,
  };
  return [
    ...[...cases]
      .filter(([id]) => !shown.has(id))
      .map(([id, reference]) =>
        find(reference, `the money ${id} for ${reference} matches no payment, and is in no list of operators`),
      ),
    ...[...listed]
      .filter(([, receipt]) => receipt === undefined || !cases.has(receipt.providerPaymentId))
      .map(([id, receipt]) =>
        find(receipt?.reference ?? id, `the receipt ${id} is listed for operators, but needs no decision`),
      ),
    ...inOneList.map((id) => find(id, `the receipt ${id} is in only one of the two lists of money in suspense`)),
    ...unknown
      .filter((id) => !stuck.has(id))
      .map((id) => find(id, `the outcome of the payout ${id} is unknown, and it is not listed as stuck`)),
    ...lists.stuck
      .filter(({ id }) => !unknown.includes(id))
      .map(({ id, reason }) => find(id, `the payout ${id} is listed as stuck (${reason}), but is final`)),
    ...searched.map((id) => find(id.split('/').at(-1) ?? id, `${id} waits for operators without need`)),
    ...lists.parked.map((id) => find(id, `the webhook ${id} is parked after minutes`)),
    ...lists.waiting
      .filter(({ what, rows }) => !byTheCalendar.has(what) && rows !== (counted[what] ?? 0))
      .map(({ what, rows }) => find(null, `${what} has ${rows} rows, and ${counted[what] ?? 0} cases are counted`)),
  ];
}

/**
 * Payments at the provider that match no order and that no operator has settled, by the provider's ids.
 */
function moneyOfNobody({ requests, orders, receipts }: Facts): Map<string, string> {
  const isEnded = ({ state }: Facts['receipts'][number]) => state === 'credited' || state === 'refunded';
  const taken = new Set(receipts.filter(isEnded).map(({ providerPaymentId }) => providerPaymentId));
  for (const { id, status, total, instrumentId } of orders) {
    if (status !== 'PAID') continue;
    const payments = requests
      .filter(({ reference }) => reference === (instrumentId ?? id))
      .flatMap((request) => request.payments);
    const covers = ({ amount, status: state }: { amount: number; status: string }) =>
      state === 'SUCCEEDED' && compareMoney(formatMoney(String(amount)), total) === 0;
    const paid = payments.filter(covers).map((payment) => payment.id);
    // Several payments may fit the order: the books show which one was applied.
    const applied = receipts.find(
      ({ providerPaymentId, appliedTo }) => appliedTo === id && paid.includes(providerPaymentId),
    );
    const one = applied?.providerPaymentId ?? paid[0];
    if (one !== undefined) taken.add(one);
  }
  return new Map(
    requests.flatMap(({ reference, payments }) =>
      payments
        .filter(({ id, status }) => status === 'SUCCEEDED' && !taken.has(id))
        .map(({ id }) => [id, reference] as const),
    ),
  );
}
