import { z } from 'zod';
import { allow } from '../platform/http/access.ts';
import { created } from '../platform/http/answer.ts';
import { amount, text, timestamp, uuid } from '../platform/http/fields.ts';
import { listQuery, pageFields, presentPage } from '../platform/http/paging.ts';
import { createRouteGroup } from '../platform/http/route-group.ts';
import type { Account } from './accounts/account.entity.ts';
import { accountKinds } from './accounts/account.ts';
import { createPocket } from './accounts/open-account.ts';
import { findAccounts, getAccount } from './find-accounts.ts';

/** Returns an account as the API shows it, with its balance (IDR, scale 4). */
const presentAccount = (account: Account, balance: string) => ({
  id: account.id,
  name: account.name,
  kind: account.kind,
  user_id: account.user_id ?? null,
  organization_id: account.organization_id ?? null,
  owner_id: account.owner_id ?? null,
  currency: account.currency,
  balance,
  created_at: account.created_at.toISOString(),
});

const AccountShape = z
  .object({
    id: uuid(),
    name: z.string(),
    kind: z.enum(accountKinds),
    user_id: uuid().nullable(),
    organization_id: uuid().nullable(),
    owner_id: uuid().nullable(),
    currency: z.literal('IDR'),
    balance: amount(),
    created_at: timestamp(),
  })
  .meta({ id: 'Account' });

const routes = createRouteGroup({
  prefix: '/v1/accounts',
  tag: 'Accounts',
  description: 'Ledger accounts and their balances.',
});

routes.get(
  '/',
  {
    summary: 'List accounts',
    access: allow('read-account', { scope: "own; the organization's for its admins; all for platform" }),
    query: listQuery().extend({ kind: z.enum(accountKinds).optional() }),
    answers: {
      200: z.object({ message: z.string(), data: z.object({ items: z.array(AccountShape), ...pageFields }) }),
    },
  },
  async ({ em, caller, query }) => {
    const { items, ...listed } = await findAccounts(em, caller, query);
    return {
      message: 'Accounts found',
      data: {
        items: items.map(({ account, balance }) => presentAccount(account, balance)),
        ...presentPage(query, listed),
      },
    };
  },
);

routes.post(
  '/',
  {
    summary: 'Open another pocket',
    access: allow('create-account', { userTypes: ['individual', 'organization'], scope: 'for the caller' }),
    body: z.strictObject({ name: text(100) }),
    answers: { 201: z.object({ message: z.string(), data: AccountShape }) },
  },
  async ({ em, caller, body, requestId }) => {
    const id = await createPocket(em, caller, { name: body.name, requestId });
    const { account, balance } = await getAccount(em, caller, id);
    return created({ message: 'Account opened', data: presentAccount(account, balance) });
  },
);

routes.get(
  '/:account_id',
  {
    summary: 'Read an account',
    access: allow('read-account', { scope: "own; the organization's for its admins; all for platform" }),
    params: z.object({ account_id: uuid() }),
    answers: { 200: z.object({ message: z.string(), data: AccountShape }) },
    refusals: [404],
  },
  async ({ em, caller, params }) => {
    const { account, balance } = await getAccount(em, caller, params.account_id);
    return { message: 'Account found', data: presentAccount(account, balance) };
  },
);

export const accountsRoutes = routes;
