import { addMoney, compareMoney, formatMoney, negateMoney } from '../../../src/shared/money.ts';
import type { Facts, Finding, PayoutFact } from '../facts.ts';
import { refusedRefund } from '../plan-refunds.ts';

const money = (amount: number): string => formatMoney(String(amount));
const journalOf = ({ journals }: Facts) => new Map(journals.map(({ businessKey, amount }) => [businessKey, amount]));

/**
 * Each payment that the provider received has one receipt of its amount, posted once; and every receipt has a payment.
 */
export function paymentsMatchReceipts(facts: Facts): Finding[] {
  const oracle = 'payments-match-receipts';
  const journals = journalOf(facts);
  const receipts = Map.groupBy(facts.receipts, ({ providerPaymentId }) => providerPaymentId);
  const taken = facts.requests.flatMap(({ reference, payments }) =>
    payments.filter(({ status }) => status === 'SUCCEEDED').map((payment) => ({ ...payment, reference })),
  );
  const findings: Finding[] = taken.flatMap(({ id, amount, reference }) => {
    const found = receipts.get(id) ?? [];
    if (found.length !== 1) {
      const says = `the provider received ${amount} for ${reference} (${id}), which has ${found.length} receipts`;
      return [{ oracle, resourceId: reference, says }];
    }
    const [receipt] = found;
    if (receipt === undefined || compareMoney(receipt.amount, money(amount)) === 0) return [];
    const says = `the provider received ${amount} for ${reference} (${id}), its receipt has ${receipt.amount}`;
    return [{ oracle, resourceId: reference, says }];
  });
  const known = new Set(taken.map(({ id }) => id));
  for (const { id, providerPaymentId, reference, amount, state, appliedTo } of facts.receipts) {
    if (!known.has(providerPaymentId)) {
      const says = `the receipt ${id} of ${amount} for ${reference} belongs to no payment at the provider`;
      findings.push({ oracle, resourceId: reference, says });
    }
    const instrumentId = facts.orders.find((order) => order.id === appliedTo)?.instrumentId ?? null;
    if (state === 'applied' && (instrumentId ?? appliedTo) !== reference) {
      const says = `money for ${reference} (${providerPaymentId}) was applied to ${appliedTo}`;
      findings.push({ oracle, resourceId: reference, says });
    }
    const key = state === 'applied' ? settlementKeyOf(facts, appliedTo) : `receipt/${id}/suspense`;
    const posted = journals.get(key);
    if (posted === undefined || compareMoney(posted, amount) !== 0) {
      const says = `the receipt ${id} (${state}) of ${amount} has the journal ${key} of ${posted ?? 'nothing'}`;
      findings.push({ oracle, resourceId: reference, says });
    }
  }
  return findings;
}

function settlementKeyOf({ orders }: Facts, id: string | null): string {
  const family = orders.find((order) => order.id === id)?.family;
  return `${family ?? 'nothing'}/${id}/settled`;
}

/** The status of an instrument at the provider and that of its order agree, and no order has two instruments. */
export function ordersMatchInstruments(facts: Facts): Finding[] {
  const oracle = 'orders-match-instruments';
  const requests = Map.groupBy(facts.requests, ({ reference }) => reference);
  const single = facts.orders.filter(({ instrumentId }) => (instrumentId ?? null) === null);
  const findings = single.flatMap((order): Finding[] => {
    const found = requests.get(order.id) ?? [];
    const find = (says: string) => [{ oracle, resourceId: order.id, says: `${order.family} ${order.id} ${says}` }];
    // After a restore an order gets a new instrument, in addition to the one that its customer had paid.
    if (facts.madeAgain.includes(order.id)) return [];
    if (found.length > 1) return find(`has ${found.length} instruments at the provider`);
    const [request] = found;
    if (request?.status === 'SUCCEEDED' && order.status !== 'PAID') {
      return find(`is ${order.status}, and its instrument at the provider is SUCCEEDED`);
    }
    // Money may arrive between the instrument's expiry and our discovery of it: then it is accepted.
    const covers = ({ amount, status }: { amount: number; status: string }) =>
      status === 'SUCCEEDED' && compareMoney(money(amount), order.total) === 0;
    if (order.status === 'PAID' && !request?.payments.some(covers)) {
      return find('is PAID, but the provider received no such money for it');
    }
    if (isOpenAtProvider(request?.status) && order.status !== 'PENDING' && order.status !== 'WAITING_PAYMENT') {
      return find(`is ${order.status}, but its instrument at the provider still accepts money`);
    }
    if (request !== undefined && compareMoney(money(request.amount), order.total) !== 0) {
      return find(`is of ${order.total}, its instrument of ${request.amount}`);
    }
    return [];
  });
  const known = new Set(facts.orders.map(({ id }) => id));
  const strays = facts.requests.filter(({ reference, isReusable }) => !known.has(reference) && isReusable !== true);
  return [
    ...findings,
    ...strays.map(({ id, reference }) => ({
      oracle,
      resourceId: reference,
      says: `the provider has an instrument ${id} for ${reference}, which is unknown to us`,
    })),
  ];
}

/** Whether a customer can still pay the instrument, by its status at the provider. */
const isOpenAtProvider = (status: string | undefined): boolean => status === 'PENDING' || status === 'REQUIRES_ACTION';

const payoutStatusOf: Record<string, string> = {
  ACCEPTED: 'pending',
  PENDING: 'pending',
  SUCCEEDED: 'succeeded',
  FAILED: 'failed',
  CANCELLED: 'failed',
  REVERSED: 'reversed',
};

/** The steps that a payout must have posted, each once, by its status. */
const stepsOf: Record<string, readonly string[]> = {
  pending: ['reserved'],
  succeeded: ['reserved', 'spent'],
  failed: ['reserved', 'returned'],
  reversed: ['reserved', 'reversed', 'spent'],
};

/** Whether the provider refuses the request: a transfer to an account, or a refund of an amount. */
const isRefused = ({ refusedAccounts }: Facts, { reference, refundOf, net }: PayoutFact): boolean =>
  refundOf === null ? refusedAccounts.includes(reference ?? '') : compareMoney(net, money(refusedRefund)) === 0;

/**
 * A payout has at most one transfer, or refund to its own wallet, of its net, under its own id; both report the same
 * outcome, and so do its journals, which credit the source account on failure.
 */
export function payoutsMatchTransfers(facts: Facts): Finding[] {
  const oracle = 'payouts-match-transfers';
  const posted = Map.groupBy(
    facts.journals.filter(({ businessKey }) => /^(partner-payout|payment-refund|withdrawal)\//.test(businessKey)),
    ({ businessKey }) => businessKey.split('/')[1] ?? '',
  );
  const unposted = facts.payouts.flatMap((payout): Finding[] => {
    const steps = (posted.get(payout.id) ?? []).map(({ businessKey }) => businessKey.split('/')[2] ?? '').sort();
    if (steps.join() === stepsOf[payout.status]?.join()) return [];
    const says = `the payout ${payout.id} is ${payout.status}, and has the postings: ${steps.join(', ') || 'nothing'}`;
    return [{ oracle, resourceId: payout.id, says }];
  });
  const misposted = facts.payouts.flatMap((payout) => {
    const own = posted.get(payout.id) ?? [];
    const takenFrom = own.find(({ businessKey }) => businessKey.endsWith('/reserved'))?.debited.join(', ');
    return own.flatMap(({ businessKey, amount, credited }): Finding[] => {
      const step = businessKey.split('/')[2] ?? '';
      const find = (says: string) => [{ oracle, resourceId: payout.id, says: `the payout ${payout.id} ${says}` }];
      // The bank returns the net; everything else applies to the whole reservation, and a success may have a cost.
      const due = step === 'reversed' ? payout.net : addMoney(payout.net, payout.fee);
      const isRight = step === 'spent' ? compareMoney(amount, due) >= 0 : compareMoney(amount, due) === 0;
      if (!isRight) return find(`of ${payout.net} and a fee of ${payout.fee} was ${step} with ${amount}`);
      const isBack = (step !== 'returned' && step !== 'reversed') || credited.join(', ') === takenFrom;
      return isBack ? [] : find(`took from ${takenFrom}, and was ${step} to ${credited.join(', ') || 'nobody'}`);
    });
  });
  const transfers = Map.groupBy(facts.transfers, ({ reference }) => reference);
  const findings = facts.payouts.flatMap((payout): Finding[] => {
    const found = transfers.get(payout.id) ?? [];
    const find = (says: string) => [{ oracle, resourceId: payout.id, says: `the payout ${payout.id} ${says}` }];
    if (found.length > 1) return find(`has ${found.length} transfers at the provider`);
    const [transfer] = found;
    if (transfer === undefined) {
      // It failed without a transfer only if the provider refused the request, never because the outcome was unknown.
      const mayFail = isRefused(facts, payout) || payout.isDecided;
      const mayBe = payout.status === 'pending' || (payout.status === 'failed' && mayFail);
      return mayBe ? [] : find(`is ${payout.status}, but the provider has no transfer of it`);
    }
    if (compareMoney(money(transfer.amount), payout.net) !== 0) {
      return find(`pays ${payout.net}, its transfer ${transfer.amount}`);
    }
    if (transfer.refundOf !== payout.refundOf) {
      return find(`goes to ${payout.refundOf ?? 'a bank account'}, at the provider to ${transfer.refundOf ?? 'one'}`);
    }
    if (transfer.idempotencyKey !== payout.id) return find(`was sent under the key ${transfer.idempotencyKey}`);
    if (payoutStatusOf[transfer.status] !== payout.status) {
      return find(`is ${payout.status}, its transfer at the provider is ${transfer.status}`);
    }
    return payout.contradicted ? find('is contradicted, although both sides agree') : [];
  });
  const known = new Set(facts.payouts.map(({ id }) => id));
  const strays = facts.transfers.filter(({ reference }) => !known.has(reference));
  return [
    ...findings,
    ...unposted,
    ...misposted,
    ...strays.map(({ id, reference, amount }) => ({
      oracle,
      resourceId: reference,
      says: `the provider made a transfer ${id} of ${amount} for ${reference}, which is unknown to us`,
    })),
  ];
}

/**
 * The sum of all accounts has changed by the money received less the money sent, by the provider's own records, and
 * less what operators recorded as refunded outside.
 */
export function moneyIsConserved({ money: { before, after }, requests, transfers, receipts }: Facts): Finding[] {
  const came = requests.flatMap(({ payments }) => payments.filter(({ status }) => status === 'SUCCEEDED'));
  const went = transfers.filter(({ status }) => status === 'SUCCEEDED');
  const total = (entries: readonly { amount: number }[]) =>
    addMoney('0', ...entries.map(({ amount }) => money(amount)));
  const changed = addMoney(after, negateMoney(before));
  const back = addMoney('0', ...receipts.filter(({ state }) => state === 'refunded').map(({ amount }) => amount));
  const moved = addMoney(total(came), negateMoney(total(went)), negateMoney(back));
  if (compareMoney(changed, moved) === 0) return [];
  const says = `all accounts together changed by ${changed}; at the provider ${total(came)} came in and ${total(went)} went out, and ${back} was refunded`;
  return [{ oracle: 'money-is-conserved', resourceId: null, says }];
}
