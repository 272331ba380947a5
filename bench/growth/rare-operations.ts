import { systemAccounts } from '../../src/ledger/accounts/account.ts';
import {
  approver,
  at,
  clearing,
  id,
  isEnded,
  isPersonal,
  operator,
  organizationOfCause,
  partner,
  partnerAccount,
  rare,
  rareAccount,
  rareBankAccount,
  rareNumber,
  rareReserved,
  rareUser,
  reservedOf,
  revenue,
  turn,
} from './grown.ts';
import { event, journal, type Left, onlyEvery, opening, transactionColumns } from './left.ts';

const pool = `'${systemAccounts.openDonationPool}'::uuid`;
const suspense = `'${systemAccounts.suspense}'::uuid`;
const always = 'true';

/** A transaction of an operation: its user, source, destination and subject, and its journal. */
const transaction = (
  transactionId: string,
  owner: string,
  [amount, source, destination, type = 'price']: [amount: number, source: string, destination: string, type?: string],
  [reference, referenceId, purpose]: [reference: string, referenceId: string, purpose: string],
  [journalId, where, order = 'null::uuid', status = 'successful']: [
    journalId: string,
    where: string,
    order?: string,
    status?: string,
  ],
): Left => [
  'transactions',
  transactionColumns,
  `${transactionId}, ${owner}, ${amount}, '${status}', ${at()}, ${source}, ${destination}, '${type}', '${reference}',
   ${referenceId}, ${journalId}, '${purpose}', ${order}, ${at()}, ${at()}`,
  where,
];

const listed = (
  organization: string,
  transactionId: string,
  owner: string,
  about: [string, string, string],
  where: string,
): Left => [
  'transaction_organizations',
  'organization_id, transaction_id, created_at, user_id, reference_type, type, reference_id',
  `${organization}, ${transactionId}, ${at()}, ${owner}, '${about[0]}', '${about[1]}', ${about[2]}`,
  where,
];

/** A payment from the balance of the operation's user. */
function balancePayment(
  kind: string,
  name: string,
  amount: number,
  target: string,
  about: [reference: string, referenceId: string],
  where = always,
): Left[] {
  return [
    ...journal(
      `balance-payment.${kind}`,
      id(`${name} journal`),
      `'balance-payment/' || ${id(`${name} transaction`)}`,
      [
        [rareAccount, -amount],
        [target, amount],
      ],
      where,
    ),
    transaction(
      id(`${name} transaction`),
      rareUser,
      [amount, rareAccount, target],
      [...about, 'product_transfer'],
      [id(`${name} journal`), where],
    ),
  ];
}

interface Sent {
  /** The operation's name within its family. */
  name: string;
  family: 'partner-payout' | 'withdrawal' | 'payment-refund';
  payoutId: string;
  source: string;
  reserved: string;
  partnerId: string;
  batchId?: string;
  amount: number;
  fee: number;
  isReturned?: string;
  where: string;
}

/** The rows of a payout: its journals, attempt and provider's answer; `isReturned` selects those the bank reversed. */
function sent({
  name,
  family,
  payoutId,
  source,
  reserved,
  partnerId,
  batchId = 'null::uuid',
  amount,
  fee,
  isReturned = 'false',
  where,
}: Sent): Left[] {
  const kind = family.replace('-', '_');
  const ended = `${where} and ${isEnded}`;
  const returned = `${ended} and ${isReturned}`;
  const net = amount - fee;
  const step = (became: string, key: string, postings: [string, number][], of: string) =>
    journal(`${family}.${became}`, id(`${name} ${key}`), `'${family}/' || ${payoutId} || '/${key}'`, postings, of);
  return [
    [
      'payouts',
      `id, kind, source_account_id, reserved_account_id, partner_id, batch_id, reference, fee_mode, amount, fee, net_amount,
       bank_code, texts_sealed, status, provider_transfer_id, last_word, last_word_at, look_again_at, succeeded_at, finalized_at,
       created_at, updated_at`,
      `${payoutId}, '${kind}', ${source}, ${reserved}, ${partnerId}, ${batchId}, '${name}-' || n, 'DEDUCTED', ${amount}, ${fee},
       ${net}, 'BCA', repeat('x', 300),
       case when not (${isEnded}) then 'pending' when ${isReturned} then 'reversed' else 'succeeded' end,
       '${name}-' || n,
       case when not (${isEnded}) then 'accepted' when ${isReturned} then 'reversed' else 'succeeded' end, ${at()},
       case when not (${isEnded}) then timestamptz ':end' + interval '1 day' end,
       case when ${isEnded} then ${at()} end, case when ${isEnded} then ${at()} end, ${at()}, ${at()}`,
      where,
    ],
    [
      'payout_attempts',
      'payout_id, number, sent_at, outcome, answered_at',
      `${payoutId}, 1, ${at()}, 'accepted', ${at()}`,
      where,
    ],
    ['payout_words', 'payout_id, said, at', `${payoutId}, 'succeeded', ${at()}`, ended],
    ['payout_words', 'payout_id, said, at', `${payoutId}, 'reversed', ${at()}`, returned],
    ...step(
      'reserved',
      'reserved',
      [
        [source, -amount],
        [reserved, amount],
      ],
      where,
    ),
    ...step(
      'succeeded',
      'spent',
      [[reserved, -amount], [clearing, net], ...(fee > 0 ? [[revenue, fee] as [string, number]] : [])],
      ended,
    ),
    ...step(
      'reversed',
      'reversed',
      [
        [source, net],
        [clearing, -net],
      ],
      returned,
    ),
    event('payout', payoutId, 'null::uuid', ended, `${name} event`),
  ];
}

const withdrawal = id('withdrawal');
/** The bank returned one withdrawal in seven. */
const cameBack = `${rareNumber} % 7 = 3`;
const aboutWithdrawal = ['account_top_up', withdrawal, 'external_withdrawal'] as [string, string, string];
const withdrawals: Left[] = [
  ...sent({
    name: 'withdrawal',
    family: 'withdrawal',
    payoutId: withdrawal,
    source: rareAccount,
    reserved: rareReserved,
    partnerId: 'null::uuid',
    amount: 50000,
    fee: 2500,
    isReturned: cameBack,
    where: always,
  }),
  [
    'withdrawals',
    'id, user_id, bank_account_id, transaction_id, created_at',
    `${withdrawal}, ${rareUser}, ${rareBankAccount}, ${id('withdrawal price')}, ${at()}`,
    always,
  ],
  ...(
    [
      ['withdrawal price', 47500, 'price', 'reserved', always, 'successful'],
      ['withdrawal fee', 2500, 'fee', 'reserved', always, 'successful'],
      ['withdrawal back', 47500, 'price', 'reversed', `${isEnded} and ${cameBack}`, 'reversed'],
    ] as const
  ).map(([name, amount, type, key, where, status]) =>
    transaction(id(name), rareUser, [amount, rareAccount, 'null::uuid', type], aboutWithdrawal, [
      id(`withdrawal ${key}`),
      where,
      'null::uuid',
      status,
    ]),
  ),
  opening('withdrawal', withdrawal, always),
];

/** Every second disbursement is from the cause with the most donations, the others from all causes of organizations. */
const spender = `case when ${rareNumber} % 2 = 1 then 1 else 1 + ${turn} % :causes end`;
const isSpent = `not (${isPersonal(spender)})`;
const spenderAccount = id('cause account', spender);
const spenderOrganization = organizationOfCause(spender);
const spenderAdmin = id('admin', `1 + (${spender}) % :partners`);
const disbursement = id('disbursement of a cause');
const aboutDisbursement = ['account_top_up', disbursement, 'external_withdrawal'] as [string, string, string];
const disbursements: Left[] = [
  ...sent({
    name: 'disbursement',
    family: 'withdrawal',
    payoutId: disbursement,
    source: spenderAccount,
    reserved: reservedOf('cause account', spender),
    partnerId: 'null::uuid',
    amount: 20000,
    fee: 2500,
    where: isSpent,
  }),
  [
    'withdrawals',
    'id, user_id, organization_id, bank_account_id, transaction_id, cause_id, purpose_note, created_at',
    `${disbursement}, ${spenderAdmin}, ${spenderOrganization},
     ${id('organization bank account', `1 + (${spender}) % :partners`)}, ${id('disbursement price')}, ${id('cause', spender)},
     'For the next part of the well', ${at()}`,
    isSpent,
  ],
  ...(
    [
      ['disbursement price', 17500, 'price'],
      ['disbursement fee', 2500, 'fee'],
    ] as const
  ).flatMap(([name, amount, type]) => [
    transaction(id(name), spenderAdmin, [amount, spenderAccount, 'null::uuid', type], aboutDisbursement, [
      id('disbursement reserved'),
      isSpent,
    ]),
    listed(spenderOrganization, id(name), spenderAdmin, ['account_top_up', type, disbursement], isSpent),
  ]),
  [
    'decisions',
    `id, kind, status, withdrawal_id, note, evidence, proposed_by, first_approved_by, approved_by, created_at, approved_at,
     ended_at`,
    `${id('disbursing')}, 'disburse', 'carried_out', ${disbursement}, 'Approved as was asked',
     '{"provider": null, "books": {}}', ${spenderAdmin}, ${operator(1)}, ${operator(2)}, ${at()}, ${at()}, ${at()}`,
    isSpent,
  ],
  opening('withdrawal', disbursement, isSpent),
];

/** A partial refund of the partner's payment nine operations earlier. */
const refund = id('refund');
const refunds: Left[] = [
  ...sent({
    name: 'refund',
    family: 'payment-refund',
    payoutId: refund,
    source: partnerAccount('available'),
    reserved: partnerAccount('reserved'),
    partnerId: partner,
    amount: 5000,
    fee: 0,
    where: isEnded,
  }),
  ['payment_refunds', 'id, payment_id, created_at', `${refund}, ${id('payment', 'n - 9')}, ${at()}`, isEnded],
  opening('payment_refund', refund, isEnded),
];

/** A batch that an operator imported. The partner approved every second one; the latest of the others are undecided. */
const payoutBatch = id('payout batch');
const isApproved = `${rareNumber} % 2 = 0`;
const batchStatus = `case when ${isApproved} and ${isEnded} then 'completed' when ${isApproved} then 'processing'
  when n > :rows - 200 then 'needs_approval' when ${rareNumber} % 4 = 1 then 'rejected' else 'lapsed' end`;
const isOpenBatch = `${batchStatus} in ('needs_approval', 'processing')`;
const payoutBatches: Left[] = [
  [
    'payout_batches',
    `id, partner_id, fee_mode, item_count, total_amount, total_fee, status, imported_by, decided_by, rejected_by, decided_at,
     lapses_at, look_again_at, finalized_at, created_at, updated_at`,
    `${payoutBatch}, ${partner}, 'DEDUCTED', 3, 30000, 1500, ${batchStatus}, ${operator(1)},
     case when ${isApproved} then ${approver} end, case when ${batchStatus} = 'rejected' then ${operator(2)} end,
     case when ${batchStatus} not in ('needs_approval', 'lapsed') then ${at()} end, ${at()} + interval '3 days',
     case when ${isOpenBatch} then timestamptz ':end' + interval '1 day' end, case when not (${isOpenBatch}) then ${at()} end,
     ${at()}, ${at()}`,
    always,
  ],
  opening('payout_batch', payoutBatch, always),
  ...[1, 2, 3].flatMap((place): Left[] => {
    const item = id(`item ${place}`);
    return [
      [
        'payout_batch_items',
        `id, batch_id, place, reference, external_ref, amount, fee, net_amount, provider_fee, bank_code, texts_sealed,
         created_at`,
        `${item}, ${payoutBatch}, ${place}, 'item ${place}-' || n, 'ref-${place}', 10000, 500, 9500, 0, 'BCA',
         repeat('x', 300), ${at()} + ${place} * interval '1 microsecond'`,
        always,
      ],
      ...sent({
        name: `item ${place}`,
        family: 'partner-payout',
        payoutId: item,
        source: partnerAccount('available'),
        reserved: partnerAccount('reserved'),
        partnerId: partner,
        batchId: payoutBatch,
        amount: 10000,
        fee: 500,
        where: isApproved,
      }),
    ];
  }),
];

const isAllocated = `${rareNumber} % 2 = 0`;
const batch = id('batch');
const causeOne = id('cause', '1');
const openDonations: Left[] = [
  ...balancePayment('charitable_cause_open_donate', 'open', 10000, pool, ['donation', pool]),
  [
    'donations',
    'id, user_id, type, amount, status, cause_id, allocation_batch_id, transaction_id, created_at, updated_at',
    `${id('open donation')}, ${rareUser}, 'open', 10000, 'completed', case when ${isAllocated} then ${causeOne} end,
     case when ${isAllocated} then ${batch} end, ${id('open transaction')}, ${at()}, ${at()}`,
    always,
  ],
  ...journal(
    'donation-allocation',
    id('allocated'),
    `'donation-allocation/' || ${batch}`,
    [
      [pool, -10000],
      [id('cause account', '1'), 10000],
    ],
    isAllocated,
  ),
  transaction(
    id('allocated transaction'),
    operator(1),
    [10000, pool, id('cause account', '1')],
    ['donation', causeOne, 'product_transfer'],
    [id('allocated'), isAllocated],
  ),
  listed(
    organizationOfCause('1'),
    id('allocated transaction'),
    operator(1),
    ['donation', 'price', causeOne],
    isAllocated,
  ),
  [
    'donation_allocations',
    'id, attempt_id, cause_id, donation_count, total_amount, journal_id, created_by, created_at',
    `${batch}, ${batch}, ${causeOne}, 1, 10000, ${id('allocated')}, ${operator(1)}, ${at()}`,
    isAllocated,
  ],
  opening('donation_allocation', batch, isAllocated),
];

const subscription = id('subscription');
/** Started less than a month ago; older subscriptions were stopped after a day. */
const isActive = 'n > :rows * 0.95';
const subscriptions: Left[] = [
  ...balancePayment('charitable_cause_donate', 'subscribed', 10000, id('cause account', '1'), ['donation', causeOne]),
  listed(organizationOfCause('1'), id('subscribed transaction'), rareUser, ['donation', 'price', causeOne], always),
  [
    'donation_subscriptions',
    `id, user_id, cause_id, amount, source_account_id, interval, status, started_at, periods_paid, attempted_at, ended_at,
     created_at, updated_at`,
    `${subscription}, ${rareUser}, ${causeOne}, 10000, ${rareAccount}, 'monthly',
     case when ${isActive} then 'active' else 'stopped' end, ${at()}, 1, ${at()},
     case when not (${isActive}) then ${at()} + interval '1 day' end, ${at()}, ${at()}`,
    always,
  ],
  [
    'donation_subscription_attempts',
    'subscription_id, period, attempt, outcome, due_at, created_at',
    `${subscription}, 0, 1, 'paid', ${at()}, ${at()}`,
    always,
  ],
  [
    'donations',
    'id, user_id, type, amount, status, cause_id, transaction_id, subscription_id, period, created_at, updated_at',
    `${id('subscribed donation')}, ${rareUser}, 'subscription', 10000, 'completed', ${causeOne},
     ${id('subscribed transaction')}, ${subscription}, 0, ${at()}, ${at()}`,
    always,
  ],
  opening('donation_subscription', subscription, always),
];

/** Of three goals one is active and also paid into through the gateway, one has reached its target, one is closed. */
const goal = id('goal');
const goalAccount = id('goal account');
const goalOrder = id('goal order');
const isOpenGoal = `${rareNumber} % 3 = 1`;
const isClosedGoal = `${rareNumber} % 3 = 0`;
const goals: Left[] = [
  [
    'accounts',
    'id, name, kind, owner_id, created_at',
    `${goalAccount}, 'Goal', 'saving_goal', ${goal}, ${at()}`,
    always,
  ],
  [
    'saving_goals',
    'id, user_id, name, account_id, target_amount, status, closed_at, released_to, created_at, updated_at',
    `${goal}, ${rareUser}, 'Goal', ${goalAccount}, case when ${isOpenGoal} then 1000000 else 10000 end,
     case when ${isOpenGoal} then 'active' else 'completed' end, case when ${isClosedGoal} then ${at()} end,
     case when ${isClosedGoal} then ${rareAccount} end, ${at()}, ${at()}`,
    always,
  ],
  ...balancePayment('saving_goal_contribution', 'saved', 10000, goalAccount, ['saving_goal', goal]),
  ...journal(
    'saving-goal.released',
    id('released goal'),
    `'saving-goal/' || ${goal} || '/released'`,
    [
      [goalAccount, -10000],
      [rareAccount, 10000],
    ],
    isClosedGoal,
  ),
  transaction(
    id('released transaction'),
    rareUser,
    [10000, goalAccount, rareAccount],
    ['saving_goal', goal, 'internal_withdrawal'],
    [id('released goal'), isClosedGoal],
  ),
  [
    'payment_orders',
    `id, user_id, reference_type, reference_id, target_account_id, payment_id, nominal, admin_fee, status,
     provider_payment_method_id, expires_at, created_at, updated_at, finalized_at`,
    `${goalOrder}, ${rareUser}, 'saving_goal_contribution', ${goal}, ${goalAccount}, 1, 10000, 1000, 'PAID', 'pm-goal-' || n,
     ${at()} + interval '1 day', ${at()}, ${at()}, ${at()}`,
    isOpenGoal,
  ],
  [
    'saving_goal_orders',
    'payment_order_id, saving_goal_id, status, created_at, updated_at',
    `${goalOrder}, ${goal}, 'completed', ${at()}, ${at()}`,
    isOpenGoal,
  ],
  [
    'receipts',
    'id, provider_payment_id, provider_payment_method_id, reference, amount, state, order_id, received_at',
    `${id('goal receipt')}, 'py-goal-' || n, 'pm-goal-' || n, ${goalOrder}::text, 11000, 'applied', ${goalOrder}, ${at()}`,
    isOpenGoal,
  ],
  ...journal(
    'payment-order.settled',
    id('goal settled'),
    `'payment-order/' || ${goalOrder} || '/settled'`,
    [
      [clearing, -11000],
      [goalAccount, 10000],
      [revenue, 1000],
    ],
    isOpenGoal,
  ),
  ...(['price', 'fee'] as const).map((type) =>
    transaction(
      id(`goal ${type}`),
      rareUser,
      [type === 'price' ? 10000 : 1000, type === 'price' ? goalAccount : revenue, 'null::uuid', type],
      ['saving_goal', goal, 'topup_product'],
      [id('goal settled'), isOpenGoal, goalOrder],
    ),
  ),
];

const product = `1 + ${rareNumber} % :products`;
const investments: Left[] = balancePayment('investment', 'invested', 10000, id('product account', product), [
  'investment',
  id('product', product),
]);

/** Unmatched money, refunded by a decision of two people; the latest are still in suspense. */
const isStray = `${rareNumber} % 2 = 0`;
const isSettled = `${isStray} and n <= :rows - 1000`;
const stray = id('stray');
const strays: Left[] = [
  [
    'receipts',
    `id, provider_payment_id, provider_payment_method_id, reference, amount, state, reason, settled_by, note, received_at,
     settled_at`,
    `${stray}, 'py-stray-' || n, 'pm-stray-' || n, 'nobody-' || n, 11000,
     case when ${isSettled} then 'refunded' else 'suspended' end, 'unknown', case when ${isSettled} then ${operator(2)} end,
     case when ${isSettled} then 'Given back' end, ${at()} - interval '10 minutes', case when ${isSettled} then ${at()} end`,
    isStray,
  ],
  ...journal(
    'receipt.suspended',
    id('suspended'),
    `'receipt/' || ${stray} || '/suspense'`,
    [
      [clearing, -11000],
      [suspense, 11000],
    ],
    isStray,
  ),
  ...journal(
    'receipt.refunded',
    id('given back'),
    `'receipt/' || ${stray} || '/settled'`,
    [
      [suspense, -11000],
      [clearing, 11000],
    ],
    isSettled,
  ),
  [
    'decisions',
    `id, kind, status, receipt_id, action, note, evidence, proposed_by, approved_by, created_at, approved_at, ended_at`,
    `${id('giving back')}, 'settle_receipt', 'carried_out', ${stray}, 'refund', 'Given back',
     '{"provider": null, "books": {}}', ${operator(1)}, ${operator(2)}, ${at()}, ${at()}, ${at()}`,
    isSettled,
  ],
];

/** Two documents in three are pictures of a cause; one in five is public. */
const isPicture = `${rareNumber} % 3 <> 2`;
const scan = id('scan');
const documentColumns = `id, url_sealed, url_hash, document_type, product_type, product_id, visibility, category_id,
  content_type, size_bytes, identity_scan, created_by, created_at, updated_at`;
const documents: Left[] = [
  [
    'documents',
    documentColumns,
    `${id('document')}, repeat('x', 300), md5('document ' || n), case when ${isPicture} then 'image' else 'receipt' end,
     case when ${isPicture} then 'charitable_cause' else 'transaction' end,
     case when ${isPicture} then ${causeOne} else ${id('saved transaction')} end,
     case when ${rareNumber} % 5 = 0 then 'public' else 'private' end, ${id('category', `1 + ${rareNumber} % 5`)}, 'image/png',
     1000, false, ${rareUser}, ${at()}, ${at()}`,
    always,
  ],
  [
    'documents',
    documentColumns,
    `${scan}, repeat('x', 300), md5('scan ' || n), 'legal_agreement', null, null::uuid, 'private', null::uuid, 'image/png', 1000,
     true, ${rareUser}, ${at()}, ${at()}`,
    always,
  ],
  [
    'official_documents',
    'id, user_id, kind, details_sealed, document_id, verification_status, created_at, updated_at',
    `${rareNumber}, ${rareUser}, 'passport', repeat('x', 300), ${scan}, 'verified', ${at()}, ${at()}`,
    always,
  ],
];

/** The rows that every fiftieth operation writes in addition to its own. */
export const rareOperations: readonly Left[] = onlyEvery(rare, [
  ...withdrawals,
  ...disbursements,
  ...refunds,
  ...payoutBatches,
  ...openDonations,
  ...subscriptions,
  ...goals,
  ...investments,
  ...strays,
  ...documents,
]);
