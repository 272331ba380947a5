import { attempt, journal, webhook } from './build-facts.ts';
import type { Facts } from './facts.ts';
import { addRefunds } from './healthy-refunds.ts';

/**
 * A small world in which everything is as it should be: a payout that succeeded after a lost answer, an order that was
 * paid twice, a refused payout, one that nobody can tell, a subscription that waits, and what `addRefunds` adds.
 */
export function healthyFacts(): Facts {
  const facts: Facts = {
    attempts: [
      attempt({ requestId: 'r1', status: null, answer: 'timeout', resourceId: null }),
      attempt({ requestId: 'r2', sentAt: 3_000, endedAt: 4_000, amount: '10000', target: 'invoice-1' }),
      attempt({ operation: 'o2', key: 'key-0002', requestId: 'r3', status: 422, resourceId: null }),
      attempt({
        operation: 'o3',
        kind: 'gateway',
        key: null,
        requestId: 'r4',
        status: 201,
        resourceId: 'order-1',
        target: 'goal-1',
      }),
      attempt({ operation: 'o4', key: 'key-0004', requestId: 'r5', status: 503, resourceId: null }),
      attempt({ operation: 'o4', key: 'key-0004', requestId: 'r6', status: 422, sentAt: 9_000, resourceId: null }),
      attempt({ operation: 'o5', kind: 'cancel', key: null, requestId: 'r7', status: 400, target: 'order-1' }),
      attempt({ operation: 'o6', kind: 'cancel', key: null, requestId: 'r8', status: 200, target: 'payment-3' }),
    ],
    events: [
      {
        requestId: 'r1',
        event: 'RESOURCE_CREATED',
        impact: 'MEDIUM',
        resourceType: 'payout',
        resourceId: 'payout-1',
        begunAt: 1_400,
        at: 1_500,
      },
      {
        requestId: 'r4',
        event: 'RESOURCE_CREATED',
        impact: 'MEDIUM',
        resourceType: 'payment_order',
        resourceId: 'order-1',
        begunAt: 1_400,
        at: 1_500,
      },
    ],
    asked: [
      { kind: 'payout', id: 'payout-1', requestId: 'r1' },
      { kind: 'payment order', id: 'order-1', requestId: 'r4' },
    ],
    ends: [
      { kind: 'order', id: 'order-1', status: 'PAID' },
      { kind: 'payment', id: 'payment-3', status: 'EXPIRED' },
    ],
    made: [
      {
        id: 'payout-1',
        amount: '10000.0000',
        asked: '10000.0000',
        targets: ['invoice-1'],
        fee: '2500.0000',
        dueFee: '2500',
      },
      {
        id: 'order-1',
        amount: '20000.0000',
        asked: '20000.0000',
        targets: ['goal-1'],
        fee: '4000.0000',
        dueFee: '4000.0000',
      },
    ],
    orders: [{ id: 'order-1', family: 'payment-order', status: 'PAID', total: '24000.0000', version: 0 }],
    payouts: [
      {
        id: 'payout-1',
        status: 'succeeded',
        net: '10000.0000',
        kind: 'partner_payout',
        reference: 'invoice-1',
        refundOf: null,
        fee: '0.0000',
        version: 1,
        contradicted: false,
        isDecided: false,
      },
      {
        id: 'payout-8',
        status: 'pending',
        net: '10000.0000',
        kind: 'partner_payout',
        reference: 'invoice-8',
        refundOf: null,
        fee: '0.0000',
        version: 0,
        contradicted: false,
        isDecided: false,
      },
      {
        id: 'withdrawal-1',
        kind: 'withdrawal',
        status: 'reversed',
        net: '70000.0000',
        fee: '2500.0000',
        reference: 'w7',
        refundOf: null,
        version: 2,
        contradicted: false,
        isDecided: false,
      },
    ],
    withdrawals: [{ id: 'withdrawal-1', userId: 'user-1', causeId: 'cause-1', amount: '72500.0000', waits: true }],
    verdicts: [
      { withdrawalId: 'withdrawal-1', by: 'person-1', verdict: 'approve', answer: 'pending' },
      { withdrawalId: 'withdrawal-1', by: 'person-2', verdict: 'approve', answer: null },
    ],
    refunds: [],
    donations: [],
    toldAmounts: {},
    given: { 'cause-1': '80000.0000' },
    dailyLimit: '250000',
    released: {},
    receipts: [
      {
        id: 'receipt-1',
        providerPaymentId: 'py-1',
        reference: 'order-1',
        amount: '24000.0000',
        state: 'applied',
        appliedTo: 'order-1',
        creditedTo: null,
      },
      {
        id: 'receipt-2',
        providerPaymentId: 'py-2',
        reference: 'order-1',
        amount: '24000.0000',
        state: 'suspended',
        appliedTo: null,
        creditedTo: null,
      },
    ],
    journals: [
      { businessKey: 'payment-order/order-1/settled', amount: '24000.0000', credited: ['account-1'], debited: [] },
      journal('partner-payout/payout-1/reserved', '10000.0000'),
      journal('partner-payout/payout-1/spent', '10000.0000'),
      journal('partner-payout/payout-8/reserved', '10000.0000'),
      journal('withdrawal/withdrawal-1/reserved', '72500.0000'),
      journal('withdrawal/withdrawal-1/spent', '72500.0000'),
      journal('withdrawal/withdrawal-1/reversed', '70000.0000'),
      journal('receipt/receipt-2/suspense', '24000.0000'),
    ],
    deliveries: [
      {
        id: '0198c0de-0000-7000-8000-000000000001',
        resourceType: 'payout',
        resourceId: 'payout-1',
        partnerId: 'partner-1',
        version: 1,
        type: 'payout.succeeded',
        status: 'delivered',
      },
    ],
    transitions: [{ place: 'payouts.status', id: 'payout-1', from: 'pending', to: 'succeeded', at: 5_000 }],
    waiting: [
      { workflowId: 'partner-payout/payout-8', status: 'pending', dueLater: false },
      { workflowId: 'donation-subscription/s-1', status: 'active', dueLater: true },
    ],
    workflows: [
      { id: 'partner-payout/payout-8', runId: 'run-1', type: 'partnerPayout', status: 'RUNNING' },
      { id: 'donation-subscription/s-1', runId: 'run-2', type: 'donationSubscription', status: 'RUNNING' },
      { id: 'unmatched-receipt/of-a-forged-callback', runId: 'run-3', type: 'unmatchedReceipt', status: 'RUNNING' },
      // The plan has reset it: it goes on in another run.
      { id: 'partner-payout/payout-2', runId: 'run-0', type: 'partnerPayout', status: 'TERMINATED' },
    ],
    decisions: [],
    refundDecisions: [],
    accounts: { 'goal-1': 'account-1' },
    refusedAccounts: [],
    checks: [{ check: 'check_journals_balance', violations: 0, sample: [] }],
    requests: [
      {
        id: 'pr-1',
        reference: 'order-1',
        amount: 24_000,
        status: 'SUCCEEDED',
        payments: [
          { id: 'py-1', amount: 24_000, status: 'SUCCEEDED' },
          { id: 'py-2', amount: 24_000, status: 'SUCCEEDED' },
        ],
      },
    ],
    transfers: [
      {
        id: 'disb-1',
        reference: 'payout-1',
        amount: 10_000,
        status: 'SUCCEEDED',
        idempotencyKey: 'payout-1',
        refundOf: null,
      },
      {
        id: 'disb-2',
        reference: 'withdrawal-1',
        amount: 70_000,
        status: 'REVERSED',
        idempotencyKey: 'withdrawal-1',
        refundOf: null,
      },
    ],
    webhooks: [webhook(), webhook()],
    // 24,000 came twice and 10,000 went; of a payment of 50,000 went 30,000.
    money: { before: '100000.0000', after: '158000.0000' },
    lists: {
      stuck: [{ id: 'payout-8', reason: 'unknown' }],
      suspense: ['receipt-2'],
      receipts: ['receipt-2'],
      searched: [],
      parked: [],
      waiting: [
        { what: 'unknown_payouts', rows: 1 },
        { what: 'suspended_receipts', rows: 1 },
        { what: 'overdue_payouts', rows: 0 },
      ],
    },
    instants: [{ place: 'receipts.received_at', earliest: 2_000, latest: 3_000 }],
    window: { from: 0, to: 10_000 },
    restless: [],
    died: [],
    takenWorkflows: [],
    endedRuns: ['run-0'],
  };
  addRefunds(facts);
  return facts;
}
