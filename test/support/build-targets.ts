import type { ProductKind, ProductStatus } from '../../src/giving/products/product.ts';
import { systemAccounts } from '../../src/ledger/accounts/account.ts';
import { openAccount } from '../../src/ledger/accounts/open-account.ts';
import { newId } from '../../src/shared/ids.ts';
import { type BuildPlace, type BuiltUser, buildIndividual } from './build.ts';

export interface BuiltTarget {
  id: string;
  accountId: string;
}

interface ProductOptions {
  kind: ProductKind;
  status?: ProductStatus;
  target?: string;
  minimum?: string;
  /** The organization that owns the account; none by default. */
  organizationId?: string;
}

/** Creates a product, open and without a target by default. Amounts in IDR. */
export function buildProduct(stack: BuildPlace, creator: BuiltUser, options: ProductOptions): Promise<BuiltTarget> {
  const id = newId();
  return stack.em().transactional(async (tx) => {
    const organizationId = options.organizationId ?? null;
    const accountId = await openAccount(tx, { kind: 'product', name: options.kind, organizationId, ownerId: id });
    await tx.execute(
      `insert into products (id, kind, name, account_id, target_amount, minimum_amount, status, created_by)
       values (?, ?, ?, ?, ?, ?, 'open', ?)`,
      [
        id,
        options.kind,
        `A product of kind ${options.kind}`,
        accountId,
        options.target ?? null,
        options.minimum ?? null,
        creator.id,
      ],
    );
    if (options.status) await tx.execute('update products set status = ? where id = ?', [options.status, id]);
    return { id, accountId };
  });
}

/** Creates a saving goal of a user, IDR 1,000,000 by default. */
export function buildGoal(stack: BuildPlace, owner: BuiltUser, target = '1000000'): Promise<BuiltTarget> {
  const id = newId();
  return stack.em().transactional(async (tx) => {
    const accountId = await openAccount(tx, { kind: 'saving_goal', name: 'Goal', userId: owner.id, ownerId: id });
    await tx.execute(
      "insert into saving_goals (id, user_id, name, account_id, target_amount, status) values (?, ?, 'Goal', ?, ?, 'active')",
      [id, owner.id, accountId, target],
    );
    return { id, accountId };
  });
}

/** The account that holds open donations. */
export const openPoolAccount: string = systemAccounts.openDonationPool;

/** Creates an approved cause whose donations go to an account of its owner, by default a new individual. */
export async function buildActiveCause(stack: BuildPlace, owner?: BuiltUser): Promise<BuiltTarget> {
  const { id: ownerId, accountId } = owner ?? (await buildIndividual(stack));
  const id = newId();
  const em = stack.owner();
  await em.execute(
    `insert into charitable_causes (id, name, description, target_amount, regulations, benefit, owner_type, account_id,
       status, created_by)
     values (?, 'Well', 'A well', 1000000, 'none', 'water', 'individual', ?, 'pending', ?)`,
    [id, accountId, ownerId],
  );
  await em.execute(
    "update charitable_causes set status = 'active', approved_at = now(), approved_by = ? where id = ?",
    [ownerId, id],
  );
  return { id, accountId };
}

/** Creates an approved cause of its owner's organization, which receives the donations. */
export async function buildOrganizationCause(stack: BuildPlace, owner: BuiltUser): Promise<BuiltTarget> {
  const cause = await buildActiveCause(stack, owner);
  await stack
    .owner()
    .execute("update charitable_causes set owner_type = 'organization', organization_id = ? where id = ?", [
      owner.organizationId,
      cause.id,
    ]);
  return cause;
}
