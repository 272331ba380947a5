-- The postings that prove a journal of a payout of any kind: reserved while it is pending, then spent or returned, and,
-- once spent, returned by the bank.
create function payout_postings(p_kind text, p_business_key text, p_payout_id uuid)
returns table (to_account uuid, due numeric) language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  select e.account_id, e.amount
  from payouts p
  cross join lateral (select replace(p.kind, '_', '-') as family, p.net_amount + p.fee as gross) of
  join (values ('reserved', 'pending', 'reserved', null), ('succeeded', 'succeeded', 'spent', 'reserved'),
      ('failed', 'failed', 'returned', 'reserved'), ('reversed', 'reversed', 'reversed', 'spent'))
    as s (became, status, step, follows)
    on p_kind = of.family || '.' || s.became and p_business_key = of.family || '/' || p.id || '/' || s.step
      and p.status = s.status
  cross join lateral (values
    (p.source_account_id, case s.step when 'reserved' then -of.gross when 'returned' then of.gross
      when 'reversed' then p.net_amount end),
    (p.reserved_account_id, case when s.step = 'reserved' then of.gross when s.follows = 'reserved' then -of.gross end),
    ('00000000-0000-4000-8000-000000000001', case s.step when 'spent' then p.net_amount + p.provider_cost
      when 'reversed' then -p.net_amount end),
    ('00000000-0000-4000-8000-000000000003', case s.step when 'spent' then -p.provider_cost end),
    ('00000000-0000-4000-8000-000000000002', case s.step when 'spent' then p.fee end)) e (account_id, amount)
  where p.id = p_payout_id and e.amount is not null
    -- A withdrawal's row exists only if its owner was checked.
    and (p.kind <> 'withdrawal' or exists (select from withdrawals w where w.id = p.id))
    and (p.kind <> 'payment_refund' or exists (select from payment_refunds r where r.id = p.id))
    and (s.follows is null
      or exists (select from journal_keys j where j.business_key = of.family || '/' || p.id || '/' || s.follows))
$$;

-- The postings that prove a journal, derived from the rows of its kind. post_journal posts nothing else, so nothing
-- else debits an account that may go negative, suspense, reserved money, or anybody's account. (Payments from balances,
-- receipts in suspense and the platform's own movements have separate functions that post what they prove.)
--
-- The system's accounts: ...1 gateway clearing, ...2 fee revenue, ...3 provider cost, ...5 open donations.
create function proven_postings(p_kind text, p_business_key text)
returns table (to_account uuid, due numeric) language plpgsql stable
set search_path = pg_catalog, public, pg_temp as $$
declare
  clearing constant uuid := '00000000-0000-4000-8000-000000000001';
  revenue constant uuid := '00000000-0000-4000-8000-000000000002';
  cost constant uuid := '00000000-0000-4000-8000-000000000003';
  pool constant uuid := '00000000-0000-4000-8000-000000000005';
  subject uuid := substring(p_business_key from '^[a-z-]+/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:/|$)');
  -- The order whose payment into a closed goal is moved on.
  settled uuid := substring(p_business_key from '/released/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$');
begin
  case p_kind
    when 'payment-order.settled' then
      return query select e.account_id, e.amount
        from payment_orders o
        join receipts r on r.order_id = o.id and r.state = 'applied' and r.amount = o.nominal + o.admin_fee
        cross join lateral (values (clearing, o.provider_fee - o.nominal - o.admin_fee), (cost, -o.provider_fee),
          (o.target_account_id, o.nominal), (revenue, o.admin_fee)) e (account_id, amount)
        where o.id = subject and o.status = 'PAID' and p_business_key = 'payment-order/' || o.id || '/settled';
    when 'partner-payment.settled' then
      return query select e.account_id, e.amount
        from partner_payments p
        join receipts r on r.partner_payment_id = p.id and r.state = 'applied' and r.amount = p.amount
        join partners t on t.id = p.partner_id
        cross join lateral (values (clearing, p.provider_fee - p.amount), (cost, -p.provider_fee),
          (t.pending_account_id, p.net_amount), (revenue, p.fee)) e (account_id, amount)
        where p.id = subject and p_business_key = 'partner-payment/' || p.id || '/settled';
    when 'partner-payment.released' then
      return query select e.account_id, e.amount
        from partner_payments p
        join partners t on t.id = p.partner_id
        join journal_keys j on j.business_key = 'partner-payment/' || p.id || '/settled'
        cross join lateral (values (t.pending_account_id, -p.net_amount), (t.available_account_id, p.net_amount))
          e (account_id, amount)
        where p.id = subject and p_business_key = 'partner-payment/' || p.id || '/released';
    when 'saving-circle.paid-out' then
      return query select e.account_id, e.amount
        from saving_circles s
        join saving_circle_rounds r on r.saving_circle_id = s.id and r.paid_at is null
        join saving_circle_members m on m.id = r.receiver_member_id
        cross join lateral (select sum(amount) as pot from (
          select c.amount from saving_circle_contributions c
          where c.saving_circle_id = s.id and c.turn_number = r.turn_number and c.status = 'completed'
          union all
          select g.amount from saving_circle_covers g
          where g.saving_circle_id = s.id and g.turn_number = r.turn_number) brought) c
        cross join lateral (values (s.holding_account_id, -c.pot), (m.account_id, c.pot)) e (account_id, amount)
        where s.id = subject and p_business_key = 'saving-circle/' || s.id || '/turn/' || r.turn_number || '/pot';
    when 'saving-circle.contribution-refunded' then
      return query select e.account_id, e.amount
        from saving_circle_contributions c
        join saving_circles s on s.id = c.saving_circle_id
        -- The circle keeps the guarantee of a completed contribution until its settlement.
        cross join lateral (select c.amount + case c.status when 'completed' then 0 else c.guarantee_amount end as back) b
        cross join lateral (values (s.holding_account_id, -b.back), (c.refund_account_id, b.back))
          e (account_id, amount)
        where c.id = subject and c.status in ('pending', 'completed', 'cancelled')
          and p_business_key = 'saving-circle-contribution/' || c.id || '/refunded';
    when 'saving-circle.settled' then
      -- Read after the journal: the whole balance must have moved.
      return query select e.account_id, e.amount
        from saving_circles s
        cross join lateral (
          select s.holding_account_id as account_id, -sum(t.amount) as amount from saving_circle_settlements t
          where t.saving_circle_id = s.id
          union all
          select t.account_id, t.amount from saving_circle_settlements t where t.saving_circle_id = s.id) e
        where s.id = subject and s.ended_at is not null and account_balance(s.holding_account_id) = 0
          and p_business_key = 'saving-circle/' || s.id || '/settlement';
    when 'saving-goal.released' then
      -- Read after the journal: the whole balance must have moved.
      return query select e.account_id, e.amount
        from saving_goals g
        join journal_keys k on k.business_key = p_business_key
        join postings p on p.journal_id = k.journal_id and p.account_id = g.account_id and p.amount < 0
        cross join lateral (values (g.account_id, p.amount), (g.released_to, -p.amount)) e (account_id, amount)
        where g.id = subject and g.closed_at is not null and account_balance(g.account_id) = 0
          and (p_business_key = 'saving-goal/' || g.id || '/released' or exists (select from saving_goal_orders o
            where o.payment_order_id = settled and o.saving_goal_id = g.id
              and p_business_key = 'saving-goal/' || g.id || '/released/' || o.payment_order_id));
    when 'donation-allocation' then
      return query select e.account_id, e.amount
        from (select d.cause_id, sum(d.amount) as amount from donations d where d.allocation_batch_id = subject
          group by d.cause_id) given
        join charitable_causes c on c.id = given.cause_id
        cross join lateral (values (pool, -given.amount), (c.account_id, given.amount)) e (account_id, amount)
        where p_business_key = 'donation-allocation/' || subject;
    when 'donation.refunded' then
      -- Never money that is being disbursed.
      return query select e.account_id, e.amount
        from donations d
        left join charitable_causes c on c.id = d.cause_id
        cross join lateral (values (coalesce(c.account_id, pool), -d.amount), (refund_account(d.id), d.amount))
          e (account_id, amount)
        where d.id = subject and d.status = 'refunded' and p_business_key = 'donation/' || d.id || '/refunded'
          and (d.cause_id is null or disbursed_of_cause(d.cause_id) <= cause_current_amount(d.cause_id));
    else
      return query select * from payout_postings(p_kind, p_business_key, subject);
  end case;
end $$;
