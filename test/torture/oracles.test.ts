import { approval, attempt, journal, webhook } from './build-facts.ts';
import type { Facts } from './facts.ts';
import { healthyFacts } from './healthy-facts.ts';
import { judge, oracles } from './oracles/index.ts';
import { plantedAskers, rightAskers } from './planted-askers.ts';
import { plantedDecisions, rightDecisions } from './planted-decisions.ts';
import { plantedEfforts, rightEfforts } from './planted-efforts.ts';
import { plantedGrouped, rightGrouped } from './planted-grouped.ts';
import { plantedGuards, rightGuards } from './planted-guards.ts';
import { plantedRefunds, rightRefunds } from './planted-refunds.ts';

const only = <T>(list: T[]): T => {
  const [first] = list;
  if (first === undefined) throw new Error('the healthy facts have none');
  return first;
};

/** Two people decided that the money in suspense was refunded. */
const decision = (changes: Partial<Facts['decisions'][number]>): Facts['decisions'][number] => ({
  decisionId: 'decision-1',
  receiptId: 'receipt-2',
  action: 'refund',
  accountId: null,
  proposedBy: 'person-1',
  approvals: [approval({})],
  ...changes,
});

/** Violations for each oracle, planted in a healthy world. */
const planted: [oracle: string, violation: string, plant: (facts: Facts) => void, says?: string][] = [
  ...plantedAskers,
  ...plantedDecisions,
  ...plantedEfforts,
  ...plantedRefunds,
  ...plantedGuards,
  ...plantedGrouped,
  [
    'clients-get-through',
    'whatever is asked for is refused',
    ({ attempts }) => {
      for (let number = 0; number < 20; number += 1) {
        attempts.push(
          attempt({
            operation: `t${number}`,
            kind: 'transfer',
            key: null,
            requestId: `t${number}`,
            status: 400,
            resourceId: null,
          }),
        );
      }
    },
  ],
  [
    'effects-were-asked-for',
    'one request makes two payouts',
    ({ asked }) => asked.push({ ...only(asked), id: 'payout-2' }),
    'and the payout payout-2',
  ],
  [
    'ends-are-kept',
    'what was cancelled is not there',
    ({ attempts }) =>
      attempts.push(
        attempt({ operation: 'o9', kind: 'cancel', key: null, requestId: 'r9', status: 200, target: 'order-9' }),
      ),
    'not there',
  ],
  [
    'payments-match-receipts',
    'a receipt is of another amount than was paid, and its journal too',
    ({ receipts, journals }) => {
      only(receipts).amount = '24001.0000';
      only(journals).amount = '24001.0000';
    },
    'its receipt says',
  ],
  [
    'payments-match-receipts',
    'a journal is of another amount than its receipt',
    ({ journals }) => {
      only(journals).amount = '24001.0000';
    },
    'has the journal',
  ],
  [
    'payments-match-receipts',
    'the money of one order has paid another of the same amount',
    ({ receipts, orders, journals }) => {
      only(receipts).appliedTo = 'order-2';
      orders.push({ ...only(orders), id: 'order-2' });
      journals.push({ ...only(journals), businessKey: 'payment-order/order-2/settled' });
    },
    'was applied to order-2',
  ],
  [
    'orders-match-instruments',
    'an instrument asks for another amount than its order',
    ({ requests }) => {
      only(requests).amount = 23_000;
    },
    'its instrument of 23000',
  ],
  [
    'payouts-match-transfers',
    'a payout has succeeded whose transfer has failed',
    ({ transfers }) => {
      only(transfers).status = 'FAILED';
    },
    'its transfer at the provider is FAILED',
  ],
  [
    'payouts-match-transfers',
    'a payout is told as contradicted although both sides say the same',
    ({ payouts }) => {
      only(payouts).contradicted = true;
    },
    'is contradicted',
  ],
  [
    'webhooks-arrive',
    'a webhook arrives with other bytes the second time',
    ({ webhooks }) => {
      const second = only(webhooks.slice(1));
      second.body = second.body.replace('{"type"', '{ "type"');
    },
    'different bodies',
  ],
  [
    'webhooks-arrive',
    'a webhook tells of another event than it was written for',
    ({ webhooks }) => {
      for (const one of webhooks) one.body = one.body.replace('payout.succeeded', 'payout.failed');
    },
    'tells of payout.failed',
  ],
  [
    'workflows-do-not-fail',
    'a workflow runs out of time',
    ({ workflows }) =>
      workflows.push({ id: 'partner-payout/p', runId: 'run-9', type: 'partnerPayout', status: 'TIMED_OUT' }),
    'TIMED_OUT',
  ],
  [
    'decisions-are-kept',
    'money in suspense is noted as given back although nobody approved it',
    ({ receipts, decisions }) => {
      only(receipts.slice(1)).state = 'refunded';
      decisions.push(decision({ approvals: [] }));
    },
    'which no two people have decided',
  ],
  [
    'operators-are-told-exactly',
    'money in suspense is in the web UI and not in the list of the API',
    ({ lists }) => lists.receipts.pop(),
    'one of the two lists',
  ],
  [
    'refused-has-no-effect',
    'a payout that was answered 422 is made all the same',
    ({ events }) => events.push({ ...only(events), requestId: 'r3', resourceId: 'payout-2', at: 8_000 }),
  ],
  [
    'refused-has-no-effect',
    'a refused request leaves an event of something else',
    ({ events }) => events.push({ ...only(events), requestId: 'r3', event: 'RESOURCE_UPDATED', resourceType: 'cause' }),
  ],
  [
    'refused-has-no-effect',
    'what was under way is made after its retry was refused under the same key',
    ({ attempts, events }) => {
      attempts.push(
        attempt({ operation: 'o9', key: 'key-0009', requestId: 'r9', status: null, resourceId: null }),
        attempt({ operation: 'o9', key: 'key-0009', requestId: 'r10', status: 422, sentAt: 3_000, endedAt: 4_000 }),
      );
      events.push({ ...only(events), requestId: 'r9', resourceId: 'payout-2', begunAt: 2_000, at: 5_000 });
    },
  ],
  [
    'refused-has-no-effect',
    'a cancellation that was refused at the door is written down',
    ({ attempts, events }) => {
      attempts.push(attempt({ operation: 'o9', kind: 'cancel', key: null, requestId: 'r9', status: 401 }));
      events.push({ ...only(events), requestId: 'r9', event: 'RESOURCE_UPDATED', resourceType: 'payment_order' });
    },
  ],
  [
    'effects-were-asked-for',
    'a payout is made that no request has asked for',
    ({ asked }) => asked.push({ kind: 'payout', id: 'payout-2', requestId: 'nobody-1' }),
  ],
  [
    'effects-were-asked-for',
    'a payment from a balance names no request',
    ({ asked }) => asked.push({ kind: 'balance payment', id: 'transaction-2', requestId: null }),
  ],
  [
    'ends-are-kept',
    'a payment that was cancelled is paid',
    ({ ends }) => {
      only(ends.slice(1)).status = 'PAID';
    },
  ],
  [
    'ends-are-kept',
    'a payment that was paid before it could be cancelled ends unpaid',
    ({ ends }) => {
      only(ends).status = 'EXPIRED';
    },
  ],
  [
    'ends-are-kept',
    'the cancellation of an open order is refused as if there were none',
    ({ attempts, ends }) => {
      attempts.push(
        attempt({ operation: 'o9', kind: 'cancel', key: null, requestId: 'r9', status: 404, target: 'order-9' }),
      );
      ends.push({ kind: 'order', id: 'order-9', status: 'EXPIRED' });
    },
  ],
  [
    'ends-are-kept',
    'nobody can tell at the end what became of a cancellation',
    ({ attempts, ends }) => {
      attempts.push(
        attempt({ operation: 'o9', kind: 'cancel', key: null, requestId: 'r9', status: 503, target: 'order-9' }),
      );
      ends.push({ kind: 'order', id: 'order-9', status: 'EXPIRED' });
    },
  ],
  [
    'ends-are-kept',
    'the stop of a subscription that runs is refused',
    ({ attempts, ends }) => {
      attempts.push(attempt({ operation: 'o9', kind: 'stop', key: null, requestId: 'r9', status: 400, target: 's-1' }));
      ends.push({ kind: 'subscription', id: 's-1', status: 'active' });
    },
  ],
  [
    'ends-are-kept',
    'a subscription goes on that was stopped',
    ({ attempts, ends }) => {
      attempts.push(attempt({ operation: 'o9', kind: 'stop', key: null, requestId: 'r9', status: 200, target: 's-1' }));
      ends.push({ kind: 'subscription', id: 's-1', status: 'active' });
    },
  ],
  [
    'ends-are-kept',
    'a circle goes on that was cancelled',
    ({ attempts, ends }) => {
      attempts.push(
        attempt({ kind: 'cancel-circle', key: null, requestId: 'r9', operation: 'o9', target: 'circle-1' }),
      );
      ends.push({ kind: 'circle', id: 'circle-1', status: 'active' });
    },
  ],
  [
    'made-is-not-refused',
    'a retry is refused although the first request was done',
    ({ attempts }) => attempts.push(attempt({ requestId: 'r9', status: 422, sentAt: 6_000, resourceId: null })),
  ],
  [
    'success-has-one-effect',
    'a success has had no effect',
    (facts) => {
      facts.events = facts.events.filter(({ requestId }) => requestId !== 'r4');
    },
  ],
  [
    'success-has-one-effect',
    'a success without a key was done twice',
    ({ events }) => events.push({ ...only(events.slice(1)), resourceId: 'order-2' }),
  ],
  [
    'success-has-one-effect',
    'a request without a key that had no answer was done twice',
    ({ attempts, events }) => {
      Object.assign(only(attempts.filter(({ requestId }) => requestId === 'r4')), { status: null, resourceId: null });
      events.push({ ...only(events.slice(1)), resourceId: 'order-2' });
    },
    'was done more than once',
  ],
  [
    'success-has-one-effect',
    'an answer names another resource than was made',
    ({ attempts }) => {
      only(attempts.slice(1)).resourceId = 'payout-9';
    },
  ],
  [
    'key-has-one-resource',
    'a retry under the same key makes a second payout',
    ({ events }) => events.push({ ...only(events), requestId: 'r2', resourceId: 'payout-2' }),
  ],
  [
    'key-has-one-resource',
    'another body under the key of a payout is answered with success',
    ({ attempts }) => attempts.push(attempt({ requestId: 'r9', variant: 'other' })),
  ],
  [
    'replays-are-the-same',
    'a replay has other bytes',
    ({ attempts }) => attempts.push(attempt({ requestId: 'r9', answer: '{"amount":"1"}' })),
  ],
  [
    'asking-tells',
    'nobody can tell at the end what became of a key',
    ({ attempts }) => attempts.push(attempt({ operation: 'o9', key: 'key-0009', requestId: 'r9', status: 503 })),
  ],
  [
    'asking-tells',
    'a key is refused at the door for ever',
    ({ attempts }) => attempts.push(attempt({ operation: 'o9', key: 'key-0009', requestId: 'r9', status: 429 })),
  ],
  ['payments-match-receipts', 'money that the provider took has no receipt', ({ receipts }) => receipts.pop()],
  [
    'payments-match-receipts',
    'money is booked twice',
    ({ receipts }) => receipts.push({ ...only(receipts), id: 'receipt-3' }),
  ],
  [
    'payments-match-receipts',
    'money is booked that nobody paid',
    ({ receipts }) => receipts.push({ ...only(receipts), id: 'receipt-3', providerPaymentId: 'py-3' }),
  ],
  [
    'payments-match-receipts',
    'money is booked in another amount than was paid',
    ({ receipts }) => {
      only(receipts).amount = '24001.0000';
    },
  ],
  [
    'payments-match-receipts',
    'money for one order is applied to another',
    ({ receipts }) => {
      only(receipts).appliedTo = 'order-2';
    },
  ],
  [
    'payments-match-receipts',
    'money in suspense has no journal',
    (facts) => {
      facts.journals = facts.journals.filter(({ businessKey }) => !businessKey.startsWith('receipt/'));
    },
  ],
  [
    'orders-match-instruments',
    'an order has ended, and its customer can still pay it',
    ({ orders, requests }) => {
      orders.push({
        id: 'order-3',
        family: 'payment-order',
        partnerId: null,
        status: 'FAILED',
        total: '1.0000',
        version: 0,
      });
      requests.push({ id: 'pr-3', reference: 'order-3', amount: 1, status: 'REQUIRES_ACTION', payments: [] });
    },
  ],
  [
    'orders-match-instruments',
    'an order that was paid at the provider ends expired',
    ({ orders }) => {
      only(orders).status = 'EXPIRED';
    },
  ],
  [
    'orders-match-instruments',
    'an order is paid that the provider has no money for',
    ({ requests }) => {
      only(requests).payments = [];
    },
  ],
  [
    'orders-match-instruments',
    'an order has two instruments',
    ({ requests }) => requests.push({ ...only(requests), id: 'pr-2', payments: [] }),
  ],
  [
    'orders-match-instruments',
    'there is an instrument for nobody',
    ({ requests }) => requests.push({ ...only(requests), id: 'pr-2', reference: 'order-7', payments: [] }),
  ],
  [
    'payouts-match-transfers',
    'a payout is paid twice',
    ({ transfers }) => transfers.push({ ...only(transfers), id: 'disb-2' }),
  ],
  [
    'payouts-match-transfers',
    'a transfer is made for a payout that there is not',
    ({ transfers }) => transfers.push({ ...only(transfers), id: 'disb-2', reference: 'payout-2' }),
  ],
  [
    'payouts-match-transfers',
    'a transfer is of another amount than its payout',
    ({ transfers }) => {
      only(transfers).amount = 10_001;
    },
  ],
  [
    'payouts-match-transfers',
    'a payout is returned to the partner and paid',
    ({ payouts }) => {
      only(payouts).status = 'failed';
    },
  ],
  ['payouts-match-transfers', 'a payout has succeeded that nobody made', ({ transfers }) => transfers.pop()],
  [
    'payouts-match-transfers',
    'a payout is called failed because nobody could tell',
    ({ payouts, journals }) => {
      only(payouts.slice(1)).status = 'failed';
      journals.push(journal('partner-payout/payout-8/returned', '10000.0000'));
    },
  ],
  [
    'money-lands-where-asked',
    'somebody else has the money of an order',
    ({ journals }) => {
      only(journals).credited = ['account-2'];
    },
  ],
  [
    'money-lands-where-asked',
    'a payment from a balance was taken from another account',
    ({ attempts, journals }) => {
      attempts.push(
        attempt({ operation: 'o9', kind: 'balance', resourceId: 't-9', target: 'goal-1', source: 'account-8' }),
      );
      journals.push({
        businessKey: 'balance-payment/t-9',
        amount: '1.0000',
        credited: ['account-1'],
        debited: ['account-9'],
      });
    },
  ],
  [
    'money-lands-where-asked',
    'a payment that was answered with success has no journal',
    ({ attempts }) =>
      attempts.push(
        attempt({ operation: 'o9', kind: 'transfer', resourceId: 't-9', target: 'account-1', source: 'account-8' }),
      ),
  ],
  [
    'fees-are-as-agreed',
    'a fee is charged twice over',
    ({ made }) => {
      only(made).fee = '5000.0000';
    },
  ],
  [
    'decisions-are-kept',
    'money in suspense is noted as given back, and nobody decided so',
    ({ receipts }) => {
      only(receipts.slice(1)).state = 'refunded';
    },
  ],
  [
    'decisions-are-kept',
    'money in suspense is credited to another account than was decided',
    ({ receipts, decisions }) => {
      Object.assign(only(receipts.slice(1)), { state: 'credited', creditedTo: 'account-2' });
      decisions.push(decision({ action: 'credit', accountId: 'account-1' }));
    },
  ],
  [
    'decisions-are-kept',
    'a decision was told as carried out, and the money waits on',
    ({ decisions }) => decisions.push(decision({})),
  ],
  [
    'payouts-match-transfers',
    'a payout is posted twice',
    ({ journals }) => journals.push(journal('partner-payout/payout-1/spent', '10000.0000')),
  ],
  [
    'payouts-match-transfers',
    'the money of a payout that succeeded was returned as well',
    ({ journals }) => journals.push(journal('partner-payout/payout-1/returned', '10000.0000')),
  ],
  [
    'payouts-match-transfers',
    'a payout was sent under another key',
    ({ transfers }) => {
      only(transfers).idempotencyKey = 'another';
    },
  ],
  [
    'money-is-conserved',
    'a rupiah appears',
    ({ money }) => {
      money.after = '158001.0000';
    },
  ],
  [
    'money-is-conserved',
    'a refund is noted that left no account',
    ({ receipts }) => {
      only(receipts.slice(1)).state = 'refunded';
    },
  ],
  [
    'checks-are-empty',
    'a check has a row',
    ({ checks }) => {
      only(checks).violations = 1;
    },
  ],
  [
    'statuses-move-by-their-tables',
    'a payout that failed succeeds',
    ({ transitions }) => transitions.push({ ...only(transitions), from: 'failed', to: 'succeeded' }),
  ],
  [
    'statuses-move-by-their-tables',
    'an order that is paid is open again, which no table of the product is asked about',
    ({ transitions }) =>
      transitions.push({ ...only(transitions), place: 'payment_orders.status', from: 'PAID', to: 'EXPIRED' }),
  ],
  [
    'statuses-move-by-their-tables',
    'a payout begins as succeeded',
    ({ transitions }) => transitions.push({ ...only(transitions), from: null, to: 'succeeded' }),
  ],
  ['webhooks-arrive', 'a webhook never arrives', ({ webhooks }) => webhooks.splice(0)],
  [
    'webhooks-arrive',
    'a webhook arrives with two bodies under one id',
    ({ webhooks }) => {
      only(webhooks).body = '{}';
    },
  ],
  [
    'webhooks-arrive',
    'a webhook tells of an end that there was not',
    (facts) => {
      only(facts.deliveries).type = 'payout.failed';
      facts.webhooks = [webhook({ type: 'payout.failed' })];
    },
  ],
  [
    'webhooks-arrive',
    'a webhook tells of something else than it was written for',
    (facts) => {
      facts.webhooks = [webhook({ id: 'payout-2' })];
    },
  ],
  [
    'webhooks-arrive',
    'a webhook tells of another amount',
    (facts) => {
      facts.webhooks = [webhook({ amount: '1.0000' })];
    },
  ],
  [
    'webhooks-arrive',
    'a webhook is signed for another partner',
    (facts) => {
      facts.webhooks = [webhook({ signedBy: 'partner-2' })];
    },
  ],
  [
    'webhooks-arrive',
    'a webhook has a signature of nobody',
    ({ webhooks }) => {
      only(webhooks).signedBy = null;
    },
  ],
  [
    'webhooks-arrive',
    'an end is told to nobody, and its version does not say so',
    (facts) => {
      only(facts.payouts).version = 0;
      facts.deliveries = [];
      facts.webhooks = [];
    },
  ],
  [
    'webhooks-arrive',
    'a webhook arrives that nobody has written',
    ({ webhooks }) => webhooks.push({ ...only(webhooks), id: 'msg_of_nobody' }),
  ],
  [
    'webhooks-arrive',
    'a version is told to nobody',
    ({ payouts }) => {
      only(payouts).version = 2;
    },
  ],
  [
    'providers-refusal-is-kept',
    'what the provider refused is done when it is asked for again',
    ({ attempts }) => {
      Object.assign(only(attempts), { status: 502 });
    },
  ],
  [
    'answers-tell-the-books',
    'an answer names what is not there',
    (facts) => {
      facts.made = facts.made.filter(({ id }) => id !== 'order-1');
    },
  ],
  [
    'answers-tell-the-books',
    'less was written than was asked for',
    ({ made }) => {
      only(made).asked = '9999.0000';
    },
  ],
  [
    'answers-tell-the-books',
    'an answer tells of another amount than was written',
    ({ attempts }) => {
      only(attempts.slice(1)).answer = '{"data":{"amount":"10001.0000"}}';
    },
  ],
  [
    'answers-tell-the-books',
    'it was written for something else than was asked',
    ({ made }) => {
      only(made).targets = ['invoice-2'];
    },
  ],
  ['rows-and-workflows-match', 'a row waits without a workflow', ({ workflows }) => workflows.shift()],
  ['rows-and-workflows-match', 'a workflow runs without a row that waits', ({ waiting }) => waiting.pop()],
  [
    'rows-and-workflows-match',
    'no sweep has brought back a workflow that the plan ended',
    (facts) => {
      facts.workflows = facts.workflows.filter(({ type }) => type !== 'partnerPayout');
      facts.takenWorkflows = ['partner-payout/payout-8'];
    },
  ],
  [
    'rows-and-workflows-match',
    'what is due in weeks has lost its workflow, and no fault has taken that',
    (facts) => {
      facts.workflows = facts.workflows.filter(({ type }) => type !== 'donationSubscription');
    },
  ],
  [
    'workflows-do-not-fail',
    'a workflow fails',
    ({ workflows }) =>
      workflows.push({ id: 'partner-payout/p', runId: 'run-9', type: 'partnerPayout', status: 'FAILED' }),
  ],
  [
    'workflows-do-not-fail',
    'a workflow is terminated, and not by the plan',
    ({ workflows }) =>
      workflows.push({ id: 'partner-payout/p', runId: 'run-9', type: 'partnerPayout', status: 'TERMINATED' }),
  ],
  [
    'workflows-do-not-fail',
    'a workflow of money ends because somebody asked for its cancellation',
    ({ workflows }) =>
      workflows.push({ id: 'partner-payout/p', runId: 'run-9', type: 'partnerPayout', status: 'CANCELLED' }),
  ],
  ['operators-are-told-exactly', "money that is nobody's is in no list", ({ lists }) => lists.suspense.pop()],
  [
    'operators-are-told-exactly',
    'money that an order has taken is listed for operators',
    ({ lists }) => lists.suspense.push('receipt-1'),
  ],
  [
    'operators-are-told-exactly',
    'a case is listed of money that there is not',
    ({ lists }) => lists.suspense.push('receipt-9'),
  ],
  ['operators-are-told-exactly', 'a payout that nobody can tell is in no list', ({ lists }) => lists.stuck.pop()],
  [
    'operators-are-told-exactly',
    'a payout that has ended is listed as stuck',
    ({ lists }) => lists.stuck.push({ id: 'payout-1', reason: 'contradicted' }),
  ],
  [
    'operators-are-told-exactly',
    'a payment waits for operators although nothing made that necessary',
    ({ lists }) => lists.searched.push('gateway-payment/order-1'),
  ],
  ['operators-are-told-exactly', 'a webhook is given up', ({ lists }) => lists.parked.push('delivery-1')],
  [
    'operators-are-told-exactly',
    'a list of what is late has a row',
    ({ lists }) => {
      lists.waiting = lists.waiting.map((kind) => (kind.what === 'overdue_payouts' ? { ...kind, rows: 1 } : kind));
    },
  ],
  [
    'operators-are-told-exactly',
    'fewer cases are counted than there are',
    ({ lists }) => {
      only(lists.waiting.slice(1)).rows = 0;
    },
  ],
  [
    'times-are-true',
    'a row tells of an instant that has not come yet',
    ({ instants }) => {
      only(instants).latest = 10_001;
    },
  ],
  [
    'times-are-true',
    'a row tells of an instant before everything began',
    ({ instants }) => {
      only(instants).earliest = -1;
    },
  ],
  [
    'ends-are-kept',
    'a goal that was released is open',
    ({ attempts, ends }) => {
      attempts.push(
        attempt({ operation: 'o9', kind: 'release', key: null, requestId: 'r9', status: 200, target: 'goal-1' }),
      );
      ends.push({ kind: 'goal', id: 'goal-1', status: 'open' });
    },
    'is open',
  ],
  [
    'payouts-match-transfers',
    'the fee of what the bank returned is given back, too',
    ({ journals }) => {
      for (const one of journals) if (one.businessKey.endsWith('/reversed')) one.amount = '72500.0000';
    },
    'was reversed with 72500.0000',
  ],
  [
    'withdrawals-stay-within',
    'somebody withdraws more than a day’s limit',
    ({ withdrawals }) =>
      withdrawals.push({ id: 'withdrawal-2', userId: 'user-1', causeId: null, amount: '250001.0000', waits: false }),
    'has withdrawn 250001.0000',
  ],
  [
    'withdrawals-stay-within',
    'more of a cause is disbursed than it was given',
    ({ withdrawals }) =>
      withdrawals.push({
        id: 'withdrawal-2',
        userId: 'user-1',
        causeId: 'cause-1',
        amount: '77501.0000',
        waits: false,
      }),
    'was given 80000.0000',
  ],
  [
    'disbursements-are-approved',
    'a disbursement is sent that one person approved, twice',
    ({ verdicts }) => {
      for (const verdict of verdicts) verdict.by = 'person-1';
    },
    '1 people have approved it',
  ],
  [
    'disbursements-are-approved',
    'a disbursement that was rejected is sent',
    ({ verdicts }) =>
      verdicts.push({
        withdrawalId: 'withdrawal-1',
        verdict: 'reject',
        ...approval({ by: 'person-3', told: 'rejected' }),
      }),
    'was rejected',
  ],
  ['parts-live', 'a process ends by itself', ({ died }) => died.push('api1 ended by itself (code 1)')],
  [
    'comes-to-rest',
    'a payout is open although the provider has ended it',
    ({ restless }) => restless.push({ what: 'payout', id: 'payout-1', status: 'pending' }),
  ],
];

it('No oracle reports a violation in a healthy world', () => {
  expect(judge(healthyFacts())).toEqual([]);
});

it('No oracle overlooks money that an operator refunded', () => {
  const facts = healthyFacts();
  only(facts.receipts.slice(1)).state = 'refunded';
  facts.decisions.push(decision({}));
  facts.money.after = '134000.0000';
  facts.lists.suspense = [];
  facts.lists.receipts = [];
  facts.lists.waiting = facts.lists.waiting.filter(({ what }) => what !== 'suspended_receipts');
  expect(judge(facts)).toEqual([]);
});

it.each([...rightAskers, ...rightDecisions, ...rightEfforts, ...rightRefunds, ...rightGuards, ...rightGrouped])(
  'No oracle reports a violation in %s',
  (_, make) => {
    const facts = healthyFacts();
    make(facts);
    expect(judge(facts)).toEqual([]);
  },
);

it.each(planted)('The oracle %s reports that %s', (oracle, _, plant, says = '') => {
  const facts = healthyFacts();
  plant(facts);
  const found = judge(facts).filter((finding) => finding.oracle === oracle);
  expect(found).toContainEqual(expect.objectContaining({ says: expect.stringContaining(says) }));
});

it('Every oracle has a planted violation', () => {
  expect([...new Set(planted.map(([oracle]) => oracle))].sort()).toEqual(Object.keys(oracles).sort());
});
