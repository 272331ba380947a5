import type { EntityManager } from '@mikro-orm/postgresql';
import type { Caller } from '../identity/caller.ts';
import { mayReadTransaction } from '../ledger/find-transactions.ts';
import { Transaction } from '../ledger/transaction.entity.ts';
import { refuse } from '../shared/errors.ts';
import type { ProductType } from './document.ts';

/**
 * Whether the row exists and is the caller's, of the caller's organization, or managed by the caller (platform: any).
 * Each room adds its line when its table lands; what has none yet names nothing.
 */
export type OwnsProduct = (em: EntityManager, caller: Caller, productId: string) => Promise<boolean>;

export const productOwners: Partial<Record<ProductType, OwnsProduct>> = {
  transaction: async (em, caller, productId) => {
    const transaction = await em.findOne(Transaction, { id: productId });
    return transaction !== null && mayReadTransaction(caller, transaction);
  },
};

export interface ProductReference {
  productType: ProductType | null;
  productId: string | null;
}

/** Refuses with 400, naming the field, a product that the caller may not attach documents to. */
export async function requireProduct(
  em: EntityManager,
  caller: Caller,
  { productType, productId }: ProductReference,
): Promise<void> {
  if (productId === null) return;
  if (productType === null) refuse('REQUEST_INVALID', 'product_type is required with product_id');
  const owns = await productOwners[productType]?.(em, caller, productId);
  if (!owns) refuse('REQUEST_INVALID', `product_id: you have no ${productType} with this id`);
}
