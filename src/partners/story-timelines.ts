import type { TimelineItem } from './timeline.ts';

/** The complete history of a resource in the reference's examples. */
const ended = (...items: [at: string, type: TimelineItem['type'], text: string][]) => ({
  items: items.map(([at, type, text]) => ({ at, type, text })),
  next: null,
});

export const paymentTimeline = ended(
  ['2026-01-15T03:00:05.000Z', 'request', 'A payment of IDR 500000.0000 was requested.'],
  ['2026-01-15T03:00:05.100Z', 'provider', 'The provider was asked for a payment code.'],
  ['2026-01-15T03:00:05.400Z', 'provider', 'The provider created the payment code.'],
  ['2026-01-15T03:02:09.700Z', 'callback', 'The provider called back (payment.succeeded).'],
  [
    '2026-01-15T03:02:10.000Z',
    'ledger',
    'IDR 496000.0000 was credited to your pending balance, after a fee of IDR 4000.0000.',
  ],
  ['2026-01-15T03:02:10.000Z', 'ledger', 'IDR 496000.0000 became available.'],
  ['2026-01-15T03:02:10.000Z', 'outcome', 'The payment succeeded.'],
  [
    '2026-01-15T03:02:10.400Z',
    'webhook',
    'The webhook payment.succeeded was delivered to partner.example, at attempt 1.',
  ],
  [
    '2026-01-15T03:02:10.500Z',
    'webhook',
    'The webhook payment.available was delivered to partner.example, at attempt 1.',
  ],
);

export const refundTimeline = ended(
  [
    '2026-01-16T03:20:14.000Z',
    'request',
    'A refund of IDR 100000.0000 to BCA for Budi Santoso was requested (RF-7A538C406F1B2D9E0A74).',
  ],
  ['2026-01-16T03:20:14.000Z', 'reservation', 'IDR 100000.0000 was reserved from the available balance.'],
  ['2026-01-16T03:20:14.200Z', 'provider', 'The provider was asked to make the transfer.'],
  ['2026-01-16T03:20:15.900Z', 'provider', 'The provider reports that the transfer succeeded.'],
  ['2026-01-16T03:20:16.000Z', 'ledger', 'IDR 100000.0000 was sent to the bank; the fee was IDR 0.0000.'],
  ['2026-01-16T03:20:16.000Z', 'outcome', 'The refund succeeded.'],
);

export const payoutTimeline = ended(
  [
    '2026-01-15T03:10:04.000Z',
    'request',
    'A payout of IDR 200000.0000 to BCA for Siti Rahayu was requested (PO-019BBFA1B2E07F28A93B).',
  ],
  ['2026-01-15T03:10:04.000Z', 'reservation', 'IDR 200000.0000 was reserved from the available balance.'],
  ['2026-01-15T03:10:04.200Z', 'provider', 'The provider was asked to make the transfer.'],
  ['2026-01-15T03:10:04.600Z', 'provider', 'The provider accepted the transfer.'],
  ['2026-01-15T03:10:05.700Z', 'callback', 'The provider called back (payout.succeeded).'],
  ['2026-01-15T03:10:05.900Z', 'provider', 'The provider reports that the transfer succeeded.'],
  ['2026-01-15T03:10:06.000Z', 'ledger', 'IDR 197500.0000 was sent to the bank; the fee was IDR 2500.0000.'],
  ['2026-01-15T03:10:06.000Z', 'outcome', 'The payout succeeded.'],
  [
    '2026-01-15T03:10:06.300Z',
    'webhook',
    'The webhook payout.succeeded was delivered to partner.example, at attempt 1.',
  ],
);
