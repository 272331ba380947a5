import type { EntityManager } from '@mikro-orm/postgresql';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import type { ProductType } from './document.ts';

/**
 * Whether the row exists and the caller, or the caller's organization, owns or manages it (platform users: any row).
 */
export type OwnsProduct = (em: EntityManager, caller: Caller, productId: string) => Promise<boolean>;

/** By product type, from each module. Documents cannot be attached to a type without an entry. */
export type ProductOwners = Partial<Record<ProductType, OwnsProduct>>;

export interface ProductReference {
  productType: ProductType | null;
  productId: string | null;
}

/** Throws 400, naming the field, for a product that the caller may not attach documents to. */
export async function requireProduct(
  em: EntityManager,
  { productOwners, caller }: { productOwners: ProductOwners; caller: Caller },
  { productType, productId }: ProductReference,
): Promise<void> {
  if (productId === null) return;
  if (productType === null) refuse('REQUEST_INVALID', 'is required with product_id', { field: 'product_type' });
  const owns = await productOwners[productType]?.(em, caller, productId);
  if (!owns) refuse('REQUEST_INVALID', `you have no ${productType} with this id`, { field: 'product_id' });
}
