import type { EntityManager } from '@mikro-orm/postgresql';
import { insertCircle } from '../src/circles/create-circle.ts';
import { columnsOf } from '../src/circles/terms.ts';
import { approveCause } from '../src/giving/causes/approve-cause.ts';
import { createCause } from '../src/giving/causes/create-cause.ts';
import { createProduct } from '../src/giving/products/create-product.ts';
import { type ProductKind, productKinds } from '../src/giving/products/product.ts';
import type { Sealer } from '../src/platform/encryption/sealer.ts';
import { must } from '../src/shared/assert.ts';
import type { Caller } from '../src/shared/caller.ts';
import { startOfWesternIndonesiaDay, westernIndonesiaDay } from '../src/shared/clock.ts';
import type { UserType } from '../src/shared/user.ts';
import type { DemoUser, DemoUserName } from './demo-data.ts';

/** The request id in the events of the demo data. */
const requestId = 'demo';
const circleStartsInDays = 30;
const dayMs = 24 * 60 * 60 * 1000;

const products: Record<ProductKind, string> = {
  investment: 'Sukuk Wakaf',
  commodity_financing: 'Pembiayaan Kopi Gayo',
  trusted_partner_investment: 'Investasi Mitra Tepercaya',
  takaful_insurance: 'Takaful Keluarga',
  takaful_tabaru: 'Dana Tabarru',
};

/**
 * Creates initial content for an app's lists: an active cause, a public saving circle that waits for members, and an open
 * product of each kind. Creates each only if there is none; can be repeated.
 */
export async function ensureDemoThings(
  em: EntityManager,
  sealer: Sealer,
  users: Record<DemoUserName, DemoUser>,
): Promise<void> {
  const exists = async (sql: string, params: unknown[] = []) =>
    (await em.execute<unknown[]>(`select 1 from ${sql} limit 1`, params)).length > 0;
  const superAdmin = callerOf(users.platform_super_admin, 'platform');
  if (!(await exists("charitable_causes where status = 'active' and approved_at is not null"))) {
    await makeCause(em, callerOf(users.organization_admin, 'organization'), superAdmin, users.organization_admin);
  }
  if (!(await exists("saving_circles where status = 'new' and visibility = 'public' and starts_at > now()"))) {
    await makeCircle(em, sealer, users.individual);
  }
  for (const kind of productKinds) {
    if (await exists("products where kind = ? and status = 'open'", [kind])) continue;
    await createProduct(em.fork(), superAdmin, { kind, name: products[kind], minimum_amount: '10000' }, requestId);
  }
}

async function makeCause(
  em: EntityManager,
  creator: Caller,
  approver: Caller,
  { account_id }: DemoUser,
): Promise<void> {
  const cause = {
    account_id: must(account_id, 'the demo organization has an account'),
    name: 'Sumur untuk Desa Sukamaju',
    description: 'Sebuah sumur dalam dengan pompa, untuk dua ratus keluarga.',
    target_amount: '50000000',
    regulations: 'Laporan dan bukti pembayaran diterbitkan setiap bulan.',
    benefit: 'Air bersih untuk dua ratus keluarga.',
    location: 'Sukamaju, Garut',
  };
  const { id: causeId } = await createCause(em.fork(), { caller: creator, cause, requestId });
  await approveCause(em.fork(), { caller: approver, causeId, requestId });
}

async function makeCircle(em: EntityManager, sealer: Sealer, { user_id, account_id }: DemoUser): Promise<void> {
  const startDate = westernIndonesiaDay(new Date(Date.now() + circleStartsInDays * dayMs));
  const columns = {
    account_id: must(account_id, 'a demo individual has an account'),
    owner_type: 'individual' as const,
    owner_id: user_id,
    organization_id: null,
    created_by: user_id,
    name: 'Arisan Melati',
    capacity: 10,
    amount: '100000.0000',
    visibility: 'public' as const,
    round_interval: 'monthly' as const,
    turn_order: 'joining' as const,
    start_date: startDate,
    starts_at: startOfWesternIndonesiaDay(startDate),
    ...columnsOf(null),
  };
  await em.fork().transactional((tx) => insertCircle(tx, sealer, columns, requestId));
}

const callerOf = ({ user_id, organization_id }: DemoUser, userType: UserType): Caller => ({
  userId: user_id,
  userType,
  organizationId: organization_id,
  organizationStatus: organization_id === null ? null : 'active',
  roleId: null,
  roleName: null,
  permissions: new Set(),
  isSuperAdmin: userType === 'platform',
  token: { tokenId: '', generation: null, issuedAt: null },
  secondFactor: null,
  askedAt: new Date(),
});
