import { attempt, bankAccount, journal, webhook } from './build-facts.ts';
import type { Facts } from './facts.ts';

const unanswered = { key: null, status: null, answer: 'timeout', resourceId: null };

/**
 * Adds a payment of 50,000 that a partner refunded, 30,000 to the wallet that paid and 20,000 to a bank, which returned
 * it; a donation refunded by its donor, and a donation that its cause still has.
 */
export function addRefunds(facts: Facts): void {
  facts.attempts.push(
    attempt({
      operation: 'o7',
      kind: 'refund',
      key: 'key-0007',
      requestId: 'r11',
      amount: '30000',
      target: 'payment-4',
      resourceId: 'refund-1',
    }),
    attempt({ operation: 'o8', kind: 'refund-donation', key: null, requestId: 'r12', target: 'donation-1' }),
    attempt({ ...unanswered, operation: 'o11', kind: 'partner-payment', requestId: 'r14' }),
    attempt({ ...unanswered, operation: 'o12', kind: 'refund', requestId: 'r15', goesTo: bankAccount(3) }),
  );
  facts.events.push({
    requestId: 'r11',
    event: 'RESOURCE_CREATED',
    impact: 'MEDIUM',
    resourceType: 'refund',
    resourceId: 'refund-1',
    actorId: null,
    begunAt: 1_400,
    at: 1_500,
  });
  facts.asked.push(
    { kind: 'partner payment', id: 'payment-4', requestId: 'r14' },
    { kind: 'payout', id: 'refund-1', requestId: 'r11' },
    { kind: 'payout', id: 'refund-2', requestId: 'r15' },
  );
  facts.ends.push({ kind: 'donation', id: 'donation-1', status: 'refunded' });
  facts.orders.push({
    id: 'payment-4',
    family: 'partner-payment',
    partnerId: 'partner-1',
    status: 'PAID',
    total: '50000.0000',
    version: 0,
  });
  facts.receipts.push({
    id: 'receipt-3',
    providerPaymentId: 'py-3',
    reference: 'payment-4',
    amount: '50000.0000',
    state: 'applied',
    reason: null,
    appliedTo: 'payment-4',
    creditedTo: null,
  });
  facts.requests.push({
    id: 'pr-2',
    reference: 'payment-4',
    amount: 50_000,
    status: 'SUCCEEDED',
    payments: [{ id: 'py-3', amount: 50_000, status: 'SUCCEEDED' }],
  });
  addParts(facts);
  addDonations(facts);
}

const ofRefund = { kind: 'payment_refund', fee: '0.0000', partnerId: 'partner-1', reference: 'w8' } as const;
const calm = { contradicted: false, isDecided: false };

function addParts(facts: Facts): void {
  facts.payouts.push(
    {
      id: 'refund-1',
      status: 'succeeded',
      net: '30000.0000',
      amount: '30000.0000',
      refundOf: 'pr-2',
      version: 1,
      ...ofRefund,
      ...calm,
    },
    {
      id: 'refund-2',
      status: 'reversed',
      net: '20000.0000',
      amount: '20000.0000',
      refundOf: null,
      version: 2,
      ...ofRefund,
      ...calm,
    },
  );
  for (const { id, net: amount } of facts.payouts.filter(({ kind }) => kind === 'payment_refund')) {
    facts.refunds.push({ id, paymentId: 'payment-4' });
    facts.made.push({ id, amount, asked: amount, targets: ['payment-4'], fee: '0.0000', dueFee: null });
    facts.transitions.push({ place: 'payouts.status', id, from: 'pending', to: 'succeeded', at: 5_000 });
    facts.journals.push(
      journal(`payment-refund/${id}/reserved`, amount, { from: 'account-5', to: 'account-6' }),
      journal(`payment-refund/${id}/spent`, amount, { from: 'account-6' }),
    );
  }
  facts.transitions.push({ place: 'payouts.status', id: 'refund-2', from: 'succeeded', to: 'reversed', at: 6_000 });
  facts.journals.push(
    journal('partner-payment/payment-4/settled', '50000.0000', { to: 'account-9' }),
    journal('partner-payment/payment-4/released', '50000.0000', { from: 'account-9', to: 'account-5' }),
    journal('payment-refund/refund-2/reversed', '20000.0000', { to: 'account-5' }),
  );
  facts.transfers.push(
    {
      id: 'disb-3',
      reference: 'refund-2',
      amount: 20_000,
      status: 'REVERSED',
      idempotencyKey: 'refund-2',
      refundOf: null,
      goesTo: bankAccount(3),
    },
    {
      id: 'rfd-1',
      reference: 'refund-1',
      amount: 30_000,
      status: 'SUCCEEDED',
      idempotencyKey: 'refund-1',
      refundOf: 'pr-2',
      goesTo: null,
    },
  );
  const told = [
    { number: 2, type: 'refund.succeeded', id: 'refund-1', amount: '30000.0000', version: 1 },
    { number: 3, type: 'refund.succeeded', id: 'refund-2', amount: '20000.0000', version: 1 },
    { number: 4, type: 'refund.failed', id: 'refund-2', amount: '20000.0000', version: 2 },
  ];
  for (const one of told) {
    const { number, type, id: resourceId, version } = one;
    facts.deliveries.push({
      id: `0198c0de-0000-7000-8000-00000000000${number}`,
      resourceType: 'refund',
      resourceId,
      partnerId: 'partner-1',
      version,
      type,
      status: 'delivered',
    });
    facts.webhooks.push(webhook(one));
  }
}

function addDonations(facts: Facts): void {
  const ofCause = { causeId: 'cause-1', backTo: 'account-3', heldBy: 'account-4' };
  facts.donations.push(
    { id: 'donation-1', amount: '7000.0000', status: 'refunded', ...ofCause },
    { id: 'donation-2', amount: '80000.0000', status: 'completed', ...ofCause },
  );
  facts.toldAmounts = { 'cause-1': '80000.0000' };
  facts.journals.push(journal('donation/donation-1/refunded', '7000.0000', { from: 'account-4', to: 'account-3' }));
  facts.transitions.push({
    place: 'donations.status',
    id: 'donation-1',
    from: 'completed',
    to: 'refunded',
    at: 5_000,
  });
}
