import type { EntityManager, FilterQuery } from '@mikro-orm/postgresql';
import { findBalances } from '../../ledger/find-accounts.ts';
import { type ListWindow, readPage } from '../../platform/database/find-page.ts';
import type { Listed } from '../../platform/database/position.ts';
import { readFresh } from '../../platform/database/replica.ts';
import { refuse } from '../../shared/errors.ts';
import type { Money } from '../../shared/money.ts';
import { Product } from './product.entity.ts';
import type { ProductKind, ProductStatus } from './product.ts';

export interface FoundProduct {
  product: Product;
  /** IDR, scale 4: the balance of its account. */
  currentAmount: Money;
}

export interface ProductFilter extends ListWindow {
  kind?: ProductKind | undefined;
  status?: ProductStatus | undefined;
}

/** Returns a page of products, newest first. */
export function findProducts(
  em: EntityManager,
  { kind, status, ...window }: ProductFilter,
): Promise<Listed & { items: FoundProduct[] }> {
  const where: FilterQuery<Product> = { ...(kind && { kind }), ...(status && { status }) };
  return readFresh(em, async (reader) => {
    const { items, ...listed } = await readPage(reader, Product, where, window, { within: {} });
    return { items: await withAmounts(reader, items), ...listed };
  });
}

/** Reads a product. Throws NOT_FOUND. */
export async function getProduct(em: EntityManager, id: string): Promise<FoundProduct> {
  const product = await em.findOne(Product, { id }, { refresh: true });
  if (product === null) refuse('NOT_FOUND', 'the product was not found', { field: 'product_id' });
  const balanceOf = await findBalances(em, [product.account_id]);
  return { product, currentAmount: balanceOf(product.account_id) };
}

async function withAmounts(em: EntityManager, products: Product[]): Promise<FoundProduct[]> {
  const balanceOf = await findBalances(
    em,
    products.map(({ account_id }) => account_id),
  );
  return products.map((product) => ({ product, currentAmount: balanceOf(product.account_id) }));
}
