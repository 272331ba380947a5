import { type RawQueryFragment, raw } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { withTime } from '../../platform/database/database-time-outs.ts';
import { budgets } from '../../shared/budgets.ts';
import { textArray } from '../../shared/postgres.ts';
import { canonicalId, isUuid } from '../../shared/uuid.ts';

/**
 * Deletes the bodies of callbacks about a person's payments and withdrawals, which contain names and bank accounts.
 * Delivery does not read the body, so undelivered callbacks lose theirs, too. The person's rows must already be erased
 * and committed: a callback stored too late to be found here loses its body on delivery (`bodyKept`).
 */
export async function forgetCallbacksOf(em: EntityManager, userId: string): Promise<void> {
  await withTime(em, budgets.database.sweep, (tx) =>
    tx.execute(
      `update gateway_callbacks c set body_sealed = null
       from (select id, created_at from payment_orders where user_id = ?
         union all select id, created_at from withdrawals where user_id = ? and organization_id is null) o
       where c.reference = o.id::text and c.id >= first_id_at(o.created_at - interval '1 day')
         and c.body_sealed is not null`,
      [userId, userId],
    ),
  );
}

/**
 * Returns the value for a callback's column `body_sealed` when it is delivered: null if its reference is a payment or a
 * withdrawal of an erased person.
 */
export function bodyKept(reference: string | null | undefined): RawQueryFragment | undefined {
  if (!reference || !isUuid(reference)) return undefined;
  const id = canonicalId(reference);
  return raw(
    `case when not exists (select from users u where u.erased_at is not null and u.id in (
       select user_id from payment_orders where id = ?
       union all select user_id from withdrawals where id = ? and organization_id is null)) then body_sealed end`,
    [id, id],
  );
}

/** Deletes the bodies of callbacks with these references, which are ids of partners' orders. */
export async function forgetCallbacksAbout(em: EntityManager, references: readonly string[]): Promise<void> {
  await em.execute(
    'update gateway_callbacks set body_sealed = null where reference = any(?::text[]) and body_sealed is not null',
    [textArray(references)],
  );
}
