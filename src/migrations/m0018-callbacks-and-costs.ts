import { Migration } from '@mikro-orm/migrations';

/**
 * Callbacks are kept whatever they are: what cannot be read is marked with why, has none of the facts that a reader
 * finds, and is delivered to nobody. One id with two bodies is two callbacks; rows of before have no digest.
 *
 * A subscription knows when its last attempt was made, from which the next one counts.
 */
export class M0018CallbacksAndCosts extends Migration {
  override up(): void {
    this.addSql(`
alter table gateway_callbacks
  alter column event drop not null,
  alter column kind drop not null,
  alter column reference drop not null,
  add column unread text,
  add column body_digest text,
  add column body_bytes bigint,
  add column body_encoding text not null default 'utf8' check (body_encoding in ('utf8', 'base64')),
  drop constraint gateway_callbacks_webhook_id_key,
  add constraint gateway_callbacks_read_or_not
    check (num_nonnulls(event, kind, reference) = case when unread is null then 3 else 0 end),
  add constraint gateway_callbacks_unread_stay check (unread is null or delivered_at is null);
create unique index gateway_callbacks_once on gateway_callbacks (webhook_id, body_digest) nulls not distinct;
drop index gateway_callbacks_undelivered;
create index gateway_callbacks_undelivered on gateway_callbacks (received_at)
  where delivered_at is null and unread is null;
create index gateway_callbacks_unread on gateway_callbacks (received_at) where unread is not null;
`);
    this.addSql(`
alter table donation_subscriptions add column attempted_at timestamptz;
update donation_subscriptions s set attempted_at =
  (select max(a.created_at) from donation_subscription_attempts a where a.subscription_id = s.id);
`);
  }
}
