import type { EntityManager } from '@mikro-orm/postgresql';
import { forgetCallbacksAbout } from '../platform/callbacks/forget-bodies.ts';
import { timeLeft } from '../platform/database/time-limit.ts';
import type { PersonalKeys } from '../platform/encryption/personal-keys.ts';
import { textArray } from '../shared/postgres.ts';

/** Keys per round. */
const round = 1000;
/** Starts no further round with less step time than this left; the next run continues. */
const reserveMs = 15_000;

/**
 * Destroys the keys of partners' payments, instruments, payouts, batches and refunds that are `days` old, so that their
 * customers and beneficiaries can no longer be decrypted, and deletes the bodies of webhooks and callbacks that name
 * them. Skips those that are open or have a pending webhook. Returns how many keys it examined. Throws KeysAway.
 */
export async function destroyOrderKeys(
  em: EntityManager,
  personalKeys: Pick<PersonalKeys, 'destroyOrders'>,
  days: number,
): Promise<number> {
  const forget = async (ids: readonly string[]) => {
    const open = new Set((await findOpen(em, ids, days)).map(({ id }) => id));
    const over = ids.filter((id) => !open.has(id));
    await forgetBodies(em, over);
    // A webhook may have been requested again by now; once its body is deleted, it cannot be.
    return { over, kept: await findOpen(em, ids, days) };
  };
  const prepare = async (ids: readonly string[]) => {
    const { over, kept } = await forget(ids);
    // One batch at a time: each may have a thousand payouts without their own keys.
    for (const batch of await em.execute<{ id: string }[]>(batchesAmong, [textArray(over)])) {
      const payouts = await em.execute<{ id: string }[]>('select id from payouts where batch_id = ?', [batch.id]);
      if ((await forget(payouts.map(({ id }) => id))).kept.length > 0) kept.push(batch);
    }
    return kept;
  };
  let looked = 0;
  for (;;) {
    const found = await personalKeys.destroyOrders(prepare, { days, limit: round });
    looked += found;
    if (found < round || timeLeft() < reserveMs) return looked;
  }
}

const batchesAmong = 'select id from payout_batches where id = any(?::uuid[])';

/** SQL: webhooks of resources that may name somebody, in a form that uses the keys' index. */
const isTold = "k.resource_type in ('payment', 'payout', 'refund', 'payout_batch', 'instrument')";

const findOpen = (em: EntityManager, ids: readonly string[], days: number) =>
  em.execute<{ id: string }[]>(
    // A key may be older than its order: a failed request created the key, and a retry created the order.
    `select id from partner_payments where id = any(?::uuid[])
       and (status in ('PENDING', 'WAITING_PAYMENT') or created_at > now() - make_interval(days => ?))
     union select id from payouts where id = any(?::uuid[])
       and (status = 'pending' or created_at > now() - make_interval(days => ?))
     union select id from partner_instruments where id = any(?::uuid[])
       and (status = 'active' or closed_at > now() - make_interval(days => ?))
     union select id from payout_batches where id = any(?::uuid[])
       and (finalized_at is null or created_at > now() - make_interval(days => ?))
     union select k.resource_id from webhook_version_keys k join webhook_deliveries d on d.id = k.delivery_id
       where ${isTold} and k.resource_id = any(?::uuid[]) and d.status = 'pending'`,
    [textArray(ids), days, textArray(ids), days, textArray(ids), days, textArray(ids), days, textArray(ids)],
  );

async function forgetBodies(em: EntityManager, ids: readonly string[]): Promise<void> {
  await em.execute(
    `update webhook_deliveries d set body_sealed = null from webhook_version_keys k
     where ${isTold} and k.resource_id = any(?::uuid[]) and d.id = k.delivery_id
       and d.status <> 'pending' and d.body_sealed is not null`,
    [textArray(ids)],
  );
  await forgetCallbacksAbout(em, ids);
}
