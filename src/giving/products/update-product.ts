import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { findBalances } from '../../ledger/find-accounts.ts';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { changesTo } from '../../shared/changes.ts';
import { refuse } from '../../shared/errors.ts';
import { compareMoney, type Money } from '../../shared/money.ts';
import { refuseMinimumPastTarget } from './create-product.ts';
import { Product } from './product.entity.ts';
import type { ProductStatus } from './product.ts';

export interface ProductChange {
  name?: string | undefined;
  /** IDR; null removes it. */
  target_amount?: Money | null | undefined;
  minimum_amount?: Money | null | undefined;
  status?: ProductStatus | undefined;
}

/**
 * Changes a product under its lock. Target and balance decide whether it is `completed`: raising the target reopens a
 * full product. Throws NOT_FOUND, and REQUEST_INVALID for a minimum above the target, for opening a full product and
 * for completing a product that is closed or not full.
 */
export function updateProduct(
  em: EntityManager,
  caller: Caller,
  { id, change, requestId }: { id: string; change: ProductChange; requestId: string },
): Promise<void> {
  return em.transactional(async (tx) => {
    const product = await tx.findOne(Product, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
    if (product === null) refuse('NOT_FOUND', 'the product was not found', { field: 'product_id' });
    const { status: asked, ...fields } = change;
    const changes = changesTo<Omit<ProductChange, 'status'>>(product, fields);
    Object.assign(product, changes);
    refuseMinimumPastTarget(product.minimum_amount, product.target_amount);
    const balanceOf = await findBalances(tx, [product.account_id]);
    const status = statusAfter(product, balanceOf(product.account_id), asked);
    const changed = [...Object.keys(changes), ...(status === product.status ? [] : ['status'])];
    if (changed.length === 0) return;
    product.status = status;
    product.updated_at = await readDatabaseClock(tx);
    await recordAction(tx, { caller, requestId }, 'RESOURCE_UPDATED', ['product', id], { fields: changed, status });
  });
}

function statusAfter(product: Product, held: Money, asked: ProductStatus | undefined): ProductStatus {
  const { target_amount: target, status } = product;
  const isReached = target !== null && target !== undefined && compareMoney(held, target) >= 0;
  if (asked === 'completed' && !isReached) refuse('REQUEST_INVALID', 'the target is not reached', { field: 'status' });
  if (asked === 'open' && isReached)
    refuse('REQUEST_INVALID', 'the target is reached; raise it first', { field: 'status' });
  if (asked === 'completed' && status === 'closed')
    refuse('REQUEST_INVALID', 'the product is closed; reopen it first', { field: 'status' });
  if (asked === 'closed' || (asked === undefined && status === 'closed')) return 'closed';
  return isReached ? 'completed' : 'open';
}
