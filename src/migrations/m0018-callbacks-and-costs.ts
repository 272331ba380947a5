import { Migration } from '@mikro-orm/migrations';

const clearing = `'00000000-0000-4000-8000-000000000001'`;
const providerCost = `'00000000-0000-4000-8000-000000000003'`;

/** What a journal is about, and the provider's cost in it; clearing gets what is left, of whichever sign. */
const postedOf = (journal: string): string => `select sum(amount) filter
    (where amount > 0 and account_id <> ${clearing}) as posted,
    case when count(*) > 0 then coalesce(-sum(amount) filter (where account_id = ${providerCost}), 0) end as cost
    from postings where journal_id = ${journal}`;

/**
 * Callbacks are kept whatever they are: what cannot be read is marked with why, has none of the facts that a reader
 * finds, and is delivered to nobody. One id with two bodies is two callbacks; rows of before have no digest.
 *
 * A subscription knows when its last attempt was made, from which the next one counts.
 *
 * What the provider keeps of a payment or takes for a transfer is posted with the settlement: clearing follows the
 * provider's balance, `provider_cost` the cost. What was settled before has none (0). Each day the change of the
 * provider's balance is held against the change of the books.
 */
export class M0018CallbacksAndCosts extends Migration {
  override up(): void {
    this.addSql(`
alter table gateway_callbacks
  alter column event drop not null,
  alter column kind drop not null,
  alter column reference drop not null,
  add column unread text,
  add column body_digest text,
  add column body_bytes bigint,
  add column body_encoding text not null default 'utf8' check (body_encoding in ('utf8', 'base64')),
  drop constraint gateway_callbacks_webhook_id_key,
  add constraint gateway_callbacks_read_or_not
    check (num_nonnulls(event, kind, reference) = case when unread is null then 3 else 0 end),
  add constraint gateway_callbacks_unread_stay check (unread is null or delivered_at is null);
create unique index gateway_callbacks_once on gateway_callbacks (webhook_id, body_digest) nulls not distinct;
drop index gateway_callbacks_undelivered;
create index gateway_callbacks_undelivered on gateway_callbacks (received_at)
  where delivered_at is null and unread is null;
create index gateway_callbacks_unread on gateway_callbacks (received_at) where unread is not null;
`);
    this.addSql(`
alter table donation_subscriptions add column attempted_at timestamptz;
update donation_subscriptions s set attempted_at =
  (select max(a.created_at) from donation_subscription_attempts a where a.subscription_id = s.id);
`);
    this.addSql(`
alter table payment_channels
  add column provider_fee_fixed numeric(20, 4) not null default 0 check (provider_fee_fixed >= 0),
  add column provider_fee_basis_points integer not null default 0
    check (provider_fee_basis_points between 0 and 10000);
alter table payment_orders add column provider_fee numeric(20, 4) not null default 0 check (provider_fee >= 0);
alter table payouts add column provider_cost numeric(20, 4) not null default 0 check (provider_cost >= 0);
`);
    this.addSql(`
create table clearing_comparisons (
  day date primary key,
  measured_at timestamptz not null,
  provider_balance numeric(20, 4) not null,
  clearing_balance numeric(20, 4) not null,
  agreed_day date references clearing_comparisons (day),
  provider_change numeric(20, 4),
  clearing_change numeric(20, 4),
  received_under_way numeric(20, 4) not null check (received_under_way >= 0),
  spent_under_way numeric(20, 4) not null check (spent_under_way >= 0),
  offset_low numeric(20, 4) not null,
  offset_high numeric(20, 4) not null,
  difference numeric(20, 4) not null,
  agreed boolean not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (agreed = (difference = 0)),
  check (offset_low <= offset_high),
  check (num_nonnulls(agreed_day, provider_change, clearing_change) in (0, 3))
);
`);
    this.addSql(`
drop view check_orders_posted_once;
create view check_orders_posted_once as
  select o.id as order_id, o.status, count(j.id) as journals, sum(p.posted) as posted, o.nominal + o.admin_fee as total,
    sum(p.cost) as cost, o.provider_fee
  from payment_orders o
  left join journals j on j.business_key = 'payment-order/' || o.id || '/settled'
  left join lateral (${postedOf('j.id')}) p on true
  group by o.id
  having (o.status = 'PAID') <> (count(j.id) = 1)
    or (count(j.id) = 1 and sum(p.posted) is distinct from o.nominal + o.admin_fee)
    or coalesce(sum(p.cost), 0) <> o.provider_fee;
drop view check_partner_payments_posted_once;
create view check_partner_payments_posted_once as
  select p.id as payment_id, p.status, p.amount, s.posted as settled, s.cost, r.posted as released
  from partner_payments p
  left join journals js on js.business_key = 'partner-payment/' || p.id || '/settled'
  left join journals jr on jr.business_key = 'partner-payment/' || p.id || '/released'
  left join lateral (${postedOf('js.id')}) s on true
  left join lateral (${postedOf('jr.id')}) r on true
  where s.posted is distinct from case when p.status = 'PAID' then p.amount end
    or s.cost is distinct from case when p.status = 'PAID' then p.provider_fee end
    or r.posted is distinct from case when p.released_at is not null then p.net_amount end;
drop view check_payouts_posted_once;
create view check_payouts_posted_once as
  with posted as (
    select split_part(j.business_key, '/', 2) as payout_id, split_part(j.business_key, '/', 3) as step,
      -sum(g.amount) filter (where g.amount < 0 and g.account_id <> ${providerCost}) as amount,
      -sum(g.amount) filter (where g.account_id = ${providerCost}) as cost
    from journals j join postings g on g.journal_id = j.id
    where j.business_key like 'partner-payout/%' group by 1, 2)
  select p.id as payout_id, p.status, p.net_amount + p.fee as amount, reserved.amount as reserved, spent.amount as spent,
    returned.amount as returned, reversed.amount as reversed, p.provider_cost, spent.cost
  from payouts p
  left join posted reserved on reserved.payout_id = p.id::text and reserved.step = 'reserved'
  left join posted spent on spent.payout_id = p.id::text and spent.step = 'spent'
  left join posted returned on returned.payout_id = p.id::text and returned.step = 'returned'
  left join posted reversed on reversed.payout_id = p.id::text and reversed.step = 'reversed'
  where reserved.amount is distinct from p.net_amount + p.fee
    or spent.amount is distinct from case when p.status in ('succeeded', 'reversed') then p.net_amount + p.fee end
    or returned.amount is distinct from case when p.status = 'failed' then p.net_amount + p.fee end
    or reversed.amount is distinct from case when p.status = 'reversed' then p.net_amount end
    or coalesce(spent.cost, 0) <> p.provider_cost or p.provider_cost not in (0, p.provider_fee)
    or num_nonnulls(reserved.cost, returned.cost, reversed.cost) > 0;
create or replace view check_transactions_agree_with_postings as
  select t.batch_id as journal_id, t.amount as transactions, p.amount as postings
  from (select batch_id, sum(amount) as amount from transactions where type in ('price', 'fee') group by batch_id) t
  left join (select journal_id, sum(amount) filter (where amount > 0 and account_id <> ${clearing}) as amount
    from postings group by journal_id) p on p.journal_id = t.batch_id
  where t.amount is distinct from p.amount;
`);
  }
}
