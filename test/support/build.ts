import type { EntityManager } from '@mikro-orm/postgresql';
import { systemAccounts } from '../../src/ledger/accounts/account.ts';
import { openAccount } from '../../src/ledger/accounts/open-account.ts';
import type { Tokens } from '../../src/people/identity/tokens.ts';
import { preparePerson } from '../../src/people/members/profile.ts';
import type { Sealer } from '../../src/platform/encryption/sealer.ts';
import { newId } from '../../src/shared/ids.ts';
import { negateMoney } from '../../src/shared/money.ts';
import type { UserType } from '../../src/shared/user.ts';
import { plantJournal } from './plant-journal.ts';

/** The stack in which people are created: any with a database and tokens. */
export interface BuildPlace {
  em(): EntityManager;
  owner(): EntityManager;
  deps: { tokens: Tokens; sealer: Sealer };
}

export interface BuiltUser {
  id: string;
  token: string;
  email: string;
  /** The first account of the user or, for type `organization`, of the organization; platform users have none. */
  accountId: string;
  organizationId: string | null;
}

interface UserOptions {
  organizationId?: string | null;
  /** The name of the role; null for none. */
  role?: string | null;
  /** Whether the user was admitted to approve decisions, if the role allows it; true by default. */
  isApprover?: boolean;
  /** Opening balance of the account in IDR, posted through the ledger. */
  balance?: string;
}

/** Creates an active user with a token, without the sign-up, which has its own tests. */
async function buildUser(stack: BuildPlace, userType: UserType, options: UserOptions): Promise<BuiltUser> {
  const id = newId();
  const email = `${id}@example.org`;
  const organizationId = options.organizationId ?? null;
  const em = stack.em();
  const person = await preparePerson(stack.deps.sealer, { email, name: `Person ${id.slice(0, 8)}` }, id);
  await em.execute(
    `insert into users (id, profile_sealed, email_digest, user_type, organization_id, role_id, status, password_sealed,
       approver_since)
     values (?, ?, ?, ?, ?, (select id from roles where name = ? and deleted_at is null), 'active', ?,
       case when ? then now() - interval '2 days' end)`,
    [
      id,
      person.profile_sealed,
      person.email_digest,
      userType,
      organizationId,
      options.role ?? null,
      await stack.deps.sealer.seal({ table: 'users', column: 'password_sealed', row: id }, 'no password'),
      userType === 'platform' && options.isApprover !== false,
    ],
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

/** Credits an account with money of no origin, by a real journal (gateway clearing -> account). IDR. */
export async function fund(stack: BuildPlace, accountId: string, amount: string): Promise<void> {
  await plantJournal(stack.owner(), {
    kind: 'test.funded',
    businessKey: `test/funded/${newId()}`,
    postings: [
      { accountId: systemAccounts.gatewayClearing, amount: negateMoney(amount) },
      { accountId, amount },
    ],
  });
}

/** The balance of an account, IDR with four decimals. */
export async function balanceOf(stack: BuildPlace, accountId: string): Promise<string> {
  const rows = await stack
    .em()
    .execute<{ balance: string }[]>('select account_balance(?)::text as balance', [accountId]);
  return rows[0]?.balance ?? '';
}

export const buildIndividual = (stack: BuildPlace, options: UserOptions = {}): Promise<BuiltUser> =>
  buildUser(stack, 'individual', { role: 'individual_user', ...options });

export const buildPlatformAdmin = (stack: BuildPlace, options: UserOptions = {}): Promise<BuiltUser> =>
  buildUser(stack, 'platform', { role: 'platform_admin', ...options });

export const buildSuperAdmin = (stack: BuildPlace, options: UserOptions = {}): Promise<BuiltUser> =>
  buildUser(stack, 'platform', { role: 'platform_super_admin', ...options });

/** Creates an organization with one account, `active` by default; returns its id. */
export async function buildOrganization(stack: BuildPlace, options: { status?: string } = {}): Promise<string> {
  const id = newId();
  const em = stack.em();
  await em.execute('insert into organizations (id, name, email) values (?, ?, ?)', [
    id,
    `Organization ${id.slice(0, 8)}`,
    `${id}@organization.example`,
  ]);
  await em.execute('update organizations set status = ? where id = ?', [options.status ?? 'active', id]);
  await em.transactional((tx) => openAccount(tx, { kind: 'organization', name: 'Main', organizationId: id }));
  return id;
}

/** Creates an admin of an organization, by default a new one. */
export async function buildOrganizationAdmin(stack: BuildPlace, options: UserOptions = {}): Promise<BuiltUser> {
  const organizationId = options.organizationId ?? (await buildOrganization(stack));
  return buildUser(stack, 'organization', { role: 'organization_admin', ...options, organizationId });
}

export interface BuiltRole {
  id: string;
  name: string;
  organizationId: string;
}

/** Creates a custom role with exactly these permissions, of an organization, by default a new one. */
export async function buildRole(
  stack: BuildPlace,
  options: { organizationId?: string; permissions?: readonly string[]; name?: string } = {},
): Promise<BuiltRole> {
  const id = newId();
  const name = options.name ?? `role-${id}`;
  const organizationId = options.organizationId ?? (await buildOrganization(stack));
  const em = stack.em();
  await em.execute(
    `insert into roles (id, name, display_name, organization_id, user_type, description)
     values (?, ?, ?, ?, 'organization', 'A role of a test')`,
    [id, name, name, organizationId],
  );
  await em.execute(
    'insert into role_permissions (role_id, permission_id) select ?, id from permissions where name = any(?::text[])',
    [id, `{${(options.permissions ?? []).join(',')}}`],
  );
  return { id, name, organizationId };
}
