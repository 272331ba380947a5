import { newId } from '../../../src/shared/ids.ts';
import { buildIndividual, buildRole, fund } from '../../support/build.ts';
import { buildActiveCause, buildGoal } from '../../support/build-targets.ts';
import { buildTransaction, upload } from '../../support/documents.ts';
import type { Stack } from '../../support/stack.ts';
import { type Owner, thingsOf } from './matrix-things.ts';

/**
 * The statuses for a field that names someone else's resource (`open` if that is allowed) or an unknown one.
 */
export interface Named {
  foreign: 400 | 403 | 404 | 'open';
  absent: 400 | 403 | 404;
}

/** A valid body with the owner's ids, and the resources that its fields may name. */
export interface Body {
  build(stack: Stack, owner: Owner): Promise<Record<string, unknown>>;
  /** The permission, if it depends on the body rather than the route. */
  permission?: string;
  /** The statuses by field (`[]` marks entries of a list), or a sentence that explains why the field is not tested. */
  fields: Record<string, Named | string>;
}

const refused: Named = { foreign: 403, absent: 404 };
const attached: Named = { foreign: 400, absent: 400 };
const anyOf: Named = { foreign: 'open', absent: 404 };
const ofThePlatform = 'only platform users are admitted, and they may access every resource';
const ofTheSuperAdmin = 'only the super admin is admitted, and may access every resource';

async function documentBody(stack: Stack, { user }: Owner) {
  const { token } = user;
  const product_id = await buildTransaction(stack, user);
  const { body } = await upload(stack, user, await buildTransaction(stack, user));
  const category = thingsOf({ method: 'patch', path: '/v1/documents/categories/:id' });
  const { id: category_id } = await category.make(stack, { user } as Owner);
  const { body: shown } = await stack.get(`/v1/documents/${body.id}/view-url`, { token });
  return { url: shown.file_key, document_type: 'receipt', product_type: 'transaction', product_id, category_id };
}

async function usableBankAccount(stack: Stack, owner: Owner): Promise<string> {
  const { id = '' } = await thingsOf({ method: 'get', path: '/v1/bank-accounts/:id' }).make(stack, owner);
  await stack.owner().execute('update bank_accounts set usable_at = created_at where id = ?', [id]);
  return id;
}

const identity = { kind: 'passport', number: 'A1234567', name_on_document: 'Ani' };
async function identityBody(stack: Stack, owner: Owner) {
  const { id: document_id } = await thingsOf({ method: 'get', path: '/v1/documents/:id' }).make(stack, owner);
  return { ...identity, document_id };
}

async function circle(stack: Stack, owner: Owner, sql: string): Promise<string> {
  const { id = '' } = await thingsOf({ method: 'get', path: '/v1/saving-circles/:id' }).make(stack, owner);
  await stack.em().execute(sql, [id]);
  return id;
}

/** Every body that contains ids, by route. The matrix fails for a new body without a row here. */
export const bodies: Record<string, Body> = {
  'POST /v1/users/invitations': {
    build: async (stack, { user }) => ({
      email: `${newId()}@example.org`,
      name: 'Invited',
      user_type: 'individual',
      organization_id: user.organizationId,
      role_id: (await buildRole(stack, { organizationId: String(user.organizationId), permissions: ['read-role'] })).id,
    }),
    permission: 'invite-individual-user',
    fields: { organization_id: { foreign: 403, absent: 403 }, role_id: refused },
  },
  'POST /v1/acl/roles': {
    build: async (_, { user }) => ({
      name: `role-${newId()}`,
      description: 'A role',
      permissions: ['read-role'],
      organization_id: user.organizationId,
    }),
    fields: { organization_id: { foreign: 403, absent: 403 } },
  },
  'PATCH /v1/acl/assign-role': {
    build: async (stack, { user }) => {
      const organizationId = String(user.organizationId);
      return {
        user_id: (await buildIndividual(stack, { organizationId, role: null })).id,
        role_id: (await buildRole(stack, { organizationId, permissions: ['read-role'] })).id,
      };
    },
    fields: { user_id: refused, role_id: refused },
  },
  'POST /v1/documents': {
    build: documentBody,
    fields: { product_id: attached, category_id: { foreign: 'open', absent: 400 } },
  },
  'PATCH /v1/documents/:': {
    build: documentBody,
    fields: { product_id: attached, category_id: { foreign: 'open', absent: 400 } },
  },
  'POST /v1/official-documents': { build: identityBody, fields: { document_id: attached } },
  'PATCH /v1/official-documents/:': { build: identityBody, fields: { document_id: attached } },
  'POST /v1/accounts/:/transfers': {
    build: async (stack, { user }) => {
      await fund(stack, user.accountId, '10');
      const { body } = await stack.post('/v1/accounts', { name: 'Pocket' }, { token: user.token });
      return { destination_account_id: body.data.id, amount: '10' };
    },
    fields: { destination_account_id: refused },
  },
  'POST /v1/accounts/:/withdrawals': {
    build: async (stack, owner) => {
      const { id: cause_id } = await buildActiveCause(stack, owner.user);
      const { accountId: source_account_id, token } = await buildIndividual(stack, { balance: '10000' });
      await stack.post(
        '/v1/payments/balance',
        { reference_type: 'charitable_cause_donate', reference_id: cause_id, source_account_id, amount: 10_000 },
        { token },
      );
      const bank_account_id = await usableBankAccount(stack, owner);
      return { bank_account_id, amount: '10000', cause_id, purpose_note: 'A pump for the well' };
    },
    fields: { bank_account_id: refused, cause_id: refused },
  },
  'POST /v1/withdrawals/quotes': {
    build: async (stack, owner) => ({ bank_account_id: await usableBankAccount(stack, owner), amount: '10000' }),
    fields: { bank_account_id: refused },
  },
  'POST /v1/saving-goals/:/release': {
    build: (_, { user }) => Promise.resolve({ account_id: user.accountId }),
    fields: { account_id: refused },
  },
  'POST /v1/payments/gateway': {
    build: async (_, { user }) => ({
      reference_type: 'account_top_up',
      reference_id: user.accountId,
      payment_id: 1,
      amount: 50_000,
    }),
    fields: { reference_id: refused },
  },
  'POST /v1/payments/balance': {
    build: async (stack, { user }) => {
      await fund(stack, user.accountId, '10');
      return {
        reference_type: 'saving_goal_contribution',
        reference_id: (await buildGoal(stack, user)).id,
        source_account_id: user.accountId,
        amount: 10,
      };
    },
    fields: { reference_id: refused, source_account_id: refused },
  },
  'POST /v1/charitable-causes': {
    build: async (_, { user }) => ({
      account_id: user.accountId,
      name: 'A well',
      description: 'Water',
      target_amount: 1000,
      regulations: 'None',
      benefit: 'Water',
    }),
    fields: { account_id: refused, organization_id: 'only platform users may send it, and may name any organization' },
  },
  'POST /v1/charitable-causes/:/assign-manager': {
    build: async (stack) => ({ user_id: (await buildIndividual(stack)).id }),
    fields: { user_id: anyOf },
  },
  'POST /v1/decisions': {
    build: async () => ({ kind: 'settle_payout', payout_id: newId(), outcome: 'failed', note: 'ticket 4711' }),
    fields: {
      account_id: ofThePlatform,
      payout_id: ofThePlatform,
      receipt_id: ofThePlatform,
      reconciliation_id: ofThePlatform,
      donation_id: ofThePlatform,
      user_id: ofThePlatform,
    },
  },
  'POST /v1/donations/allocate': {
    build: async () => ({}),
    fields: { 'donation_ids[]': ofTheSuperAdmin, cause_id: ofTheSuperAdmin },
  },
  'POST /v1/donations/allocate/preview': {
    build: async () => ({}),
    fields: { 'donation_ids[]': ofTheSuperAdmin, cause_id: ofTheSuperAdmin },
  },
  'POST /v1/donations/subscriptions': {
    build: async (stack, { user }) => {
      await fund(stack, user.accountId, '10');
      return {
        cause_id: (await buildActiveCause(stack)).id,
        amount: '10',
        source_account_id: user.accountId,
        interval: 'monthly',
      };
    },
    fields: { cause_id: anyOf, source_account_id: refused },
  },
  'POST /v1/saving-circles': {
    build: async (_, { user }) => ({
      account_id: user.accountId,
      name: 'Arisan',
      start_date: '2099-01-01',
      amount: '1000',
    }),
    fields: { account_id: refused },
  },
  'POST /v1/saving-circles/members': {
    build: async (stack, owner) => ({
      saving_circle_id: await circle(stack, owner, 'update saving_circles set capacity = 9 where id = ?'),
      account_ids: [(await buildIndividual(stack)).accountId],
    }),
    fields: {
      saving_circle_id: refused,
      'account_ids[]': anyOf,
      'user_ids[]': 'an alternative to account_ids; a user outside the organization is a 400',
    },
  },
  'POST /v1/saving-circles/:/members/:/replacements': {
    build: async (stack) => ({ account_id: (await buildIndividual(stack)).accountId }),
    fields: { account_id: 'anybody may be proposed, but must accept' },
  },
  'PUT /v1/saving-circles/:/members/:/standing-order': {
    build: async (_, { user }) => ({ source_account_id: user.accountId }),
    fields: { source_account_id: refused },
  },
  'POST /v1/saving-circles/contribute': {
    build: async (stack, owner) => {
      await fund(stack, owner.user.accountId, '1000');
      const begin = `with begun as (
          update saving_circles set status = 'active', started_at = now() where id = ? returning id)
        insert into saving_circle_rounds (saving_circle_id, turn_number, receiver_member_id, opened_at, due_at)
        select begun.id, 1, m.id, now(), now() + interval '1 month'
        from begun join saving_circle_members m on m.saving_circle_id = begun.id`;
      const saving_circle_id = await circle(stack, owner, begin);
      const [member] = await stack
        .em()
        .execute('select id from saving_circle_members where saving_circle_id = ?', [saving_circle_id]);
      return {
        saving_circle_id,
        contribution_amount: '1000',
        source_account_id: owner.user.accountId,
        on_behalf_of: member?.id,
      };
    },
    fields: { saving_circle_id: refused, source_account_id: refused, on_behalf_of: { foreign: 404, absent: 404 } },
  },
  'POST /v1/partner-accounts': {
    build: async () => ({ name: 'Partner', organization_id: newId(), fee_mode: 'DEDUCTED' }),
    fields: { organization_id: ofTheSuperAdmin },
  },
  'PUT /v1/partner-accounts/:/fees': {
    build: async () => ({ fees: [] }),
    fields: { 'fees[].organization_id': ofTheSuperAdmin },
  },
  'POST /v1/partner-accounts/:/organizations': {
    build: async () => ({ organization_id: newId() }),
    fields: { organization_id: ofTheSuperAdmin },
  },
  'POST /v1/partners/quotes': {
    build: async (_, { partner }) => ({ method: 'qris', amount: '10000', organization_id: partner.organizationId }),
    fields: {
      organization_id: { foreign: 403, absent: 403 },
      bank_account_check_id: 'for payouts, which name no organization; tested in test/money-out/account-checks',
    },
  },
  'POST /v1/partners/webhook-deliveries/replay': {
    build: async (stack, owner) => {
      const { id } = await thingsOf({ method: 'patch', path: '/v1/partners/webhook-endpoints/:id' }).make(stack, owner);
      return { from: '2020-01-01', to: '2020-01-02', endpoint_id: id };
    },
    fields: { endpoint_id: { foreign: 404, absent: 404 } },
  },
  'POST /v1/partners/payments': {
    build: async (_, { partner }) => ({ method: 'qris', amount: '10000', organization_id: partner.organizationId }),
    fields: { organization_id: { foreign: 403, absent: 403 } },
  },
};
