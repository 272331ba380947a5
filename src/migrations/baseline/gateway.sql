-- All processes share one budget of calls to the provider.

-- One row: a bucket of calls that fills with time.
create table provider_budget (
  id boolean primary key default true check (id),
  tokens double precision not null default 0,
  filled_at timestamptz not null default clock_timestamp(),
  -- The provider asked everybody to wait until then.
  paused_until timestamptz
);
insert into provider_budget default values;

-- Takes one call out of the budget: 0 when it may be made now, otherwise the seconds after which to try again. A sixth
-- of a minute's calls may be made at once; the rest comes evenly, so that no minute has more. Half of what may be made
-- at once is left to payouts. It survives a clock that is set back (a correction, a failover): what was filled, or is
-- to be waited for, in what is now the future does not hold up every call until that time has come again.
create function take_provider_call(p_per_minute integer, p_payout boolean) returns double precision
  language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
  budget provider_budget;
  instant timestamptz;
  most double precision := p_per_minute / 6.0;
  per_second double precision := (p_per_minute - p_per_minute / 6.0) / 60;
  available double precision;
  needed double precision := 1 + case when p_payout then 0 else p_per_minute / 12.0 end;
begin
  select * into strict budget from provider_budget for update;
  instant := clock_timestamp();
  -- Nobody is asked to wait for longer than a minute.
  if budget.paused_until > instant and budget.paused_until <= instant + interval '1 minute' then
    return extract(epoch from budget.paused_until - instant);
  end if;
  if budget.filled_at > instant then
    update provider_budget set filled_at = instant;
    budget.filled_at := instant;
  end if;
  available := least(most, budget.tokens + extract(epoch from instant - budget.filled_at) * per_second);
  if available < needed then
    return (needed - available) / per_second;
  end if;
  update provider_budget set tokens = available - 1, filled_at = instant;
  return 0;
end $$;
