-- Every instant is in a realistic range. An infinite instant, or one in the year 294276, would break calculations in
-- checks, alarms and sweeps.
do $$
declare
  place record;
begin
  for place in
    select c.relname as name, a.attname as instant from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and a.atttypid = 'timestamptz'::regtype
    order by 1, a.attnum
  loop
    execute format('alter table %I add constraint %I check (%I >= %L and %I < %L)', place.name,
      place.name || '_' || place.instant || '_is_real', place.instant, '2000-01-01T00:00:00Z', place.instant,
      '2200-01-01T00:00:00Z');
  end loop;
end $$;
