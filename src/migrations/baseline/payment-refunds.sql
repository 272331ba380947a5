-- Refunds of what partners collected: payouts from the partner's available balance to the wallet that paid, or to a bank
-- account. What every payout has is in payouts, under the same id; this adds which payment is given back.

create table payment_refunds (
  id uuid primary key references payouts (id),
  payment_id uuid not null references partner_payments (id),
  created_at timestamptz not null
);
create index payment_refunds_of_payment on payment_refunds (payment_id, created_at, id);
create trigger payment_refunds_are_final before update or delete on payment_refunds
  for each row execute function refuse_change();

-- What of a payment is given back, or is on its way back. A refund that has failed here counts, too, while the provider
-- says that it is made, or under way, after all.
create function refunded_of_payment(p_payment_id uuid) returns numeric language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  select coalesce(sum(p.amount), 0)::numeric(20, 4) from payment_refunds r join payouts p on p.id = r.id
  where r.payment_id = p_payment_id
    and (p.status in ('pending', 'succeeded') or p.last_word in ('succeeded', 'accepted', 'another amount'))
$$;

-- What refunds that have failed here may have given to the wallet beside that. The provider alone proves that one did not:
-- by refusing or failing it for another reason than that it has given the payment back already.
create function perhaps_refunded_of_payment(p_payment_id uuid) returns numeric language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  select coalesce(sum(p.amount), 0)::numeric(20, 4) from payment_refunds r join payouts p on p.id = r.id
  where r.payment_id = p_payment_id and p.refund_of is not null and p.status = 'failed'
    and p.failure_code is distinct from 'ALREADY_REFUNDED'
    and coalesce(p.last_word, '') not in ('succeeded', 'accepted', 'another amount')
    and (coalesce(p.last_word, '') not in ('refused', 'failed') or exists (select from payout_words w
      where w.payout_id = p.id and w.failure_code = 'MAXIMUM_REFUND_AMOUNT_REACHED'))
$$;

-- What a further refund of a payment may give back. To the wallet the provider itself gives no more than was paid; by
-- transfer nothing is given back that may have reached the wallet.
create function refundable_of_payment(p_payment_id uuid, p_by_transfer boolean) returns numeric language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  select p.amount - refunded_of_payment(p.id) - case when p_by_transfer then perhaps_refunded_of_payment(p.id) else 0 end
  from partner_payments p where p.id = p_payment_id
$$;

-- Whether a pending refund would by now give back more than was paid: another that had failed was made after all since.
create function refund_exceeds(p_payout_id uuid) returns boolean language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  select exists (select from payouts o join payment_refunds r on r.id = o.id
    where o.id = p_payout_id and o.status = 'pending' and refundable_of_payment(r.payment_id, o.refund_of is null) < 0)
$$;

-- Whether such a refund ends, as no request of it can have reached the provider. A restore may have lost the row of one:
-- so where it was not sent within a minute, the provider has to say that it does not know it.
create function refund_is_void(p_payout_id uuid) returns boolean language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  select refund_exceeds(p_payout_id) and exists (select from payouts o where o.id = p_payout_id
    and (o.created_at > clock_timestamp() - interval '1 minute' or o.last_word = 'not known')
    and not exists (select from payout_attempts a where a.payout_id = o.id and a.outcome is distinct from 'unsent'))
$$;

-- A refund is of a payment of the same partner that was paid, to the wallet that paid it where it goes to one, and never
-- of more than was paid. The lock on the payment makes refunds of it take turns, whoever writes them; it comes after the
-- partner's and before those of accounts, as everywhere.
create function keep_payment_refund() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  perform refuse_old_snapshot();
  -- A statement of its own: the next one reads what was committed during the wait.
  perform from partner_payments p where p.id = new.payment_id for no key update;
  if not exists (
      select from payouts o join partner_payments p on p.id = new.payment_id
      where o.id = new.id and o.kind = 'payment_refund' and o.status = 'pending' and o.created_at = new.created_at
        and p.partner_id = o.partner_id and p.status = 'PAID'
        and (o.refund_of is null or o.refund_of = p.provider_payment_request_id)
        and o.amount <= refundable_of_payment(p.id, o.refund_of is null)) then
    raise exception 'a refund gives back what was paid' using errcode = 'AM010', detail = new.id::text;
  end if;
  return new;
end $$;
create trigger payment_refunds_give_back before insert on payment_refunds
  for each row execute function keep_payment_refund();

-- Each refund is a payout, and no more of a payment is given back than was paid. What the provider contradicts is no
-- fault of the books: operators are told of it.
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
