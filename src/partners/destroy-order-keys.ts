import type { EntityManager } from '@mikro-orm/postgresql';
import type { PersonalKeys } from '../encryption/personal-keys.ts';
import { textArray } from '../shared/postgres.ts';

/** Keys per round, and the most rounds of one run; the next run continues. */
const round = 1000;
const mostRounds = 10;

/**
 * Destroys the keys of partners' payments, payouts and refunds that are `days` old, so that nobody reads their customers
 * and beneficiaries again, and forgets the bodies of webhooks sealed under them; those that are not over, or have a
 * webhook to be sent, wait. Returns how many keys it looked at. Throws KeysAway.
 */
export async function destroyOrderKeys(
  em: EntityManager,
  personalKeys: Pick<PersonalKeys, 'destroyOrders'>,
  days: number,
): Promise<number> {
  const prepare = async (ids: readonly string[]) => {
    const open = new Set((await findOpen(em, ids)).map(({ id }) => id));
    await forgetBodies(
      em,
      ids.filter((id) => !open.has(id)),
    );
    // A webhook may have been asked for again meanwhile; of those whose bodies are forgotten none can be.
    return findOpen(em, ids);
  };
  let looked = 0;
  for (let rounds = 0; rounds < mostRounds; rounds += 1) {
    const found = await personalKeys.destroyOrders(prepare, { days, limit: round });
    looked += found;
    if (found < round) break;
  }
  return looked;
}

const findOpen = (em: EntityManager, ids: readonly string[]) =>
  em.execute<{ id: string }[]>(
    `select id from partner_payments where status in ('PENDING', 'WAITING_PAYMENT') and id = any(?::uuid[])
     union select id from payouts where status = 'pending' and id = any(?::uuid[])
     union select k.resource_id from webhook_version_keys k join webhook_deliveries d on d.id = k.delivery_id
       where k.resource_type in ('payout', 'refund') and k.resource_id = any(?::uuid[]) and d.status = 'pending'`,
    [textArray(ids), textArray(ids), textArray(ids)],
  );

const forgetBodies = (em: EntityManager, ids: readonly string[]) =>
  em.execute(
    `update webhook_deliveries d set body_sealed = null from webhook_version_keys k
     where k.resource_type in ('payout', 'refund') and k.resource_id = any(?::uuid[]) and d.id = k.delivery_id
       and d.status <> 'pending' and d.body_sealed is not null`,
    [textArray(ids)],
  );
