-- What a cell has beside the ledger, once there is more than one cell (docs/scale.md): transfers that left, verdicts on
-- those that came, and two kinds of account. Loaded by the simulation over the schema that ships, as the owner.
alter table accounts drop constraint accounts_kind_check;
alter table accounts alter column may_go_negative
  set expression as (kind in ('gateway_clearing', 'provider_cost', 'cell_clearing'));
insert into accounts (id, name, kind) values
  ('00000000-0000-4000-8000-0000000000c1', 'In transit', 'in_transit'),
  ('00000000-0000-4000-8000-0000000000c2', 'The other cell', 'cell_clearing');

-- At the source: what left an account here for one of the other cell.
create table cell_transfers (
  id uuid primary key,
  from_account_id uuid not null references accounts (id),
  to_account_id uuid not null,
  amount numeric(20, 4) not null check (amount > 0),
  status text not null default 'open' check (status in ('open', 'arrived', 'taken_back'))
);
-- At the destination: one verdict for each transfer, forever.
create table cell_verdicts (
  transfer_id uuid primary key,
  to_account_id uuid not null,
  amount numeric(20, 4) not null check (amount > 0),
  verdict text not null check (verdict in ('accepted', 'refused'))
);
create trigger cell_verdicts_are_final before update or delete on cell_verdicts
  for each row execute function refuse_change();

-- The money leaves its account and is in transit. Asked for again it is there already.
create function send_transfer(p_id uuid, p_from uuid, p_to uuid, p_amount numeric) returns void language plpgsql as $$
begin
  insert into cell_transfers (id, from_account_id, to_account_id, amount) values (p_id, p_from, p_to, p_amount)
    on conflict (id) do nothing;
  if found then
    perform write_journal(uuidv7(), 'cell-transfer/' || p_id || '/sent', 'cell_transfer_sent',
      array[p_from, '00000000-0000-4000-8000-0000000000c1'::uuid], array[-p_amount, p_amount]);
  end if;
end $$;

-- Decides a transfer once: whoever asks again, or at the same time, waits for the first answer and gets that, whatever has
-- become of the account since.
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

-- Ends a transfer as the destination said: what it has not said, nobody may conclude.
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

-- What is in transit is what open transfers took with them.
create view check_in_transit_equals_open_transfers as
  select held, open from (
    select account_balance('00000000-0000-4000-8000-0000000000c1') as held,
      (select coalesce(sum(amount), 0) from cell_transfers where status = 'open') as open) it
  where held <> open;
-- What the other cell is owed is what arrived there, less what arrived here.
create view check_cell_clearing_matches_transfers as
  select held, due from (
    select account_balance('00000000-0000-4000-8000-0000000000c2') as held,
      (select coalesce(sum(amount), 0) from cell_transfers where status = 'arrived')
        - (select coalesce(sum(amount), 0) from cell_verdicts where verdict = 'accepted') as due) it
  where held <> due;
