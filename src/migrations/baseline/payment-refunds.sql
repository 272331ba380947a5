-- Refunds of partners' payments: payouts from the partner's available balance to the wallet that paid, or to a bank
-- account. The fields of every payout are in payouts, under the same id; this adds the refunded payment.

create table payment_refunds (
  id uuid primary key references payouts (id),
  payment_id uuid not null references partner_payments (id),
  created_at timestamptz not null
);
create index payment_refunds_of_payment on payment_refunds (payment_id, created_at, id);
create trigger payment_refunds_are_final before update or delete on payment_refunds
  for each row execute function refuse_change();

-- The amount of a payment that is refunded, is being refunded, or may have been refunded.
create function refunded_of_payment(p_payment_id uuid) returns numeric language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  select coalesce(sum(p.amount), 0)::numeric(20, 4) from payment_refunds r join payouts p on p.id = r.id
  where r.payment_id = p_payment_id and p.has_left
$$;

-- Whether a refund may be requested. It `fits` if the payment covers it together with all requested and earlier
-- reserved refunds; a failed refund may turn out to have been made. Otherwise it is `void`, and fails, if it was not
-- requested and the provider reports that it does not know it; until then it is `barred`.
create function standing_of_refund(p_payout_id uuid) returns text language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  select coalesce((select case
      when o.status <> 'pending' or o.amount + coalesce((select sum(b.amount)
        from payment_refunds s join payouts b on b.id = s.id
        where s.payment_id = r.payment_id and b.id <> o.id and b.has_left
          and (b.status <> 'pending' or (b.created_at, b.id) < (o.created_at, o.id)
            or exists (select from payout_attempts a where a.payout_id = b.id and a.outcome is distinct from 'unsent'))), 0)
        <= p.amount then 'fits'
      when o.last_word = 'not known' and not exists (select from payout_attempts a
        where a.payout_id = o.id and a.outcome is distinct from 'unsent') then 'void'
      else 'barred' end
    from payouts o join payment_refunds r on r.id = o.id join partner_payments p on p.id = r.payment_id
    where o.id = p_payout_id), 'fits')
$$;

-- A refund belongs to a paid payment of the same partner, a refund to a wallet goes to the wallet that paid, and
-- refunds never exceed the payment. The payment's lock, after the partner's and before those of accounts, serializes
-- its refunds.
create function keep_payment_refund() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  perform refuse_old_snapshot();
  -- A separate statement, so that the next one sees commits during the wait.
  perform from partner_payments p where p.id = new.payment_id for no key update;
  if not exists (
      select from payouts o join partner_payments p on p.id = new.payment_id
      where o.id = new.id and o.kind = 'payment_refund' and o.status = 'pending' and o.created_at = new.created_at
        and p.partner_id = o.partner_id and p.status = 'PAID'
        and (o.refund_of is null or o.refund_of = p.provider_payment_request_id)
        and o.amount <= p.amount - refunded_of_payment(p.id)) then
    raise exception 'the refund does not fit the payment' using errcode = 'AM010', detail = new.id::text;
  end if;
  return new;
end $$;
create trigger payment_refunds_give_back before insert on payment_refunds
  for each row execute function keep_payment_refund();

-- Each refund is a payout, and refunds never exceed the payment. A contradiction by the provider is not an error in the
-- books, but is reported to operators.
create view check_payments_refunded_within as
  select p.id as payment_id, p.status, p.amount, sum(o.amount) as refunded
  from partner_payments p join payment_refunds r on r.payment_id = p.id
  join payouts o on o.id = r.id and o.status in ('pending', 'succeeded')
  where p.id in (select n.payment_id from payouts u join payment_refunds n on n.id = u.id
    where u.updated_at >= checks_since_time())
  group by p.id having p.status <> 'PAID' or sum(o.amount) > p.amount
  union all
  select null, o.status, o.amount, null from payouts o
  where o.kind = 'payment_refund' and o.updated_at >= checks_since_time()
    and not exists (select from payment_refunds r where r.id = o.id);
