import type { EntityManager } from '@mikro-orm/postgresql';

/**
 * Returns the account that suspended money most likely belongs to: the partner's available balance, the account that an
 * order tops up, or else the payer's oldest account. Null if the money is for no payment or order of ours.
 */
export async function findReceiptAccount(em: EntityManager, receiptId: string): Promise<string | null> {
  const [found] = await em.execute<{ account: string | null }[]>(
    `select coalesce(
       (select available_account_id from partners where id = coalesce(
          (select partner_id from partner_payments where id = r.paid),
          (select partner_id from partner_instruments where id = r.paid))),
       (select a.id from payment_orders o join accounts a on
          case o.reference_type when 'account_top_up' then a.id = o.target_account_id
            else a.user_id = o.user_id and a.kind = 'user' end
        where o.id = r.paid and a.kind in ('user', 'organization') order by a.created_at, a.id limit 1)
     ) as account
     from (select case when reference ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then reference::uuid end as paid
           from receipts where id = ?) r`,
    [receiptId],
  );
  return found?.account ?? null;
}

/** An account as an approver needs to recognize it; `user_id` names its owner unless another name does. */
export interface AccountShown {
  kind: string;
  owner: string | null;
  user_id: string | null;
}

/** Returns an account's kind and owner, or null if it does not exist. */
export async function findAccountShown(em: EntityManager, accountId: string): Promise<AccountShown | null> {
  const [found] = await em.execute<AccountShown[]>(
    `select a.kind, coalesce(p.name, o.name) as owner, a.user_id from accounts a
     left join partners p on a.id in (p.available_account_id, p.pending_account_id)
     left join organizations o on o.id = a.organization_id where a.id = ?`,
    [accountId],
  );
  return found ?? null;
}
