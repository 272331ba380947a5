import { at, causes, type GrownYear, id, operator, partners, products, reservedOf, users } from './grown.ts';

/** Rows of a table: columns, a `select` list over `n`, and the number of rows. */
export type Thing = [table: string, columns: string, select: string, count: number];

const first = at('1');
const sealed = `repeat('x', 300)`;

/** Rows of people and organizations besides their operations; the user with the long history has several rows of some. */
export const rareThings = (year: GrownYear): Thing[] => [
  [
    'users',
    'id, user_type, role_id, status, password_sealed, created_at',
    `${id('operator')}, 'platform', (select id from roles where name = 'platform_super_admin'), 'active', 'none', ${first}`,
    3,
  ],
  [
    'users',
    'id, user_type, organization_id, role_id, status, password_sealed, created_at',
    `${id('admin')}, 'organization', ${id('organization')},
     (select id from roles where name = 'organization_admin'), 'active', 'none', ${first}`,
    partners(year),
  ],
  [
    'partner_keys',
    'id, partner_id, prefix, key_hash, signing_secret_sealed, permissions, created_at',
    `${id('approver')}, ${id('partner')}, 'grown', md5('approver ' || n), ${sealed}, '{approve-payout}', ${first}`,
    partners(year),
  ],
  [
    'accounts',
    'id, name, kind, owner_id, created_at',
    `${reservedOf('account', 'n')}, 'Withdrawals under way', 'withdrawal_reserved', ${id('account')}, ${at()}`,
    users(year),
  ],
  [
    'accounts',
    'id, name, kind, owner_id, created_at',
    `${reservedOf('cause account', 'n')}, 'Withdrawals under way', 'withdrawal_reserved', ${id('cause account')}, ${at()}`,
    causes(year),
  ],
  [
    'bank_accounts',
    'id, user_id, bank_code, details_sealed, usable_at, created_at',
    `${id('bank account')}, ${id('user')}, 'BCA', ${sealed}, ${at()}, ${at()}`,
    users(year),
  ],
  [
    'bank_accounts',
    'id, user_id, bank_code, details_sealed, usable_at, created_at',
    `${id('another bank account')}, ${id('user', '1')}, 'BCA', ${sealed}, ${at('500 * n - 450')}, ${at('500 * n - 450')}`,
    Math.floor(year.rows / 500),
  ],
  [
    'bank_accounts',
    'id, user_id, organization_id, bank_code, details_sealed, usable_at, created_at',
    `${id('organization bank account')}, ${id('admin')}, ${id('organization')}, 'BCA', ${sealed}, ${first}, ${first}`,
    partners(year),
  ],
  [
    'addresses',
    'id, user_id, address_type, details_sealed, created_by, created_at',
    `${id('address')}, ${id('user')}, 'individual', ${sealed}, ${id('user')}, ${at()}`,
    users(year),
  ],
  [
    'accounts',
    'id, name, kind, owner_id, created_at',
    `${id('product account')}, 'Product', 'product', ${id('product')}, ${at('500 * n - 450')}`,
    products(year),
  ],
  [
    // Two in three stay open; the others have reached their target.
    'products',
    'id, kind, name, account_id, target_amount, status, created_by, created_at',
    `${id('product')}, case when n % 2 = 1 then 'investment' else 'takaful_insurance' end, 'Product', ${id('product account')},
     case when n % 3 = 0 then 10000 end, case when n % 3 = 0 then 'completed' else 'open' end, ${operator(1)},
     ${at('500 * n - 450')}`,
    products(year),
  ],
  ['document_categories', 'id, name, created_at', `${id('category')}, 'Category ' || n, ${first}`, 5],
  [
    // Differences found and resolved during the year, and those found yesterday.
    'reconciliations',
    'id, day, resource_type, subject, reference, ours, state, created_at, met_at',
    `${id('difference')}, (${at('100 * n - 50')} at time zone interval '7 hours')::date, 'payment', 'nobody-' || n,
     'nobody-' || n, '{}', 'resolved', ${at('100 * n - 50')}, ${at('100 * n - 50')}`,
    Math.floor(year.rows / 100),
  ],
  [
    'reconciliations',
    'id, day, resource_type, subject, reference, ours, state, created_at, met_at',
    `${id('open difference')}, (timestamptz ':end' at time zone interval '7 hours')::date - 1, 'payment', 'open-' || n,
     'open-' || n, '{}', 'open', timestamptz ':end', timestamptz ':end'`,
    15,
  ],
  [
    // Proposed a minute apart: half of them have already lapsed.
    'decisions',
    'id, kind, donation_id, note, evidence, proposed_by, created_at',
    `${id('proposal')}, 'refund_donation', ${id('donation', '10 * n - 6')}, 'Asked by the donor',
     '{"provider": null, "books": {}}', ${operator(1)},
     timestamptz ':end' - n * interval '1 minute' - case when n % 2 = 0 then interval '2 days' else interval '0' end`,
    20,
  ],
];
