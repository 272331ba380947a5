import { must } from '../../src/shared/assert.ts';
import { approval, attempt, journal } from './build-facts.ts';
import type { Facts } from './facts.ts';

const payout = ({ payouts }: Facts, id: string) =>
  must(
    payouts.find((one) => one.id === id),
    `there is a ${id}`,
  );
const transferOf = ({ transfers }: Facts, id: string) =>
  must(
    transfers.find(({ reference }) => reference === id),
    `there is a transfer of ${id}`,
  );
const journalOf = ({ journals }: Facts, key: string) =>
  must(
    journals.find(({ businessKey }) => businessKey === key),
    `there is a journal ${key}`,
  );

/** Adds a paid refund of the payment, without postings. */
function addRefund(facts: Facts, { id, net, refundOf }: { id: string; net: string; refundOf: string | null }): void {
  facts.payouts.push({ ...payout(facts, 'refund-1'), id, net, refundOf });
  facts.refunds.push({ id, paymentId: 'payment-4' });
}

/** Violations by refunds, planted in a healthy run. */
export const plantedRefunds: [oracle: string, violation: string, plant: (facts: Facts) => void, says: string][] = [
  [
    'refunds-stay-within',
    'more of a payment is refunded than was paid',
    (facts) => addRefund(facts, { id: 'refund-3', net: '20001.0000', refundOf: null }),
    'of 50000.0000, 50001.0000 is refunded',
  ],
  [
    'refunds-stay-within',
    'the provider refunds more than was paid, and we record a part of it as failed',
    (facts) => {
      addRefund(facts, { id: 'refund-3', net: '20001.0000', refundOf: null });
      payout(facts, 'refund-3').status = 'failed';
      facts.transfers.push({ ...transferOf(facts, 'refund-1'), id: 'rfd-3', reference: 'refund-3', amount: 20_001 });
    },
    'the provider refunds 50001.0000',
  ],
  [
    'refunds-stay-within',
    'the provider makes a refund to a wallet that we have no record of',
    (facts) => facts.transfers.push({ ...transferOf(facts, 'refund-1'), id: 'rfd-3', reference: 'nobody-1' }),
    'the provider refunds 60000.0000',
  ],
  [
    'refunds-stay-within',
    'an unpaid payment is refunded',
    (facts) => {
      for (const order of facts.orders) if (order.id === 'payment-4') order.status = 'EXPIRED';
    },
    'is EXPIRED, and has 2 refunds',
  ],
  [
    'success-has-one-effect',
    'a refund that was answered with success is lost',
    (facts) => {
      facts.events = facts.events.filter(({ resourceType }) => resourceType !== 'refund');
    },
    'its effects are: nothing',
  ],
  [
    'answers-tell-the-books',
    'a refund is of a payment other than the requested one',
    (facts) => {
      for (const row of facts.made) if (row.id === 'refund-1') row.targets = ['payment-5'];
    },
    'it was requested for payment-4',
  ],
  [
    'payouts-match-transfers',
    'a refund returned by the bank stays with the platform',
    (facts) => {
      journalOf(facts, 'payment-refund/refund-2/reversed').credited = [];
    },
    'was reversed to nobody',
  ],
  [
    'payouts-match-transfers',
    'a failed refund is returned to somebody else',
    (facts) => {
      payout(facts, 'refund-1').status = 'failed';
      facts.journals = facts.journals.filter(({ businessKey }) => businessKey !== 'payment-refund/refund-1/spent');
      const parts = { from: 'account-6', to: 'account-7' };
      facts.journals.push(journal('payment-refund/refund-1/returned', '30000.0000', parts));
    },
    'was returned to account-7',
  ],
  [
    'payouts-match-transfers',
    'a failed refund returns less than it took',
    (facts) => {
      payout(facts, 'refund-1').status = 'failed';
      const parts = { from: 'account-6', to: 'account-5' };
      facts.journals.push(journal('payment-refund/refund-1/returned', '29999.0000', parts));
    },
    'was returned with 29999.0000',
  ],
  [
    'payouts-match-transfers',
    'a refund is sent once more under another reference',
    (facts) => facts.transfers.push({ ...transferOf(facts, 'refund-1'), id: 'rfd-3', reference: 'refund-1-again' }),
    'which is unknown to us',
  ],
  [
    'payouts-match-transfers',
    'a refund is sent under another key',
    (facts) => {
      transferOf(facts, 'refund-1').idempotencyKey = 'another';
    },
    'was sent under the key another',
  ],
  [
    'payouts-match-transfers',
    'a refund goes to a wallet other than the one that paid',
    (facts) => {
      transferOf(facts, 'refund-1').refundOf = 'pr-1';
    },
    'at the provider to pr-1',
  ],
  [
    'payouts-match-transfers',
    'a refund is failed although the provider does not refuse its amount and has no refund',
    (facts) => {
      addRefund(facts, { id: 'refund-3', net: '999999.0000', refundOf: 'pr-2' });
      payout(facts, 'refund-3').status = 'failed';
    },
    'the provider has no transfer of it',
  ],
  [
    'webhooks-arrive',
    'a refund returned by the bank is not reported',
    (facts) => {
      facts.deliveries = facts.deliveries.filter(({ type }) => type !== 'refund.failed');
    },
    'refund-2 became reversed, and 0 webhooks report it',
  ],
  [
    'refused-has-no-effect',
    'a donation is refunded for a refused request',
    (facts) => {
      const requestId = 'r20';
      facts.attempts.push(
        attempt({ operation: 'o20', kind: 'refund-donation', key: null, requestId, status: 400, target: 'donation-1' }),
      );
      facts.events.push({
        requestId,
        event: 'RESOURCE_UPDATED',
        impact: 'MEDIUM',
        resourceType: 'donation',
        resourceId: 'donation-1',
        actorId: null,
        begunAt: 1_400,
        at: 1_500,
      });
    },
    'RESOURCE_UPDATED of donation',
  ],
  [
    'ends-are-kept',
    'a refunded donation is still counted',
    ({ ends }) => {
      for (const end of ends) if (end.kind === 'donation') end.status = 'completed';
    },
    'donation-1 is completed',
  ],
  [
    'statuses-move-by-their-tables',
    'a refunded donation is counted again',
    ({ transitions }) =>
      transitions.push({
        place: 'donations.status',
        id: 'donation-1',
        from: 'refunded',
        to: 'completed',
        at: 6_000,
      }),
    'donations.status of donation-1',
  ],
  [
    'donations-are-given-back',
    'a donation is refunded without a request',
    (facts) => {
      facts.attempts = facts.attempts.filter(({ kind }) => kind !== 'refund-donation');
    },
    'which nobody requested',
  ],
  [
    'donations-are-given-back',
    'a donation is refunded after its donor was refused, without a decision',
    ({ attempts, refundDecisions }) => {
      for (const one of attempts) if (one.kind === 'refund-donation') one.status = 400;
      refundDecisions.push({
        decisionId: 'decision-2',
        donationId: 'donation-1',
        proposedBy: 'person-1',
        approvals: [],
      });
    },
    'which nobody requested',
  ],
  [
    'donations-are-given-back',
    'a donation is recorded as refunded, but no money goes back',
    (facts) => {
      facts.journals = facts.journals.filter(({ businessKey }) => !businessKey.startsWith('donation/'));
    },
    'nothing was paid back',
  ],
  [
    'donations-are-given-back',
    'the money of a donation that was not refunded goes back',
    ({ journals }) => journals.push(journal('donation/donation-2/refunded', '80000.0000')),
    'is completed, but was refunded',
  ],
  [
    'donations-are-given-back',
    'only a part of a donation goes back',
    (facts) => {
      journalOf(facts, 'donation/donation-1/refunded').amount = '6999.0000';
    },
    '6999.0000 was paid back',
  ],
  [
    'donations-are-given-back',
    'a donation goes back to somebody else',
    (facts) => {
      journalOf(facts, 'donation/donation-1/refunded').credited = ['account-9'];
    },
    'went from account-4 to account-9',
  ],
  [
    'donations-are-given-back',
    'a donation goes back from another cause’s account',
    (facts) => {
      journalOf(facts, 'donation/donation-1/refunded').debited = ['account-9'];
    },
    'went from account-9 to account-3',
  ],
  [
    'donations-are-given-back',
    'a decision was carried out, but the donation was not refunded',
    ({ refundDecisions }) =>
      refundDecisions.push({
        decisionId: 'decision-2',
        donationId: 'donation-2',
        proposedBy: 'person-1',
        approvals: [approval({})],
      }),
    'the decision decision-2 was carried out',
  ],
  [
    'donations-are-given-back',
    'a cause’s total includes a refunded donation',
    (facts) => {
      facts.toldAmounts = { 'cause-1': '87000.0000' };
    },
    'reports 87000.0000 as donated',
  ],
];

/** Valid variations, after which the run is still healthy. */
export const rightRefunds: [what: string, make: (facts: Facts) => void][] = [
  [
    'a refund of an amount that the provider refuses, which released its money',
    (facts) => {
      addRefund(facts, { id: 'refund-3', net: '121212.0000', refundOf: 'pr-2' });
      Object.assign(payout(facts, 'refund-3'), { status: 'failed', version: 0 });
      facts.journals.push(
        journal('payment-refund/refund-3/reserved', '121212.0000', { from: 'account-5', to: 'account-6' }),
        journal('payment-refund/refund-3/returned', '121212.0000', { from: 'account-6', to: 'account-5' }),
      );
    },
  ],
  [
    'a donation refunded by two people while its donor was refused',
    ({ attempts, refundDecisions }) => {
      for (const one of attempts) if (one.kind === 'refund-donation') one.status = 400;
      refundDecisions.push({
        decisionId: 'decision-2',
        donationId: 'donation-1',
        proposedBy: 'person-1',
        approvals: [approval({})],
      });
    },
  ],
  [
    'a donor who requests a refund again for a donation that cannot be refunded',
    (facts) => {
      const target = 'donation-2';
      const asked = { kind: 'refund-donation', key: null, status: 400, target } as const;
      facts.attempts.push(
        attempt({ operation: 'o20', requestId: 'r20', ...asked }),
        attempt({ operation: 'o20', requestId: 'r21', ...asked }),
      );
      facts.ends.push({ kind: 'donation', id: target, status: 'completed' });
    },
  ],
];
