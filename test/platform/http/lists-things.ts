import { newId } from '../../../src/shared/ids.ts';
import { buildOpenDonations } from '../../giving/donations/build-donations.ts';
import { type Ids, type Owner, thingsOf } from '../../people/access/matrix-things.ts';
import { type BuiltUser, buildIndividual, buildOrganization } from '../../support/build.ts';
import { buildPartner } from '../../support/partner.ts';
import type { Stack } from '../../support/stack.ts';
import { withoutTriggers } from '../../support/without-triggers.ts';

/** The owners of rows here, and a stranger. */
export interface Makers {
  owner: Owner;
  stranger: Owner;
}

/** A list: its reader, its rows, and a row of another list. */
export interface List {
  as: 'person' | 'admin' | 'platform' | 'partner';
  /**
   * Creates rows of the list with this path, at least three in total; returns the ids in the path, and the row of
   * another list.
   */
  make: (stack: Stack, makers: Makers, path: string) => Promise<{ ids?: Ids; foreign?: string }>;
  /** SQL that removes the row with this id from the list, if rows can be removed. */
  leave?: string;
  /** Ordered by id: any id is a position in the list. */
  byId?: true;
  /** Its ids are numbers, not UUIDs. */
  numbered?: true;
}

/** Ids that no row of a list has: one in the right format, and one in another. */
export const strangeIds = ({ numbered }: List): { absent: string; misshapen: string } =>
  numbered ? { absent: '9223372036854775806', misshapen: newId() } : { absent: newId(), misshapen: '1' };

const first = (ids: Ids): string => Object.values(ids)[0] ?? '';

async function thrice<T>(make: () => Promise<T>): Promise<[T, T, T]> {
  return [await make(), await make(), await make()];
}

const make = async (stack: Stack, path: string, owner: Owner): Promise<Ids> =>
  thingsOf({ method: 'get', path: `${path}/:` }).make(stack, owner);

/** The rows that the permission matrix creates under a path, three of the owner's and one of the stranger's. */
const ofMatrix: List['make'] = async (stack, { owner, stranger }, path) => {
  await thrice(() => make(stack, path, owner));
  return { foreign: first(await make(stack, path, stranger)) };
};

const ofEverybody: List['make'] = async (stack, makers, path) => {
  await ofMatrix(stack, makers, path);
  return {};
};

const isThere: List['make'] = async () => ({});

/** Creates three refunds of one payment, and one of another. */
async function refunds(stack: Stack, { owner, stranger }: Makers) {
  const path = '/v1/partners/payments';
  const made = await thrice(() => make(stack, path, owner));
  for (const { refund_id } of made) {
    await withoutTriggers(stack, 'update payment_refunds set payment_id = ? where id = ?', [made[0].id, refund_id]);
  }
  return { ids: made[0], foreign: String((await make(stack, path, stranger)).refund_id) };
}

/** Creates three items of one batch, and one of another. */
async function batchItems(stack: Stack, { owner, stranger }: Makers) {
  const path = '/v1/partners/payout-batches';
  const made = await make(stack, path, owner);
  for (const place of [2, 3]) {
    const id = newId();
    const texts = JSON.stringify({ bank_account_number: '1234567890', beneficiary_name: null, external_ref: null });
    const sealed = await stack.deps.sealer.seal({ table: 'payouts', column: 'texts_sealed', row: id }, texts);
    await stack.em().execute(
      `insert into payout_batch_items (id, batch_id, place, reference, external_ref, amount, fee, net_amount, provider_fee,
         bank_code, texts_sealed, created_at)
       values (?, ?, ?, 'PO', ?, 10, 1, 9, 0, 'BCA', ?, now())`,
      [id, made.id, place, String(place), sealed],
    );
  }
  const other = await make(stack, path, stranger);
  const [item] = await stack
    .em()
    .execute<[{ id: string }]>('select id from payout_batch_items where batch_id = ?', [other.id]);
  return { ids: made, foreign: item.id };
}

/** Creates three disbursements of one cause, and a withdrawal of the same person. */
async function disbursements(stack: Stack, { owner }: Makers) {
  const cause = await make(stack, '/v1/charitable-causes', owner);
  for (const { id } of await thrice(() => make(stack, '/v1/withdrawals', owner))) {
    await withoutTriggers(
      stack,
      "update withdrawals set cause_id = ?, purpose_note = 'A pump for the well' where id = ?",
      [cause.id, id],
    );
  }
  return { ids: cause, foreign: first(await make(stack, '/v1/withdrawals', owner)) };
}

/** Creates three contributions to one circle, and one to another of the same person. */
async function contributions(stack: Stack, { owner }: Makers) {
  const [circle, other] = await thrice(() => make(stack, '/v1/saving-circles', owner));
  const contribute = async ({ id, member_id, account_id }: Ids, turn: number) => {
    const contribution = newId();
    await withoutTriggers(
      stack,
      `insert into saving_circle_contributions (id, saving_circle_id, member_id, user_id, turn_number, amount, rail,
         status, refund_account_id, transaction_id) values (?, ?, ?, ?, ?, 1000, 'balance', 'completed', ?, ?)`,
      [contribution, id, member_id, owner.user.id, turn, account_id, newId()],
    );
    return contribution;
  };
  for (const turn of [1, 2, 3]) await contribute(circle, turn);
  return { ids: circle, foreign: await contribute(other, 1) };
}

async function stuckPayouts(stack: Stack, { owner }: Makers) {
  const path = '/v1/partners/payouts';
  for (const { id } of await thrice(() => make(stack, path, owner))) {
    await withoutTriggers(stack, "update payouts set unknown_since = now() - interval '1 hour' where id = ?", [id]);
  }
  return { foreign: first(await make(stack, path, owner)) };
}

async function receipts(stack: Stack) {
  await thrice(() =>
    withoutTriggers(
      stack,
      `insert into receipts (id, provider_payment_id, provider_payment_method_id, reference, amount, state, reason)
       values (?, ?, ?, ?, 1000, 'suspended', 'unknown')`,
      [newId(), newId(), newId(), newId()],
    ),
  );
  return {};
}

async function differences(stack: Stack) {
  await thrice(() => {
    const id = newId();
    return withoutTriggers(
      stack,
      `insert into reconciliations (id, day, resource_type, subject, resource_id, reference, state)
       values (?, current_date, 'payout', ?, ?, 'mine', 'open')`,
      [id, id, id],
    );
  });
  return {};
}

async function users(stack: Stack, { owner, stranger }: Makers) {
  await thrice(() => buildIndividual(stack, { organizationId: owner.user.organizationId }));
  return { foreign: stranger.user.id };
}

async function accounts(stack: Stack, { owner, stranger }: Makers) {
  await thrice(() => make(stack, '/v1/saving-goals', owner));
  return { foreign: stranger.user.accountId };
}

const deleteDocument = 'update documents set deleted_at = now(), deleted_by = created_by where id = ?';

/** Every list, by its path; a new one needs a row here, or the test fails. */
export const lists: Record<string, List> = {
  '/v1/accounts': { as: 'person', make: accounts },
  '/v1/acl/permissions': { as: 'admin', make: isThere },
  '/v1/acl/roles': {
    as: 'admin',
    make: ofMatrix,
    leave: 'update roles set deleted_at = now() where id = ?',
  },
  '/v1/addresses': { as: 'platform', make: ofEverybody },
  '/v1/addresses/mine': { as: 'person', make: (stack, makers) => ofMatrix(stack, makers, '/v1/addresses') },
  '/v1/bank-accounts': {
    as: 'person',
    make: ofMatrix,
    leave: 'update bank_accounts set deleted_at = now() where id = ?',
  },
  '/v1/charitable-causes': { as: 'person', make: ofMatrix },
  '/v1/charitable-causes/:id/disbursements': { as: 'person', make: disbursements },
  '/v1/decisions': { as: 'platform', make: ofEverybody },
  '/v1/documents': {
    as: 'person',
    make: ofMatrix,
    leave: deleteDocument,
  },
  '/v1/documents/categories': { as: 'person', make: ofEverybody },
  '/v1/documents/type/:type': {
    as: 'person',
    make: async (stack, makers) => ({ ...(await ofMatrix(stack, makers, '/v1/documents')), ids: { type: 'receipt' } }),
    leave: deleteDocument,
  },
  '/v1/donations': { as: 'person', make: ofMatrix },
  '/v1/donations/open': {
    as: 'platform',
    make: async (stack) => {
      await buildOpenDonations(stack, await buildIndividual(stack), 3);
      return {};
    },
  },
  '/v1/donations/subscriptions': { as: 'person', make: ofMatrix },
  '/v1/events': { as: 'platform', make: isThere, byId: true },
  '/v1/official-documents': {
    as: 'person',
    make: ofMatrix,
    leave: 'delete from official_documents where id = ?',
    numbered: true,
  },
  '/v1/organizations': {
    as: 'platform',
    make: async (stack) => {
      await thrice(() => buildOrganization(stack));
      return {};
    },
  },
  '/v1/organizations/industries': { as: 'admin', make: isThere },
  '/v1/organizations/sizes': { as: 'admin', make: isThere },
  '/v1/partner-accounts': {
    as: 'platform',
    make: async (stack) => {
      await thrice(() => buildPartner(stack));
      return {};
    },
  },
  '/v1/partner-accounts/:id/webhook-deliveries': {
    as: 'platform',
    make: async (stack, makers) => ({
      ...(await ofMatrix(stack, makers, '/v1/partners/webhook-deliveries')),
      ids: { id: makers.owner.partner.id },
    }),
  },
  '/v1/partner-accounts/:id/webhook-endpoints': {
    as: 'platform',
    make: async (stack, makers) => ({
      ...(await ofMatrix(stack, makers, '/v1/partners/webhook-endpoints')),
      ids: { id: makers.owner.partner.id },
    }),
    leave: 'delete from webhook_endpoints where id = ?',
  },
  '/v1/partners/instruments': { as: 'partner', make: ofMatrix },
  '/v1/partners/payout-batches': { as: 'partner', make: ofMatrix },
  '/v1/partners/payout-batches/:id/items': { as: 'partner', make: batchItems },
  '/v1/partners/payments': { as: 'partner', make: ofMatrix },
  '/v1/partners/payments/:id/refunds': { as: 'partner', make: refunds },
  '/v1/partners/payouts': { as: 'partner', make: ofMatrix },
  '/v1/partners/webhook-deliveries': { as: 'partner', make: ofMatrix },
  '/v1/partners/webhook-endpoints': {
    as: 'partner',
    make: ofMatrix,
    leave: 'delete from webhook_endpoints where id = ?',
  },
  '/v1/payments/orders': { as: 'person', make: ofMatrix },
  '/v1/payouts': { as: 'platform', make: ofEverybody },
  '/v1/payout-batches': { as: 'platform', make: ofEverybody },
  '/v1/payout-batches/:id/items': { as: 'platform', make: batchItems },
  '/v1/partner-payments': { as: 'platform', make: ofEverybody },
  '/v1/payouts/stuck': {
    as: 'platform',
    make: stuckPayouts,
    leave: 'update payouts set unknown_since = null where id = ?',
  },
  '/v1/products': { as: 'person', make: ofEverybody },
  '/v1/receipts': { as: 'platform', make: receipts },
  '/v1/reconciliations': { as: 'platform', make: differences },
  '/v1/saving-circles': {
    as: 'person',
    make: ofMatrix,
    leave: "update saving_circles set status = 'cancelled', ended_at = now(), deleted_at = now() where id = ?",
  },
  '/v1/saving-circles/:id/contributions': { as: 'person', make: contributions },
  '/v1/saving-goals': { as: 'person', make: ofMatrix },
  '/v1/transactions': { as: 'person', make: ofMatrix },
  '/v1/users': { as: 'admin', make: users },
  '/v1/withdrawals': { as: 'person', make: ofMatrix },
};

/** Returns the owner whose rows a list's reader sees, and a stranger. */
export const makersOf = (
  { as }: List,
  {
    person,
    admin,
    stranger,
    partner,
    other,
  }: Record<'person' | 'admin' | 'stranger', BuiltUser> & {
    partner: Owner['partner'];
    other: Owner['partner'];
  },
): Makers => ({
  owner: { user: as === 'admin' ? admin : person, partner },
  stranger: { user: stranger, partner: other },
});
