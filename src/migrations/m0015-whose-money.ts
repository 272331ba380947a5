import { Migration } from '@mikro-orm/migrations';

/**
 * Whose money it is. When the provider was last asked for an instrument by an attempt that it may have received; since
 * when a payment is paid or pending at the provider and cannot be settled yet; and the check that no open payment's
 * own money is in suspense.
 */
export class M0015WhoseMoney extends Migration {
  override up(): void {
    for (const table of ['payment_orders', 'partner_payments']) {
      this.addSql(`
alter table ${table} add column instrument_asked_at timestamptz, add column settling_since timestamptz;
create index ${table}_settling on ${table} (settling_since)
  where settling_since is not null and status in ('PENDING', 'WAITING_PAYMENT');
-- Of these nobody knows whether the provider was asked.
update ${table} set instrument_asked_at = created_at where status = 'PENDING';
`);
    }
    this.addSql(`
create view check_receipts_reach_their_owners as
  with named as (
    select id as receipt_id, state, amount, coalesce(order_id, partner_payment_id) as applied_to,
      case when reference ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then reference::uuid end as owner
    from receipts where state in ('applied', 'suspended'))
  select n.receipt_id, n.owner, 'the money of an open payment is in suspense' as problem
  from named n
  join (select id, nominal + admin_fee as amount from payment_orders where status in ('PENDING', 'WAITING_PAYMENT')
    union all
    select id, amount from partner_payments where status in ('PENDING', 'WAITING_PAYMENT')) o
    on o.id = n.owner and o.amount = n.amount
  where n.state = 'suspended'
  union all
  select receipt_id, owner, 'money is applied to another than its reference names'
  from named where state = 'applied' and applied_to is distinct from owner;
`);
  }
}
