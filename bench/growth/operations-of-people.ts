import {
  account,
  at,
  cause,
  causeAccount,
  causeOrganization,
  circleNumber,
  circleTurn,
  clearing,
  id,
  isContribution,
  isDonation,
  isEnded,
  isForPerson,
  isOrder,
  isPot,
  memberAccount,
  memberNumber,
  memberUser,
  revenue,
  user,
} from './grown.ts';
import { callbacks, event, isYoung, journal, type Left, opening, transactionColumns } from './left.ts';

const isTopUp = `${isOrder} and ${isEnded}`;

const donations: Left[] = [
  ...journal(
    'balance-payment.charitable_cause_donate',
    id('given'),
    `'balance-payment/' || ${id('transaction')}`,
    [
      [account, -10000],
      [causeAccount, 10000],
    ],
    isDonation,
  ),
  [
    'transactions',
    transactionColumns,
    `${id('transaction')}, ${user}, 10000, 'successful', ${at()}, ${account}, ${causeAccount}, 'price', 'donation',
     ${cause}, ${id('given')}, 'product_transfer', null, ${at()}, ${at()}`,
    isDonation,
  ],
  [
    'transaction_organizations',
    'organization_id, transaction_id, created_at, user_id, reference_type, type, reference_id',
    `${causeOrganization}, ${id('transaction')}, ${at()}, ${user}, 'donation', 'price', ${cause}`,
    `${isDonation} and not ${isForPerson}`,
  ],
  [
    'transaction_receivers',
    'user_id, transaction_id, created_at, reference_type, type, reference_id',
    `${id('user', '1')}, ${id('transaction')}, ${at()}, 'donation', 'price', ${cause}`,
    `${isDonation} and ${isForPerson}`,
  ],
  [
    'donations',
    'id, user_id, type, amount, status, cause_id, transaction_id, created_at, updated_at',
    `${id('donation')}, ${user}, 'specific', 10000, 'completed', ${cause}, ${id('transaction')}, ${at()}, ${at()}`,
    isDonation,
  ],
  [
    'requests',
    'owner_id, key_hash, fingerprint, resource_id, made, answer_status, answer_body, decided_at',
    `${user}, md5('key ' || n), 'f', ${id('transaction')}, n, case when ${isYoung} then 201 end,
     case when ${isYoung} then '{}' end, ${at()}`,
    isDonation,
  ],
  event('transaction', id('transaction'), user, isDonation),
];

const orders: Left[] = [
  [
    'payment_orders',
    `id, user_id, reference_type, reference_id, target_account_id, payment_id, nominal, admin_fee, status,
     provider_payment_method_id, expires_at, created_at, updated_at, finalized_at`,
    `${id('order')}, ${user}, 'account_top_up', ${account}, ${account}, 1, 100000, 1000,
     case when ${isEnded} then 'PAID' else 'WAITING_PAYMENT' end, 'pm-' || n, ${at()} + interval '1 day', ${at()},
     ${at()}, case when ${isEnded} then ${at()} end`,
    isOrder,
  ],
  [
    'receipts',
    'id, provider_payment_id, provider_payment_method_id, reference, amount, state, order_id, received_at',
    `${id('receipt')}, 'py-' || n, 'pm-' || n, ${id('order')}::text, 101000, 'applied', ${id('order')}, ${at()}`,
    isTopUp,
  ],
  ...journal(
    'payment-order.settled',
    id('topped up'),
    `'payment-order/' || ${id('order')} || '/settled'`,
    [
      [clearing, -101000],
      [account, 100000],
      [revenue, 1000],
    ],
    isTopUp,
  ),
  ...(['price', 'fee'] as const).map(
    (type): Left => [
      'transactions',
      transactionColumns,
      `${id(type)}, ${user}, ${type === 'price' ? 100000 : 1000}, 'successful', ${at()},
       ${type === 'price' ? account : revenue}, null::uuid, '${type}', 'account_top_up', ${account}, ${id('topped up')},
       'topup_pocket', ${id('order')}, ${at()}, ${at()}`,
      isTopUp,
    ],
  ),
  ...callbacks(id('order'), isTopUp),
  opening('payment_order', id('order'), isOrder),
  event('payment_order', id('order'), 'null::uuid', isTopUp),
];

const circle = id('circle', circleNumber);
const contributor = memberUser(memberNumber);
const contributorAccount = memberAccount(memberNumber);
const holding = id('holding', circleNumber);
const contributions: Left[] = [
  ...journal(
    'balance-payment.saving_circle_contribution',
    id('brought'),
    `'balance-payment/' || ${id('transaction')}`,
    [
      [contributorAccount, -10000],
      [holding, 10000],
    ],
    isContribution,
  ),
  [
    'transactions',
    transactionColumns,
    `${id('transaction')}, ${contributor}, 10000, 'successful', ${at()}, ${contributorAccount}, ${holding}, 'price',
     'saving_circle', ${circle}, ${id('brought')}, 'product_transfer', null, ${at()}, ${at()}`,
    isContribution,
  ],
  [
    'saving_circle_contributions',
    `id, saving_circle_id, member_id, user_id, turn_number, amount, rail, status, refund_account_id, transaction_id,
     swept_at, created_at, updated_at`,
    `${id('contribution')}, ${circle}, ${id('member', memberNumber)}, ${contributor}, ${circleTurn}, 10000, 'balance',
     'completed', ${contributorAccount}, ${id('transaction')}, ${at()}, ${at()}, ${at()}`,
    isContribution,
  ],
  ...journal(
    'saving-circle.paid-out',
    id('pot'),
    `'saving-circle/' || ${circle} || '/turn/' || ${circleTurn} || '/pot'`,
    [
      [holding, -20000],
      [memberAccount(`2 * (${circleNumber} - 1) + ${circleTurn} - 1`), 20000],
    ],
    isPot,
  ),
  [
    'saving_circle_rounds',
    'saving_circle_id, turn_number, receiver_member_id, opened_at, due_at, paid_at, amount, journal_id, look_at',
    `${circle}, ${circleTurn}, ${id('member', `2 * (${circleNumber} - 1) + ${circleTurn} - 1`)}, ${at()},
     ${at()} + interval '30 days', ${at()}, 20000, ${id('pot')}, null::timestamptz`,
    isPot,
  ],
  event('saving_circle', circle, contributor, isContribution),
];

/** Events of reads for their retention period, plus one day that is due for deletion. */
const readings: Left[] = [
  [
    'events',
    'id, event, impact, resource_type, resource_id, actor_id, created_at, data',
    `${id('reading')}, 'RESOURCE_READ', 'LOW', 'payment_order', ${id('order')}::text, ${user}, ${at()}, '{}'`,
    `${at()} > timestamptz ':end' - interval '91 days'`,
  ],
];

/** The rows of donations, top-ups, contributions to circles and reads. */
export const operationsOfPeople: readonly Left[] = [...donations, ...orders, ...contributions, ...readings];
