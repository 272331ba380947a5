import type { EntityManager } from '@mikro-orm/postgresql';
import { findCause, isResponsibleFor } from '../giving/causes/find-cause.ts';
import { Product } from '../giving/products/product.entity.ts';
import type { ProductKind } from '../giving/products/product.ts';
import { getTransaction } from '../ledger/find-transactions.ts';
import type { OwnsProduct, ProductOwners } from '../people/documents/require-product.ts';
import { type Caller, isPlatform } from '../shared/caller.ts';
import { isDomainError } from '../shared/errors.ts';

/** Products belong to the platform. */
const ownsProductOf =
  (kind: ProductKind): OwnsProduct =>
  async (em, caller, productId) =>
    isPlatform(caller) && (await em.count(Product, { id: productId, kind })) > 0;

/** Whether the caller owns the resource to which a file is attached, by its type. Other types take no files. */
export const productOwners: ProductOwners = {
  charitable_cause: async (em, caller, productId) => {
    const cause = await findCause(em, productId);
    return cause !== null && (isResponsibleFor(caller, cause) || isOfOrganization(caller, cause.organization_id));
  },
  commodity_financing: ownsProductOf('commodity_financing'),
  investment: ownsProductOf('investment'),
  transaction: async (em, caller, productId) =>
    (await isGiven(() => getTransaction(em, caller, productId))) || concernsOrganization(em, caller, productId),
};

const isOfOrganization = ({ organizationId }: Caller, ofRow: string | null): boolean =>
  organizationId !== null && ofRow === organizationId;

/** Whether the transaction moved money of the caller's organization, whichever user made it. */
async function concernsOrganization(em: EntityManager, caller: Caller, transactionId: string): Promise<boolean> {
  if (caller.organizationId === null) return false;
  const rows = await em.execute<unknown[]>(
    `select 1 from transactions t join accounts a on a.id in (t.source_account_id, t.destination_account_id)
     where t.id = ? and a.kind = 'organization' and a.organization_id = ? limit 1`,
    [transactionId, caller.organizationId],
  );
  return rows.length > 0;
}

/** Whether `get` succeeds; false when it throws NOT_FOUND or FORBIDDEN. */
async function isGiven(get: () => Promise<object>): Promise<boolean> {
  try {
    await get();
    return true;
  } catch (error) {
    if (isDomainError(error) && (error.code === 'NOT_FOUND' || error.code === 'FORBIDDEN')) return false;
    throw error;
  }
}
