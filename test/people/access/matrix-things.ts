import { systemAccounts } from '../../../src/ledger/accounts/account.ts';
import { openAccount } from '../../../src/ledger/accounts/open-account.ts';
import { endpointSecretPlace } from '../../../src/partners/webhook-endpoint.ts';
import { webhookBodyPlace } from '../../../src/partners/webhooks/record-webhook.ts';
import type { Route } from '../../../src/platform/http/route-group.ts';
import { newAddressId, newId } from '../../../src/shared/ids.ts';
import { type BuiltUser, buildIndividual, buildRole } from '../../support/build.ts';
import { buildActiveCause, buildGoal, buildProduct } from '../../support/build-targets.ts';
import { buildOperators, plantDecision } from '../../support/decide.ts';
import { buildTransaction } from '../../support/documents.ts';
import { type BuiltPartner, buildPartner } from '../../support/partner.ts';
import type { Stack } from '../../support/stack.ts';

/** The owner of a resource: a user and a partner. */
export interface Owner {
  user: BuiltUser;
  partner: BuiltPartner;
}

/** The values of a route's parameters, by name. */
export type Ids = Record<string, string>;

/** How to create the resource that a route's first parameter names. */
export interface Things {
  /** The status when someone else owns the resource (a missing one is always a 404); `shared` if it has no owner. */
  foreign: 403 | 404 | 'shared';
  /** Creates a resource of this owner. */
  make(stack: Stack, owner: Owner): Promise<Ids>;
  /** Returns an unused id in this resource's format; a new UUID by default. */
  absent?: () => string;
}

const insert = async (stack: Stack, id: string, sql: string, values: unknown[]): Promise<Ids> => {
  await stack.em().execute(sql, [id, ...values]);
  return { id };
};

/** Posts as the owner and returns the response body; throws unless the status is 201. */
async function post(stack: Stack, owner: Owner, path: string, body: object): Promise<Record<string, never>> {
  const answer = await stack.post(path, body, { token: owner.user.token });
  if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}
const read = (value: unknown, ...path: string[]): string =>
  String(path.reduce<unknown>((inner, key) => Object(inner)[key], value));

async function journal(stack: Stack, { user }: Owner): Promise<Ids> {
  const id = newId();
  await stack
    .owner()
    .execute("select write_journal(?, ?, 'test', array[?, ?]::uuid[], '{-1,1}')", [
      id,
      `test/${id}`,
      systemAccounts.gatewayClearing,
      user.accountId,
    ]);
  return { id };
}

async function cause(stack: Stack, { user }: Owner): Promise<Ids> {
  const { id } = await buildActiveCause(stack, user);
  await stack
    .owner()
    .execute(
      "update charitable_causes set status = 'pending', approved_at = null, approved_by = null, organization_id = ?, owner_type = ? where id = ?",
      [user.organizationId, user.organizationId ? 'organization' : 'individual', id],
    );
  const manager = await buildIndividual(stack);
  await stack
    .owner()
    .execute('insert into cause_managers (cause_id, user_id, created_by) values (?, ?, ?)', [id, manager.id, user.id]);
  return { id, user_id: manager.id };
}

async function circle(stack: Stack, { user }: Owner): Promise<Ids> {
  const ids = { id: newId(), member_id: newId(), replacement_id: newId(), account_id: user.accountId };
  await stack.em().transactional(async (tx) => {
    const holding = await openAccount(tx, { kind: 'circle_holding', name: 'Circle', ownerId: ids.id });
    const { accountId, organizationId, id } = user;
    const owner = organizationId ?? id;
    const type = organizationId === null ? 'individual' : 'organization';
    await tx.execute(
      `insert into saving_circles (id, name, account_id, holding_account_id, owner_type, owner_id, organization_id,
         created_by, capacity, amount, visibility, round_interval, turn_order, start_date, starts_at,
         draw_commitment, draw_seed_sealed)
       values (?, 'Circle', ?, ?, ?, ?, ?, ?, 5, 1000, 'private', 'monthly', 'lottery', '2099-01-01', '2099-01-01', 'x', 'x')`,
      [ids.id, accountId, holding, type, owner, organizationId, id],
    );
    await tx.execute(
      'insert into saving_circle_members (id, saving_circle_id, account_id, user_id) values (?, ?, ?, ?)',
      [ids.member_id, ids.id, accountId, id],
    );
    await tx.execute(
      'insert into saving_circle_standing_orders (id, source_account_id, amount, guarantee_amount) values (?, ?, 100000, 0)',
      [ids.member_id, accountId],
    );
    await tx.execute(
      `insert into saving_circle_replacements (id, saving_circle_id, member_id, leaving_user_id, account_id, user_id,
         proposed_by) values (?, ?, ?, ?, ?, ?, ?)`,
      [ids.replacement_id, ids.id, ids.member_id, id, accountId, id, id],
    );
  });
  return ids;
}

/** A final partner payment, EXPIRED by default. */
async function partnerPayment(stack: Stack, { partner }: Owner, end = "status = 'EXPIRED'"): Promise<{ id: string }> {
  const id = newId();
  await insert(
    stack,
    id,
    `insert into partner_payments (id, partner_id, channel_id, fee_mode, amount, fee, net_amount, status, expires_at,
       created_at, updated_at)
     values (?, ?, 1, 'DEDUCTED', 20000, 1, 19999, 'PENDING', now() + interval '1 day', now(), now())`,
    [partner.id],
  );
  await stack.em().execute(`update partner_payments set ${end}, finalized_at = now() where id = ?`, [id]);
  return { id };
}

/** A paid partner payment with a refund that has no workflow. */
async function refundedPayment(stack: Stack, owner: Owner): Promise<Ids> {
  const { partner } = owner;
  const { id } = await partnerPayment(stack, owner, "status = 'PAID', available_at = now(), released_at = now()");
  const ids = { id, refund_id: newId() };
  const texts = JSON.stringify({ bank_account_number: '1234567890', beneficiary_name: null, reason: 'Returned' });
  const sealed = await stack.deps.sealer.seal({ table: 'payouts', column: 'texts_sealed', row: ids.refund_id }, texts);
  await stack.em().transactional(async (tx) => {
    await tx.execute(
      `insert into payouts (id, kind, source_account_id, reserved_account_id, partner_id, reference, fee_mode, amount,
         fee, net_amount, bank_code, texts_sealed, status, created_at, updated_at)
       values (?, 'payment_refund', ?, ?, ?, ?, 'DEDUCTED', 10, 0, 10, 'BCA', ?, 'pending', now(), now())`,
      [
        ids.refund_id,
        partner.account.available,
        partner.account.reserved,
        partner.id,
        `RF-${ids.refund_id.slice(-20)}`,
        sealed,
      ],
    );
    await tx.execute('insert into payment_refunds (id, payment_id, created_at) values (?, ?, now())', [
      ids.refund_id,
      ids.id,
    ]);
  });
  return ids;
}

async function partnerPayout(stack: Stack, { partner }: Owner): Promise<Ids> {
  const id = newId();
  const texts = JSON.stringify({ bank_account_number: '1234567890', account_holder_name: 'Ani' });
  const sealed = await stack.deps.sealer.seal({ table: 'payouts', column: 'texts_sealed', row: id }, texts);
  return insert(
    stack,
    id,
    `insert into payouts (id, kind, source_account_id, reserved_account_id, partner_id, reference, fee_mode, amount, fee,
       net_amount, bank_code, texts_sealed, status, created_at, updated_at)
     values (?, 'partner_payout', ?, ?, ?, ?, 'DEDUCTED', 10, 1, 9, 'BCA', ?, 'pending', now(), now())`,
    [partner.account.available, partner.account.reserved, partner.id, `PO-${id.slice(-20)}`, sealed],
  );
}

/** Inserts a batch that was created with a different API key from the caller's. */
async function payoutBatch(stack: Stack, { partner }: Owner): Promise<Ids> {
  const { body } = await partner.administer('post', '/keys', { permissions: ['request-payout'] });
  const [id, item] = [newId(), newId()];
  const texts = JSON.stringify({ bank_account_number: '1234567890', beneficiary_name: 'Ani', external_ref: 'one' });
  const sealed = await stack.deps.sealer.seal({ table: 'payouts', column: 'texts_sealed', row: item }, texts);
  await stack.em().transactional(async (tx) => {
    await tx.execute(
      `insert into payout_batches (id, partner_id, fee_mode, item_count, total_amount, total_fee, status, made_by, lapses_at,
         look_again_at, created_at, updated_at)
       values (?, ?, 'DEDUCTED', 1, 10, 1, 'needs_approval', ?, now() + interval '1 day', now() + interval '1 day', now(), now())`,
      [id, partner.id, body.data.id],
    );
    await tx.execute(
      `insert into payout_batch_items (id, batch_id, place, reference, external_ref, amount, fee, net_amount, provider_fee,
         bank_code, texts_sealed, created_at)
       values (?, ?, 1, ?, 'one', 10, 1, 9, 0, 'BCA', ?, now())`,
      [item, id, `PO-${item.slice(-20)}`, sealed],
    );
  });
  return { id };
}

/** A closed instrument, so that the provider is not called. */
async function partnerInstrument(stack: Stack, { partner }: Owner): Promise<Ids> {
  const made = await insert(
    stack,
    newId(),
    `insert into partner_instruments (id, partner_id, channel_id, status, look_again_at, created_at, updated_at)
     values (?, ?, 1, 'active', now() + interval '1 day', now(), now())`,
    [partner.id],
  );
  await stack
    .em()
    .execute("update partner_instruments set status = 'closed', closed_at = now(), look_again_at = null where id = ?", [
      made.id,
    ]);
  return made;
}

/** A withdrawal without an approval, to a new bank account. */
async function withdrawal(stack: Stack, owner: Owner): Promise<Ids> {
  const { id: bankAccount } = await thingsOf({ method: 'get', path: '/v1/bank-accounts/:id' }).make(stack, owner);
  const { accountId, id: userId } = owner.user;
  const id = newId();
  await stack.owner().execute('update bank_accounts set usable_at = created_at where id = ?', [bankAccount]);
  const texts = JSON.stringify({ bank_account_number: '1234567890', beneficiary_name: 'Ani' });
  const sealed = await stack.deps.sealer.seal({ table: 'payouts', column: 'texts_sealed', row: id }, texts);
  await stack.em().transactional(async (tx) => {
    const [held] = await tx.execute<{ id: string }[]>(
      "select id from accounts where owner_id = ? and kind = 'withdrawal_reserved'",
      [accountId],
    );
    const reserved =
      held?.id ?? (await openAccount(tx, { kind: 'withdrawal_reserved', name: 'Withdrawals', ownerId: accountId }));
    await tx.execute(
      `insert into payouts (id, kind, source_account_id, reserved_account_id, reference, fee_mode, amount, fee,
         net_amount, bank_code, texts_sealed, status, created_at, updated_at)
       values (?, 'withdrawal', ?, ?, ?, 'DEDUCTED', 10, 1, 9, 'BCA', ?, 'pending', now(), now())`,
      [id, accountId, reserved, `WD-${id.slice(-20)}`, sealed],
    );
    await tx.execute(
      `insert into withdrawals (id, user_id, organization_id, bank_account_id, transaction_id, created_at)
       select ?, ?, organization_id, ?, ?, now() from accounts where id = ?`,
      [id, userId, bankAccount, newId(), accountId],
    );
  });
  return { id };
}

/** A new partner account with a key, a linked organization, a webhook and a parked delivery. */
async function partnerAccount(stack: Stack): Promise<Ids> {
  const partner = await buildPartner(stack, { webhook: { url: 'http://127.0.0.1:9/hook' } });
  const linked = await buildRole(stack);
  await partner.administer('post', '/organizations', { organization_id: linked.organizationId });
  const { id: delivery = '' } = await parkedDelivery(stack, { user: partner.admin, partner });
  return { id: partner.id, key_id: partner.keyId, organization_id: linked.organizationId, delivery_id: delivery };
}

/** Inserts an endpoint directly, because the API allows a partner at most ten. */
async function webhookEndpoint(stack: Stack, { partner }: Owner): Promise<Ids> {
  const id = newId();
  return insert(
    stack,
    id,
    `insert into webhook_endpoints (id, partner_id, url, events, secret_sealed)
     values (?, ?, 'http://127.0.0.1:9/hook', '{payment.failed}', ?)`,
    [partner.id, await stack.deps.sealer.seal(endpointSecretPlace(id), 'whsec_c2VjcmV0')],
  );
}

async function parkedDelivery(stack: Stack, owner: Owner): Promise<Ids> {
  const { id: resource } = await partnerPayment(stack, owner);
  const { id: endpoint = '' } = await webhookEndpoint(stack, owner);
  const delivery = newId();
  await insert(
    stack,
    delivery,
    `with key as (insert into webhook_version_keys (delivery_id, resource_type, resource_id, version, endpoint_id)
       values (?, 'payment', ?, 1, ?) returning *)
     insert into webhook_deliveries (id, partner_id, endpoint_id, resource_type, resource_id, version, type, body_sealed,
       body_digest, next_attempt_at)
     select delivery_id, ?, endpoint_id, resource_type, resource_id, version, 'payment.failed', ?, 'x', now() from key`,
    [resource, endpoint, owner.partner.id, await stack.deps.sealer.seal(webhookBodyPlace(delivery), '{}')],
  );
  await stack
    .owner()
    .execute("update webhook_deliveries set status = 'parked', next_attempt_at = null where id = ?", [delivery]);
  return { id: delivery };
}

const donation = (stack: Stack, { user }: Owner): Promise<Ids> =>
  insert(
    stack,
    newId(),
    "insert into donations (id, user_id, type, amount, status) values (?, ?, 'open', 5, 'pending')",
    [user.id],
  );

async function subscription(stack: Stack, { user }: Owner): Promise<Ids> {
  const target = await buildActiveCause(stack);
  return insert(
    stack,
    newId(),
    `insert into donation_subscriptions (id, user_id, cause_id, amount, source_account_id, interval, status, started_at)
     values (?, ?, ?, 5, ?, 'weekly', 'active', now())`,
    [user.id, target.id, user.accountId],
  );
}

/** A final order, because inserted rows have no workflow. */
const order = async (stack: Stack, { user }: Owner): Promise<Ids> => {
  const { id = '' } = await insert(
    stack,
    newId(),
    `insert into payment_orders (id, user_id, organization_id, reference_type, reference_id, target_account_id,
       payment_id, nominal, admin_fee, status, expires_at, created_at, updated_at)
     values (?, ?, ?, 'account_top_up', ?, ?, 1, 10, 1, 'PENDING', now() + interval '1 day', now(), now())`,
    [user.id, user.organizationId, user.accountId, user.accountId],
  );
  await stack.em().execute("update payment_orders set status = 'EXPIRED', finalized_at = now() where id = ?", [id]);
  return { payment_order_id: id };
};

/** Inserts a pending erasure of the user, and a legal hold placed by another user, unless they exist. */
const beingErased = async (stack: Stack, { user }: Owner): Promise<Ids> => {
  await stack.em().execute(
    `insert into erasures (id, user_id, status) select ?, ?, 'waiting'
     where not exists (select from erasures where user_id = ? and status <> 'stopped')`,
    [newId(), user.id, user.id],
  );
  const { proposer } = await buildOperators(stack);
  await stack.em().execute(
    `insert into legal_holds (id, user_id, note, placed_by) select ?, ?, 'Letter of a court', ?
     where not exists (select from legal_holds where user_id = ? and lifted_at is null)`,
    [newId(), user.id, proposer.id, user.id],
  );
  return { user_id: user.id };
};

const invitation = (stack: Stack, { user }: Owner): Promise<Ids> => {
  const id = newId();
  return insert(
    stack,
    id,
    `insert into users (id, user_type, organization_id, role_id, status)
     select ?, 'individual', ?, id, 'invited' from roles where name = 'individual_user'`,
    [user.organizationId],
  ).then(() => ({ user_id: id }));
};

const bankAccount = { bank_code: 'BCA', account_number: '1234567890', account_holder: 'Siti Rahayu' };
const address = { province: 'Bali', city: 'Denpasar', country: 'Indonesia' };
const identity = { kind: 'passport', number: 'A1234567', name_on_document: 'Ani' };

async function document(stack: Stack, { user }: Owner): Promise<Ids> {
  const id = newId();
  const url = `${stack.env.S3_ENDPOINT}/${stack.env.S3_BUCKET}/${id}`;
  const sealed = await stack.deps.sealer.seal({ table: 'documents', column: 'url_sealed', row: id }, url);
  return insert(
    stack,
    id,
    `insert into documents (id, url_sealed, url_hash, document_type, visibility, organization_id, content_type,
       size_bytes, created_by)
     values (?, ?, 'x', 'receipt', 'private', ?, 'image/png', 1, ?)`,
    [sealed, user.organizationId, user.id],
  );
}

/** Keyed by the path up to the first parameter. The matrix fails for a new route without a row here. */
const things: Record<string, Things> = {
  '/v1/accounts/': {
    foreign: 403,
    make: async (stack, owner) => ({
      account_id: owner.user.accountId,
      bank_account_id: read(await post(stack, owner, '/v1/bank-accounts', bankAccount), 'data', 'id'),
    }),
  },
  '/v1/acl/permissions/': {
    foreign: 'shared',
    make: async (stack) => {
      const [row] = await stack.em().execute<{ id: string }[]>('select id from permissions limit 1');
      return { permission_id: row?.id ?? '' };
    },
  },
  '/v1/acl/roles/': {
    foreign: 403,
    make: async (stack, { user }) => ({
      role_id: (
        await buildRole(stack, { ...ofOrganization(user), permissions: ['read-account', 'read-role', 'create-role'] })
      ).id,
    }),
  },
  '/v1/addresses/': {
    foreign: 404,
    make: async (stack, owner) => ({
      address_id: read(await post(stack, owner, '/v1/addresses', address), 'data', 'address', 'id'),
    }),
    absent: newAddressId,
  },
  '/v1/bank-accounts/': {
    foreign: 403,
    make: async (stack, owner) => ({
      id: read(await post(stack, owner, '/v1/bank-accounts', bankAccount), 'data', 'id'),
    }),
  },
  '/v1/charitable-causes/': { foreign: 403, make: cause },
  '/v1/decisions/': {
    foreign: 'shared',
    make: async (stack) => {
      const movement = { kind: 'book_external', amount: '1', reference: newId(), approved: false };
      return { id: await plantDecision(stack, await buildOperators(stack), movement) };
    },
  },
  '/v1/documents/': {
    foreign: 404,
    make: document,
  },
  '/v1/documents/categories/': {
    foreign: 'shared',
    make: (stack) =>
      insert(stack, newId(), "insert into document_categories (id, name) values (?, ? || 'x')", [newId()]),
  },
  '/v1/donations/': { foreign: 403, make: donation },
  '/v1/donations/subscriptions/': { foreign: 403, make: subscription },
  '/v1/official-documents/': {
    foreign: 404,
    make: async (stack, owner) => ({
      id: read(await post(stack, owner, '/v1/official-documents', identity), 'data', 'official_document', 'id'),
    }),
    absent: () => '9223372036854775806',
  },
  '/v1/organizations/': {
    foreign: 403,
    make: async (_, { user }) => ({ organization_id: user.organizationId ?? newId() }),
  },
  '/v1/partner-accounts/': { foreign: 'shared', make: partnerAccount },
  '/v1/partners/instruments/': { foreign: 404, make: partnerInstrument },
  '/v1/partners/payout-batches/': { foreign: 404, make: payoutBatch },
  '/v1/partners/payments/': { foreign: 404, make: refundedPayment },
  '/v1/partners/payouts/': { foreign: 404, make: partnerPayout },
  '/v1/partners/webhook-deliveries/': { foreign: 404, make: parkedDelivery },
  '/v1/partners/webhook-endpoints/': { foreign: 404, make: webhookEndpoint },
  '/v1/payments/orders/': { foreign: 403, make: order },
  '/v1/products/': {
    foreign: 'shared',
    make: async (stack, { user }) => ({ product_id: (await buildProduct(stack, user, { kind: 'investment' })).id }),
  },
  '/v1/saving-circles/': { foreign: 403, make: circle },
  '/v1/saving-goals/': {
    foreign: 403,
    make: async (stack, { user }) => ({
      saving_goal_id: (await buildGoal(stack, user)).id,
      account_id: user.accountId,
    }),
  },
  '/v1/transactions/': {
    foreign: 403,
    make: async (stack, { user }) => ({ id: await buildTransaction(stack, user) }),
  },
  '/v1/journals/': { foreign: 'shared', make: journal },
  '/v1/withdrawals/': { foreign: 403, make: withdrawal },
  '/v1/payouts/': { foreign: 'shared', make: partnerPayout },
  '/v1/payout-batches/': { foreign: 'shared', make: payoutBatch },
  '/v1/partner-payments/': { foreign: 'shared', make: (stack, owner) => partnerPayment(stack, owner) },
  '/v1/users/': { foreign: 403, make: beingErased },
  '/v1/users/invitations/': { foreign: 403, make: invitation },
};

const ofOrganization = ({ organizationId }: BuiltUser) => (organizationId === null ? {} : { organizationId });

/** Whether a route has ids in its path: a type, day, year or provider does not count. */
export const namesThings = ({ path }: Pick<Route, 'path'>): boolean =>
  path.includes(':') && !/:(type|day|year|provider)$/.test(path);

/** The fixture for a route's first parameter; throws if `things` has none. */
export function thingsOf({ method, path }: Pick<Route, 'method' | 'path'>): Things {
  const found = things[path.slice(0, path.indexOf(':'))];
  if (!found) throw new Error(`${method} ${path}: add it to things in matrix-things.ts`);
  return found;
}
