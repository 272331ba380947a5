import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../shared/assert.ts';
import type { Money } from '../shared/money.ts';

export interface PartnerBalance {
  /** IDR, scale 4. */
  balance: Money;
  available: Money;
  pending: Money;
}

/**
 * A partner's balance, read in one statement: available, pending (nets not settled yet and money reserved for payouts
 * and refunds), and their sum.
 */
export async function readPartnerBalance(em: EntityManager, partnerId: string): Promise<PartnerBalance> {
  const [row] = await em.execute<PartnerBalance[]>(
    `select coalesce(sum(b.balance), 0)::numeric(20, 4)::text as balance,
       coalesce(sum(b.balance) filter (where b.account_id = p.available_account_id), 0)::numeric(20, 4)::text as available,
       coalesce(sum(b.balance) filter (where b.account_id <> p.available_account_id), 0)::numeric(20, 4)::text as pending
     from partners p join account_balances b
       on b.account_id in (p.available_account_id, p.pending_account_id, p.reserved_account_id)
     where p.id = ?`,
    [partnerId],
  );
  return must(row, 'a partner has accounts');
}
