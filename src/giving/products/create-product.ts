import type { EntityManager } from '@mikro-orm/postgresql';
import { openAccount } from '../../ledger/accounts/open-account.ts';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { recordEvent } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { compareMoney, type Money } from '../../shared/money.ts';
import { Product } from './product.entity.ts';
import type { ProductKind } from './product.ts';

export interface NewProduct {
  kind: ProductKind;
  name: string;
  /** IDR. */
  target_amount?: Money | null | undefined;
  minimum_amount?: Money | null | undefined;
}

/** Throws REQUEST_INVALID for a minimum above the target, which would make every payment impossible. */
export function refuseMinimumPastTarget(minimum: Money | null | undefined, target: Money | null | undefined): void {
  if (minimum && target && compareMoney(minimum, target) > 0) {
    refuse('REQUEST_INVALID', 'must not be above target_amount', { field: 'minimum_amount' });
  }
}

/** Creates an open product with its own account; returns its id. */
export function createProduct(
  em: EntityManager,
  caller: Caller,
  { kind, name, target_amount, minimum_amount }: NewProduct,
  requestId: string,
): Promise<string> {
  refuseMinimumPastTarget(minimum_amount, target_amount);
  return em.transactional(async (tx) => {
    const id = newId();
    const by = { actorId: caller.userId, requestId };
    const accountId = await openAccount(tx, { kind: 'product', name: name.slice(0, 100), ownerId: id }, by);
    const now = await readDatabaseClock(tx);
    tx.create(Product, {
      id,
      kind,
      name,
      account_id: accountId,
      target_amount: target_amount ?? null,
      minimum_amount: minimum_amount ?? null,
      status: 'open',
      created_by: caller.userId,
      created_at: now,
      updated_at: now,
    });
    await recordEvent(tx, { event: 'RESOURCE_CREATED', resourceType: 'product', resourceId: id, ...by });
    return id;
  });
}
