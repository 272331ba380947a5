import {
  at,
  clearing,
  endpoint,
  id,
  isEnded,
  isPayment,
  isPayout,
  isReleased,
  partner,
  partnerAccount,
  rare,
  revenue,
} from './grown.ts';
import { callbacks, event, isYoung, journal, type Left, opening } from './left.ts';

const isPaid = `${isPayment} and ${isEnded}`;
const isSent = `${isPayout} and ${isEnded}`;

const webhooks = (resource: 'payment' | 'payout', resourceId: string, where: string): Left[] => [
  [
    'webhook_version_keys',
    'resource_type, resource_id, version, endpoint_id, delivery_id',
    `'${resource}', ${resourceId}, 1, ${endpoint}, ${id('delivery')}`,
    where,
  ],
  [
    'webhook_deliveries',
    `id, partner_id, endpoint_id, resource_type, resource_id, version, type, body_sealed, body_digest, status, attempts,
     delivered_at, created_at`,
    `${id('delivery')}, ${partner}, ${endpoint}, '${resource}', ${resourceId}, 1, '${resource}.succeeded',
     repeat('x', 600), md5(n::text), 'delivered', 1, ${at()}, ${at()}`,
    where,
  ],
];

const partnerKey = (resource: 'payment' | 'payout', resourceId: string, where: string): Left => [
  'requests',
  'id, owner_id, key_hash, fingerprint, resource_id, kind, made, answer_status, answer_sealed, decided_at',
  `${id(`${resource} key`)}, ${partner}, md5('key ' || n), 'f', ${resourceId}, '${resource === 'payment' ? 'partner_payment' : resource}', n, case when ${isYoung} then 200 end,
   case when ${isYoung} then repeat('x', 600) end, ${at()}`,
  where,
];

/** A reusable instrument, with one payment; every second is closed. */
const isReusable = `n % ${rare} = 1`;
const instrument = id('instrument');
const isClosed = `n % ${2 * rare} = 1`;
const instruments: Left[] = [
  [
    'partner_instruments',
    `id, partner_id, channel_id, external_ref, status, provider_payment_method_id, payment_code, closed_at, look_again_at,
     created_at, updated_at`,
    `${instrument}, ${partner}, 1, 'ref-' || n, case when ${isClosed} then 'closed' else 'active' end,
     'pm-instrument-' || n, n, case when ${isClosed} then ${at()} end,
     case when not ${isClosed} then timestamptz ':end' + interval '1 day' end, ${at()}, ${at()}`,
    isReusable,
  ],
  opening('partner_instrument', instrument, isReusable),
];

const partnerPayments: Left[] = [
  [
    'partner_payments',
    `id, partner_id, external_ref, channel_id, fee_mode, amount, fee, net_amount, status, provider_payment_method_id,
     instrument_id, expires_at, finalized_at, available_at, released_at, created_at, updated_at`,
    `${id('payment')}, ${partner}, 'ref-' || n, 1, 'DEDUCTED', 20000, 100, 19900,
     case when ${isEnded} then 'PAID' else 'WAITING_PAYMENT' end, 'pm-' || n,
     case when ${isReusable} and ${isEnded} then ${instrument} end, ${at()} + interval '1 day',
     case when ${isEnded} then ${at()} end,
     case when ${isReleased} then ${at()} when ${isEnded} then timestamptz ':end' + interval '1 day' end,
     case when ${isReleased} then ${at()} end, ${at()}, ${at()}`,
    isPayment,
  ],
  [
    'receipts',
    `id, provider_payment_id, provider_payment_method_id, reference, amount, state, partner_payment_id, received_at`,
    `${id('receipt')}, 'py-' || n, 'pm-' || n, ${id('payment')}::text, 20000, 'applied', ${id('payment')}, ${at()}`,
    isPaid,
  ],
  ...journal(
    'partner-payment.settled',
    id('settled'),
    `'partner-payment/' || ${id('payment')} || '/settled'`,
    [
      [clearing, -20000],
      [partnerAccount('pending'), 19900],
      [revenue, 100],
    ],
    isPaid,
  ),
  ...journal(
    'partner-payment.released',
    id('released'),
    `'partner-payment/' || ${id('payment')} || '/released'`,
    [
      [partnerAccount('pending'), -19900],
      [partnerAccount('available'), 19900],
    ],
    `${isPayment} and ${isReleased}`,
  ),
  ...callbacks(id('payment'), isPaid),
  ...webhooks('payment', id('payment'), isPaid),
  partnerKey('payment', id('payment'), isPayment),
  event('partner_payment', id('payment'), 'null::uuid', isPaid),
];

const payoutJournal = (step: string, postings: [string, number][], where: string): Left[] =>
  journal(
    `partner-payout.${step}`,
    id(`payout ${step}`),
    `'partner-payout/' || ${id('payout')} || '/${step}'`,
    postings,
    where,
  );
const payouts: Left[] = [
  [
    'payouts',
    `id, kind, source_account_id, reserved_account_id, partner_id, reference, external_ref, fee_mode, amount, fee,
     net_amount, bank_code, texts_sealed, status, provider_transfer_id, last_word, last_word_at, look_again_at, succeeded_at,
     finalized_at, created_at, updated_at`,
    `${id('payout')}, 'partner_payout', ${partnerAccount('available')}, ${partnerAccount('reserved')}, ${partner},
     'PO-' || n, 'ref-' || n, 'DEDUCTED', 10000, 500, 9500, 'BCA', repeat('x', 300),
     case when ${isEnded} then 'succeeded' else 'pending' end, 'disb-' || n,
     case when ${isEnded} then 'succeeded' else 'accepted' end, ${at()},
     case when ${isEnded} then null else timestamptz ':end' + interval '1 day' end,
     case when ${isEnded} then ${at()} end, case when ${isEnded} then ${at()} end, ${at()}, ${at()}`,
    isPayout,
  ],
  [
    'payout_attempts',
    'payout_id, number, sent_at, outcome, answered_at',
    `${id('payout')}, 1, ${at()}, 'accepted', ${at()}`,
    isPayout,
  ],
  ['payout_words', 'payout_id, said, at', `${id('payout')}, 'succeeded', ${at()}`, isSent],
  ...payoutJournal(
    'reserved',
    [
      [partnerAccount('available'), -10000],
      [partnerAccount('reserved'), 10000],
    ],
    isPayout,
  ),
  ...payoutJournal(
    'spent',
    [
      [partnerAccount('reserved'), -10000],
      [clearing, 9500],
      [revenue, 500],
    ],
    isSent,
  ),
  ...webhooks('payout', id('payout'), isSent),
  partnerKey('payout', id('payout'), isPayout),
  event('payout', id('payout'), 'null::uuid', isSent),
];

/** The rows of partners' instruments, payments and payouts. */
export const operationsOfPartners: readonly Left[] = [...instruments, ...partnerPayments, ...payouts];
