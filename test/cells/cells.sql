-- Additions to the ledger for more than one cell (docs/scale.md): outgoing transfers, verdicts on incoming ones, and
-- two kinds of account. The simulation loads it into the shipped schema, as the owner.
alter table accounts drop constraint accounts_kind_check;
alter table accounts alter column may_go_negative
  set expression as (kind in ('gateway_clearing', 'provider_cost', 'cell_clearing'));
insert into accounts (id, name, kind) values
  ('00000000-0000-4000-8000-0000000000c1', 'In transit', 'in_transit'),
  ('00000000-0000-4000-8000-0000000000c2', 'The other cell', 'cell_clearing');

-- At the source: transfers from an account here to one of the other cell.
create table cell_transfers (
  id uuid primary key,
  from_account_id uuid not null references accounts (id),
  to_account_id uuid not null,
  amount numeric(20, 4) not null check (amount > 0),
  status text not null default 'open' check (status in ('open', 'arrived', 'taken_back'))
);
-- At the destination: one permanent verdict for each transfer.
create table cell_verdicts (
  transfer_id uuid primary key,
  to_account_id uuid not null,
  amount numeric(20, 4) not null check (amount > 0),
  verdict text not null check (verdict in ('accepted', 'refused'))
);
create trigger cell_verdicts_are_final before update or delete on cell_verdicts
  for each row execute function refuse_change();

-- Debits the account and puts the money in transit, once per transfer.
create function send_transfer(p_id uuid, p_from uuid, p_to uuid, p_amount numeric) returns void language plpgsql as $$
begin
  insert into cell_transfers (id, from_account_id, to_account_id, amount) values (p_id, p_from, p_to, p_amount)
    on conflict (id) do nothing;
  if found then
    perform write_journal(uuidv7(), 'cell-transfer/' || p_id || '/sent', 'cell_transfer_sent',
      array[p_from, '00000000-0000-4000-8000-0000000000c1'::uuid], array[-p_amount, p_amount]);
  end if;
end $$;

-- Decides a transfer once: a repeated or simultaneous request waits for the first verdict and returns it, whatever has
-- happened to the account since.
create function judge_transfer(p_id uuid, p_to uuid, p_amount numeric) returns text language plpgsql as $$
declare
  decided text := case when exists (select from accounts where id = p_to and kind = 'user') then 'accepted' else 'refused' end;
begin
  insert into cell_verdicts (transfer_id, to_account_id, amount, verdict) values (p_id, p_to, p_amount, decided)
    on conflict (transfer_id) do nothing;
  if not found then
    select verdict into strict decided from cell_verdicts where transfer_id = p_id;
  elsif decided = 'accepted' then
    perform write_journal(uuidv7(), 'cell-transfer/' || p_id || '/arrived', 'cell_transfer_arrived',
      array['00000000-0000-4000-8000-0000000000c2'::uuid, p_to], array[-p_amount, p_amount]);
  end if;
  return decided;
end $$;

-- Completes a transfer with the destination's verdict.
create function conclude_transfer(p_id uuid, p_verdict text) returns void language plpgsql as $$
declare
  it cell_transfers;
begin
  update cell_transfers set status = case p_verdict when 'accepted' then 'arrived' when 'refused' then 'taken_back' end
    where id = p_id and status = 'open' returning * into it;
  if found then
    perform write_journal(uuidv7(), 'cell-transfer/' || p_id || '/' || it.status, 'cell_transfer_concluded',
      array['00000000-0000-4000-8000-0000000000c1'::uuid,
        case p_verdict when 'refused' then it.from_account_id else '00000000-0000-4000-8000-0000000000c2'::uuid end],
      array[-it.amount, it.amount]);
  end if;
end $$;

-- Money in transit must equal the debits of open transfers.
create view check_in_transit_equals_open_transfers as
  select held, open from (
    select account_balance('00000000-0000-4000-8000-0000000000c1') as held,
      (select coalesce(sum(amount), 0) from cell_transfers where status = 'open') as open) it
  where held <> open;
-- The balance owed to the other cell must equal the money that arrived there, less the money that arrived here.
create view check_cell_clearing_matches_transfers as
  select held, due from (
    select account_balance('00000000-0000-4000-8000-0000000000c2') as held,
      (select coalesce(sum(amount), 0) from cell_transfers where status = 'arrived')
        - (select coalesce(sum(amount), 0) from cell_verdicts where verdict = 'accepted') as due) it
  where held <> due;
