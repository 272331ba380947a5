import { Migration } from '@mikro-orm/migrations';

/**
 * Refunds a donation only to an account of a person or an organization. The application's role names the transaction
 * that paid it, and nothing proves a transaction's accounts.
 */
export class M0003RefundsToPeople extends Migration {
  override up(): void {
    this.addSql(`
create or replace function refund_account(p_donation_id uuid) returns uuid language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  select case when t.destination_account_id is not null then (
      select a.id from accounts a where a.id = t.source_account_id and a.kind in ('user', 'organization')) else (
      select a.id from accounts a
      where case u.user_type when 'organization' then a.kind = 'organization' and a.organization_id = u.organization_id
        else a.kind = 'user' and a.user_id = u.id end
      order by a.created_at, a.id limit 1) end
  from donations d join transactions t on t.id = d.transaction_id join users u on u.id = d.user_id
  where d.id = p_donation_id
$$`);
  }
}
