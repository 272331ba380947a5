-- When sweeps last looked at rows that wait for a workflow; the intervals grow.

-- Separate from the swept rows, so that one statement claims rows of every kind, and final rows do not change.
create table sweep_looks (
  kind text not null,
  subject_id uuid not null,
  looks integer not null check (looks > 0),
  look_again_at timestamptz not null,
  primary key (kind, subject_id)
);
create index sweep_looks_by_time on sweep_looks (look_again_at);
