import type { EntityManager } from '@mikro-orm/postgresql';
import type { Money } from '../shared/money.ts';
import { textArray } from '../shared/postgres.ts';

/** The balances of these accounts (IDR, scale 4), in one query; an account without postings has zero. */
export async function findBalances(
  em: EntityManager,
  accountIds: readonly string[],
): Promise<(accountId: string) => Money> {
  if (accountIds.length === 0) return () => '0.0000';
  const rows = await em.execute<{ account_id: string; balance: Money }[]>(
    'select account_id, sum(balance)::text as balance from account_balances where account_id = any(?::uuid[]) group by 1',
    [textArray(accountIds)],
  );
  const balances = new Map(rows.map(({ account_id, balance }) => [account_id, balance]));
  return (accountId) => balances.get(accountId) ?? '0.0000';
}
