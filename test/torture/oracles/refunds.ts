import { addMoney, compareMoney, formatMoney, type Money } from '../../../src/shared/money.ts';
import type { Facts, Finding } from '../facts.ts';
import { isRefusal } from './answers.ts';
import { isCarriedOut, mayBeApproved } from './landing.ts';

const total = (amounts: readonly Money[]): Money => addMoney('0', ...amounts);

/** Statuses of refunds in flight or paid: ours, and the provider's. */
const standing = new Set(['pending', 'succeeded']);
const standingAtProvider = new Set(['PENDING', 'ACCEPTED', 'SUCCEEDED']);

/** No more of a payment is refunded than was paid, in our books and at the provider. */
export function refundsStayWithin({ refunds, payouts, orders, requests, transfers }: Facts): Finding[] {
  const oracle = 'refunds-stay-within';
  return [...Map.groupBy(refunds, ({ paymentId }) => paymentId)].flatMap(([paymentId, own]): Finding[] => {
    const ids = new Set(own.map(({ id }) => id));
    const find = (says: string) => [{ oracle, resourceId: own.at(-1)?.id ?? paymentId, says }];
    const payment = orders.find(({ id, family }) => id === paymentId && family === 'partner-payment');
    if (payment?.status !== 'PAID') {
      return find(`the payment ${paymentId} is ${payment?.status ?? 'missing'}, and has ${own.length} refunds`);
    }
    const ours = total(payouts.filter(({ id, status }) => ids.has(id) && standing.has(status)).map(({ net }) => net));
    // Including refunds to its wallet under a reference that we do not know.
    const paidBy = new Set(requests.filter(({ reference }) => reference === paymentId).map(({ id }) => id));
    const theirs = total(
      transfers
        .filter(({ status }) => standingAtProvider.has(status))
        .filter(({ reference, refundOf }) => ids.has(reference) || (refundOf !== null && paidBy.has(refundOf)))
        .map(({ amount }) => formatMoney(String(amount))),
    );
    return [
      ...(compareMoney(ours, payment.total) > 0
        ? find(`of the payment ${paymentId} of ${payment.total}, ${ours} is refunded`)
        : []),
      ...(compareMoney(theirs, payment.total) > 0
        ? find(`of the payment ${paymentId} of ${payment.total}, the provider refunds ${theirs}`)
        : []),
    ];
  });
}

/**
 * A donation is refunded if its donor or two people requested it: once, in full, from the account that holds it to the
 * account that paid it; and a cause's donated total excludes it.
 */
export function donationsAreGivenBack(facts: Facts): Finding[] {
  const oracle = 'donations-are-given-back';
  const { donations, journals, refundDecisions, toldAmounts } = facts;
  const posted = new Map(journals.map((journal) => [journal.businessKey, journal]));
  const asked = askedBack(facts);
  const wrong = donations.flatMap(({ id, amount, status, backTo, heldBy }): Finding[] => {
    const find = (says: string) => [{ oracle, resourceId: id, says: `the donation ${id} ${says}` }];
    const journal = posted.get(`donation/${id}/refunded`);
    if (status !== 'refunded') return journal === undefined ? [] : find(`is ${status}, but was refunded`);
    if (journal === undefined) return find('is refunded, but nothing was paid back');
    if (!asked.has(id)) return find('is refunded, which nobody requested successfully');
    if (compareMoney(journal.amount, amount) !== 0)
      return find(`has an amount of ${amount}, and ${journal.amount} was paid back`);
    const [credited, debited] = [journal.credited.join(', '), journal.debited.join(', ')];
    if (credited === backTo && debited === heldBy) return [];
    return find(`should go back from ${heldBy} to ${backTo}, and went from ${debited} to ${credited}`);
  });
  const statusOf = new Map(donations.map(({ id, status }) => [id, status]));
  const unkept = refundDecisions
    .filter((decision) => isCarriedOut(decision) && statusOf.get(decision.donationId) !== 'refunded')
    .map(({ decisionId, donationId }) => ({
      oracle,
      resourceId: donationId,
      says: `the decision ${decisionId} was carried out, but the donation ${donationId} is ${statusOf.get(donationId)}`,
    }));
  const misTold = Object.entries(toldAmounts).flatMap(([causeId, told]): Finding[] => {
    const given = donations.filter((donation) => donation.causeId === causeId && donation.status === 'completed');
    const sum = total(given.map(({ amount }) => amount));
    if (compareMoney(sum, told) === 0) return [];
    const says = `the cause ${causeId} reports ${told} as donated, and has ${sum} without refunds`;
    return [{ oracle, resourceId: causeId, says }];
  });
  return [...wrong, ...unkept, ...misTold];
}

/** Donations that may have been refunded: a request was not refused, or a decision was approved. */
function askedBack({ attempts, refundDecisions }: Facts): Set<string | null> {
  return new Set([
    ...attempts
      .filter((attempt) => attempt.kind === 'refund-donation' && !isRefusal(attempt))
      .map(({ target }) => target),
    ...refundDecisions.filter(mayBeApproved).map(({ donationId }) => donationId),
  ]);
}
