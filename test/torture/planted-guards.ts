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

/** What each oracle of the guards reports, planted in a healthy world. */
export const plantedGuards: [oracle: string, violation: string, plant: (facts: Facts) => void, says?: string][] = [
  [
    'doers-are-the-askers',
    'what one user asked for is done in the name of another',
    ({ attempts, events }) => {
      only(attempts.filter(({ requestId }) => requestId === 'r4')).by = 'user-1';
      only(events.filter(({ requestId }) => requestId === 'r4')).actorId = 'user-2';
    },
    'names user-2',
  ],
  [
    'made-is-not-refused',
    'one of two requests at once is refused, the other makes it, and no refusal is written down',
    twins,
    'no refusal is written down',
  ],
  [
    'refused-keys-are-free',
    'a key of a payment that was refused is taken for that of another body',
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
    'money for a payment that was paid is told to be of nobody',
    ({ receipts }) => {
      only(receipts.slice(1)).reason = 'unknown';
    },
    'it is double',
  ],
  [
    'suspense-has-its-reason',
    'money of another amount is told to be late',
    ({ receipts, requests, journals }) => {
      Object.assign(only(receipts.slice(1)), { amount: '24007.0000', reason: 'late' });
      only(only(requests).payments.slice(1)).amount = 24_007;
      only(journals.filter(({ businessKey }) => businessKey === 'receipt/receipt-2/suspense')).amount = '24007.0000';
    },
    'it is wrong_amount',
  ],
  [
    'suspense-has-its-reason',
    'money for a payment that ended unpaid is told to be paid twice',
    ({ orders }) => {
      only(orders).status = 'EXPIRED';
    },
    'it is late',
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
    'a partner pays out more often than an hour’s limit, of which one that failed is not given back',
    ({ guards, payouts }) => {
      guards.payoutLimits['partner-1'] = { single: '20000.0000', daily: '20000.0000', hourly: 0 };
      for (const payout of payouts) payout.status = 'failed';
    },
    "of the hour's 0",
  ],
  [
    'payouts-stay-within',
    'a partner pays out more at once than it may',
    ({ guards }) => {
      guards.payoutLimits['partner-1'] = { single: '0.0001', daily: '20000.0000', hourly: 10 };
    },
    'at once, of at most 0.0001',
  ],
  [
    'periods-are-paid-once',
    'a period is paid before it begins',
    ({ guards }) => {
      Object.assign(only(guards.subscriptions), { periodsPaid: 3, donations: 3 });
    },
    'and 2 have begun',
  ],
  [
    'periods-are-paid-once',
    'a period is tried before it begins, and begins later',
    ({ guards }) => {
      only(guards.subscriptions).triedEarly = 1;
    },
    'a period that had not begun',
  ],
  [
    'periods-are-paid-once',
    'a period is paid twice',
    ({ guards }) => {
      only(guards.subscriptions).donations = 3;
    },
    'and 3 donations',
  ],
  [
    'donors-have-receipts',
    'a donor is told twice',
    ({ guards }) => {
      Object.assign(only(guards.receipts), { written: 2, sent: 2 });
    },
    'has 2 receipts',
  ],
  [
    'donors-have-receipts',
    'a receipt is never sent',
    ({ guards }) => {
      only(guards.receipts).sent = 0;
    },
    '0 of them sent',
  ],
  [
    'donors-have-receipts',
    'somebody is told who may not be',
    ({ guards }) => {
      only(guards.receipts).due = false;
    },
    'and 0 are due',
  ],
  [
    'locks-have-an-order',
    'two transactions wait for each other',
    ({ guards }) => guards.deadlocks.push('ERROR:  deadlock detected'),
  ],
  [
    'checks-can-see',
    'a check shows nothing of what was planted for it',
    ({ guards }) => guards.blindChecks.push('check_no_forbidden_negative'),
    'check_no_forbidden_negative',
  ],
  [
    'checks-can-see',
    'of many views nobody knows what they see',
    ({ guards }) => {
      guards.unprovedChecks = Array.from({ length: 6 }, (_, index) => `check_${index}`);
    },
    'no violation could be planted for 6 views: check_0',
  ],
  [
    'money-lands-where-asked',
    'an allocation gives a cause what another was to have',
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

/** Valid: of simultaneous requests one was refused, and that is stored. */
export const rightGuards: [what: string, make: (facts: Facts) => void][] = [
  [
    'one of two simultaneous requests that was refused before the other succeeded, and whose refusal is stored',
    (facts) => {
      twins(facts);
      facts.guards.refusedOpenings.push('payout-1');
    },
  ],
];
