import { attempt } from './build-facts.ts';
import type { Facts } from './facts.ts';

const only = <T>(list: T[]): T => {
  const [first] = list;
  if (first === undefined) throw new Error('the healthy facts have none');
  return first;
};

/** A request under a key and its twin, one of which created a payout. */
const twins = ({ attempts, events }: Facts): void => {
  attempts.push(
    attempt({ operation: 'o21', key: 'key-0021', requestId: 'r21', resourceId: 'payout-1', amount: '10000' }),
    attempt({ operation: 'o21', key: 'key-0021', requestId: 'r22', status: 422, resourceId: null }),
  );
  events.push({ ...only(events), requestId: 'r21', begunAt: 1_100, at: 1_500 });
};

/** Violations of the product's guards, planted in a healthy run. */
export const plantedGuards: [oracle: string, violation: string, plant: (facts: Facts) => void, says?: string][] = [
  [
    'doers-are-the-askers',
    'a user’s request is recorded in the name of another',
    ({ attempts, events }) => {
      only(attempts.filter(({ requestId }) => requestId === 'r4')).by = 'user-1';
      only(events.filter(({ requestId }) => requestId === 'r4')).actorId = 'user-2';
    },
    'names user-2',
  ],
  [
    'made-is-not-refused',
    'one of two simultaneous requests is refused, the other creates the payout, and no refusal is stored',
    twins,
    'no refusal is stored',
  ],
  [
    'refused-keys-are-free',
    'the key of a refused payment is treated as used by another body',
    ({ attempts }) =>
      attempts.push(
        attempt({
          operation: 'o9',
          kind: 'balance',
          key: 'key-0009',
          requestId: 'r9',
          variant: 'other',
          status: 400,
          answer: '{"message":"Idempotency-Key: this key was used for a request with another body"}',
          resourceId: null,
        }),
      ),
  ],
  [
    'suspense-has-its-reason',
    'money for a paid payment is recorded as unknown',
    ({ receipts }) => {
      only(receipts.slice(1)).reason = 'unknown';
    },
    'should be double',
  ],
  [
    'suspense-has-its-reason',
    'money of another amount is recorded as late',
    ({ receipts, requests, journals }) => {
      Object.assign(only(receipts.slice(1)), { amount: '24007.0000', reason: 'late' });
      only(only(requests).payments.slice(1)).amount = 24_007;
      only(journals.filter(({ businessKey }) => businessKey === 'receipt/receipt-2/suspense')).amount = '24007.0000';
    },
    'should be wrong_amount',
  ],
  [
    'suspense-has-its-reason',
    'money for an unpaid payment is recorded as paid twice',
    ({ orders }) => {
      only(orders).status = 'EXPIRED';
    },
    'should be late',
  ],
  [
    'payouts-stay-within',
    'a partner pays out more than a day’s limit',
    ({ guards }) => {
      guards.payoutLimits['partner-1'] = { single: '20000.0000', daily: '19999.9999', hourly: 10 };
    },
    "has paid out 20000.0000 of the day's 19999.9999",
  ],
  [
    'payouts-stay-within',
    'a partner exceeds the hourly number of payouts, counting a failed one',
    ({ guards, payouts }) => {
      guards.payoutLimits['partner-1'] = { single: '20000.0000', daily: '20000.0000', hourly: 0 };
      for (const payout of payouts) payout.status = 'failed';
    },
    "of the hour's 0",
  ],
  [
    'payouts-stay-within',
    'a partner exceeds the limit of a single payout',
    ({ guards }) => {
      guards.payoutLimits['partner-1'] = { single: '0.0001', daily: '20000.0000', hourly: 10 };
    },
    'at once, of at most 0.0001',
  ],
  [
    'periods-are-paid-once',
    'a subscription period is paid before it starts',
    ({ guards }) => {
      Object.assign(only(guards.subscriptions), { periodsPaid: 3, donations: 3 });
    },
    'and 2 have started',
  ],
  [
    'periods-are-paid-once',
    'a subscription period is attempted before it starts',
    ({ guards }) => {
      only(guards.subscriptions).triedEarly = 1;
    },
    'a period that had not started',
  ],
  [
    'periods-are-paid-once',
    'a subscription period is paid twice',
    ({ guards }) => {
      only(guards.subscriptions).donations = 3;
    },
    'and 3 donations',
  ],
  [
    'donors-have-receipts',
    'a donor gets two receipts by mail',
    ({ guards }) => {
      Object.assign(only(guards.receipts), { written: 2, sent: 2 });
    },
    'has 2 receipts',
  ],
  [
    'donors-have-receipts',
    'a receipt mail is never sent',
    ({ guards }) => {
      only(guards.receipts).sent = 0;
    },
    '0 of them sent',
  ],
  [
    'donors-have-receipts',
    'a donor who receives no mail gets a receipt',
    ({ guards }) => {
      only(guards.receipts).due = false;
    },
    'and 0 are due',
  ],
  [
    'locks-have-an-order',
    'two transactions deadlock',
    ({ guards }) => guards.deadlocks.push('ERROR:  deadlock detected'),
  ],
  [
    'checks-can-see',
    'a check does not show its planted violation',
    ({ guards }) => guards.blindChecks.push('check_no_forbidden_negative'),
    'check_no_forbidden_negative',
  ],
  [
    'checks-can-see',
    'many views stay unproved',
    ({ guards }) => {
      guards.unprovedChecks = Array.from({ length: 6 }, (_, index) => `check_${index}`);
    },
    'no violation could be planted for 6 views: check_0',
  ],
  [
    'money-lands-where-asked',
    'an allocation credits another cause',
    ({ attempts, accounts, journals }) => {
      accounts['cause-1'] = 'account-7';
      const [target, source, resourceId] = ['cause-1', 'pool', 'batch-1'];
      attempts.push(
        attempt({ operation: 'o9', kind: 'allocation', key: null, requestId: 'r9', target, source, resourceId }),
      );
      const businessKey = 'donation-allocation/batch-1';
      journals.push({ businessKey, amount: '5000.0000', credited: ['account-8'], debited: ['pool'] });
    },
    'was for account-7',
  ],
];

/** Valid variation: one of two simultaneous requests was refused, and the refusal is stored. */
export const rightGuards: [what: string, make: (facts: Facts) => void][] = [
  [
    'one of two simultaneous requests that was refused before the other succeeded, and whose refusal is stored',
    (facts) => {
      twins(facts);
      facts.guards.refusedOpenings.push('payout-1');
    },
  ],
];
