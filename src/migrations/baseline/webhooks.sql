-- Partners' endpoints, and the outbox of webhooks.

-- At most ten per partner, counted under the partner's lock; operators set at most one of them.
create table webhook_endpoints (
  id uuid primary key,
  partner_id uuid not null references partners (id),
  url varchar(2000) not null,
  events text[] not null,
  status text not null default 'enabled' check (status in ('enabled', 'disabled')),
  disabled_reason text check (disabled_reason in ('requested', 'failing')),
  disabled_at timestamptz,
  -- Since when no request to it has succeeded; null if the last one did.
  failing_since timestamptz,
  set_by_operator boolean not null default false,
  -- The number of requested tests, from which the next one gets its version.
  tests integer not null default 0 check (tests >= 0),
  secret_sealed text not null,
  -- Earlier secrets that still sign, as JSON with the expiry of each; null if never rotated.
  earlier_secrets_sealed text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((status = 'disabled') = (disabled_at is not null) and (status = 'disabled') = (disabled_reason is not null))
);
create index webhook_endpoints_of_partner on webhook_endpoints (partner_id, created_at desc, id desc);
create unique index webhook_endpoints_of_operator on webhook_endpoints (partner_id) where set_by_operator;
create trigger webhook_endpoints_status_law before insert or update of status on webhook_endpoints
  for each row execute function keep_status('status', '>enabled', '>disabled', 'enabled>disabled', 'disabled>enabled');

-- One delivery per version of a resource and endpoint, permanently; see journal_keys.
create table webhook_version_keys (
  resource_type text not null,
  resource_id uuid not null,
  version integer not null,
  endpoint_id uuid not null,
  delivery_id uuid not null,
  primary key (resource_type, resource_id, version, endpoint_id)
);
-- For the check; see callback_keys_by_id.
create index webhook_version_keys_by_id on webhook_version_keys using brin (delivery_id)
  with (pages_per_range = 16, autosummarize = on);

-- An event is one delivery per subscribed endpoint; a delivery outlives its endpoint. Partitioned by month.
create table webhook_deliveries (
  id uuid primary key,
  partner_id uuid not null references partners (id),
  endpoint_id uuid not null,
  resource_type text not null check (resource_type in ('payment', 'payout', 'refund', 'payout_batch', 'instrument', 'endpoint')),
  resource_id uuid not null,
  version integer not null check (version > 0),
  type text not null,
  -- The body that is sent; null once deleted by retention. Its digest stays.
  body_sealed text,
  body_digest text not null,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'parked')),
  attempts integer not null default 0,
  last_status smallint,
  last_error text,
  next_attempt_at timestamptz,
  delivered_at timestamptz,
  -- How often a redelivery was requested; an attempt that began before the last request does not complete it.
  redeliveries integer not null default 0 check (redeliveries >= 0),
  created_at timestamptz not null default now(),
  check ((status = 'delivered') = (delivered_at is not null)),
  check ((status = 'pending') = (next_attempt_at is not null)),
  check (status <> 'pending' or body_sealed is not null)
) partition by range (id);
create index webhook_deliveries_of_partner on webhook_deliveries (partner_id, created_at desc, id desc) include (status);
-- For finding pending and parked deliveries.
create index webhook_deliveries_undelivered on webhook_deliveries (partner_id, status, created_at desc, id desc)
  where status <> 'delivered';
create index webhook_deliveries_of_resource on webhook_deliveries (partner_id, resource_id, created_at desc, id desc);
create index webhook_deliveries_of_endpoint on webhook_deliveries (endpoint_id, created_at desc, id desc);
-- For retention.
create index webhook_deliveries_with_body on webhook_deliveries (id) where body_sealed is not null;
create index webhook_deliveries_due on webhook_deliveries (next_attempt_at) where status = 'pending';
create trigger webhook_deliveries_status_law before insert or update of status on webhook_deliveries
  for each row execute function keep_status('status', '>pending', 'pending>delivered', 'pending>parked',
    'delivered>pending', 'parked>pending');

create trigger webhook_version_keys_are_final before update or delete on webhook_version_keys
  for each row execute function refuse_change();
create trigger webhook_version_keys_are_kept before truncate on webhook_version_keys
  for each statement execute function refuse_change();

-- Every version of a webhook has its key, and every key its webhook, unless that is archived.
create view check_webhooks_have_their_keys as
  select d.id as delivery_id, k.delivery_id as key_delivery_id, resource_type, resource_id, version, endpoint_id
  from (select id, resource_type, resource_id, version, endpoint_id from webhook_deliveries where id >= checks_since()) d
  full join (select * from webhook_version_keys where delivery_id >= checks_since()) k
    using (resource_type, resource_id, version, endpoint_id)
  where d.id is distinct from k.delivery_id
    and not (d.id is null and exists (select from archived_months a
      where a.table_name = 'webhook_deliveries' and k.delivery_id >= a.first_id and k.delivery_id < a.next_id));

-- A version is one event: every endpoint receives the same body.
create view check_webhook_versions_are_one_event as
  select resource_type, resource_id, version from webhook_deliveries where id >= checks_since()
  group by resource_type, resource_id, version having count(distinct type) > 1;
