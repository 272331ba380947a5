import type { EntityManager } from '@mikro-orm/postgresql';

/** How long refusals are kept: longer than any request is under way, for people who ask what became of one. */
const keptDays = 30;

/** Forgets old refusals of payments from balances, up to `limit` of them; returns how many. */
export async function forgetRefusals(em: EntityManager, limit: number): Promise<number> {
  const rows = await em.execute<unknown[]>(
    `delete from refused_balance_payments where (user_id, key_hash, fingerprint) in (
       select user_id, key_hash, fingerprint from refused_balance_payments
       where refused_at < now() - make_interval(days => ?) order by refused_at limit ?
     ) and refused_at < now() - make_interval(days => ?) returning 1`,
    [keptDays, limit, keptDays],
  );
  return rows.length;
}
