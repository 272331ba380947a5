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

/** A decision by two people to refund the money in suspense. */
const decision = (changes: Partial<Facts['decisions'][number]>): Facts['decisions'][number] => ({
  decisionId: 'decision-1',
  receiptId: 'receipt-2',
  action: 'refund',
  accountId: null,
  proposedBy: 'person-1',
  approvals: [approval({})],
  ...changes,
});

/** Violations for each oracle, planted in a healthy run. */
const planted: [oracle: string, violation: string, plant: (facts: Facts) => void, says?: string][] = [
  ...plantedAskers,
  ...plantedDecisions,
  ...plantedEfforts,
  ...plantedRefunds,
  ...plantedGuards,
  ...plantedGrouped,
  [
    'clients-get-through',
    'every request is refused',
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
    'one request creates two payouts',
    ({ asked }) => asked.push({ ...only(asked), id: 'payout-2' }),
    'and the payout payout-2',
  ],
  [
    'ends-are-kept',
    'a cancelled resource does not exist',
    ({ attempts }) =>
      attempts.push(
        attempt({ operation: 'o9', kind: 'cancel', key: null, requestId: 'r9', status: 200, target: 'order-9' }),
      ),
    'is missing',
  ],
  [
    'payments-match-receipts',
    'a receipt and its journal have a different amount from the payment',
    ({ receipts, journals }) => {
      only(receipts).amount = '24001.0000';
      only(journals).amount = '24001.0000';
    },
    'its receipt has',
  ],
  [
    'payments-match-receipts',
    'a journal has a different amount from its receipt',
    ({ journals }) => {
      only(journals).amount = '24001.0000';
    },
    'has the journal',
  ],
  [
    'payments-match-receipts',
    'the money for one order was applied to another of the same amount',
    ({ receipts, orders, journals }) => {
      only(receipts).appliedTo = 'order-2';
      orders.push({ ...only(orders), id: 'order-2' });
      journals.push({ ...only(journals), businessKey: 'payment-order/order-2/settled' });
    },
    'was applied to order-2',
  ],
  [
    'orders-match-instruments',
    'an instrument has a different amount from its order',
    ({ requests }) => {
      only(requests).amount = 23_000;
    },
    'its instrument of 23000',
  ],
  [
    'payouts-match-transfers',
    'a payout succeeded although its transfer failed',
    ({ transfers }) => {
      only(transfers).status = 'FAILED';
    },
    'its transfer at the provider is FAILED',
  ],
  [
    'payouts-match-transfers',
    'a payout is contradicted although both sides agree',
    ({ payouts }) => {
      only(payouts).contradicted = true;
    },
    'is contradicted',
  ],
  [
    'webhooks-arrive',
    'a webhook is resent with a different body',
    ({ webhooks }) => {
      const second = only(webhooks.slice(1));
      second.body = second.body.replace('{"type"', '{ "type"');
    },
    'different bodies',
  ],
  [
    'webhooks-arrive',
    'a webhook reports a different event from the one it was written for',
    ({ webhooks }) => {
      for (const one of webhooks) one.body = one.body.replace('payout.succeeded', 'payout.failed');
    },
    'reports payout.failed',
  ],
  [
    'workflows-do-not-fail',
    'a workflow times out',
    ({ workflows }) =>
      workflows.push({ id: 'partner-payout/p', runId: 'run-9', type: 'partnerPayout', status: 'TIMED_OUT' }),
    'TIMED_OUT',
  ],
  [
    'decisions-are-kept',
    'money in suspense is recorded as refunded although nobody approved it',
    ({ receipts, decisions }) => {
      only(receipts.slice(1)).state = 'refunded';
      decisions.push(decision({ approvals: [] }));
    },
    'without a decision by two people',
  ],
  [
    'operators-are-told-exactly',
    'money in suspense is in the web UI but not in the API’s list',
    ({ lists }) => lists.receipts.pop(),
    'only one of the two lists',
  ],
  [
    'refused-has-no-effect',
    'a payout answered with 422 is created anyway',
    ({ events }) => events.push({ ...only(events), requestId: 'r3', resourceId: 'payout-2', at: 8_000 }),
  ],
  [
    'refused-has-no-effect',
    'a refused request leaves an event of another resource',
    ({ events }) => events.push({ ...only(events), requestId: 'r3', event: 'RESOURCE_UPDATED', resourceType: 'cause' }),
  ],
  [
    'refused-has-no-effect',
    'a resource is created after the retry was refused under the same key',
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
    'a cancellation rejected before processing leaves an event',
    ({ attempts, events }) => {
      attempts.push(attempt({ operation: 'o9', kind: 'cancel', key: null, requestId: 'r9', status: 401 }));
      events.push({ ...only(events), requestId: 'r9', event: 'RESOURCE_UPDATED', resourceType: 'payment_order' });
    },
  ],
  [
    'effects-were-asked-for',
    'a payout is created without a request',
    ({ asked }) => asked.push({ kind: 'payout', id: 'payout-2', requestId: 'nobody-1' }),
  ],
  [
    'effects-were-asked-for',
    'a payment from a balance names no request',
    ({ asked }) => asked.push({ kind: 'balance payment', id: 'transaction-2', requestId: null }),
  ],
  [
    'ends-are-kept',
    'a cancelled payment is paid',
    ({ ends }) => {
      only(ends.slice(1)).status = 'PAID';
    },
  ],
  [
    'ends-are-kept',
    'a payment that was paid before it could be cancelled expires',
    ({ ends }) => {
      only(ends).status = 'EXPIRED';
    },
  ],
  [
    'ends-are-kept',
    'the cancellation of an open order is refused as not found',
    ({ attempts, ends }) => {
      attempts.push(
        attempt({ operation: 'o9', kind: 'cancel', key: null, requestId: 'r9', status: 404, target: 'order-9' }),
      );
      ends.push({ kind: 'order', id: 'order-9', status: 'EXPIRED' });
    },
  ],
  [
    'ends-are-kept',
    'the outcome of a cancellation stays unknown',
    ({ attempts, ends }) => {
      attempts.push(
        attempt({ operation: 'o9', kind: 'cancel', key: null, requestId: 'r9', status: 503, target: 'order-9' }),
      );
      ends.push({ kind: 'order', id: 'order-9', status: 'EXPIRED' });
    },
  ],
  [
    'ends-are-kept',
    'stopping an active subscription is refused',
    ({ attempts, ends }) => {
      attempts.push(attempt({ operation: 'o9', kind: 'stop', key: null, requestId: 'r9', status: 400, target: 's-1' }));
      ends.push({ kind: 'subscription', id: 's-1', status: 'active' });
    },
  ],
  [
    'ends-are-kept',
    'a stopped subscription continues',
    ({ attempts, ends }) => {
      attempts.push(attempt({ operation: 'o9', kind: 'stop', key: null, requestId: 'r9', status: 200, target: 's-1' }));
      ends.push({ kind: 'subscription', id: 's-1', status: 'active' });
    },
  ],
  [
    'ends-are-kept',
    'a cancelled circle continues',
    ({ attempts, ends }) => {
      attempts.push(
        attempt({ kind: 'cancel-circle', key: null, requestId: 'r9', operation: 'o9', target: 'circle-1' }),
      );
      ends.push({ kind: 'circle', id: 'circle-1', status: 'active' });
    },
  ],
  [
    'made-is-not-refused',
    'a retry is refused although the first request succeeded',
    ({ attempts }) => attempts.push(attempt({ requestId: 'r9', status: 422, sentAt: 6_000, resourceId: null })),
  ],
  [
    'success-has-one-effect',
    'a success had no effect',
    (facts) => {
      facts.events = facts.events.filter(({ requestId }) => requestId !== 'r4');
    },
  ],
  [
    'success-has-one-effect',
    'a successful request without a key was executed twice',
    ({ events }) => events.push({ ...only(events.slice(1)), resourceId: 'order-2' }),
  ],
  [
    'success-has-one-effect',
    'an unanswered request without a key was executed twice',
    ({ attempts, events }) => {
      Object.assign(only(attempts.filter(({ requestId }) => requestId === 'r4')), { status: null, resourceId: null });
      events.push({ ...only(events.slice(1)), resourceId: 'order-2' });
    },
    'was done more than once',
  ],
  [
    'success-has-one-effect',
    'an answer names a different resource from the created one',
    ({ attempts }) => {
      only(attempts.slice(1)).resourceId = 'payout-9';
    },
  ],
  [
    'key-has-one-resource',
    'a retry under the same key creates a second payout',
    ({ events }) => events.push({ ...only(events), requestId: 'r2', resourceId: 'payout-2' }),
  ],
  [
    'key-has-one-resource',
    'another body under the key of a payout is answered with success',
    ({ attempts }) => attempts.push(attempt({ requestId: 'r9', variant: 'other' })),
  ],
  [
    'replays-are-the-same',
    'a replayed answer differs from the first',
    ({ attempts }) => attempts.push(attempt({ requestId: 'r9', answer: '{"amount":"1"}' })),
  ],
  [
    'asking-tells',
    'the outcome of a key stays unknown',
    ({ attempts }) => attempts.push(attempt({ operation: 'o9', key: 'key-0009', requestId: 'r9', status: 503 })),
  ],
  [
    'asking-tells',
    'a key is rejected before processing forever',
    ({ attempts }) => attempts.push(attempt({ operation: 'o9', key: 'key-0009', requestId: 'r9', status: 429 })),
  ],
  ['payments-match-receipts', 'money that the provider received has no receipt', ({ receipts }) => receipts.pop()],
  [
    'payments-match-receipts',
    'money is posted twice',
    ({ receipts }) => receipts.push({ ...only(receipts), id: 'receipt-3' }),
  ],
  [
    'payments-match-receipts',
    'money that nobody paid is posted',
    ({ receipts }) => receipts.push({ ...only(receipts), id: 'receipt-3', providerPaymentId: 'py-3' }),
  ],
  [
    'payments-match-receipts',
    'money is posted with a different amount from the payment',
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
    'an order is final, but its customer can still pay it',
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
    'an order paid at the provider expires',
    ({ orders }) => {
      only(orders).status = 'EXPIRED';
    },
  ],
  [
    'orders-match-instruments',
    'an order is PAID without money at the provider',
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
    'an instrument has no order',
    ({ requests }) => requests.push({ ...only(requests), id: 'pr-2', reference: 'order-7', payments: [] }),
  ],
  [
    'payouts-match-transfers',
    'a payout is paid twice',
    ({ transfers }) => transfers.push({ ...only(transfers), id: 'disb-2' }),
  ],
  [
    'payouts-match-transfers',
    'a transfer exists without a payout',
    ({ transfers }) => transfers.push({ ...only(transfers), id: 'disb-2', reference: 'payout-2' }),
  ],
  [
    'payouts-match-transfers',
    'a transfer has a different amount from its payout',
    ({ transfers }) => {
      only(transfers).amount = 10_001;
    },
  ],
  [
    'payouts-match-transfers',
    'a payout is both returned to the partner and paid',
    ({ payouts }) => {
      only(payouts).status = 'failed';
    },
  ],
  ['payouts-match-transfers', 'a payout succeeded without a transfer', ({ transfers }) => transfers.pop()],
  [
    'payouts-match-transfers',
    'a payout with an unknown outcome is recorded as failed',
    ({ payouts, journals }) => {
      only(payouts.slice(1)).status = 'failed';
      journals.push(journal('partner-payout/payout-8/returned', '10000.0000'));
    },
  ],
  [
    'money-lands-where-asked',
    'the money of an order is credited to somebody else',
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
    'a fee is charged twice',
    ({ made }) => {
      only(made).fee = '5000.0000';
    },
  ],
  [
    'decisions-are-kept',
    'money in suspense is recorded as refunded without a decision',
    ({ receipts }) => {
      only(receipts.slice(1)).state = 'refunded';
    },
  ],
  [
    'decisions-are-kept',
    'money in suspense is credited to an account other than the decided one',
    ({ receipts, decisions }) => {
      Object.assign(only(receipts.slice(1)), { state: 'credited', creditedTo: 'account-2' });
      decisions.push(decision({ action: 'credit', accountId: 'account-1' }));
    },
  ],
  [
    'decisions-are-kept',
    'a decision is reported as carried out although the money is still in suspense',
    ({ decisions }) => decisions.push(decision({})),
  ],
  [
    'payouts-match-transfers',
    'a payout is posted twice',
    ({ journals }) => journals.push(journal('partner-payout/payout-1/spent', '10000.0000')),
  ],
  [
    'payouts-match-transfers',
    'the money of a successful payout is returned as well',
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
    'a recorded refund debited no account',
    ({ receipts }) => {
      only(receipts.slice(1)).state = 'refunded';
    },
  ],
  [
    'checks-are-empty',
    'a ledger check finds a violation',
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
    'a paid order expires, as only the recorded transitions show',
    ({ transitions }) =>
      transitions.push({ ...only(transitions), place: 'payment_orders.status', from: 'PAID', to: 'EXPIRED' }),
  ],
  [
    'statuses-move-by-their-tables',
    'a payout starts as succeeded',
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
    'a webhook reports a final status that was never reached',
    (facts) => {
      only(facts.deliveries).type = 'payout.failed';
      facts.webhooks = [webhook({ type: 'payout.failed' })];
    },
  ],
  [
    'webhooks-arrive',
    'a webhook reports a different resource from the one it was written for',
    (facts) => {
      facts.webhooks = [webhook({ id: 'payout-2' })];
    },
  ],
  [
    'webhooks-arrive',
    'a webhook reports another amount',
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
    'a webhook has an unknown signature',
    ({ webhooks }) => {
      only(webhooks).signedBy = null;
    },
  ],
  [
    'webhooks-arrive',
    'a final status is not reported, and its version hides it',
    (facts) => {
      only(facts.payouts).version = 0;
      facts.deliveries = [];
      facts.webhooks = [];
    },
  ],
  [
    'webhooks-arrive',
    'a webhook arrives without a row',
    ({ webhooks }) => webhooks.push({ ...only(webhooks), id: 'msg_of_nobody' }),
  ],
  [
    'webhooks-arrive',
    'a version is never reported',
    ({ payouts }) => {
      only(payouts).version = 2;
    },
  ],
  [
    'providers-refusal-is-kept',
    'a request that the provider refused is executed on a retry',
    ({ attempts }) => {
      Object.assign(only(attempts), { status: 502 });
    },
  ],
  [
    'answers-tell-the-books',
    'an answer names a missing resource',
    (facts) => {
      facts.made = facts.made.filter(({ id }) => id !== 'order-1');
    },
  ],
  [
    'answers-tell-the-books',
    'the recorded amount is less than requested',
    ({ made }) => {
      only(made).asked = '9999.0000';
    },
  ],
  [
    'answers-tell-the-books',
    'an answer reports a different amount from the recorded one',
    ({ attempts }) => {
      only(attempts.slice(1)).answer = '{"data":{"amount":"10001.0000"}}';
    },
  ],
  [
    'answers-tell-the-books',
    'the recorded target is not the requested one',
    ({ made }) => {
      only(made).targets = ['invoice-2'];
    },
  ],
  ['rows-and-workflows-match', 'a row waits without a workflow', ({ workflows }) => workflows.shift()],
  ['rows-and-workflows-match', 'a workflow runs without a row that waits', ({ waiting }) => waiting.pop()],
  [
    'rows-and-workflows-match',
    'no sweep restarted a workflow that the plan terminated',
    (facts) => {
      facts.workflows = facts.workflows.filter(({ type }) => type !== 'partnerPayout');
      facts.takenWorkflows = ['partner-payout/payout-8'];
    },
  ],
  [
    'rows-and-workflows-match',
    'a row due in weeks has lost its workflow without a fault',
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
    'a workflow is terminated by something other than the plan',
    ({ workflows }) =>
      workflows.push({ id: 'partner-payout/p', runId: 'run-9', type: 'partnerPayout', status: 'TERMINATED' }),
  ],
  [
    'workflows-do-not-fail',
    'a workflow that handles money stops because its cancellation was requested',
    ({ workflows }) =>
      workflows.push({ id: 'partner-payout/p', runId: 'run-9', type: 'partnerPayout', status: 'CANCELLED' }),
  ],
  ['operators-are-told-exactly', 'unmatched money is in no list', ({ lists }) => lists.suspense.pop()],
  [
    'operators-are-told-exactly',
    'money that was applied to an order is listed for operators',
    ({ lists }) => lists.suspense.push('receipt-1'),
  ],
  ['operators-are-told-exactly', 'a case is listed without money', ({ lists }) => lists.suspense.push('receipt-9')],
  ['operators-are-told-exactly', 'a payout with an unknown outcome is in no list', ({ lists }) => lists.stuck.pop()],
  [
    'operators-are-told-exactly',
    'a final payout is listed as stuck',
    ({ lists }) => lists.stuck.push({ id: 'payout-1', reason: 'contradicted' }),
  ],
  [
    'operators-are-told-exactly',
    'a payment waits for operators without need',
    ({ lists }) => lists.searched.push('gateway-payment/order-1'),
  ],
  ['operators-are-told-exactly', 'a webhook is parked', ({ lists }) => lists.parked.push('delivery-1')],
  [
    'operators-are-told-exactly',
    'a list of late rows is not empty',
    ({ lists }) => {
      lists.waiting = lists.waiting.map((kind) => (kind.what === 'overdue_payouts' ? { ...kind, rows: 1 } : kind));
    },
  ],
  [
    'operators-are-told-exactly',
    'the count of cases is too low',
    ({ lists }) => {
      only(lists.waiting.slice(1)).rows = 0;
    },
  ],
  [
    'times-are-true',
    'a row has an instant in the future',
    ({ instants }) => {
      only(instants).latest = 10_001;
    },
  ],
  [
    'times-are-true',
    'a row has an instant before the run began',
    ({ instants }) => {
      only(instants).earliest = -1;
    },
  ],
  [
    'ends-are-kept',
    'a released goal is open',
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
    'the fee of a payout that the bank returned is also refunded',
    ({ journals }) => {
      for (const one of journals) if (one.businessKey.endsWith('/reversed')) one.amount = '72500.0000';
    },
    'was reversed with 72500.0000',
  ],
  [
    'withdrawals-stay-within',
    'a user withdraws more than a day’s limit',
    ({ withdrawals }) =>
      withdrawals.push({ id: 'withdrawal-2', userId: 'user-1', causeId: null, amount: '250001.0000', waits: false }),
    'has withdrawn 250001.0000',
  ],
  [
    'withdrawals-stay-within',
    'more is disbursed from a cause than was donated',
    ({ withdrawals }) =>
      withdrawals.push({
        id: 'withdrawal-2',
        userId: 'user-1',
        causeId: 'cause-1',
        amount: '77501.0000',
        waits: false,
      }),
    'received 80000.0000',
  ],
  [
    'disbursements-are-approved',
    'a disbursement is sent that one person approved twice',
    ({ verdicts }) => {
      for (const verdict of verdicts) verdict.by = 'person-1';
    },
    'approved by 1',
  ],
  [
    'disbursements-are-approved',
    'a rejected disbursement is sent',
    ({ verdicts }) =>
      verdicts.push({
        withdrawalId: 'withdrawal-1',
        verdict: 'reject',
        ...approval({ by: 'person-3', told: 'rejected' }),
      }),
    'was rejected',
  ],
  ['parts-live', 'a process exits unexpectedly', ({ died }) => died.push('api1 exited unexpectedly (code 1)')],
  [
    'comes-to-rest',
    'a payout is open although it is final at the provider',
    ({ restless }) => restless.push({ what: 'payout', id: 'payout-1', status: 'pending' }),
  ],
];

it('No oracle reports a violation in a healthy run', () => {
  expect(judge(healthyFacts())).toEqual([]);
});

it('No oracle reports a violation if operators refunded money in suspense', () => {
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
