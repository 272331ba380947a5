import type { EntityManager } from '@mikro-orm/postgresql';
import { systemAccounts } from '../src/ledger/accounts/account.ts';
import { openAccount } from '../src/ledger/accounts/open-account.ts';
import { recordTransactions } from '../src/ledger/post-journal.ts';
import { hashPassword, verifyPassword } from '../src/people/identity/password.ts';
import { emailDigest, preparePerson } from '../src/people/members/profile.ts';
import type { Sealer } from '../src/platform/encryption/sealer.ts';
import { newId } from '../src/shared/ids.ts';
import { negateMoney } from '../src/shared/money.ts';
import type { UserType } from '../src/shared/user.ts';
import type { Secrets } from './secrets.ts';

export type DemoUserName = keyof Secrets['passwords'];

/** A demo login as in `credentials.json`; ids where they exist. */
export interface DemoUser {
  email: string;
  password: string;
  user_id: string;
  account_id: string | null;
  organization_id: string | null;
}

interface DemoPerson {
  email: string;
  name: string;
  userType: UserType;
  role: string;
}

const people: Record<DemoUserName, DemoPerson> = {
  platform_super_admin: {
    email: 'super.admin@amanah.example',
    name: 'Sari Super Admin',
    userType: 'platform',
    role: 'platform_super_admin',
  },
  second_super_admin: {
    email: 'second.super.admin@amanah.example',
    name: 'Siti Super Admin',
    userType: 'platform',
    role: 'platform_super_admin',
  },
  third_super_admin: {
    email: 'third.super.admin@amanah.example',
    name: 'Surya Super Admin',
    userType: 'platform',
    role: 'platform_super_admin',
  },
  platform_admin: {
    email: 'admin@amanah.example',
    name: 'Agus Platform Admin',
    userType: 'platform',
    role: 'platform_admin',
  },
  organization_admin: {
    email: 'organization.admin@amanah.example',
    name: 'Oki Organization Admin',
    userType: 'organization',
    role: 'organization_admin',
  },
  individual: { email: 'ibu@amanah.example', name: 'Indah', userType: 'individual', role: 'individual_user' },
  second_individual: { email: 'budi@amanah.example', name: 'Budi', userType: 'individual', role: 'individual_user' },
};

const organization = { name: 'Yayasan Contoh', email: 'office@yayasan-contoh.example' };
/** IDR, on each individual's account. */
const openingBalance = '10000000.0000';

/** Creates the missing demo users and sets all their passwords; can be repeated. */
export async function ensureDemoData(
  em: EntityManager,
  sealer: Sealer,
  passwords: Secrets['passwords'],
): Promise<Record<DemoUserName, DemoUser>> {
  const organizationId = await ensureOrganization(em);
  const ensure = (name: DemoUserName) =>
    ensureUser(em, sealer, { name, password: passwords[name], demoOrganizationId: organizationId });
  return {
    platform_super_admin: await ensure('platform_super_admin'),
    second_super_admin: await ensure('second_super_admin'),
    third_super_admin: await ensure('third_super_admin'),
    platform_admin: await ensure('platform_admin'),
    organization_admin: await ensure('organization_admin'),
    individual: await ensure('individual'),
    second_individual: await ensure('second_individual'),
  };
}

async function ensureOrganization(em: EntityManager): Promise<string> {
  const [found] = await em.execute<{ id: string }[]>('select id from organizations where email = ?', [
    organization.email,
  ]);
  if (found) return found.id;
  const id = newId();
  await em.transactional(async (tx) => {
    await tx.execute('insert into organizations (id, name, email) values (?, ?, ?)', [
      id,
      organization.name,
      organization.email,
    ]);
    await tx.execute("update organizations set status = 'active' where id = ?", [id]);
    await openAccount(tx, { kind: 'organization', name: organization.name, organizationId: id });
  });
  return id;
}

async function ensureUser(
  em: EntityManager,
  sealer: Sealer,
  { name, password, demoOrganizationId }: { name: DemoUserName; password: string; demoOrganizationId: string },
): Promise<DemoUser> {
  const person = people[name];
  const organizationId = person.userType === 'organization' ? demoOrganizationId : null;
  const [found] = await em.execute<{ id: string; password_sealed: string | null }[]>(
    'select id, password_sealed from users where email_digest = ?',
    [await emailDigest(sealer, person.email)],
  );
  const userId = found?.id ?? newId();
  if (!found) {
    const passwordSealed = await hashPassword(sealer, userId, password);
    const { profile_sealed, email_digest } = await preparePerson(sealer, person, userId);
    await em.transactional(async (tx) => {
      await tx.execute(
        `insert into users (id, profile_sealed, email_digest, user_type, organization_id, role_id, status, password_sealed,
           email_confirmed_at, approver_since)
         select ?, ?, ?, ?, ?, id, 'active', ?, now(), case when name = 'platform_super_admin' then now() end
         from roles where name = ? and is_default`,
        [userId, profile_sealed, email_digest, person.userType, organizationId, passwordSealed, person.role],
      );
      if (person.userType === 'individual') await openAccount(tx, { kind: 'user', name: 'Main', userId });
    });
  } else if (!(await verifyPassword(sealer, found, password)).matches) {
    await em.execute('update users set password_sealed = ? where id = ?', [
      await hashPassword(sealer, userId, password),
      userId,
    ]);
  }
  const accountId = await findAccount(em, userId, organizationId);
  if (person.userType === 'individual' && accountId) await giveOpeningBalance(em, userId, accountId);
  return { email: person.email, password, user_id: userId, account_id: accountId, organization_id: organizationId };
}

async function findAccount(em: EntityManager, userId: string, organizationId: string | null): Promise<string | null> {
  const [account] = await em.execute<{ id: string }[]>(
    `select id from accounts where (kind = 'user' and user_id = ?) or (kind = 'organization' and organization_id = ?)
     order by created_at, id limit 1`,
    [userId, organizationId],
  );
  return account?.id ?? null;
}

/**
 * Posts the opening balance once, as money from the gateway; only the owner may post that without a receipt.
 */
async function giveOpeningBalance(em: EntityManager, userId: string, accountId: string): Promise<void> {
  await em.transactional(async (tx) => {
    const journalId = newId();
    const [{ written }] = await tx.execute<[{ written: boolean }]>(
      `select write_journal(?, ?, 'demo.opening-balance', array[?, ?]::uuid[], array[?, ?]::numeric[]) as written`,
      [
        journalId,
        `demo/${userId}/opening-balance`,
        systemAccounts.gatewayClearing,
        accountId,
        negateMoney(openingBalance),
        openingBalance,
      ],
    );
    if (!written) return;
    await recordTransactions(tx, journalId, [
      {
        userId,
        organizationId: null,
        amount: openingBalance,
        type: 'price',
        sourceAccountId: accountId,
        destinationAccountId: null,
        referenceType: 'account_top_up',
        referenceId: accountId,
        purpose: 'topup_pocket',
        paymentOrderId: null,
        createdBy: null,
      },
    ]);
  });
}
