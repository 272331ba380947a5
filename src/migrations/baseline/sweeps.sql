-- Rows that wait for a workflow are examined again at growing intervals.

-- Beside the rows that are swept, not in them: a claim is one statement for every kind, and changes nothing that is
-- final.
create table sweep_looks (
  kind text not null,
  subject_id uuid not null,
  looks integer not null check (looks > 0),
  look_again_at timestamptz not null,
  primary key (kind, subject_id)
);
create index sweep_looks_by_time on sweep_looks (look_again_at);
