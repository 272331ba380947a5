-- The inbox of callbacks, partitioned by month. Every callback is stored. An unreadable callback records why, has no
-- extracted fields, and is not delivered. Two bodies with one id are two callbacks.

-- Permanently unique; see journal_keys.
create table callback_keys (
  webhook_id text not null,
  body_digest text not null,
  callback_id uuid not null,
  primary key (webhook_id, body_digest)
);
-- For the check, which reads new rows; they arrive nearly in id order.
create index callback_keys_by_id on callback_keys using brin (callback_id) with (pages_per_range = 16, autosummarize = on);

create table gateway_callbacks (
  id uuid primary key,
  webhook_id text not null,
  provider text not null default 'xendit',
  event text,
  kind text,
  reference text,
  provider_payment_id text,
  provider_payment_request_id text,
  provider_payment_method_id text,
  provider_transfer_id text,
  -- The body as received; null once deleted by retention. Its digest stays.
  body_sealed text,
  body_digest text not null,
  body_bytes bigint not null,
  body_encoding text not null default 'utf8' check (body_encoding in ('utf8', 'base64')),
  unread text,
  received_at timestamptz not null default now(),
  delivered_at timestamptz,
  attempts integer not null default 0,
  constraint gateway_callbacks_read_or_not
    check (num_nonnulls(event, kind, reference) = case when unread is null then 3 else 0 end),
  constraint gateway_callbacks_unread_stay check (unread is null or delivered_at is null)
) partition by range (id);
create index gateway_callbacks_of_reference on gateway_callbacks (reference, received_at) where reference is not null;
create index gateway_callbacks_undelivered on gateway_callbacks (received_at)
  where delivered_at is null and unread is null;
create index gateway_callbacks_unread on gateway_callbacks (received_at) where unread is not null;

-- For retention.
create index gateway_callbacks_with_body on gateway_callbacks (id) where body_sealed is not null;

create trigger callback_keys_are_final before update or delete on callback_keys
  for each row execute function refuse_change();
create trigger callback_keys_are_kept before truncate on callback_keys
  for each statement execute function refuse_change();

-- Every callback has its key, and every key its callback, unless that is archived.
create view check_callbacks_have_their_keys as
  select c.id as callback_id, k.callback_id as key_callback_id, webhook_id
  from (select id, webhook_id, body_digest from gateway_callbacks where id >= checks_since()) c
  full join (select * from callback_keys where callback_id >= checks_since()) k using (webhook_id, body_digest)
  where c.id is distinct from k.callback_id
    and not (c.id is null and exists (select from archived_months a
      where a.table_name = 'gateway_callbacks' and k.callback_id >= a.first_id and k.callback_id < a.next_id));
