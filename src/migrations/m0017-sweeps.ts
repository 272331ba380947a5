import { Migration } from '@mikro-orm/migrations';

/**
 * What waits for a workflow is looked at again at growing intervals, and a day is compared with the provider once it has
 * a row that says so, page by page.
 */
export class M0017Sweeps extends Migration {
  override up(): void {
    this.addSql(`
-- Beside the rows that are swept, not in them: a claim is one statement for every kind, and changes nothing that is final.
create table sweep_looks (
  kind text not null,
  subject_id uuid not null,
  looks integer not null check (looks > 0),
  look_again_at timestamptz not null,
  primary key (kind, subject_id)
);
create index sweep_looks_by_time on sweep_looks (look_again_at);
create index payment_orders_pending on payment_orders (created_at) where status = 'PENDING';
create index partner_payments_pending on partner_payments (created_at) where status = 'PENDING';
create index payouts_accepted on payouts (created_at) where status = 'pending' and last_word = 'accepted';
create index donation_subscriptions_active on donation_subscriptions (started_at) where status = 'active';

create table reconciled_days (
  day date primary key,
  state text not null default 'pending' check (state in ('pending', 'running', 'done')),
  phase text not null default 'records' check (phase in ('records', 'transfers', 'payments')),
  -- Where the phase goes on: the provider's id of the last entry, or the last of our own rows.
  cursor text,
  compared integer not null default 0,
  differences integer not null default 0,
  -- Records that the provider had not ended yet: while there are any, the day is compared again.
  unsettled integer not null default 0,
  -- Who is at work, and which taking-over it is: a page that another has taken over meanwhile is not written.
  taken_by text,
  takes integer not null default 0,
  beat_at timestamptz,
  started_at timestamptz,
  finished_at timestamptz,
  check ((state = 'done') <= (finished_at is not null))
);
-- What the provider listed of a day, while that day is compared: transfers by reference, payments by the provider's id.
create table reconciled_records (
  day date not null references reconciled_days (day) on delete cascade,
  kind text not null check (kind in ('transfer', 'payment')),
  key text not null,
  primary key (day, kind, key)
);
alter table reconciliations add column met_at timestamptz not null default now();
`);
  }
}
