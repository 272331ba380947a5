import type { UserType } from '../../src/identity/user.ts';
import { systemAccounts } from '../../src/ledger/account.ts';
import { openAccount } from '../../src/ledger/open-account.ts';
import { postJournal } from '../../src/ledger/post-journal.ts';
import { newId } from '../../src/shared/ids.ts';
import { negateMoney } from '../../src/shared/money.ts';
import type { Stack } from './stack.ts';

export interface BuiltUser {
  id: string;
  token: string;
  email: string;
  /** The user's first account; for users of type `organization` the organization's; platform users have none. */
  accountId: string;
  organizationId: string | null;
}

interface UserOptions {
  organizationId?: string | null;
  role?: string;
  /** IDR on the account from the start, through the ledger. */
  balance?: string;
}

/** An active user with a token, without going through sign-up; what sign-up does is tested where it is. */
async function buildUser(
  stack: Stack,
  userType: UserType,
  options: UserOptions & { role: string },
): Promise<BuiltUser> {
  const id = newId();
  const email = `${id}@example.org`;
  const organizationId = options.organizationId ?? null;
  const em = stack.em();
  await em.execute(
    `insert into users (id, email, name, user_type, organization_id, role_id, status, password_hash)
     select ?, ?, ?, ?, ?, r.id, 'active', 'no password' from roles r where r.name = ? and r.deleted_at is null`,
    [id, email, `Person ${id.slice(0, 8)}`, userType, organizationId, options.role],
  );
  let accountId = '';
  if (userType === 'individual') {
    accountId = await em.transactional((tx) => openAccount(tx, { kind: 'user', name: 'Main', userId: id }));
  } else if (userType === 'organization') {
    const rows = await em.execute<{ id: string }[]>(
      "select id from accounts where organization_id = ? and kind = 'organization' order by created_at limit 1",
      [organizationId],
    );
    accountId = rows[0]?.id ?? '';
  }
  if (options.balance !== undefined) await fund(stack, accountId, options.balance);
  const { token } = await stack.deps.tokens.sign({ userId: id, userType, organizationId });
  return { id, token, email, accountId, organizationId };
}

/** Money from nowhere, as a real journal (gateway clearing -> account). IDR. */
export async function fund(stack: Stack, accountId: string, amount: string): Promise<void> {
  await stack.em().transactional((tx) =>
    postJournal(tx, {
      kind: 'test.funded',
      businessKey: `test/funded/${newId()}`,
      postings: [
        { accountId: systemAccounts.gatewayClearing, amount: negateMoney(amount) },
        { accountId, amount },
      ],
    }),
  );
}

/** What an account holds, IDR with four decimals. */
export async function balanceOf(stack: Stack, accountId: string): Promise<string> {
  const rows = await stack
    .em()
    .execute<{ balance: string }[]>('select account_balance(?)::text as balance', [accountId]);
  return rows[0]?.balance ?? '';
}

export const buildIndividual = (stack: Stack, options: UserOptions = {}): Promise<BuiltUser> =>
  buildUser(stack, 'individual', { role: 'individual_user', ...options });

export const buildPlatformAdmin = (stack: Stack, options: UserOptions = {}): Promise<BuiltUser> =>
  buildUser(stack, 'platform', { role: 'platform_admin', ...options });

export const buildSuperAdmin = (stack: Stack, options: UserOptions = {}): Promise<BuiltUser> =>
  buildUser(stack, 'platform', { role: 'platform_super_admin', ...options });

/** An organization with one account; `active` unless asked otherwise. Returns its id. */
export async function buildOrganization(stack: Stack, options: { status?: string } = {}): Promise<string> {
  const id = newId();
  const em = stack.em();
  await em.execute('insert into organizations (id, name, email, status) values (?, ?, ?, ?)', [
    id,
    `Organization ${id.slice(0, 8)}`,
    `${id}@organization.example`,
    options.status ?? 'active',
  ]);
  await em.transactional((tx) => openAccount(tx, { kind: 'organization', name: 'Main', organizationId: id }));
  return id;
}

/** An admin of an organization, which is made when none is given. */
export async function buildOrganizationAdmin(stack: Stack, options: UserOptions = {}): Promise<BuiltUser> {
  const organizationId = options.organizationId ?? (await buildOrganization(stack));
  return buildUser(stack, 'organization', { role: 'organization_admin', ...options, organizationId });
}
