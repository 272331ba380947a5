import type { Facts } from './facts.ts';

const batch = { id: 'batch-1', status: 'completed', itemIds: ['payout-1'] };

/** Violations by batches and instruments, planted in a healthy run. */
export const plantedGrouped: [oracle: string, violation: string, plant: (facts: Facts) => void, says?: string][] = [
  [
    'batches-are-whole',
    'one item of an approved batch has no payout',
    (facts) => {
      facts.batches = [{ ...batch, itemIds: ['payout-1', 'payout-none'] }];
    },
    '1 of its 2 items',
  ],
  [
    'batches-are-whole',
    'a payout of a rejected batch was created',
    (facts) => {
      facts.batches = [{ ...batch, status: 'rejected' }];
    },
    'is rejected, and 1 of its 1 items',
  ],
  [
    'instruments-sum-up',
    'a payment to an instrument created no payment of ours',
    (facts) => {
      facts.instruments = [{ id: 'instrument-1', amount: null }];
      const payments = [{ id: 'py-9', amount: 20_000, status: 'SUCCEEDED' }];
      facts.requests.push({
        id: 'pm-9',
        reference: 'instrument-1',
        amount: 0,
        status: 'ACTIVE',
        isReusable: true,
        payments,
      });
    },
    'received 1 payments of 20000.0000',
  ],
];

/** Valid variations with a batch. */
export const rightGrouped: [string, (facts: Facts) => void][] = [
  [
    'a batch whose payout was sent once',
    (facts) => {
      facts.batches = [batch];
    },
  ],
  [
    'an undecided batch',
    (facts) => {
      facts.batches = [{ id: 'batch-2', status: 'needs_approval', itemIds: ['payout-none'] }];
    },
  ],
];
