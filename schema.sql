-- The schema that the migrations make, written by `npm run schema:write` from a freshly migrated database: what a
-- change of it comes to in review. Nobody edits or loads it; the reasons stand in src/migrations.

set check_function_bodies = off;

-- Schemas

create schema months;

-- Sequences

create sequence official_document_ids as bigint increment by 1 minvalue 1 maxvalue 9223372036854775807 start with 1 cache 1;

create sequence opening_numbers as bigint increment by 1 minvalue 1 maxvalue 9223372036854775807 start with 1 cache 1;

create sequence schema_migrations_id_seq as integer increment by 1 minvalue 1 maxvalue 2147483647 start with 1 cache 1;

-- Tables

create table account_balances (
  account_id uuid not null,
  shard smallint not null,
  balance numeric(30,4) not null,
  constraint account_balances_pkey PRIMARY KEY (account_id, shard),
  constraint account_balances_shard_check CHECK (shard >= 0 AND shard <= 16)
) with (fillfactor=60);

create table accounts (
  id uuid not null,
  name character varying(100) not null,
  kind text not null,
  user_id uuid,
  organization_id uuid,
  owner_id uuid,
  currency character(3) not null default 'IDR'::bpchar,
  may_go_negative boolean not null generated always as (kind = ANY (ARRAY['gateway_clearing'::text, 'provider_cost'::text])) stored,
  created_at timestamp with time zone not null default now(),
  constraint accounts_pkey PRIMARY KEY (id),
  constraint accounts_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint accounts_currency_check CHECK (currency = 'IDR'::bpchar),
  constraint accounts_kind_check CHECK (kind = ANY (ARRAY['user'::text, 'organization'::text, 'circle_holding'::text, 'saving_goal'::text, 'product'::text, 'open_donation_pool'::text, 'partner_available'::text, 'partner_pending'::text, 'partner_reserved'::text, 'withdrawal_reserved'::text, 'gateway_clearing'::text, 'fee_revenue'::text, 'provider_cost'::text, 'suspense'::text]))
);
CREATE INDEX accounts_by_creation ON accounts USING btree (created_at, id);
CREATE INDEX accounts_by_kind ON accounts USING btree (kind, created_at, id);
CREATE INDEX accounts_of_organization ON accounts USING btree (organization_id, created_at, id) WHERE organization_id IS NOT NULL;
CREATE UNIQUE INDEX accounts_of_system ON accounts USING btree (kind) WHERE kind = ANY (ARRAY['open_donation_pool'::text, 'gateway_clearing'::text, 'fee_revenue'::text, 'provider_cost'::text, 'suspense'::text]);
CREATE INDEX accounts_of_user ON accounts USING btree (user_id, created_at, id) WHERE user_id IS NOT NULL;
CREATE UNIQUE INDEX accounts_of_withdrawals ON accounts USING btree (owner_id) WHERE kind = 'withdrawal_reserved'::text;

create table addresses (
  id uuid not null,
  user_id uuid not null,
  organization_id uuid,
  address_type text not null,
  details_sealed text not null,
  created_by uuid not null,
  updated_by uuid,
  deleted_by uuid,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint addresses_pkey PRIMARY KEY (id),
  constraint addresses_address_type_check CHECK (address_type = ANY (ARRAY['individual'::text, 'organization'::text])),
  constraint addresses_check CHECK ((address_type = 'organization'::text) = (organization_id IS NOT NULL)),
  constraint addresses_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint addresses_updated_at_is_real CHECK (updated_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND updated_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX addresses_by_creation ON addresses USING btree (created_at, id);
CREATE INDEX addresses_of_user ON addresses USING btree (user_id);

create table archived_months (
  table_name text not null,
  month date not null,
  first_id uuid not null,
  next_id uuid not null,
  rows bigint not null,
  manifest_key text not null,
  manifest_sha256 text not null,
  archived_at timestamp with time zone not null default now(),
  constraint archived_months_pkey PRIMARY KEY (table_name, month),
  constraint archived_months_archived_at_is_real CHECK (archived_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND archived_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint archived_months_check CHECK (next_id > first_id),
  constraint archived_months_month_check CHECK (EXTRACT(day FROM month) = 1::numeric),
  constraint archived_months_rows_check CHECK (rows >= 0)
);

create table bank_accounts (
  id uuid not null default uuidv7(),
  user_id uuid not null,
  organization_id uuid,
  bank_code text not null,
  details_sealed text not null,
  usable_at timestamp with time zone not null,
  created_at timestamp with time zone not null default now(),
  deleted_at timestamp with time zone,
  constraint bank_accounts_pkey PRIMARY KEY (id),
  constraint bank_accounts_check CHECK (usable_at >= created_at),
  constraint bank_accounts_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint bank_accounts_deleted_at_is_real CHECK (deleted_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND deleted_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint bank_accounts_usable_at_is_real CHECK (usable_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND usable_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX bank_accounts_of_organization ON bank_accounts USING btree (organization_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX bank_accounts_of_user ON bank_accounts USING btree (user_id, created_at, id);

create table callback_keys (
  webhook_id text not null,
  body_digest text not null,
  callback_id uuid not null,
  constraint callback_keys_pkey PRIMARY KEY (webhook_id, body_digest)
);
CREATE INDEX callback_keys_by_id ON callback_keys USING brin (callback_id) WITH (pages_per_range='16', autosummarize='on');

create table cause_managers (
  cause_id uuid not null,
  user_id uuid not null,
  created_by uuid not null,
  created_at timestamp with time zone not null default now(),
  constraint cause_managers_pkey PRIMARY KEY (cause_id, user_id),
  constraint cause_managers_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX cause_managers_of_creator ON cause_managers USING btree (created_by);
CREATE INDEX cause_managers_of_user ON cause_managers USING btree (user_id);

create table cause_remainders (
  cause_id uuid not null,
  decision_id uuid not null,
  amount numeric(20,4) not null,
  constraint cause_remainders_pkey PRIMARY KEY (cause_id, decision_id),
  constraint cause_remainders_amount_check CHECK (amount > 0::numeric)
);
CREATE INDEX cause_remainders_of_decision ON cause_remainders USING btree (decision_id);

create table cause_totals (
  cause_id uuid not null,
  shard smallint not null,
  donated numeric(30,4) not null,
  donations bigint not null,
  constraint cause_totals_pkey PRIMARY KEY (cause_id, shard),
  constraint cause_totals_donated_check CHECK (donated > '-Infinity'::numeric AND donated < 'Infinity'::numeric),
  constraint cause_totals_shard_check CHECK (shard >= 0 AND shard <= 16)
) with (fillfactor=60);

create table charitable_causes (
  id uuid not null,
  name character varying(200) not null,
  description text not null,
  target_amount numeric(20,4) not null,
  currency character(3) not null default 'IDR'::bpchar,
  location character varying(255),
  regulations text not null,
  benefit text not null,
  owner_type text not null,
  organization_id uuid,
  account_id uuid not null,
  status text not null,
  stopped_from text,
  created_by uuid not null,
  approved_by uuid,
  approved_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint charitable_causes_pkey PRIMARY KEY (id),
  constraint charitable_causes_approved_at_is_real CHECK (approved_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND approved_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint charitable_causes_check CHECK ((status <> ALL (ARRAY['active'::text, 'approved'::text])) OR approved_at IS NOT NULL),
  constraint charitable_causes_check1 CHECK ((stopped_from <> ALL (ARRAY['active'::text, 'approved'::text])) OR approved_at IS NOT NULL),
  constraint charitable_causes_check2 CHECK (stopped_from IS NULL OR status = 'rejected'::text),
  constraint charitable_causes_check3 CHECK ((approved_at IS NULL) = (approved_by IS NULL)),
  constraint charitable_causes_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint charitable_causes_currency_check CHECK (currency = 'IDR'::bpchar),
  constraint charitable_causes_owner_type_check CHECK (owner_type = ANY (ARRAY['organization'::text, 'individual'::text, 'platform'::text])),
  constraint charitable_causes_status_check CHECK (status = ANY (ARRAY['pending'::text, 'new'::text, 'active'::text, 'approved'::text, 'in_progress'::text, 'completed'::text, 'cancelled'::text, 'rejected'::text, 'deactivated'::text])),
  constraint charitable_causes_stopped_from_check CHECK (stopped_from = ANY (ARRAY['pending'::text, 'new'::text, 'active'::text, 'approved'::text, 'in_progress'::text, 'completed'::text, 'cancelled'::text, 'rejected'::text, 'deactivated'::text])),
  constraint charitable_causes_target_amount_check CHECK (target_amount > 0::numeric AND target_amount < 'Infinity'::numeric),
  constraint charitable_causes_updated_at_is_real CHECK (updated_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND updated_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX charitable_causes_by_creation ON charitable_causes USING btree (created_at, id);
CREATE INDEX charitable_causes_of_account ON charitable_causes USING btree (account_id, created_at, id);
CREATE INDEX charitable_causes_of_approver ON charitable_causes USING btree (approved_by) WHERE approved_by IS NOT NULL;
CREATE INDEX charitable_causes_of_creator ON charitable_causes USING btree (created_by, created_at, id);
CREATE INDEX charitable_causes_of_organization ON charitable_causes USING btree (organization_id, created_at, id) WHERE organization_id IS NOT NULL;

create table clearing_comparisons (
  day date not null,
  measured_at timestamp with time zone not null,
  provider_balance numeric(20,4) not null,
  clearing_balance numeric(20,4) not null,
  agreed_day date,
  provider_change numeric(20,4),
  clearing_change numeric(20,4),
  received_under_way numeric(20,4) not null,
  spent_under_way numeric(20,4) not null,
  offset_low numeric(20,4) not null,
  offset_high numeric(20,4) not null,
  difference numeric(20,4) not null,
  agreed boolean not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint clearing_comparisons_pkey PRIMARY KEY (day),
  constraint clearing_comparisons_check CHECK (agreed = (difference = 0::numeric)),
  constraint clearing_comparisons_check1 CHECK (offset_low <= offset_high),
  constraint clearing_comparisons_check2 CHECK (num_nonnulls(agreed_day, provider_change, clearing_change) = ANY (ARRAY[0, 3])),
  constraint clearing_comparisons_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint clearing_comparisons_measured_at_is_real CHECK (measured_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND measured_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint clearing_comparisons_received_under_way_check CHECK (received_under_way >= 0::numeric AND received_under_way < 'Infinity'::numeric),
  constraint clearing_comparisons_spent_under_way_check CHECK (spent_under_way >= 0::numeric AND spent_under_way < 'Infinity'::numeric),
  constraint clearing_comparisons_updated_at_is_real CHECK (updated_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND updated_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);

create table clearing_measurements (
  day date not null,
  measured jsonb not null,
  measured_at timestamp with time zone not null default clock_timestamp(),
  constraint clearing_measurements_pkey PRIMARY KEY (day),
  constraint clearing_measurements_measured_at_is_real CHECK (measured_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND measured_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);

create table closed_days (
  day date not null,
  closed_at timestamp with time zone not null default now(),
  constraint closed_days_pkey PRIMARY KEY (day),
  constraint closed_days_closed_at_is_real CHECK (closed_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND closed_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);

create table closings (
  account_id uuid not null,
  day date not null,
  balance numeric(30,4) not null,
  constraint closings_pkey PRIMARY KEY (account_id, day)
);

create table decisions (
  id uuid not null,
  kind text not null,
  status text not null default 'pending'::text,
  payout_id uuid,
  outcome text,
  receipt_id uuid,
  action text,
  account_id uuid,
  reconciliation_id uuid,
  amount numeric(20,4),
  reference character varying(64),
  withdrawal_id uuid,
  donation_id uuid,
  user_id uuid,
  note character varying(300) not null,
  evidence jsonb not null,
  reason text,
  proposed_by uuid not null,
  first_approved_by uuid,
  approved_by uuid,
  rejected_by uuid,
  created_at timestamp with time zone not null default clock_timestamp(),
  approved_at timestamp with time zone,
  ended_at timestamp with time zone,
  constraint decisions_pkey PRIMARY KEY (id),
  constraint decisions_action_check CHECK (action = ANY (ARRAY['credit'::text, 'refund'::text])),
  constraint decisions_amount_check CHECK (amount <> 0::numeric AND amount > '-Infinity'::numeric AND amount < 'Infinity'::numeric),
  constraint decisions_approved_at_is_real CHECK (approved_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND approved_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint decisions_are_of_two CHECK (approved_by <> proposed_by AND rejected_by <> proposed_by AND first_approved_by <> proposed_by AND first_approved_by <> approved_by),
  constraint decisions_check CHECK ((approved_by IS NULL) = (approved_at IS NULL)),
  constraint decisions_check1 CHECK ((status = 'rejected'::text) = (rejected_by IS NOT NULL)),
  constraint decisions_check2 CHECK ((status = ANY (ARRAY['refused'::text, 'lapsed'::text])) = (reason IS NOT NULL)),
  constraint decisions_check3 CHECK ((status = 'pending'::text) = (ended_at IS NULL)),
  constraint decisions_check4 CHECK (status <> 'carried_out'::text OR approved_by IS NOT NULL OR (kind = ANY (ARRAY['settle_payout'::text, 'explain_difference'::text]))),
  constraint decisions_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint decisions_ended_at_is_real CHECK (ended_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND ended_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint decisions_kind_check CHECK (kind = ANY (ARRAY['settle_payout'::text, 'settle_receipt'::text, 'explain_difference'::text, 'book_external'::text, 'disburse'::text, 'refund_donation'::text, 'erase_person'::text])),
  constraint decisions_note_check CHECK (length(btrim(note::text)) >= 3),
  constraint decisions_of_donations_refund CHECK ((kind = 'refund_donation'::text) = (donation_id IS NOT NULL)),
  constraint decisions_of_people_erase CHECK ((kind = 'erase_person'::text) = (user_id IS NOT NULL)),
  constraint decisions_of_withdrawals_disburse CHECK ((kind = 'disburse'::text) = (withdrawal_id IS NOT NULL)),
  constraint decisions_outcome_check CHECK (outcome = ANY (ARRAY['succeeded'::text, 'failed'::text])),
  constraint decisions_say_what_is_done CHECK (
CASE kind
    WHEN 'settle_payout'::text THEN num_nonnulls(payout_id, outcome) = 2 AND num_nonnulls(receipt_id, action, account_id, reconciliation_id, amount, reference) = 0
    WHEN 'settle_receipt'::text THEN num_nonnulls(receipt_id, action) = 2 AND (account_id IS NOT NULL) = (action = 'credit'::text) AND num_nonnulls(payout_id, outcome, reconciliation_id, amount, reference) = 0
    WHEN 'explain_difference'::text THEN reconciliation_id IS NOT NULL AND num_nonnulls(payout_id, outcome, receipt_id, action, account_id, amount, reference) = 0
    WHEN 'book_external'::text THEN num_nonnulls(amount, reference) = 2 AND (account_id IS NULL OR amount < 0::numeric) AND num_nonnulls(payout_id, outcome, receipt_id, action, reconciliation_id) = 0
    WHEN 'disburse'::text THEN withdrawal_id IS NOT NULL AND num_nonnulls(payout_id, outcome, receipt_id, action, account_id, reconciliation_id, amount, reference) = 0
    WHEN 'erase_person'::text THEN user_id IS NOT NULL AND num_nonnulls(payout_id, outcome, receipt_id, action, account_id, reconciliation_id, amount, reference) = 0
    WHEN 'refund_donation'::text THEN donation_id IS NOT NULL AND num_nonnulls(payout_id, outcome, receipt_id, action, account_id, reconciliation_id, amount, reference) = 0
    ELSE false
END),
  constraint decisions_status_check CHECK (status = ANY (ARRAY['pending'::text, 'carried_out'::text, 'rejected'::text, 'lapsed'::text, 'refused'::text])),
  constraint decisions_withdrawal_id_key UNIQUE (withdrawal_id),
  constraint disbursements_are_approved_twice CHECK (
CASE kind
    WHEN 'disburse'::text THEN approved_by IS NULL OR first_approved_by IS NOT NULL
    ELSE first_approved_by IS NULL
END)
);
CREATE INDEX decisions_by_creation ON decisions USING btree (created_at DESC, id DESC);
CREATE INDEX decisions_by_end ON decisions USING btree (ended_at) WHERE ended_at IS NOT NULL;
CREATE UNIQUE INDEX decisions_carried_out_of_payout ON decisions USING btree (payout_id) WHERE status = 'carried_out'::text;
CREATE UNIQUE INDEX decisions_carried_out_of_receipt ON decisions USING btree (receipt_id) WHERE status = 'carried_out'::text;
CREATE UNIQUE INDEX decisions_carried_out_of_reference ON decisions USING btree (reference) WHERE status = 'carried_out'::text;
CREATE INDEX decisions_not_carried_out ON decisions USING btree (withdrawal_id) WHERE status <> 'carried_out'::text AND withdrawal_id IS NOT NULL;
CREATE INDEX decisions_of_account ON decisions USING btree (account_id) WHERE account_id IS NOT NULL;
CREATE INDEX decisions_of_approver ON decisions USING btree (approved_by) WHERE approved_by IS NOT NULL;
CREATE INDEX decisions_of_donation ON decisions USING btree (donation_id) WHERE donation_id IS NOT NULL;
CREATE INDEX decisions_of_first_approver ON decisions USING btree (first_approved_by) WHERE first_approved_by IS NOT NULL;
CREATE INDEX decisions_of_payout ON decisions USING btree (payout_id) WHERE payout_id IS NOT NULL;
CREATE INDEX decisions_of_proposer ON decisions USING btree (proposed_by);
CREATE INDEX decisions_of_receipt ON decisions USING btree (receipt_id) WHERE receipt_id IS NOT NULL;
CREATE INDEX decisions_of_reconciliation ON decisions USING btree (reconciliation_id) WHERE reconciliation_id IS NOT NULL;
CREATE INDEX decisions_of_reference ON decisions USING btree (reference) WHERE reference IS NOT NULL;
CREATE INDEX decisions_of_rejecter ON decisions USING btree (rejected_by) WHERE rejected_by IS NOT NULL;
CREATE INDEX decisions_of_user ON decisions USING btree (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX decisions_pending ON decisions USING btree (created_at) WHERE status = 'pending'::text;

create table document_categories (
  id uuid not null,
  name character varying(100) not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint document_categories_pkey PRIMARY KEY (id),
  constraint document_categories_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint document_categories_updated_at_is_real CHECK (updated_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND updated_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE UNIQUE INDEX document_categories_have_names_of_their_own ON document_categories USING btree (lower(name::text));

create table document_uploads (
  id uuid not null,
  user_id uuid not null,
  given_up boolean not null default false,
  url_sealed text not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  constraint document_uploads_pkey PRIMARY KEY (id),
  constraint document_uploads_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX document_uploads_by_creation ON document_uploads USING btree (created_at);
CREATE INDEX document_uploads_of_user ON document_uploads USING btree (user_id, id);

create table documents (
  id uuid not null,
  url_sealed text not null,
  url_hash text,
  file_name_sealed text,
  document_type text not null,
  product_type text,
  product_id uuid,
  visibility text not null,
  category_id uuid,
  organization_id uuid,
  content_type text not null,
  size_bytes bigint not null,
  sha256 text,
  identity_scan boolean not null default false,
  created_by uuid not null,
  updated_by uuid,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  deleted_at timestamp with time zone,
  deleted_by uuid,
  constraint documents_pkey PRIMARY KEY (id),
  constraint documents_check CHECK (product_id IS NULL OR product_type IS NOT NULL),
  constraint documents_check1 CHECK ((deleted_at IS NULL) = (deleted_by IS NULL)),
  constraint documents_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint documents_deleted_at_is_real CHECK (deleted_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND deleted_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint documents_document_type_check CHECK (document_type = ANY (ARRAY['legal_agreement'::text, 'signature'::text, 'cause_report'::text, 'donation_certificate'::text, 'receipt'::text, 'image'::text, 'video'::text])),
  constraint documents_product_type_check CHECK (product_type = ANY (ARRAY['charitable_cause'::text, 'commodity_financing'::text, 'investment'::text, 'transaction'::text])),
  constraint documents_sha256_check CHECK (sha256 ~ '^[0-9a-f]{64}$'::text),
  constraint documents_size_bytes_check CHECK (size_bytes >= 0),
  constraint documents_updated_at_is_real CHECK (updated_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND updated_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint documents_visibility_check CHECK (visibility = ANY (ARRAY['public'::text, 'private'::text]))
);
CREATE INDEX documents_by_creation ON documents USING btree (created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX documents_measured ON documents USING btree (created_by) INCLUDE (id, url_hash, size_bytes, deleted_at);
CREATE INDEX documents_of_category ON documents USING btree (category_id, created_at, id) WHERE deleted_at IS NULL AND category_id IS NOT NULL;
CREATE INDEX documents_of_creator ON documents USING btree (created_by, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX documents_of_object ON documents USING btree (url_hash) WHERE deleted_at IS NULL;
CREATE INDEX documents_of_organization ON documents USING btree (organization_id, created_at, id) WHERE deleted_at IS NULL AND organization_id IS NOT NULL;
CREATE INDEX documents_of_product ON documents USING btree (product_id, created_at, id) WHERE deleted_at IS NULL AND product_id IS NOT NULL;
CREATE INDEX documents_of_scan ON documents USING btree (url_hash) WHERE identity_scan;
CREATE INDEX documents_of_unread_object ON documents USING btree (id) WHERE deleted_at IS NULL AND url_hash IS NULL;
CREATE INDEX documents_that_are_public ON documents USING btree (created_at, id) WHERE deleted_at IS NULL AND visibility = 'public'::text;

create table donation_allocations (
  id uuid not null,
  attempt_id uuid not null,
  cause_id uuid not null,
  donation_count integer not null,
  total_amount numeric(20,4) not null,
  journal_id uuid not null,
  created_by uuid not null,
  created_at timestamp with time zone not null default now(),
  constraint donation_allocations_pkey PRIMARY KEY (id),
  constraint donation_allocations_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint donation_allocations_donation_count_check CHECK (donation_count > 0),
  constraint donation_allocations_total_amount_check CHECK (total_amount > 0::numeric AND total_amount < 'Infinity'::numeric)
);
CREATE INDEX donation_allocations_by_time ON donation_allocations USING brin (created_at) WITH (pages_per_range='16', autosummarize='on');
CREATE INDEX donation_allocations_of_creator ON donation_allocations USING btree (created_by);

create table donation_subscription_attempts (
  subscription_id uuid not null,
  period integer not null,
  attempt smallint not null,
  outcome text not null,
  reason text,
  due_at timestamp with time zone not null,
  created_at timestamp with time zone not null default now(),
  constraint donation_subscription_attempts_pkey PRIMARY KEY (subscription_id, period, attempt),
  constraint donation_subscription_attempts_attempt_check CHECK (attempt >= 1 AND attempt <= 3),
  constraint donation_subscription_attempts_check CHECK ((outcome = 'refused'::text) = (reason IS NOT NULL)),
  constraint donation_subscription_attempts_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint donation_subscription_attempts_due_at_is_real CHECK (due_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND due_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint donation_subscription_attempts_outcome_check CHECK (outcome = ANY (ARRAY['paid'::text, 'refused'::text])),
  constraint donation_subscription_attempts_period_check CHECK (period >= 0)
);
CREATE UNIQUE INDEX donation_subscription_periods_paid ON donation_subscription_attempts USING btree (subscription_id, period) WHERE outcome = 'paid'::text;

create table donation_subscriptions (
  id uuid not null,
  user_id uuid not null,
  cause_id uuid not null,
  amount numeric(20,4) not null,
  source_account_id uuid not null,
  "interval" text not null,
  status text not null,
  started_at timestamp with time zone not null,
  periods_paid integer not null default 0,
  due_at timestamp with time zone not null generated always as ((((started_at AT TIME ZONE '07:00:00'::interval) +
CASE "interval"
    WHEN 'weekly'::text THEN make_interval(weeks => periods_paid)
    ELSE make_interval(months => periods_paid)
END) AT TIME ZONE '07:00:00'::interval)) stored,
  refusals smallint not null default 0,
  attempted_at timestamp with time zone,
  ended_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint donation_subscriptions_pkey PRIMARY KEY (id),
  constraint donation_subscriptions_amount_check CHECK (amount > 0::numeric AND amount < 'Infinity'::numeric),
  constraint donation_subscriptions_attempted_at_is_real CHECK (attempted_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND attempted_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint donation_subscriptions_check CHECK ((status = 'active'::text) = (ended_at IS NULL)),
  constraint donation_subscriptions_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint donation_subscriptions_due_at_is_real CHECK (due_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND due_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint donation_subscriptions_ended_at_is_real CHECK (ended_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND ended_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint donation_subscriptions_interval_check CHECK ("interval" = ANY (ARRAY['weekly'::text, 'monthly'::text])),
  constraint donation_subscriptions_periods_paid_check CHECK (periods_paid >= 0 AND periods_paid <= 10000),
  constraint donation_subscriptions_refusals_check CHECK (refusals >= 0 AND refusals <= 3),
  constraint donation_subscriptions_started_at_is_real CHECK (started_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND started_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint donation_subscriptions_status_check CHECK (status = ANY (ARRAY['active'::text, 'stopped'::text, 'failed'::text])),
  constraint donation_subscriptions_updated_at_is_real CHECK (updated_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND updated_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX donation_subscriptions_by_change ON donation_subscriptions USING btree (updated_at);
CREATE INDEX donation_subscriptions_due ON donation_subscriptions USING btree (due_at) WHERE status = 'active'::text;
CREATE INDEX donation_subscriptions_of_user ON donation_subscriptions USING btree (user_id, created_at DESC, id DESC);
CREATE INDEX donation_subscriptions_stopped ON donation_subscriptions USING btree (ended_at) WHERE status = 'stopped'::text;

create table donations (
  id uuid not null,
  user_id uuid not null,
  type text not null,
  amount numeric(20,4) not null,
  status text not null,
  cause_id uuid,
  allocation_batch_id uuid,
  transaction_id uuid,
  payment_order_id uuid,
  subscription_id uuid,
  period integer,
  refund_transaction_id uuid,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint donations_pkey PRIMARY KEY (id),
  constraint donations_amount_check CHECK (amount > 0::numeric AND amount < 'Infinity'::numeric),
  constraint donations_check CHECK (type = 'open'::text OR cause_id IS NOT NULL AND allocation_batch_id IS NULL),
  constraint donations_check1 CHECK (type <> 'open'::text OR (cause_id IS NULL) = (allocation_batch_id IS NULL)),
  constraint donations_check2 CHECK ((status = ANY (ARRAY['completed'::text, 'refunded'::text])) = (transaction_id IS NOT NULL)),
  constraint donations_check3 CHECK ((status = 'refunded'::text) = (refund_transaction_id IS NOT NULL)),
  constraint donations_check4 CHECK (allocation_batch_id IS NULL OR status = 'completed'::text),
  constraint donations_check5 CHECK ((type = 'subscription'::text) = (subscription_id IS NOT NULL)),
  constraint donations_check6 CHECK ((subscription_id IS NULL) = (period IS NULL)),
  constraint donations_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint donations_status_check CHECK (status = ANY (ARRAY['pending'::text, 'completed'::text, 'failed'::text, 'refunded'::text])),
  constraint donations_type_check CHECK (type = ANY (ARRAY['specific'::text, 'open'::text, 'subscription'::text])),
  constraint donations_updated_at_is_real CHECK (updated_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND updated_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX donations_allocated_by_change ON donations USING btree (updated_at) WHERE allocation_batch_id IS NOT NULL;
CREATE INDEX donations_by_change ON donations USING brin (updated_at) WITH (pages_per_range='16', autosummarize='on');
CREATE INDEX donations_of_batch ON donations USING btree (allocation_batch_id) WHERE allocation_batch_id IS NOT NULL;
CREATE INDEX donations_of_cause ON donations USING btree (cause_id, user_id) WHERE status = 'completed'::text AND cause_id IS NOT NULL;
CREATE UNIQUE INDEX donations_of_order ON donations USING btree (payment_order_id) WHERE payment_order_id IS NOT NULL;
CREATE UNIQUE INDEX donations_of_subscription ON donations USING btree (subscription_id, period) WHERE subscription_id IS NOT NULL;
CREATE INDEX donations_of_user ON donations USING btree (user_id, created_at DESC, id DESC);
CREATE INDEX donations_unallocated ON donations USING btree (created_at, id) WHERE type = 'open'::text AND status = 'completed'::text AND cause_id IS NULL;

create table erasures (
  id uuid not null,
  user_id uuid not null,
  decision_id uuid,
  status text not null,
  held_because text,
  begun_at timestamp with time zone not null default clock_timestamp(),
  erased_at timestamp with time zone,
  ended_at timestamp with time zone,
  constraint erasures_pkey PRIMARY KEY (id),
  constraint erasures_begun_at_is_real CHECK (begun_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND begun_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint erasures_check CHECK ((status = ANY (ARRAY['waiting'::text, 'stopped'::text])) = (erased_at IS NULL)),
  constraint erasures_check1 CHECK ((status = ANY (ARRAY['complete'::text, 'stopped'::text])) = (ended_at IS NOT NULL)),
  constraint erasures_check2 CHECK (held_because IS NULL OR (status = ANY (ARRAY['waiting'::text, 'stopped'::text]))),
  constraint erasures_decision_id_key UNIQUE (decision_id),
  constraint erasures_ended_at_is_real CHECK (ended_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND ended_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint erasures_erased_at_is_real CHECK (erased_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND erased_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint erasures_status_check CHECK (status = ANY (ARRAY['waiting'::text, 'erasing'::text, 'erased'::text, 'complete'::text, 'stopped'::text]))
);
CREATE INDEX erasures_of_any_user ON erasures USING btree (user_id, begun_at);
CREATE UNIQUE INDEX erasures_of_user ON erasures USING btree (user_id) WHERE status <> 'stopped'::text;
CREATE INDEX erasures_under_way ON erasures USING btree (begun_at) WHERE status <> ALL (ARRAY['complete'::text, 'stopped'::text]);

create table events (
  id uuid not null default uuidv7(),
  event text not null,
  impact text not null,
  resource_type text not null,
  resource_id text,
  actor_id uuid,
  request_id character varying(64),
  data jsonb,
  created_at timestamp with time zone not null default clock_timestamp(),
  constraint events_pkey PRIMARY KEY (id),
  constraint events_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint events_have_the_id_of_their_time CHECK (uuid_extract_version(id) = 7 AND created_at >= (uuid_extract_timestamp(id) - '24:00:00'::interval) AND created_at <= (uuid_extract_timestamp(id) + '24:00:00'::interval)),
  constraint events_impact_check CHECK (impact = ANY (ARRAY['LOW'::text, 'MEDIUM'::text, 'HIGH'::text]))
) partition by RANGE (id);
CREATE INDEX events_by_time ON ONLY events USING brin (created_at) WITH (pages_per_range='32');
CREATE INDEX events_of_actor ON ONLY events USING btree (actor_id, id) WHERE actor_id IS NOT NULL;
CREATE INDEX events_of_reads ON ONLY events USING btree (created_at) WHERE impact = 'LOW'::text AND (event <> ALL (ARRAY['USER_LOGGED_IN'::text, 'USER_LOGGED_OUT'::text]));
CREATE INDEX events_of_resource ON ONLY events USING btree (resource_id, id) WHERE resource_id IS NOT NULL;

create table gateway_callbacks (
  id uuid not null,
  webhook_id text not null,
  event text,
  kind text,
  reference text,
  provider_payment_id text,
  provider_payment_request_id text,
  provider_payment_method_id text,
  provider_transfer_id text,
  body_sealed text,
  body_digest text not null,
  body_bytes bigint not null,
  body_encoding text not null default 'utf8'::text,
  unread text,
  received_at timestamp with time zone not null default now(),
  delivered_at timestamp with time zone,
  attempts integer not null default 0,
  constraint gateway_callbacks_pkey PRIMARY KEY (id),
  constraint gateway_callbacks_body_encoding_check CHECK (body_encoding = ANY (ARRAY['utf8'::text, 'base64'::text])),
  constraint gateway_callbacks_delivered_at_is_real CHECK (delivered_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND delivered_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint gateway_callbacks_read_or_not CHECK (num_nonnulls(event, kind, reference) =
CASE
    WHEN unread IS NULL THEN 3
    ELSE 0
END),
  constraint gateway_callbacks_received_at_is_real CHECK (received_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND received_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint gateway_callbacks_unread_stay CHECK (unread IS NULL OR delivered_at IS NULL)
) partition by RANGE (id);
CREATE INDEX gateway_callbacks_of_reference ON ONLY gateway_callbacks USING btree (reference, received_at) WHERE reference IS NOT NULL;
CREATE INDEX gateway_callbacks_undelivered ON ONLY gateway_callbacks USING btree (received_at) WHERE delivered_at IS NULL AND unread IS NULL;
CREATE INDEX gateway_callbacks_unread ON ONLY gateway_callbacks USING btree (received_at) WHERE unread IS NOT NULL;
CREATE INDEX gateway_callbacks_with_body ON ONLY gateway_callbacks USING btree (id) WHERE body_sealed IS NOT NULL;

create table idempotency_keys (
  user_id uuid not null,
  key_hash text not null,
  fingerprint text not null,
  resource_id uuid not null,
  number bigint,
  answer_status smallint,
  answer_body text,
  created_at timestamp with time zone not null default now(),
  constraint idempotency_keys_pkey PRIMARY KEY (user_id, key_hash),
  constraint idempotency_keys_check CHECK ((answer_status IS NULL) = (answer_body IS NULL)),
  constraint idempotency_keys_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys USING btree (created_at) WHERE answer_body IS NOT NULL;
CREATE INDEX idempotency_keys_by_time ON idempotency_keys USING brin (created_at) WITH (pages_per_range='16', autosummarize='on');

create table invitations (
  id uuid not null,
  user_id uuid not null,
  token_hash text not null,
  expires_at timestamp with time zone not null,
  accepted_at timestamp with time zone,
  created_by uuid not null,
  by_super_admin boolean not null default false,
  created_at timestamp with time zone not null default now(),
  constraint invitations_pkey PRIMARY KEY (id),
  constraint invitations_accepted_at_is_real CHECK (accepted_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND accepted_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint invitations_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint invitations_expires_at_is_real CHECK (expires_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND expires_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint invitations_token_hash_key UNIQUE (token_hash)
);
CREATE INDEX invitations_by_expiry ON invitations USING btree (expires_at) WHERE accepted_at IS NULL;
CREATE INDEX invitations_of_creator ON invitations USING btree (created_by);
CREATE INDEX invitations_of_user ON invitations USING btree (user_id);

create table journal_keys (
  business_key text not null,
  journal_id uuid not null,
  constraint journal_keys_pkey PRIMARY KEY (business_key)
);
CREATE INDEX journal_keys_by_id ON journal_keys USING brin (journal_id) WITH (pages_per_range='16', autosummarize='on');

create table journals (
  id uuid not null,
  business_key text not null,
  kind text not null,
  created_at timestamp with time zone not null default now(),
  constraint journals_pkey PRIMARY KEY (id),
  constraint journals_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);

create table keys_databases (
  only_one boolean not null default true,
  key_check_value text not null,
  constraint keys_databases_pkey PRIMARY KEY (only_one),
  constraint keys_databases_only_one_check CHECK (only_one)
);

create table known_logins (
  account_hash text not null,
  address text not null,
  logged_in_at timestamp with time zone not null default clock_timestamp(),
  constraint known_logins_pkey PRIMARY KEY (account_hash, address),
  constraint known_logins_logged_in_at_is_real CHECK (logged_in_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND logged_in_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX known_logins_by_time ON known_logins USING btree (logged_in_at);

create table legal_holds (
  id uuid not null,
  user_id uuid not null,
  note text not null,
  placed_by uuid not null,
  placed_at timestamp with time zone not null default clock_timestamp(),
  lifted_by uuid,
  lifted_at timestamp with time zone,
  constraint legal_holds_pkey PRIMARY KEY (id),
  constraint legal_holds_check CHECK ((lifted_by IS NULL) = (lifted_at IS NULL)),
  constraint legal_holds_check1 CHECK (lifted_by <> placed_by AND lifted_by <> user_id),
  constraint legal_holds_lifted_at_is_real CHECK (lifted_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND lifted_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint legal_holds_placed_at_is_real CHECK (placed_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND placed_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX legal_holds_of_any_user ON legal_holds USING btree (user_id, placed_at);
CREATE INDEX legal_holds_of_lifter ON legal_holds USING btree (lifted_by) WHERE lifted_by IS NOT NULL;
CREATE INDEX legal_holds_of_placer ON legal_holds USING btree (placed_by);
CREATE UNIQUE INDEX legal_holds_of_user ON legal_holds USING btree (user_id) WHERE lifted_at IS NULL;

create table login_failures (
  id bigint not null generated always as identity,
  address text not null,
  account_hash text not null,
  failed_at timestamp with time zone not null default now(),
  constraint login_failures_pkey PRIMARY KEY (id),
  constraint login_failures_failed_at_is_real CHECK (failed_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND failed_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX login_failures_by_time ON login_failures USING btree (failed_at);
CREATE INDEX login_failures_of_address ON login_failures USING btree (address, failed_at);

create table official_documents (
  id bigint not null,
  user_id uuid not null,
  organization_id uuid,
  kind text not null,
  details_sealed text not null,
  issued_on date,
  expires_on date,
  document_id uuid,
  verification_status text not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint official_documents_pkey PRIMARY KEY (id),
  constraint official_documents_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint official_documents_kind_check CHECK (kind = ANY (ARRAY['passport'::text, 'national_id'::text, 'driving_license'::text, 'taxpayer_id'::text])),
  constraint official_documents_updated_at_is_real CHECK (updated_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND updated_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint official_documents_verification_status_check CHECK (verification_status = ANY (ARRAY['pending'::text, 'verified'::text, 'rejected'::text]))
);
CREATE INDEX official_documents_by_change ON official_documents USING btree (updated_at);
CREATE INDEX official_documents_by_creation ON official_documents USING btree (created_at, id);
CREATE INDEX official_documents_of_organization ON official_documents USING btree (organization_id, created_at, id) WHERE organization_id IS NOT NULL;
CREATE INDEX official_documents_of_user ON official_documents USING btree (user_id, created_at, id);

create table openings (
  resource_id uuid not null,
  kind text not null,
  made bigint,
  refused_upto bigint,
  refusal jsonb,
  decided_at timestamp with time zone not null default clock_timestamp(),
  constraint openings_pkey PRIMARY KEY (resource_id),
  constraint openings_check CHECK ((refused_upto IS NULL) = (refusal IS NULL)),
  constraint openings_check1 CHECK (refused_upto < made),
  constraint openings_decided_at_is_real CHECK (decided_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND decided_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint openings_kind_check CHECK (kind = ANY (ARRAY['payout'::text, 'withdrawal'::text, 'payment_refund'::text, 'payment_order'::text, 'partner_payment'::text, 'saving_circle'::text, 'donation_subscription'::text, 'donation_allocation'::text]))
);
CREATE INDEX openings_by_decision ON openings USING btree (decided_at);

create table organization_industries (
  id uuid not null,
  value text not null,
  label text not null,
  created_at timestamp with time zone not null default now(),
  constraint organization_industries_pkey PRIMARY KEY (id),
  constraint organization_industries_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint organization_industries_value_key UNIQUE (value)
);

create table organization_sizes (
  id uuid not null,
  label text not null,
  range text not null,
  created_at timestamp with time zone not null default now(),
  constraint organization_sizes_pkey PRIMARY KEY (id),
  constraint organization_sizes_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint organization_sizes_label_key UNIQUE (label)
);

create table organizations (
  id uuid not null,
  name character varying(200) not null,
  logo_id character varying(255),
  email character varying(254) not null,
  phone_number character varying(32),
  official_registration_number character varying(64),
  industry text,
  size text,
  status text not null default 'pending'::text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint organizations_pkey PRIMARY KEY (id),
  constraint organizations_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint organizations_status_check CHECK (status = ANY (ARRAY['pending'::text, 'active'::text, 'inactive'::text, 'suspended'::text])),
  constraint organizations_updated_at_is_real CHECK (updated_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND updated_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX organizations_by_creation ON organizations USING btree (created_at, id);

create table partner_fees (
  id uuid not null,
  partner_id uuid not null,
  method text not null,
  channel text,
  organization_id uuid,
  fixed numeric(20,4) not null,
  basis_points integer not null,
  provider_fixed numeric(20,4) not null default 0,
  provider_basis_points integer not null default 0,
  constraint partner_fees_pkey PRIMARY KEY (id),
  constraint partner_fees_basis_points_check CHECK (basis_points >= 0 AND basis_points <= 10000),
  constraint partner_fees_fixed_check CHECK (fixed >= 0::numeric AND fixed < 'Infinity'::numeric),
  constraint partner_fees_method_check CHECK (method = ANY (ARRAY['virtual_account'::text, 'qris'::text, 'ewallet'::text, 'payout'::text])),
  constraint partner_fees_partner_id_method_channel_organization_id_key UNIQUE NULLS NOT DISTINCT (partner_id, method, channel, organization_id),
  constraint partner_fees_provider_basis_points_check CHECK (provider_basis_points >= 0 AND provider_basis_points <= 10000),
  constraint partner_fees_provider_fixed_check CHECK (provider_fixed >= 0::numeric AND provider_fixed < 'Infinity'::numeric)
);

create table partner_idempotency_keys (
  id uuid not null,
  partner_id uuid not null,
  key_hash text not null,
  fingerprint text not null,
  resource_type text not null,
  resource_id uuid not null,
  answer_status smallint,
  answer_sealed text,
  answered_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  constraint partner_idempotency_keys_pkey PRIMARY KEY (partner_id, key_hash),
  constraint partner_idempotency_keys_answered_at_is_real CHECK (answered_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND answered_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint partner_idempotency_keys_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint partner_idempotency_keys_keep_one_answer CHECK ((answer_sealed IS NULL) = (answer_status IS NULL)),
  constraint partner_idempotency_keys_resource_type_check CHECK (resource_type = ANY (ARRAY['payment'::text, 'payout'::text, 'refund'::text]))
);
CREATE INDEX partner_idempotency_keys_by_answer ON partner_idempotency_keys USING btree (answered_at) WHERE answer_status IS NOT NULL;
CREATE INDEX partner_idempotency_keys_by_id ON partner_idempotency_keys USING btree (id);

create table partner_keys (
  id uuid not null,
  partner_id uuid not null,
  prefix character varying(16) not null,
  key_hash text not null,
  signing_secret_sealed text not null,
  permissions text[] not null,
  require_signature_v2 boolean not null default false,
  rotated_from uuid,
  created_by uuid,
  created_at timestamp with time zone not null default now(),
  valid_until timestamp with time zone,
  revoked_at timestamp with time zone,
  constraint partner_keys_pkey PRIMARY KEY (id),
  constraint partner_keys_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint partner_keys_key_hash_key UNIQUE (key_hash),
  constraint partner_keys_permissions_check CHECK (permissions <@ '{collect-payment,read-gateway,request-payout,refund-payment,manage-webhooks,manage-keys}'::text[]),
  constraint partner_keys_revoked_at_is_real CHECK (revoked_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND revoked_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint partner_keys_valid_until_is_real CHECK (valid_until >= '2000-01-01 00:00:00+00'::timestamp with time zone AND valid_until < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX partner_keys_of_partner ON partner_keys USING btree (partner_id, created_at, id);

create table partner_organizations (
  partner_id uuid not null,
  organization_id uuid not null,
  created_at timestamp with time zone not null default now(),
  revoked_at timestamp with time zone,
  constraint partner_organizations_pkey PRIMARY KEY (partner_id, organization_id),
  constraint partner_organizations_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint partner_organizations_revoked_at_is_real CHECK (revoked_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND revoked_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);

create table partner_payments (
  id uuid not null,
  partner_id uuid not null,
  organization_id uuid,
  external_ref character varying(128),
  channel_id integer not null,
  fee_mode text not null,
  amount numeric(20,4) not null,
  fee numeric(20,4) not null,
  net_amount numeric(20,4) not null,
  provider_fee numeric(20,4) not null default 0,
  status text not null,
  provider_payment_request_id text,
  provider_payment_method_id text,
  payment_code text,
  failure_code text,
  customer_sealed text,
  version integer not null default 0,
  request_id text,
  expires_at timestamp with time zone not null,
  cancelled_at timestamp with time zone,
  instrument_asked_at timestamp with time zone,
  instrument_at timestamp with time zone,
  settling_since timestamp with time zone,
  finalized_at timestamp with time zone,
  available_at timestamp with time zone,
  released_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint partner_payments_pkey PRIMARY KEY (id),
  constraint partner_payments_amount_check CHECK (amount > 0::numeric AND amount = trunc(amount)),
  constraint partner_payments_available_at_is_real CHECK (available_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND available_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint partner_payments_cancelled_at_is_real CHECK (cancelled_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND cancelled_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint partner_payments_check CHECK (amount = (fee + net_amount)),
  constraint partner_payments_check1 CHECK ((status = ANY (ARRAY['PENDING'::text, 'WAITING_PAYMENT'::text])) = (finalized_at IS NULL)),
  constraint partner_payments_check2 CHECK ((status = 'PAID'::text) = (available_at IS NOT NULL)),
  constraint partner_payments_check3 CHECK (released_at IS NULL OR available_at IS NOT NULL),
  constraint partner_payments_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint partner_payments_expires_at_is_real CHECK (expires_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND expires_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint partner_payments_fee_check CHECK (fee >= 0::numeric AND fee < 'Infinity'::numeric),
  constraint partner_payments_fee_mode_check CHECK (fee_mode = ANY (ARRAY['DEDUCTED'::text, 'ADDED'::text])),
  constraint partner_payments_finalized_at_is_real CHECK (finalized_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND finalized_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint partner_payments_instrument_asked_at_is_real CHECK (instrument_asked_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND instrument_asked_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint partner_payments_instrument_at_is_real CHECK (instrument_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND instrument_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint partner_payments_net_amount_check CHECK (net_amount > 0::numeric AND net_amount < 'Infinity'::numeric),
  constraint partner_payments_provider_fee_check CHECK (provider_fee >= 0::numeric AND provider_fee < 'Infinity'::numeric),
  constraint partner_payments_released_at_is_real CHECK (released_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND released_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint partner_payments_settling_since_is_real CHECK (settling_since >= '2000-01-01 00:00:00+00'::timestamp with time zone AND settling_since < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint partner_payments_status_check CHECK (status = ANY (ARRAY['PENDING'::text, 'WAITING_PAYMENT'::text, 'PAID'::text, 'FAILED'::text, 'EXPIRED'::text])),
  constraint partner_payments_updated_at_is_real CHECK (updated_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND updated_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX partner_payments_by_change ON partner_payments USING brin (updated_at) WITH (pages_per_range='16', autosummarize='on');
CREATE INDEX partner_payments_by_reference ON partner_payments USING btree (partner_id, external_ref) WHERE external_ref IS NOT NULL;
CREATE INDEX partner_payments_of_partner ON partner_payments USING btree (partner_id, created_at DESC, id DESC) INCLUDE (status);
CREATE INDEX partner_payments_open ON partner_payments USING btree (COALESCE(cancelled_at, expires_at)) WHERE status = ANY (ARRAY['PENDING'::text, 'WAITING_PAYMENT'::text]);
CREATE INDEX partner_payments_pending ON partner_payments USING btree (created_at) WHERE status = 'PENDING'::text;
CREATE INDEX partner_payments_settling ON partner_payments USING btree (settling_since) WHERE settling_since IS NOT NULL AND (status = ANY (ARRAY['PENDING'::text, 'WAITING_PAYMENT'::text]));
CREATE INDEX partner_payments_unreleased ON partner_payments USING btree (available_at) WHERE status = 'PAID'::text AND released_at IS NULL;

create table partners (
  id uuid not null,
  name character varying(200) not null,
  organization_id uuid not null,
  status text not null default 'pending'::text,
  fee_mode text not null,
  settlement_delay_hours integer not null default 0,
  payouts_enabled boolean not null default true,
  max_payout_amount numeric(20,4),
  max_daily_amount numeric(20,4),
  max_hourly_count integer,
  available_account_id uuid not null,
  pending_account_id uuid not null,
  reserved_account_id uuid not null,
  replayed_until timestamp with time zone,
  created_by uuid,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint partners_pkey PRIMARY KEY (id),
  constraint partners_available_account_id_key UNIQUE (available_account_id),
  constraint partners_check CHECK (num_nulls(max_payout_amount, max_daily_amount, max_hourly_count) = ANY (ARRAY[0, 3])),
  constraint partners_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint partners_fee_mode_check CHECK (fee_mode = ANY (ARRAY['DEDUCTED'::text, 'ADDED'::text])),
  constraint partners_max_daily_amount_check CHECK (max_daily_amount > 0::numeric AND max_daily_amount < 'Infinity'::numeric),
  constraint partners_max_hourly_count_check CHECK (max_hourly_count > 0),
  constraint partners_max_payout_amount_check CHECK (max_payout_amount > 0::numeric AND max_payout_amount < 'Infinity'::numeric),
  constraint partners_pending_account_id_key UNIQUE (pending_account_id),
  constraint partners_replayed_until_is_real CHECK (replayed_until >= '2000-01-01 00:00:00+00'::timestamp with time zone AND replayed_until < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint partners_reserved_account_id_key UNIQUE (reserved_account_id),
  constraint partners_settlement_delay_hours_check CHECK (settlement_delay_hours >= 0 AND settlement_delay_hours <= 8760),
  constraint partners_status_check CHECK (status = ANY (ARRAY['pending'::text, 'active'::text, 'suspended'::text])),
  constraint partners_updated_at_is_real CHECK (updated_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND updated_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX partners_by_creation ON partners USING btree (created_at, id);

create table payment_channels (
  id integer not null,
  name character varying(100) not null,
  method text not null,
  channel_code text not null,
  fee_fixed numeric(20,4) not null,
  fee_basis_points integer not null default 0,
  provider_fee_fixed numeric(20,4) not null default 0,
  provider_fee_basis_points integer not null default 0,
  minimum_amount numeric(20,4) not null,
  maximum_amount numeric(20,4) not null,
  needs_phone boolean not null default false,
  refundable boolean not null default false,
  refundable_in_part boolean not null default false,
  refund_window_days smallint not null default 0,
  active boolean not null default true,
  constraint payment_channels_pkey PRIMARY KEY (id),
  constraint payment_channels_check CHECK (maximum_amount >= minimum_amount),
  constraint payment_channels_fee_basis_points_check CHECK (fee_basis_points >= 0 AND fee_basis_points <= 10000),
  constraint payment_channels_fee_fixed_check CHECK (fee_fixed >= 0::numeric AND fee_fixed < 'Infinity'::numeric),
  constraint payment_channels_method_channel_code_key UNIQUE (method, channel_code),
  constraint payment_channels_method_check CHECK (method = ANY (ARRAY['virtual_account'::text, 'qris'::text, 'ewallet'::text])),
  constraint payment_channels_minimum_amount_check CHECK (minimum_amount >= 1::numeric),
  constraint payment_channels_provider_fee_basis_points_check CHECK (provider_fee_basis_points >= 0 AND provider_fee_basis_points <= 10000),
  constraint payment_channels_provider_fee_fixed_check CHECK (provider_fee_fixed >= 0::numeric AND provider_fee_fixed < 'Infinity'::numeric),
  constraint payment_channels_refund_window_days_check CHECK (refund_window_days >= 0)
);

create table payment_orders (
  id uuid not null,
  user_id uuid not null,
  organization_id uuid,
  reference_type text not null,
  reference_id uuid not null,
  on_behalf_of uuid,
  target_account_id uuid not null,
  payment_id integer not null,
  nominal numeric(20,4) not null,
  admin_fee numeric(20,4) not null,
  provider_fee numeric(20,4) not null default 0,
  status text not null,
  provider_payment_request_id text,
  provider_payment_method_id text,
  payment_code text,
  failure_code text,
  texts_sealed text,
  expires_at timestamp with time zone not null,
  cancelled_at timestamp with time zone,
  request_id text,
  instrument_asked_at timestamp with time zone,
  settling_since timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  finalized_at timestamp with time zone,
  constraint payment_orders_pkey PRIMARY KEY (id),
  constraint payment_orders_admin_fee_check CHECK (admin_fee >= 0::numeric AND admin_fee < 'Infinity'::numeric),
  constraint payment_orders_cancelled_at_is_real CHECK (cancelled_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND cancelled_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint payment_orders_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint payment_orders_expires_at_is_real CHECK (expires_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND expires_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint payment_orders_finalized_at_is_real CHECK (finalized_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND finalized_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint payment_orders_instrument_asked_at_is_real CHECK (instrument_asked_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND instrument_asked_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint payment_orders_nominal_check CHECK (nominal > 0::numeric AND nominal < 'Infinity'::numeric),
  constraint payment_orders_provider_fee_check CHECK (provider_fee >= 0::numeric AND provider_fee < 'Infinity'::numeric),
  constraint payment_orders_settling_since_is_real CHECK (settling_since >= '2000-01-01 00:00:00+00'::timestamp with time zone AND settling_since < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint payment_orders_status_check CHECK (status = ANY (ARRAY['PENDING'::text, 'WAITING_PAYMENT'::text, 'PAID'::text, 'FAILED'::text, 'EXPIRED'::text])),
  constraint payment_orders_updated_at_is_real CHECK (updated_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND updated_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX payment_orders_by_change ON payment_orders USING brin (updated_at) WITH (pages_per_range='16', autosummarize='on');
CREATE INDEX payment_orders_of_user ON payment_orders USING btree (user_id, created_at DESC, id DESC);
CREATE INDEX payment_orders_open ON payment_orders USING btree (COALESCE(cancelled_at, expires_at)) WHERE status = ANY (ARRAY['PENDING'::text, 'WAITING_PAYMENT'::text]);
CREATE INDEX payment_orders_pending ON payment_orders USING btree (created_at) WHERE status = 'PENDING'::text;
CREATE INDEX payment_orders_settling ON payment_orders USING btree (settling_since) WHERE settling_since IS NOT NULL AND (status = ANY (ARRAY['PENDING'::text, 'WAITING_PAYMENT'::text]));

create table payment_refunds (
  id uuid not null,
  payment_id uuid not null,
  created_at timestamp with time zone not null,
  constraint payment_refunds_pkey PRIMARY KEY (id),
  constraint payment_refunds_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX payment_refunds_of_payment ON payment_refunds USING btree (payment_id, created_at, id);

create table payout_attempts (
  payout_id uuid not null,
  number integer not null,
  sent_at timestamp with time zone not null default clock_timestamp(),
  outcome text,
  failure_code text,
  answered_at timestamp with time zone,
  not_known_at timestamp with time zone,
  constraint payout_attempts_pkey PRIMARY KEY (payout_id, number),
  constraint payout_attempts_answered_at_is_real CHECK (answered_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND answered_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint payout_attempts_check CHECK ((outcome IS NULL) = (answered_at IS NULL)),
  constraint payout_attempts_check1 CHECK (not_known_at >= (sent_at + '00:02:00'::interval)),
  constraint payout_attempts_not_known_at_is_real CHECK (not_known_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND not_known_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint payout_attempts_number_check CHECK (number > 0),
  constraint payout_attempts_outcome_check CHECK (outcome = ANY (ARRAY['accepted'::text, 'refused'::text, 'unknown'::text, 'unsent'::text])),
  constraint payout_attempts_sent_at_is_real CHECK (sent_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND sent_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX payout_attempts_by_day ON payout_attempts USING btree (sent_at, payout_id) WHERE outcome IS DISTINCT FROM 'unsent'::text;
CREATE UNIQUE INDEX payout_attempts_one_open ON payout_attempts USING btree (payout_id) WHERE outcome IS DISTINCT FROM 'unsent'::text AND not_known_at IS NULL;

create table payout_banks (
  bank_code text not null,
  name character varying(100) not null,
  minimum_amount numeric(20,4) not null,
  maximum_amount numeric(20,4) not null,
  account_number_min_length smallint not null,
  account_number_max_length smallint not null,
  active boolean not null default true,
  provider_fee_fixed numeric(20,4) not null default 0,
  provider_fee_basis_points integer not null default 0,
  constraint payout_banks_pkey PRIMARY KEY (bank_code),
  constraint payout_banks_account_number_min_length_check CHECK (account_number_min_length > 0),
  constraint payout_banks_check CHECK (maximum_amount >= minimum_amount),
  constraint payout_banks_check1 CHECK (account_number_max_length >= account_number_min_length),
  constraint payout_banks_minimum_amount_check CHECK (minimum_amount >= 1::numeric),
  constraint payout_banks_provider_fee_basis_points_check CHECK (provider_fee_basis_points >= 0 AND provider_fee_basis_points <= 10000),
  constraint payout_banks_provider_fee_fixed_check CHECK (provider_fee_fixed >= 0::numeric AND provider_fee_fixed < 'Infinity'::numeric)
);

create table payout_tallies (
  owner_id uuid not null,
  starts_at timestamp with time zone not null,
  amount numeric(20,4) not null,
  payouts integer not null,
  constraint payout_tallies_pkey PRIMARY KEY (owner_id, starts_at),
  constraint payout_tallies_amount_check CHECK (amount >= 0::numeric),
  constraint payout_tallies_payouts_check CHECK (payouts >= 0),
  constraint payout_tallies_starts_at_is_real CHECK (starts_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND starts_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
) with (fillfactor=60);
CREATE INDEX payout_tallies_by_time ON payout_tallies USING btree (starts_at);

create table payout_words (
  id bigint not null generated always as identity,
  payout_id uuid not null,
  said text not null,
  failure_code text,
  at timestamp with time zone not null,
  constraint payout_words_pkey PRIMARY KEY (id),
  constraint payout_words_at_is_real CHECK (at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX payout_words_of_payout ON payout_words USING btree (payout_id, id);

create table payouts (
  id uuid not null,
  kind text not null,
  source_account_id uuid not null,
  reserved_account_id uuid not null,
  partner_id uuid,
  reference character varying(40) not null,
  external_ref character varying(128),
  fee_mode text not null,
  amount numeric(20,4) not null,
  fee numeric(20,4) not null,
  net_amount numeric(20,4) not null,
  provider_fee numeric(20,4) not null default 0,
  provider_cost numeric(20,4) not null default 0,
  bank_code text,
  refund_of text,
  texts_sealed text not null,
  request_digest text,
  status text not null,
  failure_code text,
  provider_transfer_id text,
  last_word text,
  last_word_at timestamp with time zone,
  asked_at timestamp with time zone,
  asks integer not null default 0,
  unknown_since timestamp with time zone,
  delay_told_at timestamp with time zone,
  contradicted_at timestamp with time zone,
  explained_word text,
  look_again_at timestamp with time zone,
  version integer not null default 0,
  request_id text,
  succeeded_at timestamp with time zone,
  finalized_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint payouts_pkey PRIMARY KEY (id),
  constraint payouts_amount_check CHECK (amount > 0::numeric AND amount < 'Infinity'::numeric),
  constraint payouts_asked_at_is_real CHECK (asked_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND asked_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint payouts_check CHECK ((kind = 'withdrawal'::text) = (partner_id IS NULL)),
  constraint payouts_check1 CHECK (refund_of IS NULL OR kind = 'payment_refund'::text),
  constraint payouts_check2 CHECK (kind <> 'payment_refund'::text OR fee = 0::numeric),
  constraint payouts_check3 CHECK (amount =
CASE fee_mode
    WHEN 'DEDUCTED'::text THEN net_amount + fee
    ELSE net_amount
END),
  constraint payouts_check4 CHECK ((status = 'pending'::text) = (finalized_at IS NULL)),
  constraint payouts_check5 CHECK ((status = 'failed'::text) = (failure_code IS NOT NULL)),
  constraint payouts_check6 CHECK (unknown_since IS NULL OR status = 'pending'::text),
  constraint payouts_check7 CHECK (contradicted_at IS NULL OR status <> 'pending'::text),
  constraint payouts_check8 CHECK (succeeded_at IS NULL OR (status = ANY (ARRAY['succeeded'::text, 'reversed'::text]))),
  constraint payouts_contradicted_at_is_real CHECK (contradicted_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND contradicted_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint payouts_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint payouts_delay_told_at_is_real CHECK (delay_told_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND delay_told_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint payouts_fee_check CHECK (fee >= 0::numeric AND fee < 'Infinity'::numeric),
  constraint payouts_fee_mode_check CHECK (fee_mode = ANY (ARRAY['DEDUCTED'::text, 'ADDED'::text])),
  constraint payouts_finalized_at_is_real CHECK (finalized_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND finalized_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint payouts_go_to_a_bank_or_back CHECK ((bank_code IS NULL) = (refund_of IS NOT NULL)),
  constraint payouts_kind_check CHECK (kind = ANY (ARRAY['partner_payout'::text, 'withdrawal'::text, 'payment_refund'::text])),
  constraint payouts_last_word_at_is_real CHECK (last_word_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND last_word_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint payouts_last_word_check CHECK (last_word = ANY (ARRAY['accepted'::text, 'succeeded'::text, 'failed'::text, 'reversed'::text, 'refused'::text, 'repeat refused'::text, 'unsent'::text, 'not known'::text, 'silent'::text, 'another amount'::text, 'request differs'::text])),
  constraint payouts_look_again_at_is_real CHECK (look_again_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND look_again_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint payouts_net_amount_check CHECK (net_amount > 0::numeric AND net_amount = trunc(net_amount)),
  constraint payouts_provider_cost_check CHECK (provider_cost >= 0::numeric AND provider_cost < 'Infinity'::numeric),
  constraint payouts_provider_fee_check CHECK (provider_fee >= 0::numeric AND provider_fee < 'Infinity'::numeric),
  constraint payouts_provider_transfer_id_key UNIQUE (provider_transfer_id),
  constraint payouts_reference_key UNIQUE (reference),
  constraint payouts_request_digest_check CHECK (request_digest ~ '^[0-9a-f]{64}$'::text),
  constraint payouts_returns_are_booked CHECK (status <> 'succeeded'::text OR last_word IS DISTINCT FROM 'reversed'::text OR look_again_at IS NOT NULL),
  constraint payouts_status_check CHECK (status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text, 'reversed'::text])),
  constraint payouts_succeeded_at_is_real CHECK (succeeded_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND succeeded_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint payouts_unknown_since_is_real CHECK (unknown_since >= '2000-01-01 00:00:00+00'::timestamp with time zone AND unknown_since < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint payouts_updated_at_is_real CHECK (updated_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND updated_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX payouts_by_external_ref ON payouts USING btree (partner_id, external_ref) WHERE external_ref IS NOT NULL;
CREATE INDEX payouts_by_time ON payouts USING brin (created_at, updated_at) WITH (pages_per_range='16', autosummarize='on');
CREATE INDEX payouts_contradicted ON payouts USING btree (contradicted_at) WHERE contradicted_at IS NOT NULL;
CREATE INDEX payouts_failed ON payouts USING btree (finalized_at) WHERE status = 'failed'::text;
CREATE INDEX payouts_of_partner ON payouts USING btree (partner_id, created_at DESC, id DESC) INCLUDE (kind, status, amount) WHERE partner_id IS NOT NULL;
CREATE INDEX payouts_pending ON payouts USING btree (created_at) WHERE status = 'pending'::text;
CREATE INDEX payouts_to_look_at ON payouts USING btree (look_again_at) WHERE look_again_at IS NOT NULL;
CREATE INDEX payouts_unknown ON payouts USING btree (unknown_since) WHERE unknown_since IS NOT NULL;

create table permission_categories (
  id uuid not null,
  name text not null,
  display_name text not null,
  constraint permission_categories_pkey PRIMARY KEY (id),
  constraint permission_categories_name_key UNIQUE (name)
);

create table permissions (
  id uuid not null,
  name text not null,
  display_name text not null,
  description text not null,
  category_id uuid not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint permissions_pkey PRIMARY KEY (id),
  constraint permissions_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint permissions_name_key UNIQUE (name),
  constraint permissions_updated_at_is_real CHECK (updated_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND updated_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);

create table postings (
  id bigint not null generated always as identity,
  journal_id uuid not null,
  account_id uuid not null,
  amount numeric(20,4) not null,
  created_at timestamp with time zone not null default now(),
  constraint postings_pkey PRIMARY KEY (id),
  constraint postings_amount_check CHECK (amount <> 0::numeric),
  constraint postings_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX postings_by_time ON postings USING brin (created_at) WITH (pages_per_range='16', autosummarize='on');
CREATE INDEX postings_of_account ON postings USING btree (account_id, created_at, id) INCLUDE (amount);
CREATE INDEX postings_of_journal ON postings USING btree (journal_id);

create table products (
  id uuid not null,
  kind text not null,
  name character varying(200) not null,
  account_id uuid not null,
  target_amount numeric(20,4),
  minimum_amount numeric(20,4),
  status text not null,
  created_by uuid not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint products_pkey PRIMARY KEY (id),
  constraint products_account_id_key UNIQUE (account_id),
  constraint products_check CHECK (minimum_amount <= target_amount),
  constraint products_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint products_kind_check CHECK (kind = ANY (ARRAY['investment'::text, 'commodity_financing'::text, 'trusted_partner_investment'::text, 'takaful_insurance'::text, 'takaful_tabaru'::text])),
  constraint products_minimum_amount_check CHECK (minimum_amount > 0::numeric AND minimum_amount < 'Infinity'::numeric),
  constraint products_status_check CHECK (status = ANY (ARRAY['open'::text, 'closed'::text, 'completed'::text])),
  constraint products_target_amount_check CHECK (target_amount > 0::numeric AND target_amount < 'Infinity'::numeric),
  constraint products_updated_at_is_real CHECK (updated_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND updated_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX products_by_creation ON products USING btree (created_at DESC, id DESC);
CREATE INDEX products_completed ON products USING btree (id) WHERE status = 'completed'::text;
CREATE INDEX products_of_creator ON products USING btree (created_by);

create table proved_checks (
  check_name text not null,
  proved_at timestamp with time zone not null,
  constraint proved_checks_pkey PRIMARY KEY (check_name),
  constraint proved_checks_proved_at_is_real CHECK (proved_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND proved_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);

create table provider_budget (
  id boolean not null default true,
  tokens double precision not null default 0,
  filled_at timestamp with time zone not null default clock_timestamp(),
  paused_until timestamp with time zone,
  constraint provider_budget_pkey PRIMARY KEY (id),
  constraint provider_budget_filled_at_is_real CHECK (filled_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND filled_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint provider_budget_id_check CHECK (id),
  constraint provider_budget_paused_until_is_real CHECK (paused_until >= '2000-01-01 00:00:00+00'::timestamp with time zone AND paused_until < '2200-01-01 00:00:00+00'::timestamp with time zone)
);

create table provider_callers (
  partner_id uuid not null,
  calls double precision not null,
  counted_at timestamp with time zone not null,
  constraint provider_callers_pkey PRIMARY KEY (partner_id),
  constraint provider_callers_calls_check CHECK (calls > 0::double precision AND calls < 'Infinity'::double precision),
  constraint provider_callers_counted_at_is_real CHECK (counted_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND counted_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
) with (fillfactor=60);

create table receipts (
  id uuid not null,
  provider_payment_id text not null,
  provider_payment_method_id text not null,
  reference text not null,
  amount numeric(20,4) not null,
  state text not null,
  reason text,
  order_id uuid,
  partner_payment_id uuid,
  account_id uuid,
  settled_by uuid,
  note character varying(300),
  received_at timestamp with time zone not null default clock_timestamp(),
  settled_at timestamp with time zone,
  constraint receipts_pkey PRIMARY KEY (id),
  constraint receipts_amount_check CHECK (amount > 0::numeric AND amount < 'Infinity'::numeric),
  constraint receipts_applied_to_one CHECK (num_nonnulls(order_id, partner_payment_id) =
CASE
    WHEN state = 'applied'::text THEN 1
    ELSE 0
END),
  constraint receipts_check CHECK ((state = 'applied'::text) = (reason IS NULL)),
  constraint receipts_provider_payment_id_key UNIQUE (provider_payment_id),
  constraint receipts_reason_check CHECK (reason = ANY (ARRAY['late'::text, 'double'::text, 'wrong_amount'::text, 'unknown'::text])),
  constraint receipts_received_at_is_real CHECK (received_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND received_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint receipts_settled_at_is_real CHECK (settled_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND settled_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint receipts_state_check CHECK (state = ANY (ARRAY['applied'::text, 'suspended'::text, 'credited'::text, 'refunded'::text]))
);
CREATE INDEX receipts_besides ON receipts USING btree (reference, received_at) WHERE state <> 'applied'::text;
CREATE INDEX receipts_by_settlement ON receipts USING btree (COALESCE(settled_at, 'infinity'::timestamp with time zone)) WHERE state <> 'applied'::text;
CREATE INDEX receipts_by_state ON receipts USING btree (state, received_at, id) WHERE state <> 'applied'::text;
CREATE INDEX receipts_by_time ON receipts USING btree (received_at, id);
CREATE UNIQUE INDEX receipts_of_order ON receipts USING btree (order_id) WHERE order_id IS NOT NULL;
CREATE UNIQUE INDEX receipts_of_partner_payment ON receipts USING btree (partner_payment_id) WHERE partner_payment_id IS NOT NULL;
CREATE INDEX receipts_of_settler ON receipts USING btree (settled_by) WHERE settled_by IS NOT NULL;

create table reconciled_days (
  day date not null,
  state text not null default 'pending'::text,
  phase text not null default 'records'::text,
  cursor text,
  compared integer not null default 0,
  differences integer not null default 0,
  unsettled integer not null default 0,
  taken_by text,
  takes integer not null default 0,
  beat_at timestamp with time zone,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  constraint reconciled_days_pkey PRIMARY KEY (day),
  constraint reconciled_days_beat_at_is_real CHECK (beat_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND beat_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint reconciled_days_check CHECK ((state = 'done'::text) <= (finished_at IS NOT NULL)),
  constraint reconciled_days_finished_at_is_real CHECK (finished_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND finished_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint reconciled_days_phase_check CHECK (phase = ANY (ARRAY['records'::text, 'transfers'::text, 'payments'::text])),
  constraint reconciled_days_started_at_is_real CHECK (started_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND started_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint reconciled_days_state_check CHECK (state = ANY (ARRAY['pending'::text, 'running'::text, 'done'::text]))
);

create table reconciled_records (
  day date not null,
  kind text not null,
  key text not null,
  constraint reconciled_records_pkey PRIMARY KEY (day, kind, key),
  constraint reconciled_records_kind_check CHECK (kind = ANY (ARRAY['transfer'::text, 'payment'::text]))
);

create table reconciliations (
  id uuid not null,
  day date not null,
  resource_type text not null,
  subject text not null,
  resource_id uuid,
  reference text not null,
  ours jsonb,
  theirs jsonb,
  state text not null default 'open'::text,
  note character varying(300),
  met_at timestamp with time zone not null default now(),
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint reconciliations_pkey PRIMARY KEY (id),
  constraint reconciliations_check CHECK ((state = 'explained'::text) <= (note IS NOT NULL)),
  constraint reconciliations_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint reconciliations_day_resource_type_subject_key UNIQUE (day, resource_type, subject),
  constraint reconciliations_met_at_is_real CHECK (met_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND met_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint reconciliations_resource_type_check CHECK (resource_type = ANY (ARRAY['payout'::text, 'payment'::text])),
  constraint reconciliations_state_check CHECK (state = ANY (ARRAY['open'::text, 'explained'::text, 'resolved'::text])),
  constraint reconciliations_updated_at_is_real CHECK (updated_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND updated_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX reconciliations_by_creation ON reconciliations USING btree (created_at DESC, id DESC);
CREATE INDEX reconciliations_open ON reconciliations USING btree (day) WHERE state = 'open'::text;

create table recovery_codes (
  user_id uuid not null,
  code_hash text not null,
  constraint recovery_codes_pkey PRIMARY KEY (user_id, code_hash)
);

create table refused_balance_payments (
  user_id uuid not null,
  key_hash text not null,
  fingerprint text not null,
  refused_upto bigint not null,
  refusal jsonb not null,
  refused_at timestamp with time zone not null default clock_timestamp(),
  constraint refused_balance_payments_pkey PRIMARY KEY (user_id, key_hash, fingerprint),
  constraint refused_balance_payments_refused_at_is_real CHECK (refused_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND refused_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX refused_balance_payments_by_age ON refused_balance_payments USING btree (refused_at);

create table revoked_tokens (
  id text not null,
  expires_at timestamp with time zone not null,
  constraint revoked_tokens_pkey PRIMARY KEY (id),
  constraint revoked_tokens_expires_at_is_real CHECK (expires_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND expires_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX revoked_tokens_by_expiry ON revoked_tokens USING btree (expires_at);

create table role_permissions (
  role_id uuid not null,
  permission_id uuid not null,
  constraint role_permissions_pkey PRIMARY KEY (role_id, permission_id)
);

create table roles (
  id uuid not null,
  name character varying(100) not null,
  display_name character varying(120) not null,
  organization_id uuid,
  user_type text not null,
  description character varying(500) not null,
  is_default boolean not null default false,
  permission_names text not null default ''::text,
  created_by uuid,
  updated_by uuid,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  deleted_at timestamp with time zone,
  constraint roles_pkey PRIMARY KEY (id),
  constraint roles_check CHECK (is_default = (organization_id IS NULL)),
  constraint roles_check1 CHECK (NOT is_default OR deleted_at IS NULL),
  constraint roles_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint roles_deleted_at_is_real CHECK (deleted_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND deleted_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint roles_updated_at_is_real CHECK (updated_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND updated_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint roles_user_type_check CHECK (user_type = ANY (ARRAY['platform'::text, 'organization'::text, 'individual'::text]))
);
CREATE INDEX roles_by_creation ON roles USING btree (created_at, id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX roles_have_names_of_their_own ON roles USING btree (lower(name::text)) WHERE deleted_at IS NULL;
CREATE INDEX roles_of_organization ON roles USING btree (organization_id, created_at, id) WHERE deleted_at IS NULL;

create table saving_circle_contributions (
  id uuid not null,
  saving_circle_id uuid not null,
  member_id uuid not null,
  user_id uuid not null,
  turn_number integer not null,
  amount numeric(20,4) not null,
  guarantee_amount numeric(20,4) not null default 0,
  rail text not null,
  status text not null,
  refund_account_id uuid not null,
  payment_order_id uuid,
  transaction_id uuid,
  refund_journal_id uuid,
  refunded_amount numeric(20,4),
  swept_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint saving_circle_contributions_pkey PRIMARY KEY (id),
  constraint saving_circle_contributions_amount_check CHECK (amount > 0::numeric AND amount < 'Infinity'::numeric),
  constraint saving_circle_contributions_check CHECK ((rail = 'gateway'::text) = (payment_order_id IS NOT NULL)),
  constraint saving_circle_contributions_check1 CHECK ((status = ANY (ARRAY['completed'::text, 'refunded'::text])) = (transaction_id IS NOT NULL)),
  constraint saving_circle_contributions_check2 CHECK ((status = 'refunded'::text) = (refund_journal_id IS NOT NULL)),
  constraint saving_circle_contributions_check3 CHECK ((status = 'refunded'::text) = (refunded_amount IS NOT NULL)),
  constraint saving_circle_contributions_check4 CHECK (refunded_amount = amount OR refunded_amount = (amount + guarantee_amount)),
  constraint saving_circle_contributions_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint saving_circle_contributions_guarantee_amount_check CHECK (guarantee_amount >= 0::numeric AND guarantee_amount < 'Infinity'::numeric),
  constraint saving_circle_contributions_payment_order_id_key UNIQUE (payment_order_id),
  constraint saving_circle_contributions_rail_check CHECK (rail = ANY (ARRAY['gateway'::text, 'balance'::text])),
  constraint saving_circle_contributions_refund_journal_id_key UNIQUE (refund_journal_id),
  constraint saving_circle_contributions_status_check CHECK (status = ANY (ARRAY['pending'::text, 'completed'::text, 'failed'::text, 'cancelled'::text, 'refunded'::text])),
  constraint saving_circle_contributions_swept_at_is_real CHECK (swept_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND swept_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint saving_circle_contributions_updated_at_is_real CHECK (updated_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND updated_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE UNIQUE INDEX one_contribution_of_a_turn ON saving_circle_contributions USING btree (saving_circle_id, member_id, turn_number) WHERE status = ANY (ARRAY['pending'::text, 'completed'::text]);
CREATE UNIQUE INDEX one_guarantee_of_a_member ON saving_circle_contributions USING btree (member_id) WHERE guarantee_amount > 0::numeric AND (status = ANY (ARRAY['pending'::text, 'completed'::text]));
CREATE INDEX saving_circle_contributions_by_change ON saving_circle_contributions USING brin (updated_at) WITH (pages_per_range='16', autosummarize='on');
CREATE INDEX saving_circle_contributions_of_member ON saving_circle_contributions USING btree (member_id);
CREATE INDEX saving_circle_contributions_of_turn ON saving_circle_contributions USING btree (saving_circle_id, turn_number, status);
CREATE INDEX saving_circle_contributions_of_user ON saving_circle_contributions USING btree (user_id);
CREATE INDEX saving_circle_contributions_unswept ON saving_circle_contributions USING btree (updated_at) WHERE status = 'completed'::text AND swept_at IS NULL;

create table saving_circle_covers (
  saving_circle_id uuid not null,
  turn_number integer not null,
  debtor_member_id uuid not null,
  guarantor_member_id uuid not null,
  amount numeric(20,4) not null,
  created_at timestamp with time zone not null default now(),
  constraint saving_circle_covers_pkey PRIMARY KEY (saving_circle_id, turn_number, debtor_member_id, guarantor_member_id),
  constraint saving_circle_covers_amount_check CHECK (amount > 0::numeric AND amount < 'Infinity'::numeric),
  constraint saving_circle_covers_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX saving_circle_covers_of_debtor ON saving_circle_covers USING btree (debtor_member_id);
CREATE INDEX saving_circle_covers_of_guarantor ON saving_circle_covers USING btree (guarantor_member_id);

create table saving_circle_members (
  id uuid not null,
  saving_circle_id uuid not null,
  account_id uuid not null,
  user_id uuid not null,
  turn_number integer,
  joining_order bigint not null generated always as identity,
  entropy text,
  consented_at timestamp with time zone,
  drawn_turn integer,
  drawn_account_id uuid,
  excluded_turn integer,
  created_at timestamp with time zone not null default now(),
  constraint saving_circle_members_pkey PRIMARY KEY (id),
  constraint saving_circle_members_check CHECK ((drawn_turn IS NULL) = (drawn_account_id IS NULL)),
  constraint saving_circle_members_consented_at_is_real CHECK (consented_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND consented_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint saving_circle_members_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint saving_circle_members_drawn_turn_check CHECK (drawn_turn >= 1),
  constraint saving_circle_members_entropy_check CHECK (entropy ~ '^[0-9A-Fa-f]{16,64}$'::text),
  constraint saving_circle_members_excluded_turn_check CHECK (excluded_turn >= 1),
  constraint saving_circle_members_saving_circle_id_account_id_key UNIQUE (saving_circle_id, account_id),
  constraint saving_circle_members_saving_circle_id_user_id_key UNIQUE (saving_circle_id, user_id),
  constraint saving_circle_members_turn_number_check CHECK (turn_number >= 1)
);
CREATE INDEX saving_circle_members_of_account ON saving_circle_members USING btree (account_id);
CREATE INDEX saving_circle_members_of_user ON saving_circle_members USING btree (user_id);
CREATE UNIQUE INDEX saving_circle_turns ON saving_circle_members USING btree (saving_circle_id, turn_number) WHERE turn_number IS NOT NULL;

create table saving_circle_replacements (
  id uuid not null,
  saving_circle_id uuid not null,
  member_id uuid not null,
  leaving_user_id uuid not null,
  account_id uuid not null,
  user_id uuid not null,
  proposed_by uuid not null,
  left_at timestamp with time zone,
  joined_at timestamp with time zone,
  status text not null default 'pending'::text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint saving_circle_replacements_pkey PRIMARY KEY (id),
  constraint saving_circle_replacements_check CHECK (status <> 'completed'::text OR num_nonnulls(left_at, joined_at) = 2),
  constraint saving_circle_replacements_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint saving_circle_replacements_joined_at_is_real CHECK (joined_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND joined_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint saving_circle_replacements_left_at_is_real CHECK (left_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND left_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint saving_circle_replacements_status_check CHECK (status = ANY (ARRAY['pending'::text, 'completed'::text, 'withdrawn'::text])),
  constraint saving_circle_replacements_updated_at_is_real CHECK (updated_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND updated_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE UNIQUE INDEX one_replacement_of_a_member ON saving_circle_replacements USING btree (member_id) WHERE status = 'pending'::text;
CREATE INDEX saving_circle_replacements_of_account ON saving_circle_replacements USING btree (account_id);
CREATE INDEX saving_circle_replacements_of_circle ON saving_circle_replacements USING btree (saving_circle_id);
CREATE INDEX saving_circle_replacements_of_leaving ON saving_circle_replacements USING btree (leaving_user_id);
CREATE INDEX saving_circle_replacements_of_member ON saving_circle_replacements USING btree (member_id);
CREATE INDEX saving_circle_replacements_of_proposer ON saving_circle_replacements USING btree (proposed_by);
CREATE INDEX saving_circle_replacements_of_user ON saving_circle_replacements USING btree (user_id);

create table saving_circle_rounds (
  saving_circle_id uuid not null,
  turn_number integer not null,
  receiver_member_id uuid not null,
  opened_at timestamp with time zone not null,
  due_at timestamp with time zone not null,
  reminded_at timestamp with time zone,
  overdue_reported_at timestamp with time zone,
  defaulted_at timestamp with time zone,
  remedied_at timestamp with time zone,
  asked_at timestamp with time zone,
  paid_at timestamp with time zone,
  amount numeric(20,4),
  journal_id uuid,
  look_at timestamp with time zone default now(),
  constraint saving_circle_rounds_pkey PRIMARY KEY (saving_circle_id, turn_number),
  constraint saving_circle_rounds_amount_check CHECK (amount > 0::numeric AND amount < 'Infinity'::numeric),
  constraint saving_circle_rounds_asked_at_is_real CHECK (asked_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND asked_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint saving_circle_rounds_check CHECK (num_nonnulls(paid_at, amount, journal_id) = ANY (ARRAY[0, 3])),
  constraint saving_circle_rounds_defaulted_at_is_real CHECK (defaulted_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND defaulted_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint saving_circle_rounds_due_at_is_real CHECK (due_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND due_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint saving_circle_rounds_journal_id_key UNIQUE (journal_id),
  constraint saving_circle_rounds_look_at_is_real CHECK (look_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND look_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint saving_circle_rounds_opened_at_is_real CHECK (opened_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND opened_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint saving_circle_rounds_overdue_reported_at_is_real CHECK (overdue_reported_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND overdue_reported_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint saving_circle_rounds_paid_at_is_real CHECK (paid_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND paid_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint saving_circle_rounds_remedied_at_is_real CHECK (remedied_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND remedied_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint saving_circle_rounds_reminded_at_is_real CHECK (reminded_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND reminded_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint saving_circle_rounds_turn_number_check CHECK (turn_number >= 1)
);
CREATE UNIQUE INDEX one_open_round_of_a_circle ON saving_circle_rounds USING btree (saving_circle_id) WHERE paid_at IS NULL;
CREATE INDEX saving_circle_rounds_of_receiver ON saving_circle_rounds USING btree (receiver_member_id);
CREATE INDEX saving_circle_rounds_to_look_at ON saving_circle_rounds USING btree (look_at) WHERE look_at IS NOT NULL;

create table saving_circle_settlements (
  id uuid not null,
  saving_circle_id uuid not null,
  account_id uuid not null,
  amount numeric(20,4) not null,
  created_at timestamp with time zone not null default now(),
  constraint saving_circle_settlements_pkey PRIMARY KEY (id),
  constraint saving_circle_settlements_amount_check CHECK (amount > 0::numeric AND amount < 'Infinity'::numeric),
  constraint saving_circle_settlements_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX saving_circle_settlements_of_account ON saving_circle_settlements USING btree (account_id);
CREATE INDEX saving_circle_settlements_of_circle ON saving_circle_settlements USING btree (saving_circle_id);

create table saving_circle_standing_orders (
  id uuid not null,
  source_account_id uuid not null,
  attempted_turn integer,
  created_at timestamp with time zone not null default now(),
  constraint saving_circle_standing_orders_pkey PRIMARY KEY (id),
  constraint saving_circle_standing_orders_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX saving_circle_standing_orders_of_account ON saving_circle_standing_orders USING btree (source_account_id);

create table saving_circles (
  id uuid not null,
  name character varying(255) not null,
  account_id uuid not null,
  holding_account_id uuid not null,
  owner_type text not null,
  owner_id uuid not null,
  organization_id uuid,
  created_by uuid not null,
  capacity integer not null,
  amount numeric(20,4) not null,
  visibility text not null,
  round_interval text not null,
  turn_order text not null,
  grace_days integer,
  on_default text,
  guarantee_percent integer,
  start_date text not null,
  starts_at timestamp with time zone not null,
  current_turn integer not null default 1,
  first_turn integer,
  status text not null default 'new'::text,
  schedule_anchor timestamp with time zone,
  schedule_step integer not null default 0,
  next_opens_at timestamp with time zone,
  draw_commitment text,
  draw_seed_sealed text,
  draw_seed text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  started_at timestamp with time zone,
  ended_at timestamp with time zone,
  deleted_at timestamp with time zone,
  constraint saving_circles_pkey PRIMARY KEY (id),
  constraint saving_circles_amount_check CHECK (amount > 0::numeric AND amount < 'Infinity'::numeric),
  constraint saving_circles_capacity_check CHECK (capacity >= 1),
  constraint saving_circles_check CHECK (current_turn >= 1 AND current_turn <= capacity),
  constraint saving_circles_check1 CHECK ((status = ANY (ARRAY['cancelled'::text, 'completed'::text])) = (ended_at IS NOT NULL)),
  constraint saving_circles_check2 CHECK (deleted_at IS NULL OR status = 'cancelled'::text),
  constraint saving_circles_check3 CHECK (next_opens_at IS NULL OR status = 'active'::text),
  constraint saving_circles_check4 CHECK ((turn_order = 'lottery'::text) = (draw_commitment IS NOT NULL)),
  constraint saving_circles_check5 CHECK ((turn_order = 'lottery'::text) = (num_nonnulls(draw_seed_sealed, draw_seed) = 1)),
  constraint saving_circles_check6 CHECK (num_nonnulls(grace_days, on_default, guarantee_percent) = ANY (ARRAY[0, 3])),
  constraint saving_circles_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint saving_circles_deleted_at_is_real CHECK (deleted_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND deleted_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint saving_circles_ended_at_is_real CHECK (ended_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND ended_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint saving_circles_grace_days_check CHECK (grace_days >= 0 AND grace_days <= 30),
  constraint saving_circles_guarantee_percent_check CHECK (guarantee_percent >= 0 AND guarantee_percent <= 100),
  constraint saving_circles_holding_account_id_key UNIQUE (holding_account_id),
  constraint saving_circles_next_opens_at_is_real CHECK (next_opens_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND next_opens_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint saving_circles_on_default_check CHECK (on_default = ANY (ARRAY['wait'::text, 'cover'::text, 'exclude'::text, 'winner_first'::text])),
  constraint saving_circles_owner_type_check CHECK (owner_type = ANY (ARRAY['individual'::text, 'organization'::text])),
  constraint saving_circles_round_interval_check CHECK (round_interval = ANY (ARRAY['daily'::text, 'weekly'::text, 'monthly'::text])),
  constraint saving_circles_schedule_anchor_is_real CHECK (schedule_anchor >= '2000-01-01 00:00:00+00'::timestamp with time zone AND schedule_anchor < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint saving_circles_schedule_step_check CHECK (schedule_step >= 0 AND schedule_step <= 10000),
  constraint saving_circles_started_at_is_real CHECK (started_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND started_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint saving_circles_starts_at_is_real CHECK (starts_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND starts_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint saving_circles_status_check CHECK (status = ANY (ARRAY['new'::text, 'active'::text, 'cancelled'::text, 'completed'::text])),
  constraint saving_circles_turn_order_check CHECK (turn_order = ANY (ARRAY['joining'::text, 'lottery'::text])),
  constraint saving_circles_updated_at_is_real CHECK (updated_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND updated_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint saving_circles_visibility_check CHECK (visibility = ANY (ARRAY['private'::text, 'public'::text, 'organization'::text]))
);
CREATE INDEX saving_circles_by_creation ON saving_circles USING btree (created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX saving_circles_by_end ON saving_circles USING btree (COALESCE(ended_at, 'infinity'::timestamp with time zone));
CREATE INDEX saving_circles_cancelled ON saving_circles USING btree (ended_at) WHERE status = 'cancelled'::text;
CREATE INDEX saving_circles_new ON saving_circles USING btree (starts_at) WHERE status = 'new'::text;
CREATE INDEX saving_circles_of_account ON saving_circles USING btree (account_id, created_at, id);
CREATE INDEX saving_circles_of_creator ON saving_circles USING btree (created_by, created_at, id);
CREATE INDEX saving_circles_of_organization ON saving_circles USING btree (organization_id, created_at, id) WHERE organization_id IS NOT NULL;
CREATE INDEX saving_circles_of_owner ON saving_circles USING btree (owner_id, created_at, id);
CREATE INDEX saving_circles_to_open ON saving_circles USING btree (next_opens_at) WHERE next_opens_at IS NOT NULL;

create table saving_goal_orders (
  payment_order_id uuid not null,
  saving_goal_id uuid not null,
  status text not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint saving_goal_orders_pkey PRIMARY KEY (payment_order_id),
  constraint saving_goal_orders_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint saving_goal_orders_status_check CHECK (status = ANY (ARRAY['pending'::text, 'completed'::text, 'failed'::text, 'cancelled'::text])),
  constraint saving_goal_orders_updated_at_is_real CHECK (updated_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND updated_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE UNIQUE INDEX one_open_order_of_a_goal ON saving_goal_orders USING btree (saving_goal_id) WHERE status = 'pending'::text;

create table saving_goals (
  id uuid not null,
  user_id uuid not null,
  organization_id uuid,
  name character varying(200) not null,
  account_id uuid not null,
  target_amount numeric(20,4) not null,
  target_date date,
  status text not null,
  closed_at timestamp with time zone,
  released_to uuid,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint saving_goals_pkey PRIMARY KEY (id),
  constraint saving_goals_account_id_key UNIQUE (account_id),
  constraint saving_goals_check CHECK ((closed_at IS NULL) = (released_to IS NULL)),
  constraint saving_goals_closed_at_is_real CHECK (closed_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND closed_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint saving_goals_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint saving_goals_status_check CHECK (status = ANY (ARRAY['active'::text, 'completed'::text])),
  constraint saving_goals_target_amount_check CHECK (target_amount > 0::numeric AND target_amount < 'Infinity'::numeric),
  constraint saving_goals_updated_at_is_real CHECK (updated_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND updated_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX saving_goals_by_change ON saving_goals USING btree (updated_at);
CREATE INDEX saving_goals_by_closing ON saving_goals USING btree (closed_at) WHERE closed_at IS NOT NULL;
CREATE INDEX saving_goals_by_creation ON saving_goals USING btree (created_at DESC, id DESC);
CREATE INDEX saving_goals_of_user ON saving_goals USING btree (user_id, created_at DESC, id DESC);

create table schema_migrations (
  id integer not null default nextval('schema_migrations_id_seq'::regclass),
  name character varying(255) not null,
  executed_at timestamp(6) with time zone not null default CURRENT_TIMESTAMP(6),
  constraint schema_migrations_pkey PRIMARY KEY (id),
  constraint schema_migrations_executed_at_is_real CHECK (executed_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND executed_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);

create table seal_journals (
  journal_id uuid not null,
  seal_number bigint not null,
  constraint seal_journals_pkey PRIMARY KEY (journal_id)
);
CREATE INDEX seal_journals_of_seal ON seal_journals USING btree (seal_number);

create table seals (
  number bigint not null,
  previous bigint generated always as (NULLIF(number - 1, 0)) stored,
  hash text not null,
  jws text not null,
  pass text not null,
  last_journal_id uuid,
  sealed_at timestamp with time zone not null,
  covers_until timestamp with time zone,
  constraint seals_pkey PRIMARY KEY (number),
  constraint seals_covers_until_is_real CHECK (covers_until >= '2000-01-01 00:00:00+00'::timestamp with time zone AND covers_until < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint seals_number_check CHECK (number > 0),
  constraint seals_sealed_at_is_real CHECK (sealed_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND sealed_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX seals_by_hash ON seals USING btree (hash);
CREATE INDEX seals_of_pass ON seals USING btree (pass, number);
CREATE INDEX seals_that_cover ON seals USING btree (number) WHERE covers_until IS NOT NULL;

create table second_factors (
  id uuid not null,
  secret_sealed text not null,
  last_step bigint not null default 0,
  confirmed_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  constraint second_factors_pkey PRIMARY KEY (id),
  constraint second_factors_confirmed_at_is_real CHECK (confirmed_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND confirmed_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint second_factors_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);

create table sign_ups (
  id bigint not null generated always as identity,
  address text not null,
  made_at timestamp with time zone not null default clock_timestamp(),
  constraint sign_ups_pkey PRIMARY KEY (id),
  constraint sign_ups_made_at_is_real CHECK (made_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND made_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX sign_ups_by_age ON sign_ups USING btree (made_at);
CREATE INDEX sign_ups_of_address ON sign_ups USING btree (address, made_at);

create table sweep_looks (
  kind text not null,
  subject_id uuid not null,
  looks integer not null,
  look_again_at timestamp with time zone not null,
  constraint sweep_looks_pkey PRIMARY KEY (kind, subject_id),
  constraint sweep_looks_look_again_at_is_real CHECK (look_again_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND look_again_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint sweep_looks_looks_check CHECK (looks > 0)
);
CREATE INDEX sweep_looks_by_time ON sweep_looks USING btree (look_again_at);

create table token_signing_keys (
  id text not null,
  public_jwk jsonb not null,
  private_key_sealed text not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  published_until timestamp with time zone,
  constraint token_signing_keys_pkey PRIMARY KEY (id),
  constraint token_signing_keys_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint token_signing_keys_published_until_is_real CHECK (published_until >= '2000-01-01 00:00:00+00'::timestamp with time zone AND published_until < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE UNIQUE INDEX token_signing_keys_have_one_signer ON token_signing_keys USING btree ((true)) WHERE published_until IS NULL;

create table transaction_counts (
  reference_type text not null,
  type text not null,
  shard smallint not null,
  count bigint not null,
  constraint transaction_counts_pkey PRIMARY KEY (reference_type, type, shard),
  constraint transaction_counts_count_check CHECK (count > 0),
  constraint transaction_counts_shard_check CHECK (shard >= 0 AND shard <= 31)
) with (fillfactor=60);

create table transaction_organizations (
  organization_id uuid not null,
  transaction_id uuid not null,
  created_at timestamp with time zone not null,
  user_id uuid not null,
  reference_type text not null,
  type text not null,
  reference_id uuid not null,
  constraint transaction_organizations_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX transaction_organizations_by_time ON transaction_organizations USING brin (created_at) WITH (pages_per_range='16', autosummarize='on');
CREATE UNIQUE INDEX transactions_of_organization ON transaction_organizations USING btree (organization_id, created_at DESC, transaction_id DESC) INCLUDE (user_id, reference_type, type, reference_id);

create table transaction_receivers (
  user_id uuid not null,
  transaction_id uuid not null,
  created_at timestamp with time zone not null,
  reference_type text not null,
  type text not null,
  reference_id uuid not null,
  constraint transaction_receivers_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX transaction_receivers_by_time ON transaction_receivers USING brin (created_at) WITH (pages_per_range='16', autosummarize='on');
CREATE UNIQUE INDEX transactions_of_receiver ON transaction_receivers USING btree (user_id, created_at DESC, transaction_id DESC) INCLUDE (reference_type, type, reference_id);

create table transactions (
  id uuid not null,
  user_id uuid not null,
  organization_id uuid,
  amount numeric(20,4) not null,
  status text not null,
  date timestamp with time zone not null default now(),
  source_account_id uuid not null,
  destination_account_id uuid,
  type text not null,
  reference_type text not null,
  reference_id uuid not null,
  batch_id uuid not null,
  purpose text not null,
  payment_order_id uuid,
  created_by uuid,
  updated_by uuid,
  deleted_by uuid,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint transactions_pkey PRIMARY KEY (id),
  constraint transactions_amount_check CHECK (amount > 0::numeric AND amount < 'Infinity'::numeric),
  constraint transactions_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint transactions_date_is_real CHECK (date >= '2000-01-01 00:00:00+00'::timestamp with time zone AND date < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint transactions_purpose_check CHECK (purpose = ANY (ARRAY['topup_pocket'::text, 'topup_product'::text, 'external_withdrawal'::text, 'internal_withdrawal'::text, 'product_transfer'::text, 'pocket_transfer'::text])),
  constraint transactions_reference_type_check CHECK (reference_type = ANY (ARRAY['donation'::text, 'saving_goal'::text, 'saving_circle'::text, 'investment'::text, 'commodity_financing'::text, 'account_top_up'::text])),
  constraint transactions_status_check CHECK (status = ANY (ARRAY['pending'::text, 'successful'::text, 'failed'::text, 'reversed'::text])),
  constraint transactions_type_check CHECK (type = ANY (ARRAY['price'::text, 'fee'::text, 'tax'::text])),
  constraint transactions_updated_at_is_real CHECK (updated_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND updated_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE INDEX transactions_by_creation ON transactions USING btree (created_at DESC, id DESC);
CREATE INDEX transactions_of_batch ON transactions USING btree (batch_id);
CREATE INDEX transactions_of_reference ON transactions USING btree (reference_id, created_at DESC, id DESC) INCLUDE (reference_type, type, user_id);
CREATE INDEX transactions_of_user ON transactions USING btree (user_id, created_at DESC, id DESC) INCLUDE (reference_type, type, reference_id);

create table users (
  id uuid not null,
  profile_sealed text,
  email_digest text,
  user_type text not null,
  organization_id uuid,
  role_id uuid,
  status text not null,
  password_hash text,
  token_generation integer not null default 0,
  tokens_ended_at timestamp with time zone,
  erased_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint users_pkey PRIMARY KEY (id),
  constraint users_check CHECK ((profile_sealed IS NULL) = (email_digest IS NULL)),
  constraint users_check1 CHECK (erased_at IS NULL OR status = 'suspended'::text AND num_nonnulls(profile_sealed, password_hash, role_id) = 0),
  constraint users_check2 CHECK (user_type <> 'platform'::text OR organization_id IS NULL),
  constraint users_check3 CHECK (user_type <> 'organization'::text OR organization_id IS NOT NULL),
  constraint users_check4 CHECK (status <> 'active'::text OR password_hash IS NOT NULL),
  constraint users_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint users_erased_at_is_real CHECK (erased_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND erased_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint users_status_check CHECK (status = ANY (ARRAY['invited'::text, 'active'::text, 'suspended'::text])),
  constraint users_tokens_ended_at_is_real CHECK (tokens_ended_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND tokens_ended_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint users_updated_at_is_real CHECK (updated_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND updated_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint users_user_type_check CHECK (user_type = ANY (ARRAY['platform'::text, 'organization'::text, 'individual'::text]))
);
CREATE INDEX users_by_creation ON users USING btree (created_at, id);
CREATE INDEX users_erased ON users USING btree (id) WHERE erased_at IS NOT NULL;
CREATE UNIQUE INDEX users_have_addresses_of_their_own ON users USING btree (email_digest);
CREATE INDEX users_of_organization ON users USING btree (organization_id, created_at, id) WHERE organization_id IS NOT NULL;
CREATE INDEX users_of_role ON users USING btree (role_id, user_type) WHERE role_id IS NOT NULL;

create table webhook_deliveries (
  id uuid not null,
  partner_id uuid not null,
  endpoint_id uuid not null,
  resource_type text not null,
  resource_id uuid not null,
  version integer not null,
  type text not null,
  body_sealed text,
  body_digest text not null,
  status text not null default 'pending'::text,
  attempts integer not null default 0,
  last_status smallint,
  last_error text,
  next_attempt_at timestamp with time zone,
  delivered_at timestamp with time zone,
  redeliveries integer not null default 0,
  created_at timestamp with time zone not null default now(),
  constraint webhook_deliveries_pkey PRIMARY KEY (id),
  constraint webhook_deliveries_check CHECK ((status = 'delivered'::text) = (delivered_at IS NOT NULL)),
  constraint webhook_deliveries_check1 CHECK ((status = 'pending'::text) = (next_attempt_at IS NOT NULL)),
  constraint webhook_deliveries_check2 CHECK (status <> 'pending'::text OR body_sealed IS NOT NULL),
  constraint webhook_deliveries_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint webhook_deliveries_delivered_at_is_real CHECK (delivered_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND delivered_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint webhook_deliveries_next_attempt_at_is_real CHECK (next_attempt_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND next_attempt_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint webhook_deliveries_redeliveries_check CHECK (redeliveries >= 0),
  constraint webhook_deliveries_resource_type_check CHECK (resource_type = ANY (ARRAY['payment'::text, 'payout'::text, 'refund'::text, 'endpoint'::text])),
  constraint webhook_deliveries_status_check CHECK (status = ANY (ARRAY['pending'::text, 'delivered'::text, 'parked'::text])),
  constraint webhook_deliveries_version_check CHECK (version > 0)
) partition by RANGE (id);
CREATE INDEX webhook_deliveries_due ON ONLY webhook_deliveries USING btree (next_attempt_at) WHERE status = 'pending'::text;
CREATE INDEX webhook_deliveries_of_endpoint ON ONLY webhook_deliveries USING btree (endpoint_id, created_at DESC, id DESC);
CREATE INDEX webhook_deliveries_of_partner ON ONLY webhook_deliveries USING btree (partner_id, created_at DESC, id DESC) INCLUDE (status);
CREATE INDEX webhook_deliveries_undelivered ON ONLY webhook_deliveries USING btree (partner_id, status, created_at DESC, id DESC) WHERE status <> 'delivered'::text;
CREATE INDEX webhook_deliveries_with_body ON ONLY webhook_deliveries USING btree (id) WHERE body_sealed IS NOT NULL;

create table webhook_endpoints (
  id uuid not null,
  partner_id uuid not null,
  url character varying(2000) not null,
  events text[] not null,
  status text not null default 'enabled'::text,
  disabled_reason text,
  disabled_at timestamp with time zone,
  failing_since timestamp with time zone,
  set_by_operator boolean not null default false,
  tests integer not null default 0,
  secret_sealed text not null,
  earlier_secrets_sealed text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint webhook_endpoints_pkey PRIMARY KEY (id),
  constraint webhook_endpoints_check CHECK ((status = 'disabled'::text) = (disabled_at IS NOT NULL) AND (status = 'disabled'::text) = (disabled_reason IS NOT NULL)),
  constraint webhook_endpoints_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint webhook_endpoints_disabled_at_is_real CHECK (disabled_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND disabled_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint webhook_endpoints_disabled_reason_check CHECK (disabled_reason = ANY (ARRAY['requested'::text, 'failing'::text])),
  constraint webhook_endpoints_failing_since_is_real CHECK (failing_since >= '2000-01-01 00:00:00+00'::timestamp with time zone AND failing_since < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint webhook_endpoints_status_check CHECK (status = ANY (ARRAY['enabled'::text, 'disabled'::text])),
  constraint webhook_endpoints_tests_check CHECK (tests >= 0),
  constraint webhook_endpoints_updated_at_is_real CHECK (updated_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND updated_at < '2200-01-01 00:00:00+00'::timestamp with time zone)
);
CREATE UNIQUE INDEX webhook_endpoints_of_operator ON webhook_endpoints USING btree (partner_id) WHERE set_by_operator;
CREATE INDEX webhook_endpoints_of_partner ON webhook_endpoints USING btree (partner_id, created_at DESC, id DESC);

create table webhook_version_keys (
  resource_type text not null,
  resource_id uuid not null,
  version integer not null,
  endpoint_id uuid not null,
  delivery_id uuid not null,
  constraint webhook_version_keys_pkey PRIMARY KEY (resource_type, resource_id, version, endpoint_id)
);
CREATE INDEX webhook_version_keys_by_id ON webhook_version_keys USING brin (delivery_id) WITH (pages_per_range='16', autosummarize='on');

create table withdrawals (
  id uuid not null,
  user_id uuid not null,
  organization_id uuid,
  bank_account_id uuid not null,
  transaction_id uuid not null,
  cause_id uuid,
  purpose_note character varying(500),
  created_at timestamp with time zone not null,
  constraint withdrawals_pkey PRIMARY KEY (id),
  constraint withdrawals_check CHECK ((cause_id IS NULL) = (purpose_note IS NULL)),
  constraint withdrawals_created_at_is_real CHECK (created_at >= '2000-01-01 00:00:00+00'::timestamp with time zone AND created_at < '2200-01-01 00:00:00+00'::timestamp with time zone),
  constraint withdrawals_purpose_note_check CHECK (length(btrim(purpose_note::text)) >= 10)
);
CREATE INDEX withdrawals_by_creation ON withdrawals USING btree (created_at, id);
CREATE INDEX withdrawals_of_bank_account ON withdrawals USING btree (bank_account_id);
CREATE INDEX withdrawals_of_cause ON withdrawals USING btree (cause_id, created_at, id) WHERE cause_id IS NOT NULL;
CREATE INDEX withdrawals_of_organization ON withdrawals USING btree (organization_id, created_at, id) WHERE organization_id IS NOT NULL;
CREATE INDEX withdrawals_of_user ON withdrawals USING btree (user_id, created_at, id);

-- Types

create type balance_payment as (
  transaction_id uuid,
  journal_id uuid,
  kind text,
  user_id uuid,
  user_type text,
  organization_id uuid,
  source_account_id uuid,
  amount numeric,
  reference_type text,
  reference_id uuid,
  purpose text,
  request_id text,
  key_hash text,
  fingerprint text,
  answer text,
  request_number bigint
);

create type payment_target as (
  account_id uuid,
  refusal jsonb
);

-- Foreign keys

alter table accounts add constraint accounts_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);
alter table accounts add constraint accounts_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

alter table addresses add constraint addresses_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);
alter table addresses add constraint addresses_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

alter table bank_accounts add constraint bank_accounts_bank_code_fkey FOREIGN KEY (bank_code) REFERENCES payout_banks(bank_code);
alter table bank_accounts add constraint bank_accounts_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);
alter table bank_accounts add constraint bank_accounts_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

alter table cause_managers add constraint cause_managers_cause_id_fkey FOREIGN KEY (cause_id) REFERENCES charitable_causes(id);
alter table cause_managers add constraint cause_managers_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id);
alter table cause_managers add constraint cause_managers_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

alter table cause_remainders add constraint cause_remainders_cause_id_fkey FOREIGN KEY (cause_id) REFERENCES charitable_causes(id);
alter table cause_remainders add constraint cause_remainders_decision_id_fkey FOREIGN KEY (decision_id) REFERENCES decisions(id);

alter table charitable_causes add constraint charitable_causes_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);
alter table charitable_causes add constraint charitable_causes_approved_by_fkey FOREIGN KEY (approved_by) REFERENCES users(id);
alter table charitable_causes add constraint charitable_causes_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id);
alter table charitable_causes add constraint charitable_causes_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);

alter table clearing_comparisons add constraint clearing_comparisons_agreed_day_fkey FOREIGN KEY (agreed_day) REFERENCES clearing_comparisons(day);

alter table decisions add constraint decisions_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);
alter table decisions add constraint decisions_approved_by_fkey FOREIGN KEY (approved_by) REFERENCES users(id);
alter table decisions add constraint decisions_donation_id_fkey FOREIGN KEY (donation_id) REFERENCES donations(id);
alter table decisions add constraint decisions_first_approved_by_fkey FOREIGN KEY (first_approved_by) REFERENCES users(id);
alter table decisions add constraint decisions_payout_id_fkey FOREIGN KEY (payout_id) REFERENCES payouts(id);
alter table decisions add constraint decisions_proposed_by_fkey FOREIGN KEY (proposed_by) REFERENCES users(id);
alter table decisions add constraint decisions_receipt_id_fkey FOREIGN KEY (receipt_id) REFERENCES receipts(id);
alter table decisions add constraint decisions_reconciliation_id_fkey FOREIGN KEY (reconciliation_id) REFERENCES reconciliations(id);
alter table decisions add constraint decisions_rejected_by_fkey FOREIGN KEY (rejected_by) REFERENCES users(id);
alter table decisions add constraint decisions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);
alter table decisions add constraint decisions_withdrawal_id_fkey FOREIGN KEY (withdrawal_id) REFERENCES withdrawals(id);

alter table document_uploads add constraint document_uploads_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

alter table documents add constraint documents_category_id_fkey FOREIGN KEY (category_id) REFERENCES document_categories(id);
alter table documents add constraint documents_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id);
alter table documents add constraint documents_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);

alter table donation_allocations add constraint donation_allocations_cause_id_fkey FOREIGN KEY (cause_id) REFERENCES charitable_causes(id);
alter table donation_allocations add constraint donation_allocations_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id);
alter table donation_allocations add constraint donation_allocations_journal_id_fkey FOREIGN KEY (journal_id) REFERENCES journals(id);

alter table donation_subscription_attempts add constraint donation_subscription_attempts_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES donation_subscriptions(id);

alter table donation_subscriptions add constraint donation_subscriptions_cause_id_fkey FOREIGN KEY (cause_id) REFERENCES charitable_causes(id);
alter table donation_subscriptions add constraint donation_subscriptions_source_account_id_fkey FOREIGN KEY (source_account_id) REFERENCES accounts(id);
alter table donation_subscriptions add constraint donation_subscriptions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

alter table donations add constraint donations_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

alter table erasures add constraint erasures_decision_id_fkey FOREIGN KEY (decision_id) REFERENCES decisions(id);
alter table erasures add constraint erasures_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

alter table idempotency_keys add constraint idempotency_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

alter table invitations add constraint invitations_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id);
alter table invitations add constraint invitations_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

alter table legal_holds add constraint legal_holds_lifted_by_fkey FOREIGN KEY (lifted_by) REFERENCES users(id);
alter table legal_holds add constraint legal_holds_placed_by_fkey FOREIGN KEY (placed_by) REFERENCES users(id);
alter table legal_holds add constraint legal_holds_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

alter table official_documents add constraint official_documents_document_id_fkey FOREIGN KEY (document_id) REFERENCES documents(id);
alter table official_documents add constraint official_documents_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);
alter table official_documents add constraint official_documents_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

alter table organizations add constraint organizations_industry_fkey FOREIGN KEY (industry) REFERENCES organization_industries(value);
alter table organizations add constraint organizations_size_fkey FOREIGN KEY (size) REFERENCES organization_sizes(label);

alter table partner_fees add constraint partner_fees_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);
alter table partner_fees add constraint partner_fees_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(id);

alter table partner_idempotency_keys add constraint partner_idempotency_keys_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(id);

alter table partner_keys add constraint partner_keys_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id);
alter table partner_keys add constraint partner_keys_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(id);
alter table partner_keys add constraint partner_keys_rotated_from_fkey FOREIGN KEY (rotated_from) REFERENCES partner_keys(id);

alter table partner_organizations add constraint partner_organizations_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);
alter table partner_organizations add constraint partner_organizations_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(id);

alter table partner_payments add constraint partner_payments_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES payment_channels(id);
alter table partner_payments add constraint partner_payments_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);
alter table partner_payments add constraint partner_payments_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(id);

alter table partners add constraint partners_available_account_id_fkey FOREIGN KEY (available_account_id) REFERENCES accounts(id);
alter table partners add constraint partners_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id);
alter table partners add constraint partners_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);
alter table partners add constraint partners_pending_account_id_fkey FOREIGN KEY (pending_account_id) REFERENCES accounts(id);
alter table partners add constraint partners_reserved_account_id_fkey FOREIGN KEY (reserved_account_id) REFERENCES accounts(id);

alter table payment_orders add constraint payment_orders_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);
alter table payment_orders add constraint payment_orders_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payment_channels(id);
alter table payment_orders add constraint payment_orders_target_account_id_fkey FOREIGN KEY (target_account_id) REFERENCES accounts(id);
alter table payment_orders add constraint payment_orders_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

alter table payment_refunds add constraint payment_refunds_id_fkey FOREIGN KEY (id) REFERENCES payouts(id);
alter table payment_refunds add constraint payment_refunds_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES partner_payments(id);

alter table payout_attempts add constraint payout_attempts_payout_id_fkey FOREIGN KEY (payout_id) REFERENCES payouts(id);

alter table payout_words add constraint payout_words_payout_id_fkey FOREIGN KEY (payout_id) REFERENCES payouts(id);

alter table payouts add constraint payouts_bank_code_fkey FOREIGN KEY (bank_code) REFERENCES payout_banks(bank_code);
alter table payouts add constraint payouts_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(id);
alter table payouts add constraint payouts_reserved_account_id_fkey FOREIGN KEY (reserved_account_id) REFERENCES accounts(id);
alter table payouts add constraint payouts_source_account_id_fkey FOREIGN KEY (source_account_id) REFERENCES accounts(id);

alter table permissions add constraint permissions_category_id_fkey FOREIGN KEY (category_id) REFERENCES permission_categories(id);

alter table products add constraint products_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);
alter table products add constraint products_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id);

alter table receipts add constraint receipts_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);
alter table receipts add constraint receipts_order_id_fkey FOREIGN KEY (order_id) REFERENCES payment_orders(id);
alter table receipts add constraint receipts_partner_payment_id_fkey FOREIGN KEY (partner_payment_id) REFERENCES partner_payments(id);
alter table receipts add constraint receipts_settled_by_fkey FOREIGN KEY (settled_by) REFERENCES users(id);

alter table reconciled_records add constraint reconciled_records_day_fkey FOREIGN KEY (day) REFERENCES reconciled_days(day) ON DELETE CASCADE;

alter table recovery_codes add constraint recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES second_factors(id) ON DELETE CASCADE;

alter table refused_balance_payments add constraint refused_balance_payments_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

alter table role_permissions add constraint role_permissions_permission_id_fkey FOREIGN KEY (permission_id) REFERENCES permissions(id);
alter table role_permissions add constraint role_permissions_role_id_fkey FOREIGN KEY (role_id) REFERENCES roles(id);

alter table roles add constraint roles_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);

alter table saving_circle_contributions add constraint saving_circle_contributions_member_id_fkey FOREIGN KEY (member_id) REFERENCES saving_circle_members(id);
alter table saving_circle_contributions add constraint saving_circle_contributions_payment_order_id_fkey FOREIGN KEY (payment_order_id) REFERENCES payment_orders(id);
alter table saving_circle_contributions add constraint saving_circle_contributions_refund_account_id_fkey FOREIGN KEY (refund_account_id) REFERENCES accounts(id);
alter table saving_circle_contributions add constraint saving_circle_contributions_refund_journal_id_fkey FOREIGN KEY (refund_journal_id) REFERENCES journals(id);
alter table saving_circle_contributions add constraint saving_circle_contributions_saving_circle_id_fkey FOREIGN KEY (saving_circle_id) REFERENCES saving_circles(id);
alter table saving_circle_contributions add constraint saving_circle_contributions_saving_circle_id_turn_number_fkey FOREIGN KEY (saving_circle_id, turn_number) REFERENCES saving_circle_rounds(saving_circle_id, turn_number);
alter table saving_circle_contributions add constraint saving_circle_contributions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

alter table saving_circle_covers add constraint saving_circle_covers_debtor_member_id_fkey FOREIGN KEY (debtor_member_id) REFERENCES saving_circle_members(id);
alter table saving_circle_covers add constraint saving_circle_covers_guarantor_member_id_fkey FOREIGN KEY (guarantor_member_id) REFERENCES saving_circle_members(id);
alter table saving_circle_covers add constraint saving_circle_covers_saving_circle_id_turn_number_fkey FOREIGN KEY (saving_circle_id, turn_number) REFERENCES saving_circle_rounds(saving_circle_id, turn_number);

alter table saving_circle_members add constraint saving_circle_members_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);
alter table saving_circle_members add constraint saving_circle_members_saving_circle_id_fkey FOREIGN KEY (saving_circle_id) REFERENCES saving_circles(id);
alter table saving_circle_members add constraint saving_circle_members_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

alter table saving_circle_replacements add constraint saving_circle_replacements_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);
alter table saving_circle_replacements add constraint saving_circle_replacements_leaving_user_id_fkey FOREIGN KEY (leaving_user_id) REFERENCES users(id);
alter table saving_circle_replacements add constraint saving_circle_replacements_member_id_fkey FOREIGN KEY (member_id) REFERENCES saving_circle_members(id) ON DELETE CASCADE;
alter table saving_circle_replacements add constraint saving_circle_replacements_proposed_by_fkey FOREIGN KEY (proposed_by) REFERENCES users(id);
alter table saving_circle_replacements add constraint saving_circle_replacements_saving_circle_id_fkey FOREIGN KEY (saving_circle_id) REFERENCES saving_circles(id);
alter table saving_circle_replacements add constraint saving_circle_replacements_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

alter table saving_circle_rounds add constraint saving_circle_rounds_journal_id_fkey FOREIGN KEY (journal_id) REFERENCES journals(id);
alter table saving_circle_rounds add constraint saving_circle_rounds_receiver_member_id_fkey FOREIGN KEY (receiver_member_id) REFERENCES saving_circle_members(id);
alter table saving_circle_rounds add constraint saving_circle_rounds_saving_circle_id_fkey FOREIGN KEY (saving_circle_id) REFERENCES saving_circles(id);

alter table saving_circle_settlements add constraint saving_circle_settlements_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);
alter table saving_circle_settlements add constraint saving_circle_settlements_id_fkey FOREIGN KEY (id) REFERENCES saving_circle_members(id);
alter table saving_circle_settlements add constraint saving_circle_settlements_saving_circle_id_fkey FOREIGN KEY (saving_circle_id) REFERENCES saving_circles(id);

alter table saving_circle_standing_orders add constraint saving_circle_standing_orders_id_fkey FOREIGN KEY (id) REFERENCES saving_circle_members(id) ON DELETE CASCADE;
alter table saving_circle_standing_orders add constraint saving_circle_standing_orders_source_account_id_fkey FOREIGN KEY (source_account_id) REFERENCES accounts(id);

alter table saving_circles add constraint saving_circles_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);
alter table saving_circles add constraint saving_circles_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id);
alter table saving_circles add constraint saving_circles_holding_account_id_fkey FOREIGN KEY (holding_account_id) REFERENCES accounts(id);
alter table saving_circles add constraint saving_circles_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);

alter table saving_goal_orders add constraint saving_goal_orders_payment_order_id_fkey FOREIGN KEY (payment_order_id) REFERENCES payment_orders(id);
alter table saving_goal_orders add constraint saving_goal_orders_saving_goal_id_fkey FOREIGN KEY (saving_goal_id) REFERENCES saving_goals(id);

alter table saving_goals add constraint saving_goals_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);
alter table saving_goals add constraint saving_goals_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);
alter table saving_goals add constraint saving_goals_released_to_fkey FOREIGN KEY (released_to) REFERENCES accounts(id);
alter table saving_goals add constraint saving_goals_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

alter table seal_journals add constraint seal_journals_seal_number_fkey FOREIGN KEY (seal_number) REFERENCES seals(number);

alter table seals add constraint seals_previous_fkey FOREIGN KEY (previous) REFERENCES seals(number);

alter table second_factors add constraint second_factors_id_fkey FOREIGN KEY (id) REFERENCES users(id);

alter table transactions add constraint transactions_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);
alter table transactions add constraint transactions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

alter table users add constraint users_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);
alter table users add constraint users_role_id_fkey FOREIGN KEY (role_id) REFERENCES roles(id);

alter table webhook_deliveries add constraint webhook_deliveries_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(id);

alter table webhook_endpoints add constraint webhook_endpoints_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(id);

alter table withdrawals add constraint withdrawals_bank_account_id_fkey FOREIGN KEY (bank_account_id) REFERENCES bank_accounts(id);
alter table withdrawals add constraint withdrawals_cause_id_fkey FOREIGN KEY (cause_id) REFERENCES charitable_causes(id);
alter table withdrawals add constraint withdrawals_id_fkey FOREIGN KEY (id) REFERENCES payouts(id);
alter table withdrawals add constraint withdrawals_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);
alter table withdrawals add constraint withdrawals_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

-- Functions

CREATE OR REPLACE FUNCTION public.account_balance(p_account_id uuid)
 RETURNS numeric
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select coalesce(sum(balance), 0) from account_balances where account_id = p_account_id
$function$;

CREATE OR REPLACE FUNCTION public.answer_payout_attempt(p_payout_id uuid, p_number integer, p_outcome text, p_failure_code text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  update payout_attempts a set outcome = p_outcome, failure_code = p_failure_code, answered_at = clock_timestamp()
    where a.payout_id = p_payout_id and a.number = p_number and a.outcome is null and p_outcome is not null;
  if not found then
    raise exception 'an attempt is answered once' using errcode = 'AM003', detail = p_payout_id || '/' || p_number;
  end if;
end $function$;

CREATE OR REPLACE FUNCTION public.apply_postings()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  credit_shard constant smallint := 1 + pg_backend_pid() % 16;
  debited uuid[];
  broken uuid;
  homeless uuid;
  overdrawn uuid;
begin
  with due as materialized (
    select n.journal_id, n.account_id, a.may_go_negative, sum(n.amount) as delta, count(*) as written
    from new_postings n
    left join lateral (select may_go_negative from accounts where id = n.account_id limit 1) a on true
    group by n.journal_id, n.account_id, a.may_go_negative),
  -- Whole, balanced, and of a journal that is there: the join is what a foreign key would be, without its locks.
  unlawful as (
    select d.journal_id from (
      select journal_id, sum(delta) as total, sum(written) as written from due group by journal_id) d
    where d.total <> 0 or d.written = 1 or d.written <> (
      select count(*) from journals j join postings p on p.journal_id = j.id where j.id = d.journal_id)
    limit 1),
  -- In one order for all (src/ledger/lock-order.ts), and what is there is changed in its latest version: debited accounts
  -- by id, then credited ones.
  applied as (
    insert into account_balances (account_id, shard, balance)
      select d.account_id, d.shard, sum(d.delta)
      from (select account_id, delta,
          case when delta < 0 and not may_go_negative then 0 else credit_shard end as shard
        from due where delta <> 0 and may_go_negative is not null) d
      group by d.account_id, d.shard order by d.shard > 0, d.account_id
      on conflict (account_id, shard) do update set balance = account_balances.balance + excluded.balance
      returning account_id, shard)
  select array_agg(account_id) filter (where shard = 0),
      (select journal_id from unlawful),
      (select account_id from due where may_go_negative is null limit 1)
    into debited, broken, homeless from applied;
  if homeless is not null then
    raise exception 'account % does not exist', homeless using errcode = 'AM002';
  elsif broken is not null then
    raise exception 'a journal is written at once and sums to zero' using errcode = 'AM002', detail = broken::text;
  end if;
  -- What it holds is read after its lock was taken.
  if debited is not null then
    select b.account_id into overdrawn from account_balances b
      where b.account_id = any (debited) group by b.account_id having sum(b.balance) < 0 limit 1;
    if found then
      raise exception 'insufficient balance' using errcode = 'AM001', detail = overdrawn::text;
    end if;
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.apply_receipt(p_id uuid, p_provider_payment_id text, p_provider_payment_method_id text, p_order_id uuid, p_partner_payment_id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  perform refuse_old_snapshot();
  insert into receipts (id, provider_payment_id, provider_payment_method_id, reference, amount, state, order_id,
      partner_payment_id)
    select p_id, p_provider_payment_id, p_provider_payment_method_id, o.id::text, o.nominal + o.admin_fee, 'applied', o.id,
      null::uuid
    from (select * from payment_orders where id = p_order_id for no key update) o
    where o.status in ('PENDING', 'WAITING_PAYMENT')
    union all
    select p_id, p_provider_payment_id, p_provider_payment_method_id, p.id::text, p.amount, 'applied', null, p.id
    from (select * from partner_payments where id = p_partner_payment_id for no key update) p
    where p.status in ('PENDING', 'WAITING_PAYMENT');
  if not found then
    raise exception 'only what is open is paid' using errcode = 'AM003',
      detail = coalesce(p_order_id, p_partner_payment_id)::text;
  end if;
end $function$;

CREATE OR REPLACE FUNCTION public.approved_decision(p_id uuid, p_kind text)
 RETURNS decisions
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  decided decisions;
begin
  select * into decided from decisions d where d.id = p_id for no key update;
  if decided.id is null or decided.kind <> p_kind or decided.status <> 'pending' or decided.approved_by is null
    or not hold_operator(decided.approved_by, 'approve-decision')
    or not hold_operator(decided.proposed_by, 'propose-decision')
    or decided.created_at < clock_timestamp() - interval '24 hours' then
    raise exception 'this needs a decision that two people have made' using errcode = 'AM010', detail = p_id::text;
  end if;
  return decided;
end $function$;

CREATE OR REPLACE FUNCTION public.await_replay(p_position pg_lsn, p_timeline integer, p_within interval)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  ends_at constant timestamptz := clock_timestamp() + p_within;
begin
  if not pg_is_in_recovery() then
    raise exception 'this is not a replica' using errcode = 'AM011';
  end if;
  if p_timeline is distinct from greatest((select min_recovery_end_timeline from pg_control_recovery()),
      (select timeline_id from pg_control_checkpoint())) then
    raise exception 'the replica is not known to follow timeline %', p_timeline using errcode = 'AM011';
  end if;
  while pg_last_wal_replay_lsn() is null or pg_last_wal_replay_lsn() < p_position loop
    if clock_timestamp() >= ends_at then
      raise exception 'the replica has not replayed %', p_position using errcode = 'AM011';
    end if;
    perform pg_sleep(0.002);
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.balance_after(p_account_id uuid, p_journal_id uuid)
 RETURNS numeric
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select balance_before(p_account_id, last.created_at) + (select sum(p.amount) from postings p
    where p.account_id = p_account_id and p.created_at = last.created_at and p.id <= last.id)
  from (select created_at, max(id) as id from postings
    where journal_id = p_journal_id and account_id = p_account_id group by created_at) last
$function$;

CREATE OR REPLACE FUNCTION public.balance_before(p_account_id uuid, p_at timestamp with time zone)
 RETURNS numeric
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  with closed as (select coalesce(max(day), '-infinity') as day from closed_days
    where day <= (p_at at time zone interval '7 hours')::date - 1)
  select coalesce((select c.balance from closings c where c.account_id = p_account_id and c.day <= closed.day
      order by c.day desc limit 1), 0)
    + coalesce((select sum(p.amount) from postings p where p.account_id = p_account_id
      and p.created_at >= end_of_day(closed.day) and p.created_at < p_at), 0)
  from closed
$function$;

CREATE OR REPLACE FUNCTION public.book_external(p_journal_id uuid, p_decision_id uuid)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  clearing constant uuid := '00000000-0000-4000-8000-000000000001';
  revenue constant uuid := '00000000-0000-4000-8000-000000000002';
  cost constant uuid := '00000000-0000-4000-8000-000000000003';
  decided decisions;
  -- What of it was given to causes.
  of_causes numeric;
begin
  perform refuse_old_snapshot();
  decided := approved_decision(p_decision_id, 'book_external');
  if decided.account_id is not null then
    if not exists (select from accounts a join users u on u.id = a.user_id
        where a.id = decided.account_id and a.kind = 'user' and u.erased_at is not null) then
      raise exception 'only money of a person who was erased is paid by others' using errcode = 'AM010',
        detail = decided.account_id::text;
    end if;
    perform from account_balances b where b.account_id = decided.account_id and b.shard = 0 for update;
    perform refuse_what_causes_keep(decided.account_id, -decided.amount);
    select -decided.amount - greatest(account_balance(decided.account_id) - coalesce(sum(disbursable_of_cause(c.id)), 0), 0)
      into of_causes from charitable_causes c where c.account_id = decided.account_id;
  end if;
  if not write_journal(p_journal_id, 'platform-external/' || decided.reference, 'platform.external',
    array[clearing, coalesce(decided.account_id, revenue)], array[-decided.amount, decided.amount]) then
    return false;
  elsif decided.account_id is null and decided.amount < 0 and account_balance(revenue) + account_balance(cost) < 0 then
    raise exception 'more than the platform''s own money' using errcode = 'AM001', detail = revenue::text;
  end if;
  insert into cause_remainders (cause_id, decision_id, amount)
    select l.cause_id, decided.id, least(l.amount, of_causes - l.before)
    from (select c.id as cause_id, d.amount, sum(d.amount) over (order by c.id) - d.amount as before
      from charitable_causes c cross join lateral (select disbursable_of_cause(c.id) as amount offset 0) d
      where c.account_id = decided.account_id and of_causes > 0 and d.amount > 0 and kept_for_cause(c.id) = 0) l
    where l.before < of_causes;
  if of_causes > (select coalesce(sum(r.amount), 0) from cause_remainders r where r.decision_id = decided.id) then
    raise exception 'the bank has meanwhile returned money that was given to the causes' using errcode = 'AM004', column = 'amount';
  end if;
  insert into events (event, impact, resource_type, resource_id, actor_id, data)
    values ('EXTERNAL_BOOKED', 'HIGH', 'journal', p_journal_id::text, decided.approved_by,
      jsonb_build_object('amount', decided.amount::text, 'reference', decided.reference, 'decision_id', decided.id)
        || case when decided.account_id is null then '{}' else jsonb_build_object('account_id', decided.account_id) end);
  update decisions set status = 'carried_out' where id = decided.id;
  return true;
end $function$;

CREATE OR REPLACE FUNCTION public.callers_of(p_user_ids uuid[], p_token_ids text[], p_generations integer[], p_issued_at timestamp with time zone[])
 RETURNS TABLE(number integer, user_id uuid, user_type text, organization_id uuid, organization_status text, role_id uuid, role_name text, permissions text, asked_at timestamp with time zone)
 LANGUAGE plpgsql
 STABLE ROWS 1
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
  return query
    select asked.number::integer, c.*, clock_timestamp()
    from unnest(p_user_ids, p_token_ids, p_generations, p_issued_at) with ordinality
      as asked (user_id, token_id, generation, issued_at, number)
    -- One at a time, however many the planner expects.
    cross join lateral (
      select u.id, u.user_type, u.organization_id, o.status, r.id as role_id, r.name::text, r.permission_names
      from users u
      left join organizations o on o.id = u.organization_id
      left join roles r on r.id = u.role_id and r.deleted_at is null
      where u.id = asked.user_id and u.status = 'active'
        and case when asked.generation is not null then asked.generation = u.token_generation
          else u.tokens_ended_at is null or asked.issued_at > u.tokens_ended_at end
        and not exists (select from revoked_tokens t where t.id = asked.token_id)
      limit 1) c;
end $function$;

CREATE OR REPLACE FUNCTION public.cause_current_amount(p_cause_id uuid)
 RETURNS numeric
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select coalesce(sum(donated), 0)::numeric(20, 4) from cause_totals where cause_id = p_cause_id
$function$;

CREATE OR REPLACE FUNCTION public.checks_read_all()
 RETURNS boolean
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN (NULLIF(current_setting('amanah.checks_since'::text, true), ''::text) IS NULL);

CREATE OR REPLACE FUNCTION public.checks_since()
 RETURNS uuid
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN COALESCE((NULLIF(current_setting('amanah.checks_since'::text, true), ''::text))::uuid, '00000000-0000-0000-0000-000000000000'::uuid);

CREATE OR REPLACE FUNCTION public.checks_since_time()
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN COALESCE(uuid_extract_timestamp(checks_since()), '-infinity'::timestamp with time zone);

CREATE OR REPLACE FUNCTION public.close_day()
 RETURNS date
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  closing date := coalesce((select max(day) + 1 from closed_days),
    (select (min(created_at) at time zone interval '7 hours')::date from postings));
begin
  if not is_day_sealed(closing) then
    return null;
  end if;
  -- Whoever comes second waits here for the first.
  insert into closed_days (day) values (closing) on conflict do nothing;
  if not found then
    return null;
  end if;
  insert into closings (account_id, day, balance)
    select m.account_id, closing, m.amount + coalesce(
      (select c.balance from closings c where c.account_id = m.account_id order by c.day desc limit 1), 0)
    from (select p.account_id, sum(p.amount) as amount from postings p
      where p.created_at >= end_of_day(closing - 1) and p.created_at < end_of_day(closing) group by p.account_id) m;
  return closing;
end $function$;

CREATE OR REPLACE FUNCTION public.close_payout_attempt(p_payout_id uuid, p_number integer, p_asked_at timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if p_asked_at is null or p_asked_at > clock_timestamp() then
    raise exception 'nobody was asked later than now' using errcode = 'AM003', detail = p_payout_id || '/' || p_number;
  end if;
  update payout_attempts a set not_known_at = greatest(a.not_known_at, p_asked_at)
    where a.payout_id = p_payout_id and a.number = p_number and a.sent_at <= p_asked_at - interval '2 minutes';
end $function$;

CREATE OR REPLACE FUNCTION public.committed_until(p_day date)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select end_of_day(p_day) + interval '30 minutes'
$function$;

CREATE OR REPLACE FUNCTION public.count_changed_donations()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  perform 1 from old_donations o join new_donations n using (id)
    where (o.user_id, o.type, o.amount, o.payment_order_id, o.subscription_id, o.period)
        is distinct from (n.user_id, n.type, n.amount, n.payment_order_id, n.subscription_id, n.period)
      or (o.cause_id is not null and o.cause_id is distinct from n.cause_id)
      or (o.allocation_batch_id is not null and o.allocation_batch_id is distinct from n.allocation_batch_id)
      or (o.transaction_id is not null and o.transaction_id is distinct from n.transaction_id)
      or (o.refund_transaction_id is not null and o.refund_transaction_id is distinct from n.refund_transaction_id);
  if found or (select count(*) from old_donations) <> (select count(*) from old_donations join new_donations using (id))
  then
    raise exception 'a donation keeps what it was given for' using errcode = 'AM003';
  end if;
  insert into cause_totals (cause_id, shard, donated, donations)
    select n.cause_id, case o.status when 'completed' then 0 else 1 + pg_backend_pid() % 16 end,
      sum(n.amount * c.counts), sum(c.counts)
    from old_donations o join new_donations n using (id)
    cross join lateral (select (n.status = 'completed' and n.cause_id is not null)::integer
      - (o.status = 'completed' and o.cause_id is not null)::integer as counts) c
    where c.counts <> 0
    group by 1, 2 order by 1, 2
    on conflict (cause_id, shard) do update
      set donated = cause_totals.donated + excluded.donated, donations = cause_totals.donations + excluded.donations;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.count_new_donations()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  insert into cause_totals (cause_id, shard, donated, donations)
    select n.cause_id, 1 + pg_backend_pid() % 16, sum(n.amount), count(*)
    from new_donations n where n.status = 'completed' and n.cause_id is not null
    group by n.cause_id order by n.cause_id
    on conflict (cause_id, shard) do update
      set donated = cause_totals.donated + excluded.donated, donations = cause_totals.donations + excluded.donations;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.decision_lives(p_kind text)
 RETURNS interval
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select case p_kind when 'disburse' then interval '7 days' else interval '24 hours' end
$function$;

CREATE OR REPLACE FUNCTION public.disbursable_of_cause(p_cause_id uuid)
 RETURNS numeric
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select greatest(cause_current_amount(p_cause_id) - disbursed_of_cause(p_cause_id), 0)::numeric(20, 4)
$function$;

CREATE OR REPLACE FUNCTION public.disbursed_of_cause(p_cause_id uuid)
 RETURNS numeric
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select coalesce((select sum(case p.status when 'failed' then 0 when 'reversed' then p.fee else p.net_amount + p.fee end)
      from withdrawals w join payouts p on p.id = w.id where w.cause_id = p_cause_id), 0)
    + coalesce((select sum(r.amount) from cause_remainders r where r.cause_id = p_cause_id), 0)
$function$;

CREATE OR REPLACE FUNCTION public.empty_saving_goal(p_id uuid, p_order_id uuid, p_actor_id uuid)
 RETURNS uuid
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  goal saving_goals;
  held numeric;
  journal uuid := uuidv7();
begin
  select * into strict goal from saving_goals where id = p_id for no key update;
  held := account_balance(goal.account_id);
  if held = 0 then
    return null;
  end if;
  if not post_journal(journal, 'saving-goal/' || p_id || '/released' || coalesce('/' || p_order_id, ''),
      'saving-goal.released', array[goal.account_id, goal.released_to], array[-held, held]) then
    raise exception 'a saving goal is released once' using errcode = 'AM003', detail = p_id::text;
  end if;
  perform record_transactions(journal, jsonb_build_array(jsonb_build_object('id', uuidv7(), 'user_id', goal.user_id,
    'organization_id', goal.organization_id, 'amount', held, 'status', 'successful',
    'source_account_id', goal.account_id, 'destination_account_id', goal.released_to, 'type', 'price',
    'reference_type', 'saving_goal', 'reference_id', p_id, 'purpose', 'internal_withdrawal', 'created_by', p_actor_id)));
  insert into events (event, impact, resource_type, resource_id, actor_id, data)
    values ('RESOURCE_UPDATED', 'MEDIUM', 'saving_goal', p_id::text, p_actor_id, jsonb_build_object(
      'released_to', goal.released_to, 'amount', held::numeric(20, 4)::text, 'journal_id', journal));
  return journal;
end $function$;

CREATE OR REPLACE FUNCTION public.end_of_day(p_day date)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (((p_day + 1))::timestamp without time zone AT TIME ZONE '07:00:00'::interval);

CREATE OR REPLACE FUNCTION public.find_month_problems()
 RETURNS TABLE(table_name text, problem text)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET "TimeZone" TO 'UTC'
AS $function$
declare
  has_default boolean;
  strays bigint;
begin
  for table_name in select t.relname from pg_class t
      where t.relnamespace = 'public'::regnamespace and t.relkind = 'p' order by 1 loop
    return query select table_name, 'has no partition for ' || to_char(m.at, 'YYYY-MM')
      from generate_series(date_trunc('month', now()), now() + interval '1 month', interval '1 month') m (at)
      where not exists (select from pg_inherits i join pg_class p on p.oid = i.inhrelid
        where i.inhparent = format('public.%I', table_name)::regclass
          and p.relname = month_name(table_name, m.at::date));
    has_default := to_regclass(format('months.%I', table_name || '_default')) is not null;
    if has_default then
      execute format('select count(*) from (select from months.%I limit 10000) strays', table_name || '_default')
        into strays;
    end if;
    if not has_default or strays > 0 then
      problem := case when has_default then strays || ' rows (10000 at most) have no partition for their month'
        else 'has no default partition' end;
      return next;
    end if;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.first_id_at(p_at timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select (lpad(to_hex(least(greatest(floor(extract(epoch from p_at) * 1000), 0), 281474976710655)::bigint), 12, '0')
    || repeat('0', 20))::uuid
$function$;

CREATE OR REPLACE FUNCTION public.forget_person()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  delete from known_logins where account_hash = old.email_digest;
  delete from login_failures where account_hash = old.email_digest;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.forget_rows(p_kind text, p_age interval, p_limit integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET "TimeZone" TO 'UTC'
AS $function$
declare
  least_age constant interval := case p_kind
    when 'read_events' then interval '90 days'
    when 'callback_bodies' then interval '30 days'
    when 'webhook_bodies' then interval '30 days'
    when 'idempotency_keys' then interval '30 days'
    when 'refused_balance_payments' then interval '30 days'
    when 'openings' then interval '30 days'
    when 'payout_tallies' then interval '2 days'
    when 'known_logins' then interval '30 days'
    when 'token_signing_keys' then interval '30 days'
    when 'revoked_tokens' then interval '1 day'
    when 'sign_ups' then interval '1 hour'
    when 'login_failures' then interval '15 minutes' end;
  before constant timestamptz := clock_timestamp() - p_age;
  chosen uuid[];
  forgotten integer;
begin
  -- Against a clock and not a length: a month is not always thirty days.
  if least_age is null or before is null or before > clock_timestamp() - least_age then
    raise exception 'rows of kind % are not forgotten after %', p_kind, p_age using errcode = 'AM009';
  elsif p_limit is null or p_limit not between 1 and 10000 then
    raise exception 'at most 10000 rows are forgotten at once' using errcode = 'AM009';
  end if;
  case p_kind
    when 'read_events' then
      -- Who read what; changes, and who logged in and out, stay.
      select array_agg(old.id order by old.id) into chosen from (select e.id from events e where e.created_at < before
        and e.id < first_id_at(before + interval '24 hours')
        and e.impact = 'LOW' and e.event not in ('USER_LOGGED_IN', 'USER_LOGGED_OUT')
        order by e.created_at limit p_limit for update skip locked) old;
      delete from events
        where id = any (chosen) and id between chosen[1] and chosen[cardinality(chosen)];
    when 'callback_bodies' then
      -- Of what was delivered, or can be delivered to nobody.
      select array_agg(old.id order by old.id) into chosen from (select c.id from gateway_callbacks c
        where c.body_sealed is not null and c.id < first_id_at(before) and num_nonnulls(c.delivered_at, c.unread) > 0
        order by c.id limit p_limit for update skip locked) old;
      update gateway_callbacks c set body_sealed = null
        where c.id = any (chosen) and c.id between chosen[1] and chosen[cardinality(chosen)]
          and num_nonnulls(c.delivered_at, c.unread) > 0;
    when 'webhook_bodies' then
      -- Not of what is being sent, again or still.
      select array_agg(old.id order by old.id) into chosen from (select d.id from webhook_deliveries d
        where d.body_sealed is not null and d.id < first_id_at(before) and d.status <> 'pending'
        order by d.id limit p_limit for update skip locked) old;
      update webhook_deliveries d set body_sealed = null
        where d.id = any (chosen) and d.id between chosen[1] and chosen[cardinality(chosen)] and d.status <> 'pending';
    when 'idempotency_keys' then
      -- The answer, which speaks of people. The key stays with what it made, so that it never stands for anything else.
      update idempotency_keys set answer_status = null, answer_body = null
        where ctid = any (array(select k.ctid from idempotency_keys k
          where k.answer_body is not null and k.created_at < before order by k.created_at limit p_limit
          for update skip locked));
    when 'refused_balance_payments' then
      -- Refused again meanwhile, it is young.
      delete from refused_balance_payments where ctid = any (array(select r.ctid from refused_balance_payments r
        where r.refused_at < before order by r.refused_at limit p_limit for update skip locked));
    when 'openings' then
      delete from openings where ctid = any (array(select o.ctid from openings o
        where o.decided_at < before order by o.decided_at limit p_limit for update skip locked));
    when 'payout_tallies' then
      delete from payout_tallies where ctid = any (array(select t.ctid from payout_tallies t
        where t.starts_at < before order by t.starts_at limit p_limit for update skip locked));
    when 'known_logins' then
      delete from known_logins where ctid = any (array(select k.ctid from known_logins k
        where k.logged_in_at < before order by k.logged_in_at limit p_limit for update skip locked));
    when 'token_signing_keys' then
      delete from token_signing_keys where id in (select k.id from token_signing_keys k
        where k.published_until < before limit p_limit for update skip locked);
    when 'revoked_tokens' then
      delete from revoked_tokens where ctid = any (array(select t.ctid from revoked_tokens t
        where t.expires_at < before order by t.expires_at limit p_limit for update skip locked));
    when 'sign_ups' then
      delete from sign_ups where ctid = any (array(select s.ctid from sign_ups s
        where s.made_at < before order by s.made_at limit p_limit for update skip locked));
    when 'login_failures' then
      delete from login_failures where ctid = any (array(select f.ctid from login_failures f
        where f.failed_at < before order by f.failed_at limit p_limit for update skip locked));
  end case;
  get diagnostics forgotten = row_count;
  return forgotten;
end $function$;

CREATE OR REPLACE FUNCTION public.give_back_tally()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  update payout_tallies t set amount = t.amount - old.amount from limited_payouts l
    where l.id = old.id and t.owner_id = l.owner_id and t.starts_at = tally_start(l.created_at);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.hold_balances(p_debited uuid[], p_credited uuid[])
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  credit_shard constant smallint := 1 + pg_backend_pid() % 16;
  credited uuid;
begin
  perform from account_balances b where b.account_id = any (p_debited) and b.shard = 0
    order by b.account_id for no key update;
  -- One by one: a row that begins here is held like one that is there, and neither before one with a smaller id.
  for credited in select a.id from accounts a where a.id = any (p_credited) order by a.id loop
    insert into account_balances (account_id, shard, balance) values (credited, credit_shard, 0) on conflict do nothing;
    perform from account_balances b where b.account_id = credited and b.shard = credit_shard for no key update;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.hold_causes(p_ids uuid[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET lock_timeout TO '500ms'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  owners constant uuid[] := array(select distinct c.organization_id from charitable_causes c
    where c.id = any (p_ids) and c.organization_id is not null);
begin
  if (select count(*) from (
        select from organizations o where o.id = any (owners) and o.status not in ('inactive', 'suspended')
        order by o.id for key share) held) < cardinality(owners)
    or (select count(*) from (
        select from charitable_causes c where c.id = any (p_ids) and c.status in ('active', 'in_progress')
        order by c.id for key share) held)
      < (select count(*) from charitable_causes c where c.id = any (p_ids)) then
    raise exception 'the charitable cause takes no donations any more' using errcode = 'AM004', column = 'reference_id';
  end if;
end $function$;

CREATE OR REPLACE FUNCTION public.hold_of_person(p_user_id uuid)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  return case
    when exists (select from legal_holds h where h.user_id = p_user_id and h.lifted_at is null)
      then 'they are under a legal hold'
    when exists (select from accounts a where a.user_id = p_user_id and a.organization_id is null
        and account_balance(a.id) <> 0)
      then 'there is money on their accounts'
    when exists (select from payment_orders o where o.user_id = p_user_id and o.status in ('PENDING', 'WAITING_PAYMENT'))
      then 'a payment of theirs is open'
    when exists (select from receipts r where r.state = 'suspended'
        and exists (select from payment_orders o where o.user_id = p_user_id and o.id::text = r.reference))
      then 'money that they paid is in suspense'
    when exists (select from withdrawals w join payouts p on p.id = w.id where w.user_id = p_user_id and p.status = 'pending')
      then 'a withdrawal of theirs is under way'
    -- For as long as the provider is asked whether the bank has returned it.
    when exists (select from withdrawals w join payouts p on p.id = w.id where w.user_id = p_user_id
        and w.organization_id is null and p.status = 'succeeded' and p.look_again_at is not null)
      then 'the bank may still return a withdrawal of theirs'
    when exists (select from donation_subscriptions s where s.user_id = p_user_id and s.status = 'active')
      then 'a donation subscription of theirs is active'
    when exists (select from saving_circle_members m join saving_circles c on c.id = m.saving_circle_id
        where m.user_id = p_user_id and c.status in ('new', 'active') and c.deleted_at is null)
      then 'they are a member of a saving circle that has not ended'
    when exists (select from saving_circles c where c.owner_type = 'individual' and c.owner_id = p_user_id
        and c.status in ('new', 'active') and c.deleted_at is null)
      then 'a saving circle of theirs has not ended'
    when exists (select from saving_circle_replacements r join saving_circles c on c.id = r.saving_circle_id
        where r.user_id = p_user_id and r.status = 'pending' and r.joined_at is not null and c.status in ('new', 'active'))
      then 'they have agreed to take over a place in a saving circle'
    -- Of a round that is not paid out, whoever has the place now: it goes back to who paid it when the circle is cancelled.
    when exists (select from saving_circle_contributions k join saving_circles c on c.id = k.saving_circle_id
        join accounts a on a.id = k.refund_account_id
        where k.user_id = p_user_id and a.user_id = p_user_id and a.organization_id is null
          and k.turn_number = c.current_turn and k.status in ('pending', 'completed') and c.status = 'active')
      then 'what they have paid for a round of a saving circle may still come back'
    when exists (select from charitable_causes c where c.created_by = p_user_id and c.owner_type = 'individual'
        and c.status not in ('completed', 'cancelled', 'rejected', 'deactivated'))
      then 'a charitable cause of theirs is open'
    when exists (select from decisions d where d.status = 'pending' and d.kind <> 'erase_person'
        and p_user_id in (d.proposed_by, d.first_approved_by, d.approved_by))
      then 'a decision that they have proposed or approved is pending'
    when exists (select from users u join roles r on r.id = u.role_id where u.id = p_user_id and u.user_type = 'platform'
        and u.status = 'active' and r.name = 'platform_super_admin'
        and not exists (select from users o where o.role_id = r.id and o.id <> u.id and o.user_type = 'platform'
          and o.status = 'active'))
      then 'they are the last super admin'
    when exists (select from users u where u.id = p_user_id and u.user_type = 'organization' and u.status = 'active'
        and exists (select from role_permissions h join permissions p on p.id = h.permission_id
          where h.role_id = u.role_id and p.name = 'assign-role')
        and not exists (select from users o join role_permissions h on h.role_id = o.role_id
          join permissions p on p.id = h.permission_id
          where o.organization_id = u.organization_id and o.id <> u.id and o.user_type = 'organization'
            and o.status = 'active' and p.name = 'assign-role'))
      then 'they are the last in their organization who can assign roles'
    end;
end $function$;

CREATE OR REPLACE FUNCTION public.hold_open_cause(p_id uuid)
 RETURNS boolean
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET lock_timeout TO '500ms'
AS $function$
begin
  perform from charitable_causes c where c.id = p_id and c.status in ('active', 'in_progress') for key share;
  return found;
end $function$;

CREATE OR REPLACE FUNCTION public.hold_operator(p_user_id uuid, p_permission text)
 RETURNS boolean
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  perform from users u where u.id = p_user_id for key share;
  perform from roles r where r.id = (select u.role_id from users u where u.id = p_user_id) for key share;
  return is_operator(p_user_id, p_permission);
end $function$;

CREATE OR REPLACE FUNCTION public.in_time(p_deadline timestamp with time zone, p_done bigint)
 RETURNS bigint
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if clock_timestamp() > p_deadline then
    raise exception 'too late for this payment' using errcode = 'AM013', detail = p_deadline::text;
  end if;
  return p_done;
end $function$;

CREATE OR REPLACE FUNCTION public.is_archived(p_table text, p_id uuid)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select exists (select from archived_months a
    where a.table_name = p_table and p_id >= a.first_id and p_id < a.next_id)
$function$;

CREATE OR REPLACE FUNCTION public.is_day_sealed(p_day date)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select coalesce((select covers_until >= committed_until(p_day) from seals where covers_until is not null
    order by number desc limit 1), false)
$function$;

CREATE OR REPLACE FUNCTION public.is_operator(p_user_id uuid, p_permission text)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select exists (select from users u
    join role_permissions r on r.role_id = u.role_id
    join permissions p on p.id = r.permission_id
    where u.id = p_user_id and u.user_type = 'platform' and u.status = 'active' and p.name = p_permission)
$function$;

CREATE OR REPLACE FUNCTION public.keep_account_kinds()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  named constant uuid := to_jsonb(new) ->> tg_argv[0];
begin
  if named is not null and not exists (
      select from accounts a where a.id = named and a.kind = any (string_to_array(tg_argv[1], ' '))) then
    raise exception '% %: % is an account of none of the kinds %', tg_table_name, new.id, tg_argv[0], tg_argv[1]
      using errcode = 'AM010', schema = tg_table_schema, table = tg_table_name, column = tg_argv[0];
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.keep_contribution()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if (old.saving_circle_id, old.member_id, old.user_id, old.turn_number, old.amount, old.guarantee_amount, old.rail,
        old.refund_account_id)
      is distinct from
      (new.saving_circle_id, new.member_id, new.user_id, new.turn_number, new.amount, new.guarantee_amount, new.rail,
        new.refund_account_id)
  then
    raise exception 'whose contribution it is, and to what, is never changed' using errcode = 'AM003';
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.keep_decision()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if tg_op = 'INSERT' then
    if not (case new.kind
        when 'disburse' then exists (select from withdrawals w join payouts p on p.id = w.id where w.id = new.withdrawal_id
          and w.user_id = new.proposed_by and w.cause_id is not null and p.status = 'pending')
        else is_operator(new.proposed_by, 'propose-decision') end)
      or num_nonnulls(new.first_approved_by, new.approved_by) > 0 then
      raise exception 'a decision is proposed by somebody who may' using errcode = 'AM010', detail = new.id::text;
    end if;
    return new;
  end if;
  if (new.id, new.kind, new.payout_id, new.outcome, new.receipt_id, new.action, new.account_id, new.reconciliation_id,
        new.amount, new.reference, new.withdrawal_id, new.donation_id, new.user_id, new.note, new.evidence, new.proposed_by, new.created_at)
      is distinct from (old.id, old.kind, old.payout_id, old.outcome, old.receipt_id, old.action, old.account_id,
        old.reconciliation_id, old.amount, old.reference, old.withdrawal_id, old.donation_id, old.user_id, old.note, old.evidence,
        old.proposed_by, old.created_at)
    or old.first_approved_by is not null and new.first_approved_by is distinct from old.first_approved_by
    or old.approved_by is not null and new.approved_by is distinct from old.approved_by or old.status <> 'pending' then
    raise exception 'what was decided is never changed' using errcode = 'AM003', detail = new.id::text;
  end if;
  if old.first_approved_by is null and new.first_approved_by is not null
    and (not is_operator(new.first_approved_by, 'approve-decision') or new.approved_by is not null
      or new.created_at < clock_timestamp() - decision_lives(new.kind)) then
    raise exception 'a decision is approved in time by somebody who may' using errcode = 'AM010', detail = new.id::text;
  end if;
  if old.approved_by is null and new.approved_by is not null then
    if not is_operator(new.approved_by, 'approve-decision')
      or new.created_at < clock_timestamp() - decision_lives(new.kind) then
      raise exception 'a decision is approved in time by somebody who may' using errcode = 'AM010',
        detail = new.id::text;
    end if;
    new.approved_at := clock_timestamp();
  end if;
  if new.rejected_by is not null and not is_operator(new.rejected_by, 'approve-decision') then
    raise exception 'a decision is rejected by somebody who may' using errcode = 'AM010', detail = new.id::text;
  end if;
  if new.status = 'carried_out' and missing_of_decision(new) is not null then
    raise exception 'a decision is carried out by its effect' using errcode = 'AM010',
      detail = new.id || ': ' || missing_of_decision(new);
  end if;
  if new.status <> 'pending' then
    new.ended_at := clock_timestamp();
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.keep_own_accounts()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  written constant jsonb := to_jsonb(new);
begin
  for place in 0 .. tg_nargs - 1 by 2 loop
    if not exists (select from accounts a where a.id = (written ->> tg_argv[place])::uuid
        and a.kind = tg_argv[place + 1] and a.owner_id = new.id) then
      raise exception '% %: % is no account of kind % of its own', tg_table_name, new.id, tg_argv[place],
          tg_argv[place + 1]
        using errcode = 'AM010', schema = tg_table_schema, table = tg_table_name, column = tg_argv[place];
    end if;
  end loop;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.keep_payment_refund()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  perform refuse_old_snapshot();
  -- A statement of its own: the next one reads what was committed during the wait.
  perform from partner_payments p where p.id = new.payment_id for no key update;
  if not exists (
      select from payouts o join partner_payments p on p.id = new.payment_id
      where o.id = new.id and o.kind = 'payment_refund' and o.status = 'pending' and o.created_at = new.created_at
        and p.partner_id = o.partner_id and p.status = 'PAID'
        and (o.refund_of is null or o.refund_of = p.provider_payment_request_id)
        and o.amount <= refundable_of_payment(p.id, o.refund_of is null)) then
    raise exception 'a refund gives back what was paid' using errcode = 'AM010', detail = new.id::text;
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.keep_payout()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if (new.kind, new.source_account_id, new.reserved_account_id, new.partner_id, new.amount, new.fee, new.net_amount,
        new.bank_code, new.refund_of, new.created_at)
      is distinct from (old.kind, old.source_account_id, old.reserved_account_id, old.partner_id, old.amount, old.fee,
        old.net_amount, old.bank_code, old.refund_of, old.created_at) then
    raise exception 'what a payout pays is never changed' using errcode = 'AM003';
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.keep_payout_accounts()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if not (case new.kind
      when 'withdrawal' then exists (select from accounts s join accounts r on r.owner_id = s.id where s.id = new.source_account_id
        and s.kind in ('user', 'organization') and r.id = new.reserved_account_id and r.kind = 'withdrawal_reserved')
      else exists (select from partners t where t.id = new.partner_id
        and (t.available_account_id, t.reserved_account_id) = (new.source_account_id, new.reserved_account_id))
      end) then
    raise exception 'a payout is of money of its own' using errcode = 'AM010', detail = new.id::text;
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.keep_payouts_end()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if old.status = 'succeeded' and new.last_word = 'reversed'
    or old.status = 'pending' and outcome_of_word(new.last_word) = new.status
    or old.status = 'pending' and outcome_of_word(new.last_word) is null and exists (select from decisions d where d.payout_id = new.id
      and d.outcome = new.status and d.status = 'pending' and is_operator(d.approved_by, 'approve-decision')
      and is_operator(d.proposed_by, 'propose-decision') and d.created_at > clock_timestamp() - interval '24 hours')
      and (new.status = 'failed' or exists (select from payout_attempts a where a.payout_id = new.id
        and a.outcome is distinct from 'unsent'))
    -- A disbursement that nobody has sent ends with its decision.
    or old.status = 'pending' and new.status = 'failed' and exists (select from decisions d where d.withdrawal_id = new.id
      and d.status in ('rejected', 'lapsed') and new.failure_code = 'DECISION_' || upper(d.status))
      and not exists (select from payout_attempts a where a.payout_id = new.id)
    -- A refund that nobody has sent ends when an earlier one turns out to have been made.
    or old.status = 'pending' and new.status = 'failed' and new.failure_code = 'ALREADY_REFUNDED' and refund_is_void(new.id) then
    return new;
  end if;
  raise exception 'a payout ends by the provider''s word, or as two people have decided' using errcode = 'AM010',
    detail = new.id || ': ' || new.status || ', the provider said ' || coalesce(new.last_word, 'nothing');
end $function$;

CREATE OR REPLACE FUNCTION public.keep_permission_names()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  update roles r set permission_names = coalesce(
    (select string_agg(p.name, ' ' order by p.name) from role_permissions rp
     join permissions p on p.id = rp.permission_id where rp.role_id = r.id), '')
  where r.id in (select role_id from changed);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.keep_place()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if (old.user_id, old.account_id) is distinct from (new.user_id, new.account_id)
      and not exists (select from saving_circle_replacements r where r.member_id = new.id and r.status = 'completed'
        and r.user_id = new.user_id and r.account_id = new.account_id and r.leaving_user_id = old.user_id) then
    raise exception 'nobody agreed that this place passes over' using errcode = 'AM010', detail = new.id::text;
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.keep_release_with_saver()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if not exists (select from accounts a join users u on u.id = new.user_id where a.id = new.released_to
      and (a.kind = 'user' and a.user_id = u.id
        or a.kind = 'organization' and u.user_type = 'organization' and a.organization_id = u.organization_id)) then
    raise exception 'saving_goals %: released_to % is no account of the saver', new.id, new.released_to
      using errcode = 'AM010', schema = tg_table_schema, table = tg_table_name, column = 'released_to';
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.keep_revoked_token()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  new.expires_at := greatest(new.expires_at, now());
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.keep_start_date()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  perform (new.start_date || case when length(new.start_date) = 10 then 'T00:00:00+07' else '' end)::timestamptz;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.keep_status()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  was text;
  became text;
  subject text;
begin
  case tg_argv[0]
    when 'status' then was := old.status; became := new.status;
    when 'state' then was := old.state; became := new.state;
    when 'outcome' then was := old.outcome; became := new.outcome;
    when 'phase' then was := old.phase; became := new.phase;
    when 'verification_status' then was := old.verification_status; became := new.verification_status;
  end case;
  if was is not distinct from became or coalesce(was, '') || '>' || became = any (tg_argv)
    or was is not null and became is not null and '*' = any (tg_argv) then
    return new;
  end if;
  select string_agg(coalesce(to_jsonb(old), to_jsonb(new)) ->> a.attname, '/' order by a.attnum) into subject
    from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
    where i.indrelid = tg_relid and i.indisprimary;
  raise exception '% %: % does not %', whole_table(tg_relid), subject, tg_argv[0],
      case when was is null then 'begin with ' || became
        else 'go from ' || was || ' to ' || coalesce(became, 'nothing') end
    using errcode = 'AM008', schema = 'public', table = whole_table(tg_relid), column = tg_argv[0];
end $function$;

CREATE OR REPLACE FUNCTION public.keep_withdrawal()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if not exists (
      select from payouts p
      join accounts a on a.id = p.source_account_id
      join users u on u.id = new.user_id
      join bank_accounts b on b.id = new.bank_account_id
      where p.id = new.id and p.kind = 'withdrawal' and p.created_at = new.created_at and b.bank_code = p.bank_code
        and b.deleted_at is null and b.usable_at <= clock_timestamp()
        and case a.kind
          when 'user' then new.organization_id is null and a.user_id = u.id and b.user_id = u.id
            and b.organization_id is null
          when 'organization' then u.user_type = 'organization' and new.organization_id = u.organization_id
            and a.organization_id = u.organization_id and b.organization_id = u.organization_id
          end
        and (new.cause_id is null or exists (select from charitable_causes c where c.id = new.cause_id
          and c.account_id = a.id and c.approved_at is not null and c.stopped_from is null))) then
    raise exception 'a withdrawal goes to a usable bank account of whose money it is' using errcode = 'AM010',
      detail = new.id::text;
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.kept_for_cause(p_cause_id uuid)
 RETURNS numeric
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select coalesce(sum(l.amount), 0)
  from charitable_causes c cross join lateral (select disbursable_of_cause(c.id) as amount offset 0) l
  where c.id = p_cause_id and l.amount > 0
    and (not exists (select from accounts a join users u on u.id = a.user_id
        where a.id = c.account_id and a.organization_id is null and u.erased_at is not null)
      or exists (select from donations d where d.cause_id = c.id and d.status = 'completed'
        and d.allocation_batch_id is null and d.amount <= l.amount and refund_account(d.id) is not null))
$function$;

CREATE OR REPLACE FUNCTION public.kept_for_causes(p_account_id uuid)
 RETURNS numeric
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select coalesce(sum(kept_for_cause(c.id)), 0) from charitable_causes c where c.account_id = p_account_id
$function$;

CREATE OR REPLACE FUNCTION public.list_transactions()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
  insert into transaction_counts (reference_type, type, shard, count)
    select n.reference_type, n.type, pg_backend_pid() % 32, count(*) from new_transactions n
    group by n.reference_type, n.type order by n.reference_type, n.type
    on conflict (reference_type, type, shard) do update set count = transaction_counts.count + excluded.count;
  with ends as materialized (
    select n.id, n.created_at, n.user_id, n.reference_type, n.type, n.reference_id, n.organization_id,
      s.organization_id as source_organization, d.organization_id as destination_organization,
      case when n.destination_account_id is not null then d.user_id
        when n.payment_order_id is not null then s.user_id end as receiver
    from new_transactions n
    left join lateral (select user_id, organization_id from accounts where id = n.source_account_id limit 1) s on true
    left join lateral (select user_id, organization_id from accounts where id = n.destination_account_id limit 1) d
      on true),
  received as (
    insert into transaction_receivers
      select e.receiver, e.id, e.created_at, e.reference_type, e.type, e.reference_id from ends e
      where e.receiver <> e.user_id)
  insert into transaction_organizations
    select distinct o.id, e.id, e.created_at, e.user_id, e.reference_type, e.type, e.reference_id
    from ends e
    cross join lateral (values (e.organization_id), (e.source_organization), (e.destination_organization)) o (id)
    where o.id is not null;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.lock_refund(p_donation_id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  perform from donations d where d.id = p_donation_id for no key update;
  perform from account_balances b where b.shard = 0 and b.account_id = (
      select coalesce(c.account_id, '00000000-0000-4000-8000-000000000005')
      from donations d left join charitable_causes c on c.id = d.cause_id where d.id = p_donation_id)
    for update;
end $function$;

CREATE OR REPLACE FUNCTION public.lock_source(p_user_id uuid, p_user_type text, p_organization_id uuid, p_source uuid)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  perform from account_balances b where b.shard = 0 and b.account_id = (select a.id from accounts a
      where a.id = p_source and (a.kind = 'user' and a.user_id = p_user_id or a.kind = 'organization'
        and p_user_type = 'organization' and a.organization_id = p_organization_id))
    for update;
end $function$;

CREATE OR REPLACE FUNCTION public.look_at_round()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  new.look_at := new.opened_at;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.make_coming_month()
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET "TimeZone" TO 'UTC'
AS $function$
declare
  coming record;
begin
  select t.relname::text as table_name, m.at::date as month into coming
    from generate_series(date_trunc('month', now()) - interval '1 month', now() + interval '3 months', interval '1 month')
      m (at)
    cross join pg_class t
    where t.relnamespace = 'public'::regnamespace and t.relkind = 'p'
      and to_regclass(format('months.%I', month_name(t.relname, m.at::date))) is null
      and not is_archived(t.relname, first_id_at(m.at))
    order by m.at, t.relname limit 1;
  if not found then
    return null;
  end if;
  perform make_month(coming.table_name, coming.month);
  return month_name(coming.table_name, coming.month);
end $function$;

CREATE OR REPLACE FUNCTION public.make_month(p_table text, p_month date)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET lock_timeout TO '500ms'
AS $function$
declare
  partition_name constant text := month_name(p_table, p_month);
  default_name constant text := p_table || '_default';
  first_id constant uuid := first_id_at(p_month::timestamp at time zone 'UTC');
  next_id constant uuid := first_id_at((p_month + interval '1 month') at time zone 'UTC');
  referenced regclass;
begin
  -- One at a time: nobody who reads or writes waits for this lock.
  execute format('lock table only public.%I in share update exclusive mode', p_table);
  if to_regclass(format('months.%I', partition_name)) is not null then
    return;
  elsif is_archived(p_table, first_id) then
    raise exception 'the month % of % is archived', p_month, p_table using errcode = 'AM009';
  end if;
  if to_regclass(format('months.%I', default_name)) is null then
    execute format('create table months.%I partition of public.%I default', default_name, p_table);
  end if;
  execute format('create table months.%I (like public.%I including all)', partition_name, p_table);
  -- All that is locked below is locked here, before anything of it is held.
  for referenced in select k.confrelid::regclass from pg_constraint k
      where k.conrelid = format('public.%I', p_table)::regclass and k.contype = 'f' order by k.confrelid loop
    execute format('lock table only %s in share row exclusive mode', referenced);
  end loop;
  execute format('lock table months.%I in access exclusive mode', default_name);
  execute format('with strays as (delete from months.%I where id >= %L and id < %L returning *)
    insert into months.%I select * from strays', default_name, first_id, next_id, partition_name);
  execute format('alter table public.%I attach partition months.%I for values from (%L) to (%L)',
    p_table, partition_name, first_id, next_id);
end $function$;

CREATE OR REPLACE FUNCTION public.missing_of_decision(decided decisions)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select case decided.kind
    when 'settle_payout' then (select 'the payout has not ended as was decided' where not exists (select from payouts p
      where p.id = decided.payout_id and (p.status = decided.outcome
        or decided.outcome = 'succeeded' and p.status = 'reversed')))
    when 'settle_receipt' then (select 'the receipt has not ended as was decided' where not exists (select from receipts r
      where r.id = decided.receipt_id and (r.state, r.settled_by, r.account_id) is not distinct from
        (case decided.action when 'credit' then 'credited' else 'refunded' end, decided.approved_by, decided.account_id)))
    when 'book_external' then (select 'the movement at the provider is not booked' where not exists (select
      from journal_keys k where k.business_key = 'platform-external/' || decided.reference))
    when 'disburse' then (select 'the withdrawal ended without it' where exists (select from payouts p
      where p.id = decided.withdrawal_id and p.failure_code in ('DECISION_REJECTED', 'DECISION_LAPSED')))
    when 'refund_donation' then (select 'the donation was not given back' where not exists (select from donations d
      where d.id = decided.donation_id and d.status = 'refunded'))
    when 'erase_person' then (select 'the erasure was never begun' where not exists (select from erasures e
      where e.decision_id = decided.id and e.user_id = decided.user_id))
    else (select 'the difference was never explained' where not exists (select from events e
      where e.resource_type = 'reconciliation' and e.resource_id = decided.reconciliation_id::text
        and e.event = 'RECONCILIATION_EXPLAINED' and e.data ->> 'decision_id' = decided.id::text)
      -- Or it was said in a month that is archived: when the decision ended, or a moment before.
      and not is_archived('events', first_id_at(decided.ended_at))
      and not is_archived('events', first_id_at(decided.ended_at - interval '1 minute')))
    end
$function$;

CREATE OR REPLACE FUNCTION public.month_name(p_table text, p_month date)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select p_table || to_char(p_month::timestamp, '_YYYY_MM')
$function$;

CREATE OR REPLACE FUNCTION public.open_balance()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  insert into account_balances (account_id, shard, balance) values (new.id, 0, 0);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.open_payout_attempt(p_payout_id uuid, p_is_made boolean DEFAULT false)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  opened integer;
begin
  perform from payouts p where p.id = p_payout_id and p.status = 'pending' for update;
  if not found or exists (select from decisions d where d.withdrawal_id = p_payout_id and d.status <> 'carried_out')
    or not p_is_made and refund_exceeds(p_payout_id) then
    raise exception 'only a pending payout is sent' using errcode = 'AM003', detail = p_payout_id::text;
  end if;
  insert into payout_attempts (payout_id, number)
    select p_payout_id, count(*) + 1 from payout_attempts a where a.payout_id = p_payout_id
    returning number into opened;
  return opened;
end $function$;

CREATE OR REPLACE FUNCTION public.outcome_of_word(p_said text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select case when p_said in ('succeeded', 'reversed') then 'succeeded' when p_said in ('failed', 'refused') then 'failed' end
$function$;

CREATE OR REPLACE FUNCTION public.pay_from_balances(p_payments jsonb, p_targets payment_target[], p_lock_ms integer DEFAULT NULL::integer)
 RETURNS TABLE(place bigint, outcome text, new_balance numeric, answer_status smallint, answer_body text, payment balance_payment)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
#variable_conflict use_column
declare
  payments constant balance_payment[] := array(select p from jsonb_populate_recordset(null::balance_payment, p_payments) p);
  targets constant uuid[] := array(select t.account_id from unnest(p_targets) with ordinality t order by t.ordinality);
  keyed boolean;
  -- By place; null is what may still be paid.
  outcomes text[];
  left_over numeric[];
  sources uuid[];
  dated timestamptz;
begin
  perform refuse_old_snapshot();
  if p_lock_ms is not null then
    perform set_config('lock_timeout', p_lock_ms::text, true);
  end if;
  -- One account at a time, here and below, however many rows the planner expects.
  select array_agg(case
        when targets[p.ordinality] is null then case when (p_targets[p.ordinality]).refusal is null then 'busy' else 'unfit' end
        when s.id is null then 'missing'
        when (s.kind = 'user' and s.user_id = p.user_id or s.kind = 'organization'
          and p.user_type = 'organization' and s.organization_id = p.organization_id) is not true then 'foreign'
        when targets[p.ordinality] = p.source_account_id then 'itself'
        -- Money goes from who pays to what is paid for, as this kind of journal, and never the other way round.
        when (p.amount > 0 and p.transaction_id is not null and p.journal_id is not null
          and (p.kind = 'pocket-transfer' or starts_with(p.kind, 'balance-payment.'))
          and (select t.kind from accounts t where t.id = targets[p.ordinality]) in ('user', 'organization',
            'open_donation_pool', 'saving_goal', 'product', 'circle_holding')) is not true
          then 'unlawful' end
      order by p.ordinality),
      bool_or(p.key_hash is not null),
      array_agg(p.source_account_id)
    into outcomes, keyed, sources
    from unnest(payments) with ordinality p
    left join lateral (select a.id, a.kind, a.user_id, a.organization_id from accounts a
      where a.id = p.source_account_id limit 1) s on true;
  if 'unlawful' = any (outcomes) then
    raise exception 'no payment from a balance of kind %', payments[array_position(outcomes, 'unlawful')].kind
      using errcode = 'AM010';
  end if;

  if cardinality(payments) > 1 then
    -- Of one source, and of one key, the first; and none from an account that another of them pays into, as its new
    -- balance would leave that out.
    select array_agg(coalesce(p.outcome, case when p.of_source > 1 or p.of_key > 1
          or p.source_account_id = any (targets) then 'busy' end) order by p.place),
        array_agg(p.source_account_id) filter (where p.outcome is null)
      into outcomes, sources
      from (
        select p.ordinality as place, p.source_account_id, outcomes[p.ordinality] as outcome,
          row_number() over (partition by outcomes[p.ordinality] is null, p.source_account_id order by p.ordinality)
            as of_source,
          case when p.key_hash is not null then row_number() over (
            partition by outcomes[p.ordinality] is null, p.user_id, p.key_hash order by p.ordinality) end as of_key
        from unnest(payments) with ordinality p) p;
  elsif outcomes[1] is not null then
    sources := null;
  end if;
  if sources is not null then
    sources := array(select b.account_id from account_balances b where b.account_id = any (sources) and b.shard = 0
      order by b.account_id for update skip locked);
    -- What is written below refers to these rows: it would wait there for a suspension that is under way, and then be
    -- written all the same.
    with payer as materialized (
      select u.id, u.status, u.organization_id from users u
      where u.id = any (array(select p.user_id from unnest(payments) with ordinality p
        where outcomes[p.ordinality] is null and p.source_account_id = any (sources)))
      order by u.id for key share skip locked),
    organization as materialized (
      select o.id, o.status from organizations o
      where o.id = any (array(select payer.organization_id from payer)) order by o.id for key share skip locked)
    select array_agg(coalesce(outcomes[p.ordinality], case
          when p.source_account_id <> all (sources) or payer.id is null
            or payer.organization_id is not null and organization.id is null then 'busy'
          when payer.status <> 'active' or organization.status in ('inactive', 'suspended') then 'inactive' end)
        order by p.ordinality)
      into outcomes
      from unnest(payments) with ordinality p
      left join payer on payer.id = p.user_id left join organization on organization.id = payer.organization_id;
  end if;

  if keyed then
    with claimed as (
      insert into idempotency_keys (user_id, key_hash, fingerprint, resource_id, number)
        select p.user_id, p.key_hash, p.fingerprint, p.transaction_id, p.request_number
        from unnest(payments) with ordinality p where outcomes[p.ordinality] is null and p.key_hash is not null
        order by p.user_id, p.key_hash
        on conflict do nothing returning user_id, key_hash)
    select array_agg(coalesce(outcomes[p.ordinality], case when p.key_hash is not null and not exists (
        select from claimed c where c.user_id = p.user_id and c.key_hash = p.key_hash) then 'replayed' end)
        order by p.ordinality)
      into outcomes from unnest(payments) with ordinality p;
  end if;

  select array_agg(coalesce(outcomes[p.ordinality], case
        -- The key is held here, so every refusal under it is committed and seen, or comes later and meets this answer.
        when p.key_hash is not null and exists (
          select from refused_balance_payments r where r.user_id = p.user_id and r.key_hash = p.key_hash
            and r.fingerprint = p.fingerprint and r.refused_upto >= coalesce(p.request_number, 0)) then 'fenced'
        -- Nothing is paid twice, whatever became of the key.
        when exists (select from journal_keys j where j.business_key = 'balance-payment/' || p.transaction_id)
          then case when p.key_hash is null then 'replayed' else 'reused' end
        when b.held < p.amount then 'insufficient'
        when exists (select from charitable_causes c where c.account_id = p.source_account_id)
          and p.amount > b.held - kept_for_causes(p.source_account_id) then 'kept'
        else 'paid' end) order by p.ordinality),
      array_agg(b.held - p.amount order by p.ordinality)
    into outcomes, left_over
    from unnest(payments) with ordinality p
    cross join lateral (select sum(balance) as held from account_balances
      where account_id = p.source_account_id and outcomes[p.ordinality] is null) b;

  if 'paid' = any (outcomes) then
    -- As in write_journal: after they were judged.
    dated := greatest(clock_timestamp(), transaction_timestamp());
    with due as materialized (
      select p.*, 'balance-payment/' || p.transaction_id as business_key
      from unnest(payments) with ordinality p where outcomes[p.ordinality] = 'paid'),
    key as (
      insert into journal_keys (business_key, journal_id)
        select d.business_key, d.journal_id from due d order by d.business_key),
    journal as (
      insert into journals (id, business_key, kind, created_at)
        select d.journal_id, d.business_key, d.kind, dated from due d)
    insert into postings (journal_id, account_id, amount, created_at)
      select d.journal_id, e.account_id, e.amount, dated from due d
      cross join lateral (values (d.source_account_id, -d.amount), (targets[d.ordinality], d.amount))
        e (account_id, amount);
    -- In a statement of its own: what the triggers of transactions lock comes after what those of postings do.
    with due as materialized (
      select p.* from unnest(payments) with ordinality p where outcomes[p.ordinality] = 'paid'),
    line as (
      insert into transactions (id, user_id, organization_id, amount, status, source_account_id,
          destination_account_id, type, reference_type, reference_id, batch_id, purpose, created_by)
        select d.transaction_id, d.user_id, d.organization_id, d.amount, 'successful', d.source_account_id,
          targets[d.ordinality], 'price', d.reference_type, d.reference_id, d.journal_id, d.purpose, d.user_id
        from due d)
    insert into events (event, impact, resource_type, resource_id, actor_id, request_id)
      select 'RESOURCE_CREATED', 'MEDIUM', 'transaction', d.transaction_id::text, d.user_id, d.request_id from due d;
  end if;

  if keyed then
    update idempotency_keys k set answer_status = 201,
        answer_body = replace(p.answer, '<new_balance>', left_over[p.ordinality]::text)
      from unnest(payments) with ordinality p
      where k.user_id = p.user_id and k.key_hash = p.key_hash and outcomes[p.ordinality] = 'paid';
    -- No key is left without its answer.
    if outcomes && array['fenced', 'insufficient', 'kept', 'reused'] then
      delete from idempotency_keys k using unnest(payments) with ordinality p
        where k.user_id = p.user_id and k.key_hash = p.key_hash and k.answer_status is null
          and k.resource_id = p.transaction_id
          and outcomes[p.ordinality] in ('fenced', 'insufficient', 'kept', 'reused');
    end if;
  end if;

  return query
    select p.ordinality,
      case when told.outcome in ('paid', 'replayed', 'busy') then told.outcome else 'refused' end,
      case when told.outcome = 'paid' then left_over[p.ordinality] end,
      case told.outcome when 'paid' then 201::smallint when 'replayed' then kept.answer_status end,
      case told.outcome
        when 'paid' then replace(p.answer, '<new_balance>', left_over[p.ordinality]::text)
        when 'replayed' then kept.answer_body
        when 'busy' then null
        when 'fenced' then (select r.refusal::text from refused_balance_payments r
          where r.user_id = p.user_id and r.key_hash = p.key_hash and r.fingerprint = p.fingerprint)
        else (case told.outcome
          when 'unfit' then (p_targets[p.ordinality]).refusal
          when 'missing' then refusal('NOT_FOUND', 'no such account', 'source_account_id')
          when 'foreign' then refusal('FORBIDDEN', 'the account is not yours', 'source_account_id')
          when 'itself' then refusal('REQUEST_INVALID', 'an account cannot pay into itself', 'source_account_id')
          when 'inactive' then refusal('FORBIDDEN', 'the user who asked for this is no longer active')
          when 'insufficient' then
            refusal('INSUFFICIENT_BALANCE', 'the balance of the account does not cover it', 'amount')
          when 'kept' then refusal('REQUEST_INVALID', format(
            'only IDR %s of the account are free: what was given to its causes leaves it by disbursements', greatest(
              account_balance(p.source_account_id) - kept_for_causes(p.source_account_id), 0)::numeric(20, 4)), 'amount')
          when 'reused' then refusal('IDEMPOTENCY_KEY_REUSED', 'this key was used for a request with another body',
            'Idempotency-Key') end)::text end,
      payments[p.ordinality]
    from unnest(payments) with ordinality p
    left join lateral (select k.fingerprint, k.answer_status, k.answer_body from idempotency_keys k
      where outcomes[p.ordinality] = 'replayed' and k.user_id = p.user_id and k.key_hash = p.key_hash limit 1) kept on true
    cross join lateral (select case when kept.fingerprint <> p.fingerprint then 'reused' else outcomes[p.ordinality] end
      as outcome) told;
end $function$;

CREATE OR REPLACE FUNCTION public.payout_postings(p_kind text, p_business_key text, p_payout_id uuid)
 RETURNS TABLE(to_account uuid, due numeric)
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select e.account_id, e.amount
  from payouts p
  cross join lateral (select replace(p.kind, '_', '-') as family, p.net_amount + p.fee as gross) of
  join (values ('reserved', 'pending', 'reserved', null), ('succeeded', 'succeeded', 'spent', 'reserved'),
      ('failed', 'failed', 'returned', 'reserved'), ('reversed', 'reversed', 'reversed', 'spent'))
    as s (became, status, step, follows)
    on p_kind = of.family || '.' || s.became and p_business_key = of.family || '/' || p.id || '/' || s.step
      and p.status = s.status
  cross join lateral (values
    (p.source_account_id, case s.step when 'reserved' then -of.gross when 'returned' then of.gross
      when 'reversed' then p.net_amount end),
    (p.reserved_account_id, case when s.step = 'reserved' then of.gross when s.follows = 'reserved' then -of.gross end),
    ('00000000-0000-4000-8000-000000000001', case s.step when 'spent' then p.net_amount + p.provider_cost
      when 'reversed' then -p.net_amount end),
    ('00000000-0000-4000-8000-000000000003', case s.step when 'spent' then -p.provider_cost end),
    ('00000000-0000-4000-8000-000000000002', case s.step when 'spent' then p.fee end)) e (account_id, amount)
  where p.id = p_payout_id and e.amount is not null
    -- Whose money a withdrawal is was judged with its row.
    and (p.kind <> 'withdrawal' or exists (select from withdrawals w where w.id = p.id))
    and (p.kind <> 'payment_refund' or exists (select from payment_refunds r where r.id = p.id))
    and (s.follows is null
      or exists (select from journal_keys j where j.business_key = of.family || '/' || p.id || '/' || s.follows))
$function$;

CREATE OR REPLACE FUNCTION public.perhaps_refunded_of_payment(p_payment_id uuid)
 RETURNS numeric
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select coalesce(sum(p.amount), 0)::numeric(20, 4) from payment_refunds r join payouts p on p.id = r.id
  where r.payment_id = p_payment_id and p.refund_of is not null and p.status = 'failed'
    and p.failure_code is distinct from 'ALREADY_REFUNDED'
    and coalesce(p.last_word, '') not in ('succeeded', 'accepted', 'another amount')
    and (coalesce(p.last_word, '') not in ('refused', 'failed') or exists (select from payout_words w
      where w.payout_id = p.id and w.failure_code = 'MAXIMUM_REFUND_AMOUNT_REACHED'))
$function$;

CREATE OR REPLACE FUNCTION public.post_journal(p_id uuid, p_business_key text, p_kind text, p_accounts uuid[], p_amounts numeric[])
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  perform refuse_old_snapshot();
  if not write_journal(p_id, p_business_key, p_kind, p_accounts, p_amounts) then
    return false;
  end if;
  -- Judged when it is written: the same journal posted again is the same, whatever has become of its rows since.
  if (select array_agg(row (entry.account_id, entry.amount) order by entry.account_id, entry.amount)
      from unnest(p_accounts, p_amounts) as entry (account_id, amount) where entry.amount <> 0)
    is distinct from coalesce(
      (select array_agg(row (due.account_id, due.amount) order by due.account_id, due.amount)
      from proven_postings(p_kind, p_business_key) as due (account_id, amount) where due.amount <> 0),
      array[row (null::uuid, null::numeric)]) then
    raise exception 'nothing proves this journal of kind %', p_kind using errcode = 'AM010', detail = p_business_key;
  end if;
  return true;
end $function$;

CREATE OR REPLACE FUNCTION public.proven_postings(p_kind text, p_business_key text)
 RETURNS TABLE(to_account uuid, due numeric)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  clearing constant uuid := '00000000-0000-4000-8000-000000000001';
  revenue constant uuid := '00000000-0000-4000-8000-000000000002';
  cost constant uuid := '00000000-0000-4000-8000-000000000003';
  pool constant uuid := '00000000-0000-4000-8000-000000000005';
  subject uuid := substring(p_business_key from '^[a-z-]+/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:/|$)');
  -- The order after whose payment a closed goal was emptied.
  settled uuid := substring(p_business_key from '/released/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$');
begin
  case p_kind
    when 'payment-order.settled' then
      return query select e.account_id, e.amount
        from payment_orders o
        join receipts r on r.order_id = o.id and r.state = 'applied' and r.amount = o.nominal + o.admin_fee
        cross join lateral (values (clearing, o.provider_fee - o.nominal - o.admin_fee), (cost, -o.provider_fee),
          (o.target_account_id, o.nominal), (revenue, o.admin_fee)) e (account_id, amount)
        where o.id = subject and o.status = 'PAID' and p_business_key = 'payment-order/' || o.id || '/settled';
    when 'partner-payment.settled' then
      return query select e.account_id, e.amount
        from partner_payments p
        join receipts r on r.partner_payment_id = p.id and r.state = 'applied' and r.amount = p.amount
        join partners t on t.id = p.partner_id
        cross join lateral (values (clearing, p.provider_fee - p.amount), (cost, -p.provider_fee),
          (t.pending_account_id, p.net_amount), (revenue, p.fee)) e (account_id, amount)
        where p.id = subject and p_business_key = 'partner-payment/' || p.id || '/settled';
    when 'partner-payment.released' then
      return query select e.account_id, e.amount
        from partner_payments p
        join partners t on t.id = p.partner_id
        join journal_keys j on j.business_key = 'partner-payment/' || p.id || '/settled'
        cross join lateral (values (t.pending_account_id, -p.net_amount), (t.available_account_id, p.net_amount))
          e (account_id, amount)
        where p.id = subject and p_business_key = 'partner-payment/' || p.id || '/released';
    when 'saving-circle.paid-out' then
      return query select e.account_id, e.amount
        from saving_circles s
        join saving_circle_rounds r on r.saving_circle_id = s.id and r.paid_at is null
        join saving_circle_members m on m.id = r.receiver_member_id
        cross join lateral (select sum(amount) as pot from (
          select c.amount from saving_circle_contributions c
          where c.saving_circle_id = s.id and c.turn_number = r.turn_number and c.status = 'completed'
          union all
          select g.amount from saving_circle_covers g
          where g.saving_circle_id = s.id and g.turn_number = r.turn_number) brought) c
        cross join lateral (values (s.holding_account_id, -c.pot), (m.account_id, c.pot)) e (account_id, amount)
        where s.id = subject and p_business_key = 'saving-circle/' || s.id || '/turn/' || r.turn_number || '/pot';
    when 'saving-circle.contribution-refunded' then
      return query select e.account_id, e.amount
        from saving_circle_contributions c
        join saving_circles s on s.id = c.saving_circle_id
        -- The guarantee of a contribution that was completed stays until the circle is settled.
        cross join lateral (select c.amount + case c.status when 'completed' then 0 else c.guarantee_amount end as back) b
        cross join lateral (values (s.holding_account_id, -b.back), (c.refund_account_id, b.back))
          e (account_id, amount)
        where c.id = subject and c.status in ('pending', 'completed', 'cancelled')
          and p_business_key = 'saving-circle-contribution/' || c.id || '/refunded';
    when 'saving-circle.settled' then
      -- All that it holds, which is read after the journal: nothing is left.
      return query select e.account_id, e.amount
        from saving_circles s
        cross join lateral (
          select s.holding_account_id as account_id, -sum(t.amount) as amount from saving_circle_settlements t
          where t.saving_circle_id = s.id
          union all
          select t.account_id, t.amount from saving_circle_settlements t where t.saving_circle_id = s.id) e
        where s.id = subject and s.ended_at is not null and account_balance(s.holding_account_id) = 0
          and p_business_key = 'saving-circle/' || s.id || '/settlement';
    when 'saving-goal.released' then
      -- All that it holds, which is read after the journal: nothing is left.
      return query select e.account_id, e.amount
        from saving_goals g
        join journal_keys k on k.business_key = p_business_key
        join postings p on p.journal_id = k.journal_id and p.account_id = g.account_id and p.amount < 0
        cross join lateral (values (g.account_id, p.amount), (g.released_to, -p.amount)) e (account_id, amount)
        where g.id = subject and g.closed_at is not null and account_balance(g.account_id) = 0
          and (p_business_key = 'saving-goal/' || g.id || '/released' or exists (select from saving_goal_orders o
            where o.payment_order_id = settled and o.saving_goal_id = g.id
              and p_business_key = 'saving-goal/' || g.id || '/released/' || o.payment_order_id));
    when 'donation-allocation' then
      return query select e.account_id, e.amount
        from (select d.cause_id, sum(d.amount) as amount from donations d where d.allocation_batch_id = subject
          group by d.cause_id) given
        join charitable_causes c on c.id = given.cause_id
        cross join lateral (values (pool, -given.amount), (c.account_id, given.amount)) e (account_id, amount)
        where p_business_key = 'donation-allocation/' || subject;
    when 'donation.refunded' then
      -- Never what of the cause is disbursed.
      return query select e.account_id, e.amount
        from donations d
        left join charitable_causes c on c.id = d.cause_id
        cross join lateral (values (coalesce(c.account_id, pool), -d.amount), (refund_account(d.id), d.amount))
          e (account_id, amount)
        where d.id = subject and d.status = 'refunded' and p_business_key = 'donation/' || d.id || '/refunded'
          and (d.cause_id is null or disbursed_of_cause(d.cause_id) <= cause_current_amount(d.cause_id));
    else
      return query select * from payout_postings(p_kind, p_business_key, subject);
  end case;
end $function$;

CREATE OR REPLACE FUNCTION public.record_transactions(p_journal_id uuid, p_rows jsonb)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  current_xact constant bigint := pg_current_xact_id()::text;
begin
  -- A row's own transaction (or a part of it, whose id is a later one) is the only one that sees it while it is in
  -- progress. Its instant, not before that transaction's beginning, rules out an id that has wrapped around.
  if not exists (select from journals j
    cross join lateral (select (j.xmin::text::bigint - current_xact) & 4294967295 as later) written
    where j.id = p_journal_id and j.created_at >= transaction_timestamp() and case when written.later < 2147483648
      then pg_xact_status((current_xact + written.later)::text::xid8) = 'in progress' end) then
    raise exception 'transactions are written with their journal' using errcode = 'AM010', detail = p_journal_id::text;
  end if;
  insert into transactions (id, user_id, organization_id, amount, status, source_account_id, destination_account_id,
      type, reference_type, reference_id, batch_id, purpose, payment_order_id, created_by)
    select r.id, r.user_id, r.organization_id, r.amount, r.status, r.source_account_id, r.destination_account_id,
      r.type, r.reference_type, r.reference_id, p_journal_id, r.purpose, r.payment_order_id, r.created_by
    from jsonb_to_recordset(p_rows) as r (id uuid, user_id uuid, organization_id uuid, amount numeric, status text,
      source_account_id uuid, destination_account_id uuid, type text, reference_type text, reference_id uuid,
      purpose text, payment_order_id uuid, created_by uuid);
end $function$;

CREATE OR REPLACE FUNCTION public.refund_account(p_donation_id uuid)
 RETURNS uuid
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select case when t.destination_account_id is not null then t.source_account_id else (
      select a.id from accounts a
      where case u.user_type when 'organization' then a.kind = 'organization' and a.organization_id = u.organization_id
        else a.kind = 'user' and a.user_id = u.id end
      order by a.created_at, a.id limit 1) end
  from donations d join transactions t on t.id = d.transaction_id join users u on u.id = d.user_id
  where d.id = p_donation_id
$function$;

CREATE OR REPLACE FUNCTION public.refund_exceeds(p_payout_id uuid)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select exists (select from payouts o join payment_refunds r on r.id = o.id
    where o.id = p_payout_id and o.status = 'pending' and refundable_of_payment(r.payment_id, o.refund_of is null) < 0)
$function$;

CREATE OR REPLACE FUNCTION public.refund_is_void(p_payout_id uuid)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select refund_exceeds(p_payout_id) and exists (select from payouts o where o.id = p_payout_id
    and (o.created_at > clock_timestamp() - interval '1 minute' or o.last_word = 'not known')
    and not exists (select from payout_attempts a where a.payout_id = o.id and a.outcome is distinct from 'unsent'))
$function$;

CREATE OR REPLACE FUNCTION public.refundable_of_payment(p_payment_id uuid, p_by_transfer boolean)
 RETURNS numeric
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select p.amount - refunded_of_payment(p.id) - case when p_by_transfer then perhaps_refunded_of_payment(p.id) else 0 end
  from partner_payments p where p.id = p_payment_id
$function$;

CREATE OR REPLACE FUNCTION public.refunded_of_payment(p_payment_id uuid)
 RETURNS numeric
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select coalesce(sum(p.amount), 0)::numeric(20, 4) from payment_refunds r join payouts p on p.id = r.id
  where r.payment_id = p_payment_id
    and (p.status in ('pending', 'succeeded') or p.last_word in ('succeeded', 'accepted', 'another amount'))
$function$;

CREATE OR REPLACE FUNCTION public.refusal(p_code text, p_complaint text, p_field text DEFAULT NULL::text)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select jsonb_strip_nulls(jsonb_build_object('code', p_code, 'complaint', p_complaint, 'field', p_field))
$function$;

CREATE OR REPLACE FUNCTION public.refuse_balance_payment(p_user_id uuid, p_key_hash text, p_fingerprint text, p_refusal jsonb)
 RETURNS SETOF idempotency_keys
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  perform refuse_old_snapshot();
  loop
    -- Waits for a payment under way, and holds up later ones: they look for a refusal once this one is committed.
    insert into idempotency_keys (user_id, key_hash, fingerprint, resource_id)
      values (p_user_id, p_key_hash, p_fingerprint, uuidv7()) on conflict do nothing;
    exit when found;
    return query select * from idempotency_keys k where k.user_id = p_user_id and k.key_hash = p_key_hash;
    if found then return; end if;
  end loop;
  insert into refused_balance_payments (user_id, key_hash, fingerprint, refused_upto, refusal)
    values (p_user_id, p_key_hash, p_fingerprint, nextval('opening_numbers'), p_refusal)
    on conflict (user_id, key_hash, fingerprint) do update
      set refused_upto = excluded.refused_upto, refusal = excluded.refusal, refused_at = excluded.refused_at;
  -- The key stays free for later requests.
  delete from idempotency_keys k where k.user_id = p_user_id and k.key_hash = p_key_hash;
end $function$;

CREATE OR REPLACE FUNCTION public.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  raise exception '% is never changed by %', whole_table(tg_relid), tg_op using errcode = 'AM003';
end $function$;

CREATE OR REPLACE FUNCTION public.refuse_erased()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  person constant uuid := to_jsonb(new) ->> tg_argv[0];
  gone timestamptz;
begin
  select u.erased_at into gone from users u where u.id = person for key share;
  if gone is not null then
    raise exception 'the user has been erased' using errcode = 'AM012', detail = person::text;
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.refuse_old_snapshot()
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'money is moved in transactions that read what is committed' using errcode = 'AM010';
  end if;
end $function$;

CREATE OR REPLACE FUNCTION public.refuse_what_causes_keep(p_account_id uuid, p_amount numeric)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  kept numeric;
  held numeric;
begin
  select kept_for_causes(p_account_id), account_balance(p_account_id) into kept, held;
  if kept > 0 and p_amount <= held and p_amount > held - kept then
    raise exception 'only IDR % of the account are free: what was given to its causes leaves it by disbursements',
      greatest(held - kept, 0)::numeric(20, 4) using errcode = 'AM004', column = 'amount';
  end if;
end $function$;

CREATE OR REPLACE FUNCTION public.reserved_since(p_owner_id uuid, p_since timestamp with time zone, OUT amount numeric, OUT payouts integer)
 RETURNS record
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select coalesce(sum(part.amount), 0), coalesce(sum(part.payouts), 0)::integer from (
    select t.amount, t.payouts from payout_tallies t where t.owner_id = p_owner_id and t.starts_at > p_since
    union all
    select l.amount, 1 from limited_payouts l where l.owner_id = p_owner_id
      and l.created_at > p_since and l.created_at < tally_start(p_since) + interval '10 minutes') part
$function$;

CREATE OR REPLACE FUNCTION public.settle_donation(p_type text, p_user_id uuid, p_cause_id uuid, p_amount numeric, p_order_id uuid, p_transaction_id uuid, p_subscription_id uuid DEFAULT NULL::uuid, p_period integer DEFAULT NULL::integer, p_request_id text DEFAULT NULL::text)
 RETURNS uuid
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  settled uuid;
  happened text := 'RESOURCE_UPDATED';
begin
  if p_order_id is not null then
    update donations set status = 'completed', transaction_id = p_transaction_id, updated_at = now()
      where payment_order_id = p_order_id and status = 'pending' returning id into settled;
  end if;
  if settled is null then
    happened := 'RESOURCE_CREATED';
    insert into donations (id, user_id, type, amount, status, cause_id, transaction_id, payment_order_id,
        subscription_id, period)
      values (uuidv7(), p_user_id, p_type, p_amount, 'completed', p_cause_id, p_transaction_id, p_order_id,
        p_subscription_id, p_period) returning id into settled;
  end if;
  insert into events (event, impact, resource_type, resource_id, actor_id, request_id, data)
    values (happened, 'MEDIUM', 'donation', settled::text, p_user_id, p_request_id,
      jsonb_build_object('status', 'completed', 'transaction_id', p_transaction_id));
  -- What the gateway was paid came, whatever has become of its cause.
  if p_order_id is null then
    perform hold_causes(array[p_cause_id]);
  end if;
  return settled;
end $function$;

CREATE OR REPLACE FUNCTION public.settle_donations(p_type text, p_paid balance_payment[])
 RETURNS bigint
 LANGUAGE plpgsql
 STRICT
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
  with due as materialized (select p.*, uuidv7() as id from unnest(p_paid) p),
  given as (
    insert into donations (id, user_id, type, amount, status, cause_id, transaction_id)
      select d.id, d.user_id, p_type, d.amount, 'completed', case when p_type <> 'open' then d.reference_id end,
        d.transaction_id
      from due d)
  insert into events (event, impact, resource_type, resource_id, actor_id, request_id, data)
    select 'RESOURCE_CREATED', 'MEDIUM', 'donation', d.id::text, d.user_id, d.request_id,
      jsonb_build_object('status', 'completed', 'transaction_id', d.transaction_id)
    from due d;
  if p_type <> 'open' then
    perform hold_causes(array(select distinct p.reference_id from unnest(p_paid) p));
  end if;
  return cardinality(p_paid);
end $function$;

CREATE OR REPLACE FUNCTION public.settle_product(p_id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  product products;
begin
  select * into strict product from products where id = p_id;
  if product.target_amount is null then
    return;
  end if;
  select * into strict product from products where id = p_id for no key update;
  if account_balance(product.account_id) >= product.target_amount and product.status = 'open' then
    update products set status = 'completed', updated_at = now() where id = p_id;
    insert into events (event, impact, resource_type, resource_id, data)
      values ('RESOURCE_UPDATED', 'MEDIUM', 'product', p_id::text, '{"status": "completed"}');
  end if;
end $function$;

CREATE OR REPLACE FUNCTION public.settle_products(p_paid balance_payment[])
 RETURNS bigint
 LANGUAGE plpgsql
 STRICT
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  perform settle_product(p.reference_id) from (select distinct reference_id from unnest(p_paid)) p
    order by p.reference_id;
  return cardinality(p_paid);
end $function$;

CREATE OR REPLACE FUNCTION public.settle_receipt(p_journal_id uuid, p_decision_id uuid)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  decided decisions;
  settled receipts;
begin
  perform refuse_old_snapshot();
  decided := approved_decision(p_decision_id, 'settle_receipt');
  update receipts r set state = case decided.action when 'credit' then 'credited' else 'refunded' end,
      account_id = decided.account_id, settled_by = decided.approved_by, note = decided.note,
      settled_at = clock_timestamp()
    where r.id = decided.receipt_id and r.state = 'suspended' returning * into settled;
  if not found then
    return false;
  elsif decided.account_id is not null and not exists (select from accounts a
      where a.id = decided.account_id and a.kind in ('user', 'organization', 'partner_available')) then
    raise exception 'money in suspense goes to an account that its owner can use' using errcode = 'AM010',
      detail = settled.id::text;
  end if;
  -- Waits for an erasure under way, which waits for whoever was first, and then sees the money.
  perform from accounts a join users u on u.id = a.user_id
    where a.id = decided.account_id and a.organization_id is null for key share of u;
  if exists (select from accounts a join users u on u.id = a.user_id
      where a.id = decided.account_id and a.organization_id is null and u.erased_at is not null) then
    raise exception 'nobody can move money of a person who was erased' using errcode = 'AM010', detail = settled.id::text;
  end if;
  if not write_journal(p_journal_id, 'receipt/' || settled.id || '/settled', 'receipt.' || settled.state,
    array['00000000-0000-4000-8000-000000000004',
      coalesce(decided.account_id, '00000000-0000-4000-8000-000000000001')]::uuid[],
    array[-settled.amount, settled.amount]) then
    raise exception 'suspense is settled once' using errcode = 'AM003', detail = settled.id::text;
  end if;
  update decisions set status = 'carried_out' where id = decided.id;
  return true;
end $function$;

CREATE OR REPLACE FUNCTION public.settle_saving_goal(p_id uuid, p_order_id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  goal saving_goals;
begin
  select * into strict goal from saving_goals where id = p_id for no key update;
  if goal.closed_at is not null then
    perform empty_saving_goal(p_id, p_order_id, null);
  elsif goal.status = 'active' and account_balance(goal.account_id) >= goal.target_amount then
    update saving_goals set status = 'completed', updated_at = now() where id = p_id;
    insert into events (event, impact, resource_type, resource_id, data)
      values ('RESOURCE_UPDATED', 'MEDIUM', 'saving_goal', p_id::text, '{"status": "completed"}');
  end if;
  if p_order_id is not null then
    update saving_goal_orders set status = 'completed', updated_at = now() where payment_order_id = p_order_id;
  end if;
end $function$;

CREATE OR REPLACE FUNCTION public.settle_saving_goals(p_paid balance_payment[])
 RETURNS bigint
 LANGUAGE plpgsql
 STRICT
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  perform settle_saving_goal(p.reference_id, null) from (select distinct reference_id from unnest(p_paid)) p
    order by p.reference_id;
  return cardinality(p_paid);
end $function$;

CREATE OR REPLACE FUNCTION public.suspend_receipt(p_journal_id uuid, p_id uuid, p_provider_payment_id text, p_provider_payment_method_id text, p_reference text, p_amount numeric, p_cost numeric, p_reason text)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  subject uuid := substring(p_reference from '^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$');
begin
  perform refuse_old_snapshot();
  -- It may keep more than came, where that is the price of what the money came for: then the rest is owed to it.
  if p_cost is null or p_cost < 0 or p_cost > p_amount
    and not exists (select from partner_payments p where p.id = subject and p.provider_fee = p_cost)
    and not exists (select from payment_orders o join payment_channels c on c.id = o.payment_id
      where o.id = subject and round(c.provider_fee_fixed + p_amount * c.provider_fee_basis_points / 10000, 4) = p_cost) then
    raise exception 'the provider keeps a part of what it receives, or the price of it' using errcode = 'AM010', detail = p_cost::text;
  end if;
  insert into receipts (id, provider_payment_id, provider_payment_method_id, reference, amount, state, reason)
    values (p_id, p_provider_payment_id, p_provider_payment_method_id, p_reference, p_amount, 'suspended', p_reason)
    on conflict do nothing;
  if not found then
    return false;
  end if;
  if not write_journal(p_journal_id, 'receipt/' || p_id || '/suspense', 'receipt.suspended',
    array['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000003',
      '00000000-0000-4000-8000-000000000004']::uuid[],
    array[p_cost - p_amount, -p_cost, p_amount]) then
    raise exception 'money in suspense has one receipt' using errcode = 'AM003', detail = p_id::text;
  end if;
  return true;
end $function$;

CREATE OR REPLACE FUNCTION public.take_provider_call(p_per_minute integer, p_payout boolean, p_partner uuid, p_follows boolean)
 RETURNS double precision
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  budget provider_budget;
  instant timestamptz;
  most double precision := p_per_minute / 6.0;
  per_second double precision := (p_per_minute - p_per_minute / 6.0 - 1) / 60;
  available double precision;
  recent double precision;
  needed double precision;
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
  -- Bounded, as a power too small for a number is an error.
  select c.calls * exp(-least(abs(extract(epoch from instant - c.counted_at)) / 60, 100)) into recent
    from provider_callers c where c.partner_id = p_partner;
  needed := case when p_follows then 0
    else 1 + most * case when recent > p_per_minute / 4.0 then case when p_payout then 0.625 else 0.75 end
      when p_payout then 0 else 0.5 end end;
  available := least(most, budget.tokens + extract(epoch from instant - budget.filled_at) * per_second);
  if available < needed then
    return (needed - available) / per_second;
  end if;
  update provider_budget set tokens = available - 1, filled_at = instant;
  if p_partner is not null then
    insert into provider_callers as c (partner_id, calls, counted_at) values (p_partner, coalesce(recent, 0) + 1, instant)
      on conflict (partner_id) do update set calls = excluded.calls, counted_at = excluded.counted_at;
  end if;
  return 0;
end $function$;

CREATE OR REPLACE FUNCTION public.tally_payout()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  insert into payout_tallies as t (owner_id, starts_at, amount, payouts)
    select l.owner_id, tally_start(l.created_at), l.amount, 1 from limited_payouts l where l.id = new.id
    on conflict (owner_id, starts_at) do update set amount = t.amount + excluded.amount, payouts = t.payouts + 1;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.tally_start(p_at timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select date_bin('10 minutes', p_at, timestamptz '2000-01-01 00:00:00+00')
$function$;

CREATE OR REPLACE FUNCTION public.targets_at(p_accounts uuid[])
 RETURNS payment_target[]
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  return array(select row(a.id, null)::payment_target from unnest(p_accounts) with ordinality a (id, place) order by a.place);
end $function$;

CREATE OR REPLACE FUNCTION public.targets_of_causes(p_ids uuid[])
 RETURNS payment_target[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
  return array(select case
      when c.id is null then row(null, refusal('NOT_FOUND', 'no such charitable cause', 'reference_id'))::payment_target
      when c.status <> 'active' and (c.status <> 'in_progress' or c.approved_at is null) then
        row(null, refusal('REQUEST_INVALID', 'the charitable cause is ' || c.status, 'reference_id'))::payment_target
      when o.status in ('inactive', 'suspended') then row(null, refusal('REQUEST_INVALID',
        'the charitable cause is of an organization that is ' || o.status, 'reference_id'))::payment_target
      else row(c.account_id, null)::payment_target end
    from unnest(p_ids) with ordinality asked (id, place)
    left join lateral (select * from charitable_causes c where c.id = asked.id limit 1) c on true
    left join lateral (select o.status from organizations o where o.id = c.organization_id limit 1) o on true
    order by asked.place);
end $function$;

CREATE OR REPLACE FUNCTION public.targets_of_products(p_kind text, p_ids uuid[], p_amounts numeric[], p_hold boolean)
 RETURNS payment_target[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET lock_timeout TO '500ms'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  bounded constant uuid[] := case when p_hold then array(select p.id from products p
    where p.id = any (p_ids) and p.kind = p_kind and p.target_amount is not null) end;
  is_held boolean := true;
begin
  if cardinality(bounded) > 0 then
    begin
      perform from products p where p.id = any (bounded) order by p.id for no key update;
    exception when lock_not_available then
      is_held := false;
    end;
  end if;
  return array(select case
      when p.id is null then row(null, refusal('NOT_FOUND', 'no such product', 'reference_id'))::payment_target
      when p.kind <> p_kind then row(null, refusal('REQUEST_INVALID',
        format('a product of kind %s, not %s', p.kind, p_kind), 'reference_id'))::payment_target
      when not is_held and p.id = any (bounded) then null
      when p.status <> 'open' then row(null, refusal('REQUEST_INVALID',
        'the product is ' || p.status, 'reference_id'))::payment_target
      when asked.complaint is null then row(p.account_id, null)::payment_target
      when asked.before = 0 then row(null, refusal('REQUEST_INVALID', asked.complaint, 'amount'))::payment_target end
    from (select a.id, a.amount, a.place, coalesce(sum(a.amount) over (partition by a.id order by a.place
        rows between unbounded preceding and 1 preceding), 0) as before
      from unnest(p_ids, p_amounts) with ordinality a (id, amount, place)) a
    left join lateral (select * from products p where p.id = a.id limit 1) p on true
    -- A product's balance is only read where it has a target that could be exceeded.
    cross join lateral (select case when p.target_amount is not null
      then (p.target_amount - account_balance(p.account_id) - a.before)::numeric(20, 4) end as rest offset 0) free
    cross join lateral (select a.before, a.place, case
      when p.minimum_amount is not null and free.rest < p.minimum_amount then
        case when a.amount <> free.rest then 'the product takes exactly IDR ' || free.rest end
      when a.amount < p.minimum_amount then 'the product takes at least IDR ' || p.minimum_amount
      when a.amount > free.rest then 'it would exceed the target of the product' end as complaint) asked
    order by asked.place);
end $function$;

CREATE OR REPLACE FUNCTION public.targets_of_saving_goals(p_user_ids uuid[], p_ids uuid[], p_amounts numeric[], p_hold boolean)
 RETURNS payment_target[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET lock_timeout TO '500ms'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
  if p_hold then
    begin
      perform from saving_goals g where g.id = any (p_ids) and g.user_id = any (p_user_ids)
        order by g.id for no key update;
    exception when lock_not_available then
      return array_fill(null::payment_target, array[cardinality(p_ids)]);
    end;
  end if;
  return array(select case
      when g.id is null then row(null, refusal('NOT_FOUND', 'no such saving goal', 'reference_id'))::payment_target
      when g.user_id <> a.user_id then row(null, refusal('FORBIDDEN',
        'the saving goal is not yours', 'reference_id'))::payment_target
      when g.closed_at is not null then row(null, refusal('REQUEST_INVALID',
        'the saving goal is closed', 'reference_id'))::payment_target
      when g.status <> 'active' then row(null, refusal('REQUEST_INVALID',
        'the saving goal is completed', 'reference_id'))::payment_target
      when account_balance(g.account_id) + a.upto <= g.target_amount then row(g.account_id, null)::payment_target
      when a.upto = a.amount then row(null, refusal('REQUEST_INVALID',
        'it would exceed the target of the saving goal', 'amount'))::payment_target end
    from (select a.user_id, a.id, a.amount, a.place, sum(a.amount) over (partition by a.id, a.user_id order by a.place) as upto
      from unnest(p_user_ids, p_ids, p_amounts) with ordinality a (user_id, id, amount, place)) a
    left join lateral (select * from saving_goals g where g.id = a.id limit 1) g on true
    order by a.place);
end $function$;

CREATE OR REPLACE FUNCTION public.whole_table(p_table oid)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select c.relname::text from pg_class c
  where c.oid = coalesce((select i.inhparent from pg_inherits i where i.inhrelid = p_table), p_table)
$function$;

CREATE OR REPLACE FUNCTION public.write_journal(p_id uuid, p_business_key text, p_kind text, p_accounts uuid[], p_amounts numeric[])
 RETURNS boolean
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  debited uuid[];
  overdrawn uuid;
  dated timestamptz;
begin
  insert into journal_keys (business_key, journal_id) values (p_business_key, p_id)
    on conflict (business_key) do nothing;
  if not found then
    return false;
  end if;
  debited := array(select b.account_id from account_balances b
    where b.shard = 0 and b.account_id = any (array(
      select a.id from unnest(p_accounts, p_amounts) as entry (account_id, amount)
      join accounts a on a.id = entry.account_id where entry.amount < 0 and not a.may_go_negative))
    order by b.account_id for no key update);
  select d.account_id into overdrawn from unnest(debited) as d (account_id)
    where account_balance(d.account_id) + (select sum(entry.amount)
      from unnest(p_accounts, p_amounts) as entry (account_id, amount) where entry.account_id = d.account_id) < 0
    limit 1;
  if found then
    raise exception 'insufficient balance' using errcode = 'AM001', detail = overdrawn::text;
  end if;
  -- Not before its transaction began, also where the clock was set back meanwhile.
  dated := greatest(clock_timestamp(), transaction_timestamp());
  with journal as (
    insert into journals (id, business_key, kind, created_at) values (p_id, p_business_key, p_kind, dated))
  insert into postings (journal_id, account_id, amount, created_at)
    select p_id, entry.account_id, entry.amount, dated
    from unnest(p_accounts, p_amounts) as entry (account_id, amount) where entry.amount <> 0;
  return true;
end $function$;

CREATE OR REPLACE FUNCTION public.write_seal(p_number bigint, p_hash text, p_jws text, p_pass text, p_sealed_at timestamp with time zone, p_covers_until timestamp with time zone, p_journals uuid[])
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if p_sealed_at > clock_timestamp() or p_covers_until > p_sealed_at then
    raise exception 'a seal is made when it is made' using errcode = 'AM010', detail = p_sealed_at::text;
  end if;
  insert into seals (number, hash, jws, pass, last_journal_id, sealed_at, covers_until)
    values (p_number, p_hash, p_jws, p_pass, p_journals[cardinality(p_journals)], p_sealed_at, p_covers_until);
  insert into seal_journals (journal_id, seal_number) select unnest(p_journals), p_number;
end $function$;

-- Triggers

CREATE TRIGGER balances_are_kept BEFORE TRUNCATE ON account_balances FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER balances_begin_with_nothing BEFORE INSERT ON account_balances FOR EACH ROW WHEN (pg_trigger_depth() = 0 AND new.balance <> 0::numeric) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER balances_follow_postings BEFORE DELETE OR UPDATE ON account_balances FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION refuse_change();

CREATE TRIGGER account_has_balance AFTER INSERT ON accounts FOR EACH ROW EXECUTE FUNCTION open_balance();
CREATE TRIGGER account_kind_is_final BEFORE UPDATE OF id, kind, currency ON accounts FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER account_owner_is_final BEFORE UPDATE OF user_id, organization_id, owner_id ON accounts FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER accounts_are_kept BEFORE DELETE ON accounts FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER accounts_of_nobody_erased BEFORE INSERT ON accounts FOR EACH ROW WHEN (new.user_id IS NOT NULL) EXECUTE FUNCTION refuse_erased('user_id');
CREATE TRIGGER accounts_stay BEFORE TRUNCATE ON accounts FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER addresses_of_nobody_erased BEFORE INSERT ON addresses FOR EACH ROW EXECUTE FUNCTION refuse_erased('user_id');

CREATE TRIGGER bank_accounts_of_nobody_erased BEFORE INSERT ON bank_accounts FOR EACH ROW EXECUTE FUNCTION refuse_erased('user_id');

CREATE TRIGGER callback_keys_are_final BEFORE DELETE OR UPDATE ON callback_keys FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER callback_keys_are_kept BEFORE TRUNCATE ON callback_keys FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER cause_managers_of_nobody_erased BEFORE INSERT ON cause_managers FOR EACH ROW EXECUTE FUNCTION refuse_erased('user_id');

CREATE TRIGGER cause_remainders_are_final BEFORE DELETE OR UPDATE ON cause_remainders FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER totals_follow_donations BEFORE INSERT OR DELETE OR UPDATE ON cause_totals FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION refuse_change();

CREATE TRIGGER charitable_causes_of_nobody_erased BEFORE INSERT ON charitable_causes FOR EACH ROW EXECUTE FUNCTION refuse_erased('created_by');
CREATE TRIGGER charitable_causes_reopened_for_nobody_erased BEFORE UPDATE OF status ON charitable_causes FOR EACH ROW WHEN (new.owner_type = 'individual'::text AND new.status <> old.status AND (new.status <> ALL (ARRAY['completed'::text, 'cancelled'::text, 'rejected'::text, 'deactivated'::text]))) EXECUTE FUNCTION refuse_erased('created_by');
CREATE TRIGGER charitable_causes_status_law BEFORE INSERT OR UPDATE OF status ON charitable_causes FOR EACH ROW EXECUTE FUNCTION keep_status('status', '>pending', '*');
CREATE TRIGGER charitable_causes_take_money_for_people BEFORE INSERT OR UPDATE OF account_id ON charitable_causes FOR EACH ROW EXECUTE FUNCTION keep_account_kinds('account_id', 'user organization');

CREATE TRIGGER closed_days_are_final BEFORE DELETE OR UPDATE ON closed_days FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER closed_days_are_kept BEFORE TRUNCATE ON closed_days FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER closings_are_final BEFORE DELETE OR UPDATE ON closings FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER closings_are_kept BEFORE TRUNCATE ON closings FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER decisions_are_kept BEFORE DELETE ON decisions FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER decisions_status_law BEFORE INSERT OR UPDATE OF status ON decisions FOR EACH ROW EXECUTE FUNCTION keep_status('status', '>pending', 'pending>carried_out', 'pending>rejected', 'pending>lapsed', 'pending>refused');
CREATE TRIGGER decisions_two_people BEFORE INSERT OR UPDATE ON decisions FOR EACH ROW EXECUTE FUNCTION keep_decision();

CREATE TRIGGER document_uploads_of_nobody_erased BEFORE INSERT ON document_uploads FOR EACH ROW WHEN (NOT new.given_up) EXECUTE FUNCTION refuse_erased('user_id');

CREATE TRIGGER documents_of_nobody_erased BEFORE INSERT ON documents FOR EACH ROW EXECUTE FUNCTION refuse_erased('created_by');

CREATE TRIGGER allocations_are_final BEFORE DELETE OR UPDATE ON donation_allocations FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER donation_subscription_attempts_outcome_law BEFORE INSERT OR UPDATE OF outcome ON donation_subscription_attempts FOR EACH ROW EXECUTE FUNCTION keep_status('outcome', '>paid', '>refused');
CREATE TRIGGER subscription_attempts_are_final BEFORE DELETE OR UPDATE ON donation_subscription_attempts FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER donation_subscriptions_of_nobody_erased BEFORE INSERT ON donation_subscriptions FOR EACH ROW EXECUTE FUNCTION refuse_erased('user_id');
CREATE TRIGGER donation_subscriptions_status_law BEFORE INSERT OR UPDATE OF status ON donation_subscriptions FOR EACH ROW EXECUTE FUNCTION keep_status('status', '>active', 'active>stopped', 'active>failed');

CREATE TRIGGER changed_donations_are_counted AFTER UPDATE ON donations REFERENCING OLD TABLE AS old_donations NEW TABLE AS new_donations FOR EACH STATEMENT EXECUTE FUNCTION count_changed_donations();
CREATE TRIGGER donations_are_kept BEFORE DELETE ON donations FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER donations_status_law BEFORE INSERT OR UPDATE OF status ON donations FOR EACH ROW EXECUTE FUNCTION keep_status('status', '>pending', '>completed', 'pending>completed', 'pending>failed', 'completed>refunded');
CREATE TRIGGER donations_stay BEFORE TRUNCATE ON donations FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER new_donations_are_counted AFTER INSERT ON donations REFERENCING NEW TABLE AS new_donations FOR EACH STATEMENT EXECUTE FUNCTION count_new_donations();

CREATE TRIGGER erasures_are_kept BEFORE DELETE ON erasures FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER erasures_status_law BEFORE INSERT OR UPDATE OF status ON erasures FOR EACH ROW EXECUTE FUNCTION keep_status('status', '>waiting', '>erasing', 'waiting>erasing', 'waiting>stopped', 'erasing>erased', 'erased>complete');

CREATE TRIGGER journal_keys_are_final BEFORE DELETE OR UPDATE ON journal_keys FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER journal_keys_are_kept BEFORE TRUNCATE ON journal_keys FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER journals_are_final BEFORE DELETE OR UPDATE ON journals FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER journals_are_kept BEFORE TRUNCATE ON journals FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER keys_databases_are_final BEFORE DELETE OR UPDATE ON keys_databases FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER legal_holds_are_kept BEFORE DELETE ON legal_holds FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER legal_holds_stay_lifted BEFORE UPDATE ON legal_holds FOR EACH ROW WHEN (old.lifted_at IS NOT NULL) EXECUTE FUNCTION refuse_change();

CREATE TRIGGER official_documents_of_nobody_erased BEFORE INSERT ON official_documents FOR EACH ROW EXECUTE FUNCTION refuse_erased('user_id');
CREATE TRIGGER official_documents_verification_status_law BEFORE INSERT OR UPDATE OF verification_status ON official_documents FOR EACH ROW EXECUTE FUNCTION keep_status('verification_status', '>pending', '*');

CREATE TRIGGER organizations_status_law BEFORE INSERT OR UPDATE OF status ON organizations FOR EACH ROW EXECUTE FUNCTION keep_status('status', '>pending', '*');

CREATE TRIGGER partner_payments_are_kept BEFORE DELETE ON partner_payments FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER partner_payments_keep_their_cancellation BEFORE UPDATE OF cancelled_at ON partner_payments FOR EACH ROW WHEN (old.cancelled_at IS NOT NULL AND new.cancelled_at IS DISTINCT FROM old.cancelled_at) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER partner_payments_keep_their_instrument BEFORE UPDATE OF payment_code, provider_payment_request_id, provider_payment_method_id ON partner_payments FOR EACH ROW WHEN (num_nonnulls(old.payment_code, old.provider_payment_request_id, old.provider_payment_method_id) > 0 AND (old.payment_code IS DISTINCT FROM new.payment_code OR old.provider_payment_request_id IS DISTINCT FROM new.provider_payment_request_id OR old.provider_payment_method_id IS DISTINCT FROM new.provider_payment_method_id)) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER partner_payments_status_law BEFORE INSERT OR UPDATE OF status ON partner_payments FOR EACH ROW EXECUTE FUNCTION keep_status('status', '>PENDING', 'PENDING>WAITING_PAYMENT', 'PENDING>PAID', 'PENDING>FAILED', 'PENDING>EXPIRED', 'WAITING_PAYMENT>PAID', 'WAITING_PAYMENT>FAILED', 'WAITING_PAYMENT>EXPIRED');

CREATE TRIGGER partners_have_their_own_accounts BEFORE INSERT OR UPDATE OF available_account_id, pending_account_id, reserved_account_id ON partners FOR EACH ROW EXECUTE FUNCTION keep_own_accounts('available_account_id', 'partner_available', 'pending_account_id', 'partner_pending', 'reserved_account_id', 'partner_reserved');
CREATE TRIGGER partners_status_law BEFORE INSERT OR UPDATE OF status ON partners FOR EACH ROW EXECUTE FUNCTION keep_status('status', '>pending', '*');

CREATE TRIGGER payment_orders_are_kept BEFORE DELETE ON payment_orders FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER payment_orders_keep_their_cancellation BEFORE UPDATE OF cancelled_at ON payment_orders FOR EACH ROW WHEN (old.cancelled_at IS NOT NULL AND new.cancelled_at IS DISTINCT FROM old.cancelled_at) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER payment_orders_keep_their_instrument BEFORE UPDATE OF payment_code, provider_payment_request_id, provider_payment_method_id ON payment_orders FOR EACH ROW WHEN (num_nonnulls(old.payment_code, old.provider_payment_request_id, old.provider_payment_method_id) > 0 AND (old.payment_code IS DISTINCT FROM new.payment_code OR old.provider_payment_request_id IS DISTINCT FROM new.provider_payment_request_id OR old.provider_payment_method_id IS DISTINCT FROM new.provider_payment_method_id)) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER payment_orders_status_law BEFORE INSERT OR UPDATE OF status ON payment_orders FOR EACH ROW EXECUTE FUNCTION keep_status('status', '>PENDING', 'PENDING>WAITING_PAYMENT', 'PENDING>PAID', 'PENDING>FAILED', 'PENDING>EXPIRED', 'WAITING_PAYMENT>PAID', 'WAITING_PAYMENT>FAILED', 'WAITING_PAYMENT>EXPIRED');
CREATE TRIGGER payment_orders_take_money_for_people BEFORE INSERT OR UPDATE OF target_account_id ON payment_orders FOR EACH ROW EXECUTE FUNCTION keep_account_kinds('target_account_id', 'user organization open_donation_pool saving_goal product circle_holding');

CREATE TRIGGER payment_refunds_are_final BEFORE DELETE OR UPDATE ON payment_refunds FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER payment_refunds_give_back BEFORE INSERT ON payment_refunds FOR EACH ROW EXECUTE FUNCTION keep_payment_refund();

CREATE TRIGGER payout_attempts_outcome_law BEFORE INSERT OR UPDATE OF outcome ON payout_attempts FOR EACH ROW EXECUTE FUNCTION keep_status('outcome', '>accepted', '>refused', '>unknown', '>unsent');

CREATE TRIGGER payouts_are_kept BEFORE DELETE ON payouts FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER payouts_are_tallied AFTER INSERT ON payouts FOR EACH ROW WHEN (new.partner_id IS NOT NULL) EXECUTE FUNCTION tally_payout();
CREATE TRIGGER payouts_give_back_what_failed AFTER UPDATE ON payouts FOR EACH ROW WHEN (new.status = 'failed'::text AND old.status <> 'failed'::text) EXECUTE FUNCTION give_back_tally();
CREATE TRIGGER payouts_have_their_accounts BEFORE INSERT ON payouts FOR EACH ROW EXECUTE FUNCTION keep_payout_accounts();
CREATE TRIGGER payouts_keep_their_facts BEFORE UPDATE ON payouts FOR EACH ROW EXECUTE FUNCTION keep_payout();
CREATE TRIGGER payouts_keep_their_request BEFORE UPDATE ON payouts FOR EACH ROW WHEN (old.request_digest IS NOT NULL AND new.request_digest IS DISTINCT FROM old.request_digest) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER payouts_keep_their_success BEFORE UPDATE OF succeeded_at ON payouts FOR EACH ROW WHEN (old.succeeded_at IS NOT NULL AND new.succeeded_at IS DISTINCT FROM old.succeeded_at) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER payouts_status_law BEFORE INSERT OR UPDATE OF status ON payouts FOR EACH ROW EXECUTE FUNCTION keep_status('status', '>pending', 'pending>succeeded', 'pending>failed', 'succeeded>reversed');
CREATE TRIGGER payouts_status_proof BEFORE UPDATE OF status ON payouts FOR EACH ROW WHEN (old.status IS DISTINCT FROM new.status) EXECUTE FUNCTION keep_payouts_end();

CREATE TRIGGER postings_are_applied AFTER INSERT ON postings REFERENCING NEW TABLE AS new_postings FOR EACH STATEMENT EXECUTE FUNCTION apply_postings();
CREATE TRIGGER postings_are_final BEFORE DELETE OR UPDATE ON postings FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER postings_are_kept BEFORE TRUNCATE ON postings FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER products_of_nobody_erased BEFORE INSERT ON products FOR EACH ROW EXECUTE FUNCTION refuse_erased('created_by');
CREATE TRIGGER products_status_law BEFORE INSERT OR UPDATE OF status ON products FOR EACH ROW EXECUTE FUNCTION keep_status('status', '>open', 'open>closed', 'open>completed', 'closed>open', 'completed>open', 'completed>closed');

CREATE TRIGGER receipts_are_kept BEFORE DELETE ON receipts FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER receipts_state_law BEFORE INSERT OR UPDATE OF state ON receipts FOR EACH ROW EXECUTE FUNCTION keep_status('state', '>applied', '>suspended', 'suspended>credited', 'suspended>refunded');

CREATE TRIGGER reconciled_days_phase_law BEFORE INSERT OR UPDATE OF phase ON reconciled_days FOR EACH ROW EXECUTE FUNCTION keep_status('phase', '>records', 'records>transfers', 'records>payments', 'transfers>payments', 'transfers>records', 'payments>records');
CREATE TRIGGER reconciled_days_state_law BEFORE INSERT OR UPDATE OF state ON reconciled_days FOR EACH ROW EXECUTE FUNCTION keep_status('state', '>pending', 'pending>running', 'running>pending', 'running>done', 'done>running');

CREATE TRIGGER reconciliations_state_law BEFORE INSERT OR UPDATE OF state ON reconciliations FOR EACH ROW EXECUTE FUNCTION keep_status('state', '>open', 'open>explained', 'open>resolved', 'explained>open', 'resolved>open', 'resolved>explained');

CREATE TRIGGER revoked_tokens_are_kept BEFORE INSERT ON revoked_tokens FOR EACH ROW EXECUTE FUNCTION keep_revoked_token();

CREATE TRIGGER role_gains_permissions AFTER INSERT ON role_permissions REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION keep_permission_names();
CREATE TRIGGER role_loses_permissions AFTER DELETE ON role_permissions REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION keep_permission_names();

CREATE TRIGGER contributions_are_kept BEFORE DELETE ON saving_circle_contributions FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER contributions_keep_their_facts BEFORE UPDATE ON saving_circle_contributions FOR EACH ROW EXECUTE FUNCTION keep_contribution();
CREATE TRIGGER saving_circle_contributions_status_law BEFORE INSERT OR UPDATE OF status ON saving_circle_contributions FOR EACH ROW EXECUTE FUNCTION keep_status('status', '>pending', '>completed', 'pending>completed', 'pending>failed', 'pending>cancelled', 'pending>refunded', 'completed>refunded', 'cancelled>refunded');
CREATE TRIGGER saving_circle_contributions_to_people BEFORE INSERT OR UPDATE OF refund_account_id ON saving_circle_contributions FOR EACH ROW EXECUTE FUNCTION keep_account_kinds('refund_account_id', 'user organization');

CREATE TRIGGER covers_are_final BEFORE DELETE OR UPDATE ON saving_circle_covers FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER places_pass_over_as_agreed BEFORE UPDATE OF user_id, account_id ON saving_circle_members FOR EACH ROW EXECUTE FUNCTION keep_place();
CREATE TRIGGER saving_circle_members_of_nobody_erased BEFORE INSERT OR UPDATE OF user_id ON saving_circle_members FOR EACH ROW EXECUTE FUNCTION refuse_erased('user_id');
CREATE TRIGGER saving_circle_members_take_money_as_people BEFORE INSERT OR UPDATE OF account_id ON saving_circle_members FOR EACH ROW EXECUTE FUNCTION keep_account_kinds('account_id', 'user organization');

CREATE TRIGGER saving_circle_replacements_status_law BEFORE INSERT OR UPDATE OF status ON saving_circle_replacements FOR EACH ROW EXECUTE FUNCTION keep_status('status', '>pending', 'pending>completed', 'pending>withdrawn');

CREATE TRIGGER rounds_are_kept BEFORE DELETE ON saving_circle_rounds FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER saving_circle_rounds_are_looked_at BEFORE UPDATE OF due_at ON saving_circle_rounds FOR EACH ROW EXECUTE FUNCTION look_at_round();

CREATE TRIGGER saving_circle_settlements_to_people BEFORE INSERT ON saving_circle_settlements FOR EACH ROW EXECUTE FUNCTION keep_account_kinds('account_id', 'user organization');
CREATE TRIGGER settlements_are_final BEFORE DELETE OR UPDATE ON saving_circle_settlements FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER saving_circle_standing_orders_of_people BEFORE INSERT OR UPDATE OF source_account_id ON saving_circle_standing_orders FOR EACH ROW EXECUTE FUNCTION keep_account_kinds('source_account_id', 'user organization');

CREATE TRIGGER circles_are_kept BEFORE DELETE ON saving_circles FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER saving_circles_hold_in_their_own_account BEFORE INSERT OR UPDATE OF holding_account_id ON saving_circles FOR EACH ROW EXECUTE FUNCTION keep_own_accounts('holding_account_id', 'circle_holding');
CREATE TRIGGER saving_circles_of_nobody_erased BEFORE INSERT ON saving_circles FOR EACH ROW EXECUTE FUNCTION refuse_erased('created_by');
CREATE TRIGGER saving_circles_status_law BEFORE INSERT OR UPDATE OF status ON saving_circles FOR EACH ROW EXECUTE FUNCTION keep_status('status', '>new', 'new>active', 'new>cancelled', 'active>completed', 'active>cancelled');
CREATE TRIGGER saving_circles_when_they_start BEFORE INSERT OR UPDATE OF start_date ON saving_circles FOR EACH ROW EXECUTE FUNCTION keep_start_date();

CREATE TRIGGER saving_goal_orders_status_law BEFORE INSERT OR UPDATE OF status ON saving_goal_orders FOR EACH ROW EXECUTE FUNCTION keep_status('status', '>pending', 'pending>completed', 'pending>failed', 'pending>cancelled');

CREATE TRIGGER saving_goals_keep_their_own BEFORE INSERT OR UPDATE OF account_id ON saving_goals FOR EACH ROW EXECUTE FUNCTION keep_own_accounts('account_id', 'saving_goal');
CREATE TRIGGER saving_goals_of_nobody_erased BEFORE INSERT ON saving_goals FOR EACH ROW EXECUTE FUNCTION refuse_erased('user_id');
CREATE TRIGGER saving_goals_release_to_their_saver BEFORE INSERT OR UPDATE OF released_to ON saving_goals FOR EACH ROW WHEN (new.released_to IS NOT NULL) EXECUTE FUNCTION keep_release_with_saver();
CREATE TRIGGER saving_goals_status_law BEFORE INSERT OR UPDATE OF status ON saving_goals FOR EACH ROW EXECUTE FUNCTION keep_status('status', '>active', 'active>completed', 'completed>active');
CREATE TRIGGER saving_goals_stay_closed BEFORE UPDATE OF closed_at, released_to ON saving_goals FOR EACH ROW WHEN (old.closed_at IS NOT NULL AND (new.closed_at IS DISTINCT FROM old.closed_at OR new.released_to IS DISTINCT FROM old.released_to)) EXECUTE FUNCTION refuse_change();

CREATE TRIGGER seal_journals_are_final BEFORE DELETE OR UPDATE ON seal_journals FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER seal_journals_are_kept BEFORE TRUNCATE ON seal_journals FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER seals_are_final BEFORE DELETE OR UPDATE ON seals FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER seals_are_kept BEFORE TRUNCATE ON seals FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER second_factors_of_nobody_erased BEFORE INSERT ON second_factors FOR EACH ROW EXECUTE FUNCTION refuse_erased('id');

CREATE TRIGGER token_signing_keys_end BEFORE UPDATE OF published_until ON token_signing_keys FOR EACH ROW WHEN (old.published_until IS NOT NULL AND (new.published_until IS NULL OR new.published_until > old.published_until)) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER token_signing_keys_end_later BEFORE INSERT OR UPDATE OF published_until ON token_signing_keys FOR EACH ROW WHEN (new.published_until < transaction_timestamp()) EXECUTE FUNCTION refuse_change();

CREATE TRIGGER counts_follow_transactions BEFORE INSERT OR DELETE OR UPDATE ON transaction_counts FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION refuse_change();

CREATE TRIGGER lists_follow_transactions BEFORE INSERT OR DELETE OR UPDATE ON transaction_organizations FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION refuse_change();

CREATE TRIGGER received_follow_transactions BEFORE INSERT OR DELETE OR UPDATE ON transaction_receivers FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION refuse_change();

CREATE TRIGGER transactions_are_final BEFORE DELETE OR UPDATE ON transactions FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER transactions_are_kept BEFORE TRUNCATE ON transactions FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER transactions_are_listed AFTER INSERT ON transactions REFERENCING NEW TABLE AS new_transactions FOR EACH STATEMENT EXECUTE FUNCTION list_transactions();
CREATE TRIGGER transactions_status_law BEFORE INSERT OR UPDATE OF status ON transactions FOR EACH ROW EXECUTE FUNCTION keep_status('status', '>successful', '>reversed');

CREATE TRIGGER users_are_forgotten AFTER UPDATE OF erased_at ON users FOR EACH ROW WHEN (old.erased_at IS NULL AND new.erased_at IS NOT NULL) EXECUTE FUNCTION forget_person();
CREATE TRIGGER users_are_kept BEFORE DELETE ON users FOR EACH ROW WHEN (old.status <> 'invited'::text) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER users_status_law BEFORE INSERT OR UPDATE OF status ON users FOR EACH ROW EXECUTE FUNCTION keep_status('status', '>invited', '>active', 'invited>active', 'active>suspended', 'suspended>active');
CREATE TRIGGER users_stay_erased BEFORE UPDATE ON users FOR EACH ROW WHEN (old.erased_at IS NOT NULL AND (new.erased_at IS DISTINCT FROM old.erased_at OR new.status <> 'suspended'::text)) EXECUTE FUNCTION refuse_change();

CREATE TRIGGER webhook_deliveries_status_law BEFORE INSERT OR UPDATE OF status ON webhook_deliveries FOR EACH ROW EXECUTE FUNCTION keep_status('status', '>pending', 'pending>delivered', 'pending>parked', 'delivered>pending', 'parked>pending');

CREATE TRIGGER webhook_endpoints_status_law BEFORE INSERT OR UPDATE OF status ON webhook_endpoints FOR EACH ROW EXECUTE FUNCTION keep_status('status', '>enabled', '>disabled', 'enabled>disabled', 'disabled>enabled');

CREATE TRIGGER webhook_version_keys_are_final BEFORE DELETE OR UPDATE ON webhook_version_keys FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER webhook_version_keys_are_kept BEFORE TRUNCATE ON webhook_version_keys FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER withdrawals_are_final BEFORE DELETE OR UPDATE ON withdrawals FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER withdrawals_are_of_one_owner BEFORE INSERT ON withdrawals FOR EACH ROW EXECUTE FUNCTION keep_withdrawal();
CREATE TRIGGER withdrawals_are_tallied AFTER INSERT ON withdrawals FOR EACH ROW EXECUTE FUNCTION tally_payout();

-- Views

create view check_allocations_match_donations as
 SELECT a.id AS batch_id,
    a.donation_count,
    d.count,
    a.total_amount,
    d.amount,
    p.amount AS posted
   FROM donation_allocations a
     JOIN charitable_causes c ON c.id = a.cause_id
     LEFT JOIN LATERAL ( SELECT count(*) AS count,
            sum(donations.amount) AS amount
           FROM donations
          WHERE donations.allocation_batch_id = a.id AND donations.cause_id = a.cause_id) d ON true
     LEFT JOIN LATERAL ( SELECT sum(postings.amount) AS amount
           FROM postings
          WHERE postings.journal_id = a.journal_id AND postings.account_id = c.account_id) p ON true
  WHERE a.created_at >= checks_since_time() AND (a.donation_count <> d.count OR a.total_amount IS DISTINCT FROM d.amount OR a.total_amount IS DISTINCT FROM p.amount)
UNION ALL
 SELECT d.allocation_batch_id AS batch_id,
    NULL::integer AS donation_count,
    count(*) AS count,
    NULL::numeric AS total_amount,
    sum(d.amount) AS amount,
    NULL::numeric AS posted
   FROM donations d
  WHERE d.allocation_batch_id IS NOT NULL AND d.updated_at >= checks_since_time() AND NOT (EXISTS ( SELECT
           FROM donation_allocations a
          WHERE a.id = d.allocation_batch_id))
  GROUP BY d.allocation_batch_id;

create view check_balances_match_postings as
 SELECT account_id,
    COALESCE(b.balance, 0::numeric) AS balance,
    COALESCE(p.balance, 0::numeric) AS postings
   FROM ( SELECT account_balances.account_id,
            sum(account_balances.balance) AS balance
           FROM account_balances
          GROUP BY account_balances.account_id) b
     FULL JOIN ( SELECT postings.account_id,
            sum(postings.amount) AS balance
           FROM postings
          GROUP BY postings.account_id) p USING (account_id)
  WHERE checks_read_all() AND COALESCE(b.balance, 0::numeric) <> COALESCE(p.balance, 0::numeric)
UNION ALL
 SELECT NULL::uuid AS account_id,
    sum(account_balances.balance) AS balance,
    0 AS postings
   FROM account_balances
 HAVING sum(account_balances.balance) <> 0::numeric;

create view check_callbacks_have_their_keys as
 SELECT c.id AS callback_id,
    k.callback_id AS key_callback_id,
    webhook_id
   FROM ( SELECT gateway_callbacks.id,
            gateway_callbacks.webhook_id,
            gateway_callbacks.body_digest
           FROM gateway_callbacks
          WHERE gateway_callbacks.id >= checks_since()) c
     FULL JOIN ( SELECT callback_keys.webhook_id,
            callback_keys.body_digest,
            callback_keys.callback_id
           FROM callback_keys
          WHERE callback_keys.callback_id >= checks_since()) k USING (webhook_id, body_digest)
  WHERE c.id IS DISTINCT FROM k.callback_id AND NOT (c.id IS NULL AND (EXISTS ( SELECT
           FROM archived_months a
          WHERE a.table_name = 'gateway_callbacks'::text AND k.callback_id >= a.first_id AND k.callback_id < a.next_id)));

create view check_cause_totals_match_donations as
 SELECT cause_id,
    t.donated,
    t.donations,
    d.amount AS received,
    d.count AS rows
   FROM ( SELECT cause_totals.cause_id,
            sum(cause_totals.donated) AS donated,
            sum(cause_totals.donations) AS donations
           FROM cause_totals
          GROUP BY cause_totals.cause_id) t
     FULL JOIN ( SELECT donations.cause_id,
            sum(donations.amount) AS amount,
            count(*) AS count
           FROM donations
          WHERE donations.status = 'completed'::text AND donations.cause_id IS NOT NULL
          GROUP BY donations.cause_id) d USING (cause_id)
  WHERE checks_read_all() AND (COALESCE(t.donated, 0::numeric) <> COALESCE(d.amount, 0::numeric) OR COALESCE(t.donations, 0::numeric) <> COALESCE(d.count, 0::bigint)::numeric)
UNION ALL
 SELECT d.cause_id,
    NULL::numeric AS donated,
    NULL::numeric AS donations,
    NULL::numeric AS received,
    count(*) AS rows
   FROM donations d
  WHERE d.cause_id IS NOT NULL AND d.updated_at >= checks_since_time() AND NOT (EXISTS ( SELECT
           FROM charitable_causes c
          WHERE c.id = d.cause_id))
  GROUP BY d.cause_id;

create view check_causes_keep_what_was_given as
 WITH held AS NOT MATERIALIZED (
         SELECT charitable_causes.account_id
           FROM charitable_causes
          WHERE checks_read_all()
          GROUP BY charitable_causes.account_id
        UNION ALL
         SELECT DISTINCT p.account_id
           FROM postings p
             CROSS JOIN LATERAL ( SELECT
                   FROM charitable_causes c_1
                  WHERE c_1.account_id = p.account_id
                 LIMIT 1) c
          WHERE NOT checks_read_all() AND p.journal_id >= checks_since()
        )
 SELECT h.account_id,
    k.kept,
    account_balance(h.account_id) AS balance
   FROM held h
     CROSS JOIN LATERAL ( SELECT sum(disbursable_of_cause(c.id)) AS kept
           FROM charitable_causes c
          WHERE c.account_id = h.account_id) k
  WHERE k.kept > account_balance(h.account_id);

create view check_circle_contributions_once as
 SELECT saving_circle_id,
    member_id,
    turn_number,
    count(*) AS contributions
   FROM saving_circle_contributions
  WHERE (status = ANY (ARRAY['pending'::text, 'completed'::text])) AND updated_at >= checks_since_time()
  GROUP BY saving_circle_id, member_id, turn_number
 HAVING count(*) > 1;

create view check_circle_contributions_posted as
 SELECT c.id AS contribution_id,
    c.status,
    'its price row is missing or differs'::text AS problem
   FROM saving_circle_contributions c
     LEFT JOIN transactions t ON t.id = c.transaction_id
  WHERE c.transaction_id IS NOT NULL AND c.updated_at >= checks_since_time() AND (t.id IS NULL OR t.amount <> (c.amount + c.guarantee_amount) OR t.type <> 'price'::text OR t.user_id <> c.user_id OR t.reference_type <> 'saving_circle'::text OR t.reference_id <> c.saving_circle_id)
UNION ALL
 SELECT c.id AS contribution_id,
    c.status,
    'its refund was posted in another amount, or nowhere'::text AS problem
   FROM saving_circle_contributions c
  WHERE c.status = 'refunded'::text AND c.updated_at >= checks_since_time() AND NOT (EXISTS ( SELECT
           FROM postings p
          WHERE p.journal_id = c.refund_journal_id AND p.account_id = c.refund_account_id AND p.amount = c.refunded_amount));

create view check_circle_pots_paid_once as
 SELECT r.saving_circle_id,
    r.turn_number,
    r.amount,
    c.amount + g.amount AS contributed,
    p.amount AS posted
   FROM saving_circle_rounds r
     JOIN saving_circles s ON s.id = r.saving_circle_id
     JOIN saving_circle_members m ON m.id = r.receiver_member_id
     LEFT JOIN LATERAL ( SELECT COALESCE(sum(saving_circle_contributions.amount), 0::numeric) AS amount,
            count(*) AS count
           FROM saving_circle_contributions
          WHERE saving_circle_contributions.saving_circle_id = r.saving_circle_id AND saving_circle_contributions.turn_number = r.turn_number AND saving_circle_contributions.status = 'completed'::text) c ON true
     LEFT JOIN LATERAL ( SELECT COALESCE(sum(saving_circle_covers.amount), 0::numeric) AS amount,
            count(DISTINCT saving_circle_covers.debtor_member_id) AS count
           FROM saving_circle_covers
          WHERE saving_circle_covers.saving_circle_id = r.saving_circle_id AND saving_circle_covers.turn_number = r.turn_number) g ON true
     LEFT JOIN LATERAL ( SELECT k.journal_id
           FROM journal_keys k
          WHERE k.business_key = (((('saving-circle/'::text || r.saving_circle_id) || '/turn/'::text) || r.turn_number) || '/pot'::text)
         LIMIT 1) j ON true
     LEFT JOIN LATERAL ( SELECT sum(postings.amount) AS amount
           FROM postings
          WHERE postings.journal_id = j.journal_id AND (postings.account_id = ANY (ARRAY[m.account_id, ( SELECT t.destination_account_id
                   FROM transactions t
                  WHERE t.batch_id = j.journal_id)]))) p ON true
  WHERE COALESCE(s.ended_at, 'infinity'::timestamp with time zone) >= checks_since_time() AND (r.journal_id IS DISTINCT FROM j.journal_id OR (r.paid_at IS NOT NULL OR s.status = 'active'::text) AND m.turn_number IS DISTINCT FROM r.turn_number OR r.paid_at IS NOT NULL AND (r.amount IS DISTINCT FROM (c.amount + g.amount) OR r.amount IS DISTINCT FROM p.amount OR (c.count + g.count) <> (( SELECT count(*) AS count
           FROM saving_circle_members n
          WHERE n.saving_circle_id = r.saving_circle_id AND COALESCE(n.excluded_turn > r.turn_number, true)))));

create view check_circle_states as
 SELECT s.id AS saving_circle_id,
    s.status,
    'a completed circle has paid every turn from its first to its last'::text AS problem
   FROM saving_circles s
  WHERE s.status = 'completed'::text AND COALESCE(s.ended_at, 'infinity'::timestamp with time zone) >= checks_since_time() AND (( SELECT count(*) AS count
           FROM saving_circle_members m
          WHERE m.saving_circle_id = s.id AND m.turn_number >= s.first_turn)) <> (( SELECT count(*) AS count
           FROM saving_circle_rounds r
          WHERE r.saving_circle_id = s.id AND r.paid_at IS NOT NULL))
UNION ALL
 SELECT s.id AS saving_circle_id,
    s.status,
    'an active circle has one open round, or knows when the next one opens'::text AS problem
   FROM saving_circles s
  WHERE s.status = 'active'::text AND COALESCE(s.ended_at, 'infinity'::timestamp with time zone) >= checks_since_time() AND (s.next_opens_at IS NULL) <> ((EXISTS ( SELECT
           FROM saving_circle_rounds r
          WHERE r.saving_circle_id = s.id AND r.paid_at IS NULL AND r.turn_number = s.current_turn)))
UNION ALL
 SELECT s.id AS saving_circle_id,
    s.status,
    'members have turns once the circle has started, and not before'::text AS problem
   FROM saving_circles s
  WHERE COALESCE(s.ended_at, 'infinity'::timestamp with time zone) >= checks_since_time() AND (EXISTS ( SELECT
           FROM saving_circle_members m
          WHERE m.saving_circle_id = s.id AND (m.turn_number IS NULL) <> (s.started_at IS NULL) AND m.excluded_turn IS NULL))
UNION ALL
 SELECT s.id AS saving_circle_id,
    s.status,
    'nothing is pending in a circle that has ended'::text AS problem
   FROM saving_circles s
  WHERE s.ended_at IS NOT NULL AND COALESCE(s.ended_at, 'infinity'::timestamp with time zone) >= checks_since_time() AND (EXISTS ( SELECT
           FROM saving_circle_contributions c
          WHERE c.saving_circle_id = s.id AND c.status = 'pending'::text))
UNION ALL
 SELECT s.id AS saving_circle_id,
    s.status,
    'a circle has at most as many members as its capacity'::text AS problem
   FROM saving_circles s
  WHERE COALESCE(s.ended_at, 'infinity'::timestamp with time zone) >= checks_since_time() AND s.capacity < (( SELECT count(*) AS count
           FROM saving_circle_members m
          WHERE m.saving_circle_id = s.id));

create view check_closed_goals_are_empty as
 SELECT g.id AS saving_goal_id,
    account_balance(g.account_id) AS held,
    NULL::uuid AS journal_id
   FROM saving_goals g
  WHERE g.closed_at >= checks_since_time() AND account_balance(g.account_id) <> 0::numeric
UNION ALL
 SELECT g.id AS saving_goal_id,
    NULL::numeric AS held,
    p.journal_id
   FROM saving_goals g
     JOIN postings p ON p.account_id = g.account_id AND p.amount < 0::numeric
  WHERE p.journal_id >= checks_since() AND NOT (EXISTS ( SELECT
           FROM postings r
          WHERE r.journal_id = p.journal_id AND r.account_id = g.released_to AND r.amount = (- p.amount)));

create view check_closings_match_postings as
 WITH closed AS (
         SELECT max(closed_days.day) AS day
           FROM closed_days
        ), told AS (
         SELECT closings.account_id,
            closings.day,
            closings.balance - COALESCE(lag(closings.balance) OVER (PARTITION BY closings.account_id ORDER BY closings.day), 0::numeric) AS amount
           FROM closings
        ), posted AS (
         SELECT p.account_id,
            (p.created_at AT TIME ZONE '07:00:00'::interval)::date AS day,
            sum(p.amount) AS amount
           FROM postings p
          WHERE p.created_at < (( SELECT end_of_day(closed.day) AS end_of_day
                   FROM closed))
          GROUP BY p.account_id, ((p.created_at AT TIME ZONE '07:00:00'::interval)::date)
        )
 SELECT account_id,
    day,
    told.amount AS closed,
    posted.amount AS posted
   FROM told
     FULL JOIN posted USING (account_id, day)
  WHERE checks_read_all() AND told.amount IS DISTINCT FROM posted.amount;

create view check_completed_targets_are_reached as
 SELECT g.id,
    'saving goal'::text AS thing,
    account_balance(g.account_id) AS held,
    g.target_amount
   FROM saving_goals g
  WHERE g.status = 'completed'::text AND g.closed_at IS NULL AND g.updated_at >= checks_since_time() AND account_balance(g.account_id) < g.target_amount
UNION ALL
 SELECT p.id,
    'product'::text AS thing,
    account_balance(p.account_id) AS held,
    p.target_amount
   FROM products p
  WHERE p.status = 'completed'::text AND (p.target_amount IS NULL OR account_balance(p.account_id) < p.target_amount);

create view check_decisions_were_carried_out as
 SELECT d.id AS decision_id,
    d.kind,
    missing_of_decision(d.*) AS problem
   FROM decisions d
  WHERE d.status = 'carried_out'::text AND d.ended_at >= checks_since_time() AND missing_of_decision(d.*) IS NOT NULL
UNION ALL
 SELECT d.id AS decision_id,
    d.kind,
    'nobody approved it, and the provider did not say so'::text AS problem
   FROM decisions d
  WHERE d.kind = 'settle_payout'::text AND d.status = 'carried_out'::text AND d.ended_at >= checks_since_time() AND d.approved_by IS NULL AND NOT (EXISTS ( SELECT
           FROM payout_words w
          WHERE w.payout_id = d.payout_id AND outcome_of_word(w.said) = d.outcome))
UNION ALL
 SELECT NULL::uuid AS decision_id,
    'settle_payout'::text AS kind,
    ('the payout '::text || p.id) || ' was ended by an operator without a decision'::text AS problem
   FROM payouts p
  WHERE p.failure_code = 'SETTLED_BY_OPERATOR'::text AND p.updated_at >= checks_since_time() AND NOT (EXISTS ( SELECT
           FROM payout_words w
          WHERE w.payout_id = p.id AND outcome_of_word(w.said) = 'failed'::text)) AND NOT (EXISTS ( SELECT
           FROM decisions d
          WHERE d.payout_id = p.id AND d.status = 'carried_out'::text))
UNION ALL
 SELECT NULL::uuid AS decision_id,
    'settle_receipt'::text AS kind,
    ('the receipt '::text || r.id) || ' has ended without a decision'::text AS problem
   FROM receipts r
  WHERE (r.state = ANY (ARRAY['credited'::text, 'refunded'::text])) AND COALESCE(r.settled_at, 'infinity'::timestamp with time zone) >= checks_since_time() AND NOT (EXISTS ( SELECT
           FROM decisions d
          WHERE d.receipt_id = r.id AND d.status = 'carried_out'::text AND d.approved_by IS NOT NULL))
UNION ALL
 SELECT NULL::uuid AS decision_id,
    'book_external'::text AS kind,
    ('the journal '::text || j.id) || ' has no decision'::text AS problem
   FROM journals j
  WHERE j.kind = 'platform.external'::text AND j.id >= checks_since() AND NOT (EXISTS ( SELECT
           FROM decisions d
          WHERE j.business_key = ('platform-external/'::text || d.reference::text) AND d.status = 'carried_out'::text));

create view check_disbursements_wait_for_their_decision as
 SELECT d.withdrawal_id,
    d.status,
    p.status AS payout_status
   FROM decisions d
     JOIN payouts p ON p.id = d.withdrawal_id
  WHERE d.status <> 'carried_out'::text AND d.withdrawal_id IS NOT NULL AND ((p.status = ANY (ARRAY['succeeded'::text, 'reversed'::text])) OR (EXISTS ( SELECT
           FROM payout_attempts a
          WHERE a.payout_id = p.id)));

create view check_donations_posted_once as
 SELECT d.id AS donation_id,
    'the price row of the donation is missing or differs'::text AS problem
   FROM donations d
     LEFT JOIN transactions t ON t.id = d.transaction_id
  WHERE d.transaction_id IS NOT NULL AND d.updated_at >= checks_since_time() AND (t.id IS NULL OR t.amount <> d.amount OR t.type <> 'price'::text OR t.user_id <> d.user_id OR t.reference_type <> 'donation'::text)
UNION ALL
 SELECT min(d.id::text)::uuid AS donation_id,
    'several donations share transaction '::text || d.transaction_id AS problem
   FROM donations d
  WHERE d.transaction_id IS NOT NULL AND d.updated_at >= checks_since_time()
  GROUP BY d.transaction_id
 HAVING count(*) > 1
UNION ALL
 SELECT d.id AS donation_id,
    'the reversed row of the donation is missing or differs'::text AS problem
   FROM donations d
     LEFT JOIN transactions t ON t.id = d.refund_transaction_id
  WHERE d.refund_transaction_id IS NOT NULL AND d.updated_at >= checks_since_time() AND (t.id IS NULL OR t.amount <> d.amount OR t.type <> 'price'::text OR t.user_id <> d.user_id OR t.reference_type <> 'donation'::text OR t.status <> 'reversed'::text OR t.batch_id IS DISTINCT FROM (( SELECT k.journal_id
           FROM journal_keys k
          WHERE k.business_key = (('donation/'::text || d.id) || '/refunded'::text))))
UNION ALL
 SELECT unexplained.id AS donation_id,
    'a transaction into a cause or the pool has no donation'::text AS problem
   FROM ( SELECT t.id
           FROM transactions t
          WHERE t.reference_type = 'donation'::text AND t.type = 'price'::text AND t.created_at >= checks_since_time() AND (t.reference_id = '00000000-0000-4000-8000-000000000005'::uuid OR (t.reference_id IN ( SELECT c.id
                   FROM charitable_causes c)))
        EXCEPT
         SELECT d.transaction_id
           FROM donations d
          WHERE d.transaction_id IS NOT NULL AND d.updated_at >= checks_since_time()
        EXCEPT
         SELECT d.refund_transaction_id
           FROM donations d
          WHERE d.refund_transaction_id IS NOT NULL AND d.updated_at >= checks_since_time()
        EXCEPT
         SELECT t.id
           FROM donation_allocations a
             JOIN transactions t ON t.batch_id = a.journal_id
          WHERE t.created_at >= checks_since_time()) unexplained;

create view check_goal_orders_follow_orders as
 SELECT g.payment_order_id,
    g.status,
    o.status AS order_status
   FROM saving_goal_orders g
     JOIN payment_orders o ON o.id = g.payment_order_id
  WHERE o.updated_at >= checks_since_time() AND g.status <>
        CASE o.status
            WHEN 'PAID'::text THEN 'completed'::text
            WHEN 'FAILED'::text THEN 'failed'::text
            WHEN 'EXPIRED'::text THEN 'cancelled'::text
            ELSE 'pending'::text
        END;

create view check_idempotency_keys_complete as
 SELECT user_id,
    resource_id
   FROM idempotency_keys k
  WHERE answer_status IS NULL AND created_at >= (now() - '30 days'::interval) AND created_at <= (now() - '01:00:00'::interval) AND created_at >= checks_since_time() AND NOT (EXISTS ( SELECT
           FROM payment_orders o
          WHERE o.id = k.resource_id)) AND NOT (EXISTS ( SELECT
           FROM users u
          WHERE u.id = k.user_id AND u.erased_at IS NOT NULL));

create view check_journals_are_sealed as
 SELECT id AS journal_id,
    created_at
   FROM journals j
  WHERE checks_read_all() AND created_at < (now() - '2 days'::interval) AND NOT (EXISTS ( SELECT
           FROM seal_journals s
          WHERE s.journal_id = j.id));

create view check_journals_balance as
 SELECT j.id AS journal_id,
    count(p.id) AS postings,
    COALESCE(sum(p.amount), 0::numeric) AS sum
   FROM journals j
     LEFT JOIN postings p ON p.journal_id = j.id AND p.journal_id >= checks_since()
  WHERE j.id >= checks_since()
  GROUP BY j.id
 HAVING count(p.id) < 2 OR sum(p.amount) <> 0::numeric;

create view check_journals_have_their_keys as
 SELECT j.id AS journal_id,
    k.journal_id AS key_journal_id,
    COALESCE(j.business_key, k.business_key) AS business_key
   FROM ( SELECT journals.id,
            journals.business_key
           FROM journals
          WHERE journals.id >= checks_since()) j
     FULL JOIN ( SELECT journal_keys.business_key,
            journal_keys.journal_id
           FROM journal_keys
          WHERE journal_keys.journal_id >= checks_since()) k ON k.business_key = j.business_key
  WHERE j.id IS DISTINCT FROM k.journal_id;

create view check_ledger_rows_have_parents as
 SELECT p.id::text AS id,
    'a posting without its journal'::text AS problem
   FROM postings p
  WHERE p.journal_id >= checks_since() AND NOT (EXISTS ( SELECT
           FROM journals j
          WHERE j.id = p.journal_id AND j.id >= checks_since()))
UNION ALL
 SELECT t.id::text AS id,
    'a transaction without its journal'::text AS problem
   FROM transactions t
  WHERE t.batch_id >= checks_since() AND NOT (EXISTS ( SELECT
           FROM journals j
          WHERE j.id = t.batch_id AND j.id >= checks_since()))
UNION ALL
 SELECT t.id::text AS id,
    'a transaction without its user'::text AS problem
   FROM transactions t
  WHERE t.batch_id >= checks_since() AND NOT (EXISTS ( SELECT
           FROM users u
          WHERE u.id = t.user_id));

create view check_months_are_made as
 SELECT table_name,
    problem
   FROM find_month_problems() find_month_problems(table_name, problem);

create view check_no_forbidden_negative as
 SELECT a.id AS account_id,
    a.kind,
    sum(b.balance) AS balance
   FROM accounts a
     JOIN account_balances b ON b.account_id = a.id
  WHERE NOT a.may_go_negative
  GROUP BY a.id
 HAVING sum(b.balance) < 0::numeric OR min(b.balance) FILTER (WHERE b.shard > 0) < 0::numeric;

create view check_official_documents_name_documents_of_their_owner as
 SELECT o.id AS official_document_id,
    o.document_id
   FROM official_documents o
     JOIN documents d ON d.id = o.document_id
  WHERE d.created_by <> o.user_id AND o.updated_at >= checks_since_time();

create view check_open_pool_matches_donations as
 SELECT pool.balance,
    unallocated.amount AS unallocated,
    credited.amount AS credited_from_suspense
   FROM ( SELECT COALESCE(sum(b.balance), 0::numeric) AS balance
           FROM account_balances b
          WHERE b.account_id = '00000000-0000-4000-8000-000000000005'::uuid) pool,
    ( SELECT COALESCE(sum(donations.amount), 0::numeric) AS amount
           FROM donations
          WHERE donations.type = 'open'::text AND donations.status = 'completed'::text AND donations.cause_id IS NULL) unallocated,
    ( SELECT COALESCE(sum(receipts.amount), 0::numeric) AS amount
           FROM receipts
          WHERE receipts.state = 'credited'::text AND receipts.account_id = '00000000-0000-4000-8000-000000000005'::uuid) credited
  WHERE pool.balance <> (unallocated.amount + credited.amount);

create view check_openings_are_kept as
 SELECT o.resource_id,
    o.kind,
    o.made,
    o.refused_upto
   FROM openings o
     LEFT JOIN LATERAL ( SELECT 1 AS there
           FROM payouts r
          WHERE o.kind = 'payout'::text AND r.id = o.resource_id
        UNION ALL
         SELECT 1
           FROM withdrawals r
          WHERE o.kind = 'withdrawal'::text AND r.id = o.resource_id
        UNION ALL
         SELECT 1
           FROM payment_refunds r
          WHERE o.kind = 'payment_refund'::text AND r.id = o.resource_id
        UNION ALL
         SELECT 1
           FROM payment_orders r
          WHERE o.kind = 'payment_order'::text AND r.id = o.resource_id
        UNION ALL
         SELECT 1
           FROM partner_payments r
          WHERE o.kind = 'partner_payment'::text AND r.id = o.resource_id
        UNION ALL
         SELECT 1
           FROM saving_circles r
          WHERE o.kind = 'saving_circle'::text AND r.id = o.resource_id
        UNION ALL
         SELECT 1
           FROM donation_subscriptions r
          WHERE o.kind = 'donation_subscription'::text AND r.id = o.resource_id
        UNION ALL
         SELECT 1
           FROM donation_allocations r
          WHERE o.kind = 'donation_allocation'::text AND r.id = o.resource_id) resource ON true
  WHERE o.decided_at >= checks_since_time() AND ((o.made IS NOT NULL) <> (resource.there IS NOT NULL) OR o.made <= o.refused_upto);

create view check_orders_posted_once as
 SELECT o.id AS order_id,
    o.status,
    count(j.journal_id) AS journals,
    sum(p.posted) AS posted,
    o.nominal + o.admin_fee AS total,
    sum(p.landed) AS landed,
    sum(p.cost) AS cost,
    o.provider_fee
   FROM payment_orders o
     LEFT JOIN journal_keys j ON j.business_key = (('payment-order/'::text || o.id) || '/settled'::text)
     LEFT JOIN LATERAL ( SELECT sum(postings.amount) FILTER (WHERE postings.amount > 0::numeric AND postings.account_id <> '00000000-0000-4000-8000-000000000001'::uuid) AS posted,
                CASE
                    WHEN count(*) > 0 THEN COALESCE(- sum(postings.amount) FILTER (WHERE postings.account_id = '00000000-0000-4000-8000-000000000003'::uuid), 0::numeric)
                    ELSE NULL::numeric
                END AS cost,
            COALESCE(sum(postings.amount) FILTER (WHERE postings.account_id = o.target_account_id), 0::numeric) AS landed
           FROM postings
          WHERE postings.journal_id = j.journal_id) p ON true
  WHERE o.updated_at >= checks_since_time()
  GROUP BY o.id
 HAVING (o.status = 'PAID'::text) <> (count(j.journal_id) = 1) OR count(j.journal_id) = 1 AND sum(p.posted) IS DISTINCT FROM (o.nominal + o.admin_fee) OR count(j.journal_id) = 1 AND sum(p.landed) IS DISTINCT FROM o.nominal OR COALESCE(sum(p.cost), 0::numeric) <> o.provider_fee;

create view check_partner_accounts_are_theirs as
 SELECT p.id AS partner_id,
    a.id AS account_id,
    a.kind
   FROM partners p
     JOIN accounts a ON a.id = p.available_account_id OR a.id = p.pending_account_id OR a.id = p.reserved_account_id
  WHERE a.owner_id IS DISTINCT FROM p.id OR a.kind <>
        CASE a.id
            WHEN p.available_account_id THEN 'partner_available'::text
            WHEN p.pending_account_id THEN 'partner_pending'::text
            ELSE 'partner_reserved'::text
        END;

create view check_partner_payments_posted_once as
 SELECT p.id AS payment_id,
    p.status,
    p.amount,
    s.posted AS settled,
    s.cost,
    r.posted AS released
   FROM partner_payments p
     LEFT JOIN journal_keys js ON js.business_key = (('partner-payment/'::text || p.id) || '/settled'::text)
     LEFT JOIN journal_keys jr ON jr.business_key = (('partner-payment/'::text || p.id) || '/released'::text)
     LEFT JOIN LATERAL ( SELECT sum(postings.amount) FILTER (WHERE postings.amount > 0::numeric AND postings.account_id <> '00000000-0000-4000-8000-000000000001'::uuid) AS posted,
                CASE
                    WHEN count(*) > 0 THEN COALESCE(- sum(postings.amount) FILTER (WHERE postings.account_id = '00000000-0000-4000-8000-000000000003'::uuid), 0::numeric)
                    ELSE NULL::numeric
                END AS cost
           FROM postings
          WHERE postings.journal_id = js.journal_id) s ON true
     LEFT JOIN LATERAL ( SELECT sum(postings.amount) FILTER (WHERE postings.amount > 0::numeric AND postings.account_id <> '00000000-0000-4000-8000-000000000001'::uuid) AS posted,
                CASE
                    WHEN count(*) > 0 THEN COALESCE(- sum(postings.amount) FILTER (WHERE postings.account_id = '00000000-0000-4000-8000-000000000003'::uuid), 0::numeric)
                    ELSE NULL::numeric
                END AS cost
           FROM postings
          WHERE postings.journal_id = jr.journal_id) r ON true
  WHERE p.updated_at >= checks_since_time() AND (s.posted IS DISTINCT FROM
        CASE
            WHEN p.status = 'PAID'::text THEN p.amount
            ELSE NULL::numeric
        END OR s.cost IS DISTINCT FROM
        CASE
            WHEN p.status = 'PAID'::text THEN p.provider_fee
            ELSE NULL::numeric
        END OR r.posted IS DISTINCT FROM
        CASE
            WHEN p.released_at IS NOT NULL THEN p.net_amount
            ELSE NULL::numeric
        END);

create view check_partner_pending_matches_payments as
 SELECT p.id AS partner_id,
    account_balance(p.pending_account_id) AS balance,
    COALESCE(owed.amount, 0::numeric) AS owed
   FROM partners p
     LEFT JOIN LATERAL ( SELECT sum(partner_payments.net_amount) AS amount
           FROM partner_payments
          WHERE partner_payments.partner_id = p.id AND partner_payments.status = 'PAID'::text AND partner_payments.released_at IS NULL) owed ON true
  WHERE account_balance(p.pending_account_id) <> COALESCE(owed.amount, 0::numeric);

create view check_partner_receipts_applied_once as
 SELECT p.id AS payment_id,
    p.status,
    r.id AS receipt_id,
    r.amount
   FROM partner_payments p
     LEFT JOIN receipts r ON r.partner_payment_id = p.id
  WHERE p.status = 'PAID'::text AND p.updated_at >= checks_since_time() AND r.amount IS DISTINCT FROM p.amount
UNION ALL
 SELECT p.id AS payment_id,
    p.status,
    r.id AS receipt_id,
    r.amount
   FROM receipts r
     LEFT JOIN partner_payments p ON p.id = r.partner_payment_id
  WHERE r.partner_payment_id IS NOT NULL AND r.received_at >= checks_since_time() AND p.status IS DISTINCT FROM 'PAID'::text;

create view check_payments_refunded_within as
 SELECT p.id AS payment_id,
    p.status,
    p.amount,
    sum(o.amount) AS refunded
   FROM partner_payments p
     JOIN payment_refunds r ON r.payment_id = p.id
     JOIN payouts o ON o.id = r.id AND (o.status = ANY (ARRAY['pending'::text, 'succeeded'::text]))
  WHERE (p.id IN ( SELECT n.payment_id
           FROM payouts u
             JOIN payment_refunds n ON n.id = u.id
          WHERE u.updated_at >= checks_since_time()))
  GROUP BY p.id
 HAVING p.status <> 'PAID'::text OR sum(o.amount) > p.amount
UNION ALL
 SELECT NULL::uuid AS payment_id,
    o.status,
    o.amount,
    NULL::numeric AS refunded
   FROM payouts o
  WHERE o.kind = 'payment_refund'::text AND o.updated_at >= checks_since_time() AND NOT (EXISTS ( SELECT
           FROM payment_refunds r
          WHERE r.id = o.id));

create view check_payouts_are_reversed_as_was_said as
 SELECT id AS payout_id
   FROM payouts p
  WHERE status = 'reversed'::text AND updated_at >= checks_since_time() AND NOT (EXISTS ( SELECT
           FROM payout_words w
          WHERE w.payout_id = p.id AND w.said = 'reversed'::text));

create view check_payouts_posted_once as
 SELECT p.id AS payout_id,
    p.status,
    p.net_amount + p.fee AS amount,
    posted.reserved,
    posted.spent,
    posted.returned,
    posted.reversed,
    p.provider_cost,
    posted.cost
   FROM payouts p
     CROSS JOIN LATERAL ( SELECT - sum(g.amount) FILTER (WHERE step.step = 'reserved'::text AND of.is_debit) AS reserved,
            - sum(g.amount) FILTER (WHERE step.step = 'spent'::text AND of.is_debit) AS spent,
            - sum(g.amount) FILTER (WHERE step.step = 'returned'::text AND of.is_debit) AS returned,
            - sum(g.amount) FILTER (WHERE step.step = 'reversed'::text AND of.is_debit) AS reversed,
            - sum(g.amount) FILTER (WHERE step.step = 'spent'::text AND of.is_cost) AS cost,
            count(*) FILTER (WHERE step.step <> 'spent'::text AND of.is_cost) AS costs_elsewhere
           FROM unnest('{reserved,spent,returned,reversed}'::text[]) step(step)
             JOIN journal_keys k ON k.business_key = ((((replace(p.kind, '_'::text, '-'::text) || '/'::text) || p.id) || '/'::text) || step.step)
             JOIN postings g ON g.journal_id = k.journal_id
             CROSS JOIN LATERAL ( SELECT g.account_id = '00000000-0000-4000-8000-000000000003'::uuid AS is_cost,
                    g.amount < 0::numeric AND g.account_id <> '00000000-0000-4000-8000-000000000003'::uuid AS is_debit) of) posted
  WHERE p.updated_at >= checks_since_time() AND (posted.reserved IS DISTINCT FROM (p.net_amount + p.fee) OR posted.spent IS DISTINCT FROM
        CASE
            WHEN p.status = ANY (ARRAY['succeeded'::text, 'reversed'::text]) THEN p.net_amount + p.fee
            ELSE NULL::numeric
        END OR posted.returned IS DISTINCT FROM
        CASE
            WHEN p.status = 'failed'::text THEN p.net_amount + p.fee
            ELSE NULL::numeric
        END OR posted.reversed IS DISTINCT FROM
        CASE
            WHEN p.status = 'reversed'::text THEN p.net_amount
            ELSE NULL::numeric
        END OR COALESCE(posted.cost, 0::numeric) <> p.provider_cost OR p.provider_cost <> 0::numeric AND p.provider_cost <> p.provider_fee OR posted.costs_elsewhere > 0);

create view check_payouts_sent_once as
 SELECT p.id AS payout_id,
    p.status,
    p.provider_transfer_id,
    c.attempts,
    c.unasked
   FROM payouts p
     CROSS JOIN LATERAL ( SELECT count(*) AS attempts,
            max(made.sent_at) AS last_sent_at,
            count(*) FILTER (WHERE made.place > 1 AND (made.not_known_before IS NULL OR made.not_known_before > made.sent_at)) AS unasked
           FROM ( SELECT payout_attempts.sent_at,
                    row_number() OVER by_number AS place,
                    lag(payout_attempts.not_known_at) OVER by_number AS not_known_before
                   FROM payout_attempts
                  WHERE payout_attempts.payout_id = p.id AND payout_attempts.outcome IS DISTINCT FROM 'unsent'::text
                  WINDOW by_number AS (ORDER BY payout_attempts.number)) made) c
  WHERE p.updated_at >= checks_since_time() AND (c.unasked > 0 OR c.attempts > 5 OR c.last_sent_at > (p.finalized_at + '00:01:00'::interval) OR p.provider_transfer_id IS NOT NULL AND c.attempts = 0);

create view check_postings_have_accounts as
 SELECT p.id AS posting_id,
    p.account_id
   FROM postings p
  WHERE p.journal_id >= checks_since() AND NOT (EXISTS ( SELECT
           FROM accounts a
          WHERE a.id = p.account_id))
UNION ALL
 SELECT NULL::bigint AS posting_id,
    a.id AS account_id
   FROM accounts a
  WHERE a.id >= checks_since() AND NOT (EXISTS ( SELECT
           FROM account_balances b
          WHERE b.account_id = a.id AND b.shard = 0));

create view check_receipts_posted_once as
 SELECT r.id AS receipt_id,
    r.state,
    'an applied receipt belongs to a paid order'::text AS problem
   FROM receipts r
     JOIN payment_orders o ON o.id = r.order_id
  WHERE r.received_at >= checks_since_time() AND (o.status <> 'PAID'::text OR r.amount <> (o.nominal + o.admin_fee))
UNION ALL
 SELECT NULL::uuid AS receipt_id,
    o.status AS state,
    ('the paid order '::text || o.id) || ' has no receipt'::text AS problem
   FROM payment_orders o
  WHERE o.status = 'PAID'::text AND o.updated_at >= checks_since_time() AND NOT (EXISTS ( SELECT
           FROM receipts r
          WHERE r.order_id = o.id))
UNION ALL
 SELECT r.id AS receipt_id,
    r.state,
    'money in suspense has one journal in and, once settled, one out'::text AS problem
   FROM receipts r
  WHERE r.state <> 'applied'::text AND COALESCE(r.settled_at, 'infinity'::timestamp with time zone) >= checks_since_time() AND (NOT (EXISTS ( SELECT
           FROM journal_keys
          WHERE journal_keys.business_key = (('receipt/'::text || r.id) || '/suspense'::text))) OR (r.state = 'suspended'::text) = ((EXISTS ( SELECT
           FROM journal_keys
          WHERE journal_keys.business_key = (('receipt/'::text || r.id) || '/settled'::text)))))
UNION ALL
 SELECT r.id AS receipt_id,
    r.state,
    'an applied receipt is not in suspense'::text AS problem
   FROM receipts r
  WHERE r.state = 'applied'::text AND r.received_at >= checks_since_time() AND (EXISTS ( SELECT
           FROM journal_keys
          WHERE journal_keys.business_key = (('receipt/'::text || r.id) || '/suspense'::text)))
UNION ALL
 SELECT r.id AS receipt_id,
    r.state,
    'money that was credited is with another account'::text AS problem
   FROM receipts r
     JOIN journal_keys k ON k.business_key = (('receipt/'::text || r.id) || '/settled'::text)
  WHERE r.state = 'credited'::text AND COALESCE(r.settled_at, 'infinity'::timestamp with time zone) >= checks_since_time() AND NOT (EXISTS ( SELECT
           FROM postings p
          WHERE p.journal_id = k.journal_id AND p.account_id = r.account_id AND p.amount = r.amount));

create view check_receipts_reach_their_owners as
 WITH named AS NOT MATERIALIZED (
         SELECT receipts.id AS receipt_id,
            receipts.state,
            receipts.amount,
            receipts.received_at,
            COALESCE(receipts.order_id, receipts.partner_payment_id) AS applied_to,
                CASE
                    WHEN receipts.reference ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'::text THEN receipts.reference::uuid
                    ELSE NULL::uuid
                END AS owner
           FROM receipts
        )
 SELECT n.receipt_id,
    n.owner,
    'the money of an open payment is in suspense'::text AS problem
   FROM named n
     JOIN ( SELECT payment_orders.id,
            payment_orders.nominal + payment_orders.admin_fee AS amount
           FROM payment_orders
          WHERE payment_orders.status = ANY (ARRAY['PENDING'::text, 'WAITING_PAYMENT'::text])
        UNION ALL
         SELECT partner_payments.id,
            partner_payments.amount
           FROM partner_payments
          WHERE partner_payments.status = ANY (ARRAY['PENDING'::text, 'WAITING_PAYMENT'::text])) o ON o.id = n.owner AND o.amount = n.amount
  WHERE n.state = 'suspended'::text
UNION ALL
 SELECT named.receipt_id,
    named.owner,
    'money is applied to another than its reference names'::text AS problem
   FROM named
  WHERE named.state = 'applied'::text AND named.received_at >= checks_since_time() AND named.applied_to IS DISTINCT FROM named.owner;

create view check_refused_balance_payments_are_not_made as
 SELECT r.user_id,
    r.refused_upto,
    k.number,
    k.resource_id
   FROM refused_balance_payments r
     JOIN idempotency_keys k USING (user_id, key_hash, fingerprint)
  WHERE r.refused_at >= checks_since_time() AND COALESCE(k.number, 0::bigint) <= r.refused_upto;

create view check_reserved_matches_payouts as
 SELECT account_id,
    COALESCE(held.balance, 0::numeric) AS balance,
    COALESCE(open.amount, 0::numeric) AS open_payouts
   FROM ( SELECT accounts.id AS account_id,
            account_balance(accounts.id) AS balance
           FROM accounts
          WHERE accounts.kind = ANY (ARRAY['partner_reserved'::text, 'withdrawal_reserved'::text])) held
     FULL JOIN ( SELECT payouts.reserved_account_id AS account_id,
            sum(payouts.net_amount + payouts.fee) AS amount
           FROM payouts
          WHERE payouts.status = 'pending'::text
          GROUP BY payouts.reserved_account_id) open USING (account_id)
  WHERE COALESCE(held.balance, 0::numeric) <> COALESCE(open.amount, 0::numeric);

create view check_roles_know_their_permissions as
 SELECT id AS role_id,
    permission_names
   FROM roles r
  WHERE permission_names <> COALESCE(( SELECT string_agg(p.name, ' '::text ORDER BY p.name) AS string_agg
           FROM role_permissions rp
             JOIN permissions p ON p.id = rp.permission_id
          WHERE rp.role_id = r.id), ''::text);

create view check_sealed_days_are_whole as
 WITH dated AS (
         SELECT j.id,
            s.seal_number,
            (j.created_at AT TIME ZONE '07:00:00'::interval)::date AS day
           FROM journals j
             LEFT JOIN seal_journals s ON s.journal_id = j.id AND s.journal_id >= checks_since()
          WHERE j.id >= checks_since()
        ), days AS MATERIALIZED (
         SELECT d_1.day,
            ( SELECT min(c.number) AS min
                   FROM seals c
                  WHERE c.covers_until >= committed_until(d_1.day)) AS covered_by
           FROM ( SELECT DISTINCT dated.day
                   FROM dated) d_1
        )
 SELECT d.id AS journal_id,
    d.day,
    d.seal_number,
    y.covered_by
   FROM dated d
     JOIN days y USING (day)
  WHERE y.covered_by IS NOT NULL AND (d.seal_number IS NULL OR d.seal_number > y.covered_by);

create view check_subscriptions_paid_once as
 SELECT s.id AS subscription_id,
    'periods paid, attempts and donations differ'::text AS problem
   FROM donation_subscriptions s
  WHERE s.updated_at >= checks_since_time() AND (s.periods_paid <> (( SELECT count(*) AS count
           FROM donation_subscription_attempts a
          WHERE a.subscription_id = s.id AND a.outcome = 'paid'::text)) OR s.periods_paid <> (( SELECT count(*) AS count
           FROM donations d
             JOIN donation_subscription_attempts a ON a.subscription_id = d.subscription_id AND a.period = d.period AND a.outcome = 'paid'::text
          WHERE d.subscription_id = s.id AND d.amount = s.amount AND d.cause_id = s.cause_id AND d.user_id = s.user_id)) OR s.periods_paid <> (( SELECT count(*) AS count
           FROM donations d
          WHERE d.subscription_id = s.id)))
UNION ALL
 SELECT s.id AS subscription_id,
    'failed means three refusals of one period'::text AS problem
   FROM donation_subscriptions s
  WHERE s.updated_at >= checks_since_time() AND (s.status = 'failed'::text) <> ((EXISTS ( SELECT
           FROM donation_subscription_attempts a
          WHERE a.subscription_id = s.id AND a.outcome = 'refused'::text AND a.attempt = 3)));

create view check_suspense_matches_receipts as
 SELECT COALESCE(s.balance, 0::numeric) AS suspense,
    r.amount AS receipts
   FROM ( SELECT COALESCE(sum(receipts.amount), 0::numeric) AS amount
           FROM receipts
          WHERE receipts.state = 'suspended'::text) r,
    ( SELECT sum(b.balance) AS balance
           FROM account_balances b
             JOIN accounts a ON a.id = b.account_id
          WHERE a.kind = 'suspense'::text) s
  WHERE COALESCE(s.balance, 0::numeric) <> r.amount;

create view check_transaction_counts as
 SELECT reference_type,
    type,
    COALESCE(c.count, 0::numeric) AS counted,
    COALESCE(t.count, 0::bigint) AS rows
   FROM ( SELECT transaction_counts.reference_type,
            transaction_counts.type,
            sum(transaction_counts.count) AS count
           FROM transaction_counts
          GROUP BY transaction_counts.reference_type, transaction_counts.type) c
     FULL JOIN ( SELECT transactions.reference_type,
            transactions.type,
            count(*) AS count
           FROM transactions
          GROUP BY transactions.reference_type, transactions.type) t USING (reference_type, type)
  WHERE checks_read_all() AND COALESCE(c.count, 0::numeric) <> COALESCE(t.count, 0::bigint)::numeric;

create view check_transaction_organizations as
 SELECT COALESCE(l.transaction_id, t.id) AS transaction_id,
    COALESCE(l.organization_id, t.organization_id) AS organization_id
   FROM ( SELECT transaction_organizations.transaction_id,
            transaction_organizations.organization_id
           FROM transaction_organizations
          WHERE transaction_organizations.created_at >= checks_since_time()) l
     FULL JOIN ( SELECT DISTINCT t_1.id,
            o.organization_id
           FROM transactions t_1
             LEFT JOIN accounts s ON s.id = t_1.source_account_id
             LEFT JOIN accounts d ON d.id = t_1.destination_account_id
             CROSS JOIN LATERAL ( VALUES (t_1.organization_id), (s.organization_id), (d.organization_id)) o(organization_id)
          WHERE o.organization_id IS NOT NULL AND t_1.created_at >= checks_since_time()) t ON t.id = l.transaction_id AND t.organization_id = l.organization_id
  WHERE l.transaction_id IS NULL OR t.id IS NULL;

create view check_transaction_receivers as
 SELECT COALESCE(l.transaction_id, t.id) AS transaction_id,
    COALESCE(l.user_id, t.user_id) AS user_id
   FROM ( SELECT transaction_receivers.transaction_id,
            transaction_receivers.user_id
           FROM transaction_receivers
          WHERE transaction_receivers.created_at >= checks_since_time()) l
     FULL JOIN ( SELECT t_1.id,
            a.user_id
           FROM transactions t_1
             JOIN accounts a ON a.id = COALESCE(t_1.destination_account_id,
                CASE
                    WHEN t_1.payment_order_id IS NOT NULL THEN t_1.source_account_id
                    ELSE NULL::uuid
                END)
          WHERE a.user_id <> t_1.user_id AND t_1.created_at >= checks_since_time()) t ON t.id = l.transaction_id AND t.user_id = l.user_id
  WHERE l.transaction_id IS NULL OR t.id IS NULL;

create view check_transactions_agree_with_postings as
 SELECT t.batch_id AS journal_id,
    t.amount AS transactions,
    p.amount AS postings
   FROM ( SELECT transactions.batch_id,
            sum(transactions.amount) AS amount
           FROM transactions
          WHERE transactions.batch_id >= checks_since()
          GROUP BY transactions.batch_id) t
     LEFT JOIN ( SELECT postings.journal_id,
            sum(postings.amount) FILTER (WHERE postings.amount > 0::numeric AND postings.account_id <> '00000000-0000-4000-8000-000000000001'::uuid) AS amount
           FROM postings
          WHERE postings.journal_id >= checks_since()
          GROUP BY postings.journal_id) p ON p.journal_id = t.batch_id
  WHERE t.amount IS DISTINCT FROM p.amount;

create view check_uploads_end as
 SELECT id AS upload_id,
    created_at
   FROM document_uploads
  WHERE created_at < (now() - '00:30:00'::interval);

create view check_users_hold_live_roles as
 SELECT u.id AS user_id,
    u.role_id
   FROM users u
     JOIN roles r ON r.id = u.role_id
  WHERE r.deleted_at IS NOT NULL;

create view check_users_hold_roles_of_their_organization as
 SELECT u.id AS user_id,
    u.role_id
   FROM users u
     JOIN roles r ON r.id = u.role_id
  WHERE r.organization_id IS NOT NULL AND u.user_type <> 'platform'::text AND r.organization_id IS DISTINCT FROM u.organization_id;

create view check_webhook_versions_are_one_event as
 SELECT resource_type,
    resource_id,
    version
   FROM webhook_deliveries
  WHERE id >= checks_since()
  GROUP BY resource_type, resource_id, version
 HAVING count(DISTINCT type) > 1;

create view check_webhooks_have_their_keys as
 SELECT d.id AS delivery_id,
    k.delivery_id AS key_delivery_id,
    resource_type,
    resource_id,
    version,
    endpoint_id
   FROM ( SELECT webhook_deliveries.id,
            webhook_deliveries.resource_type,
            webhook_deliveries.resource_id,
            webhook_deliveries.version,
            webhook_deliveries.endpoint_id
           FROM webhook_deliveries
          WHERE webhook_deliveries.id >= checks_since()) d
     FULL JOIN ( SELECT webhook_version_keys.resource_type,
            webhook_version_keys.resource_id,
            webhook_version_keys.version,
            webhook_version_keys.endpoint_id,
            webhook_version_keys.delivery_id
           FROM webhook_version_keys
          WHERE webhook_version_keys.delivery_id >= checks_since()) k USING (resource_type, resource_id, version, endpoint_id)
  WHERE d.id IS DISTINCT FROM k.delivery_id AND NOT (d.id IS NULL AND (EXISTS ( SELECT
           FROM archived_months a
          WHERE a.table_name = 'webhook_deliveries'::text AND k.delivery_id >= a.first_id AND k.delivery_id < a.next_id)));

create view check_withdrawals_are_told as
 SELECT p.id AS withdrawal_id,
    p.status,
    p.net_amount + p.fee AS amount,
    told.successful,
    told.reversed
   FROM payouts p
     LEFT JOIN withdrawals w ON w.id = p.id
     LEFT JOIN LATERAL ( SELECT sum(t.amount) FILTER (WHERE t.status = 'successful'::text) AS successful,
            COALESCE(sum(t.amount) FILTER (WHERE t.status = 'reversed'::text), 0::numeric) AS reversed,
            bool_or(t.id = w.transaction_id AND t.type = 'price'::text AND t.status = 'successful'::text) AS named
           FROM transactions t
          WHERE t.reference_id = p.id AND t.reference_type = 'account_top_up'::text AND t.purpose = 'external_withdrawal'::text AND t.source_account_id = p.source_account_id) told ON true
  WHERE p.kind = 'withdrawal'::text AND p.updated_at >= checks_since_time() AND (w.id IS NULL OR told.named IS NOT TRUE OR told.successful IS DISTINCT FROM (p.net_amount + p.fee) OR told.reversed <>
        CASE p.status
            WHEN 'failed'::text THEN p.net_amount + p.fee
            WHEN 'reversed'::text THEN p.net_amount
            ELSE 0::numeric
        END);

create view limited_payouts as
 SELECT p.id,
    p.partner_id AS owner_id,
        CASE p.status
            WHEN 'failed'::text THEN 0::numeric
            ELSE p.amount
        END AS amount,
    p.created_at
   FROM payouts p
  WHERE p.kind = 'partner_payout'::text
UNION ALL
 SELECT w.id,
    w.user_id AS owner_id,
        CASE p.status
            WHEN 'failed'::text THEN 0::numeric
            ELSE p.amount
        END AS amount,
    w.created_at
   FROM withdrawals w
     JOIN payouts p ON p.id = w.id
  WHERE w.cause_id IS NULL;

create view refusals_of_balance_payments as
 SELECT r.user_id,
    r.refused_at,
    r.refused_upto,
    r.refusal,
    k.number,
    k.resource_id AS transaction_id
   FROM refused_balance_payments r
     LEFT JOIN idempotency_keys k USING (user_id, key_hash, fingerprint);

create view saving_circle_positions as
 SELECT m.id AS member_id,
    m.saving_circle_id,
    m.account_id,
    m.user_id,
    m.turn_number,
    m.joining_order,
    m.excluded_turn,
    c.paid,
    c.guarantee,
    r.received + s.received AS received,
    g.covered,
        CASE
            WHEN o.first_turn > 1 THEN (o.first_turn - 1)::numeric * o.amount -
            CASE
                WHEN m.turn_number < o.first_turn THEN o.amount * (( SELECT count(*) AS count
                   FROM saving_circle_members a
                  WHERE a.saving_circle_id = o.id))::numeric
                ELSE 0::numeric
            END
            ELSE 0::numeric
        END AS elsewhere
   FROM saving_circle_members m
     JOIN saving_circles o ON o.id = m.saving_circle_id
     CROSS JOIN LATERAL ( SELECT COALESCE(sum(c_1.amount) FILTER (WHERE c_1.status = 'completed'::text), 0::numeric) AS paid,
            COALESCE(sum(
                CASE c_1.status
                    WHEN 'completed'::text THEN c_1.guarantee_amount
                    WHEN 'refunded'::text THEN c_1.amount + c_1.guarantee_amount - c_1.refunded_amount
                    ELSE NULL::numeric
                END), 0::numeric) AS guarantee
           FROM saving_circle_contributions c_1
          WHERE c_1.member_id = m.id) c
     CROSS JOIN LATERAL ( SELECT COALESCE(sum(r_1.amount), 0::numeric) AS received
           FROM saving_circle_rounds r_1
          WHERE r_1.receiver_member_id = m.id) r
     CROSS JOIN LATERAL ( SELECT COALESCE(sum(s_1.amount), 0::numeric) AS received
           FROM saving_circle_settlements s_1
          WHERE s_1.id = m.id) s
     CROSS JOIN LATERAL ( SELECT COALESCE(sum(g_1.amount), 0::numeric) AS covered
           FROM saving_circle_covers g_1
          WHERE g_1.guarantor_member_id = m.id) g;

create view check_circle_covers as
 SELECT g.saving_circle_id,
    g.turn_number,
    g.debtor_member_id AS member_id,
    sum(g.amount) AS covered,
    'it is not the contribution that is missing'::text AS problem
   FROM saving_circle_covers g
     JOIN saving_circles s ON s.id = g.saving_circle_id
  WHERE COALESCE(s.ended_at, 'infinity'::timestamp with time zone) >= checks_since_time()
  GROUP BY g.saving_circle_id, g.turn_number, g.debtor_member_id, s.amount
 HAVING sum(g.amount) <> s.amount
UNION ALL
 SELECT p.saving_circle_id,
    NULL::integer AS turn_number,
    p.member_id,
    p.covered,
    'it is more than the guarantee'::text AS problem
   FROM saving_circle_positions p
     JOIN saving_circles s ON s.id = p.saving_circle_id
  WHERE COALESCE(s.ended_at, 'infinity'::timestamp with time zone) >= checks_since_time() AND p.covered > p.guarantee;

create view check_circle_holdings as
 SELECT s.id AS saving_circle_id,
    account_balance(s.holding_account_id) AS held,
    COALESCE(p.brought, 0::numeric) - COALESCE(p.received, 0::numeric) AS due
   FROM saving_circles s
     LEFT JOIN LATERAL ( SELECT sum(saving_circle_positions.paid + saving_circle_positions.guarantee) AS brought,
            sum(saving_circle_positions.received) AS received
           FROM saving_circle_positions
          WHERE saving_circle_positions.saving_circle_id = s.id) p ON true
  WHERE COALESCE(s.ended_at, 'infinity'::timestamp with time zone) >= checks_since_time() AND (account_balance(s.holding_account_id) <> (COALESCE(p.brought, 0::numeric) - COALESCE(p.received, 0::numeric)) OR s.ended_at IS NOT NULL AND account_balance(s.holding_account_id) <> 0::numeric);

create view check_circle_settlements as
 SELECT s.id AS member_id,
    s.amount,
    p.amount AS posted
   FROM saving_circle_settlements s
     JOIN saving_circle_positions m ON m.member_id = s.id
     JOIN saving_circles o ON o.id = s.saving_circle_id
     LEFT JOIN journal_keys j ON j.business_key = (('saving-circle/'::text || s.saving_circle_id) || '/settlement'::text)
     LEFT JOIN LATERAL ( SELECT sum(postings.amount) AS amount
           FROM postings
          WHERE postings.journal_id = j.journal_id AND postings.account_id = s.account_id) p ON true
  WHERE COALESCE(o.ended_at, 'infinity'::timestamp with time zone) >= checks_since_time() AND (p.amount IS DISTINCT FROM s.amount OR (m.paid + m.guarantee - m.received + m.elsewhere) < 0::numeric)
UNION ALL
 SELECT m.member_id,
    COALESCE(s.amount, 0::numeric) AS amount,
    NULL::numeric AS posted
   FROM saving_circle_positions m
     JOIN saving_circles c ON c.id = m.saving_circle_id AND c.status = 'completed'::text AND COALESCE(c.ended_at, 'infinity'::timestamp with time zone) >= checks_since_time()
     LEFT JOIN saving_circle_settlements s ON s.id = m.member_id
  WHERE m.guarantee > 0::numeric AND COALESCE(s.amount, 0::numeric) < LEAST(m.guarantee - m.covered, m.paid + m.guarantee - m.received + m.elsewhere + COALESCE(s.amount, 0::numeric));

create view check_payout_tallies_match_payouts as
 SELECT owner_id,
    starts_at,
    COALESCE(t.amount, 0::numeric) AS amount,
    COALESCE(l.amount, 0::numeric) AS counted_amount,
    COALESCE(t.payouts, 0) AS payouts,
    COALESCE(l.payouts, 0::bigint) AS counted_payouts
   FROM ( SELECT payout_tallies.owner_id,
            payout_tallies.starts_at,
            payout_tallies.amount,
            payout_tallies.payouts
           FROM payout_tallies
          WHERE payout_tallies.starts_at >= tally_start(now() - '24:00:00'::interval)) t
     FULL JOIN ( SELECT limited_payouts.owner_id,
            tally_start(limited_payouts.created_at) AS starts_at,
            sum(limited_payouts.amount) AS amount,
            count(*) AS payouts
           FROM limited_payouts
          WHERE limited_payouts.created_at >= tally_start(now() - '24:00:00'::interval)
          GROUP BY limited_payouts.owner_id, (tally_start(limited_payouts.created_at))) l USING (owner_id, starts_at)
  WHERE COALESCE(t.amount, 0::numeric) <> COALESCE(l.amount, 0::numeric) OR COALESCE(t.payouts, 0) <> COALESCE(l.payouts, 0::bigint);

-- Grants

revoke execute on function account_balance(uuid) from public;

grant execute on function account_balance(uuid) to amanah_app;

grant execute on function account_balance(uuid) to amanah_reader;

revoke execute on function answer_payout_attempt(uuid,integer,text,text) from public;

grant execute on function answer_payout_attempt(uuid,integer,text,text) to amanah_app;

revoke execute on function apply_postings() from public;

revoke execute on function apply_receipt(uuid,text,text,uuid,uuid) from public;

grant execute on function apply_receipt(uuid,text,text,uuid,uuid) to amanah_app;

revoke execute on function approved_decision(uuid,text) from public;

revoke execute on function await_replay(pg_lsn,integer,interval) from public;

grant execute on function await_replay(pg_lsn,integer,interval) to amanah_app;

revoke execute on function balance_after(uuid,uuid) from public;

grant execute on function balance_after(uuid,uuid) to amanah_app;

grant execute on function balance_after(uuid,uuid) to amanah_reader;

revoke execute on function balance_before(uuid,timestamp with time zone) from public;

grant execute on function balance_before(uuid,timestamp with time zone) to amanah_app;

grant execute on function balance_before(uuid,timestamp with time zone) to amanah_reader;

revoke execute on function book_external(uuid,uuid) from public;

grant execute on function book_external(uuid,uuid) to amanah_app;

revoke execute on function callers_of(uuid[],text[],integer[],timestamp with time zone[]) from public;

grant execute on function callers_of(uuid[],text[],integer[],timestamp with time zone[]) to amanah_app;

revoke execute on function cause_current_amount(uuid) from public;

grant execute on function cause_current_amount(uuid) to amanah_app;

grant execute on function cause_current_amount(uuid) to amanah_reader;

revoke execute on function checks_read_all() from public;

grant execute on function checks_read_all() to amanah_app;

grant execute on function checks_read_all() to amanah_reader;

revoke execute on function checks_since() from public;

grant execute on function checks_since() to amanah_app;

grant execute on function checks_since() to amanah_reader;

revoke execute on function checks_since_time() from public;

grant execute on function checks_since_time() to amanah_app;

grant execute on function checks_since_time() to amanah_reader;

revoke execute on function close_day() from public;

grant execute on function close_day() to amanah_app;

revoke execute on function close_payout_attempt(uuid,integer,timestamp with time zone) from public;

grant execute on function close_payout_attempt(uuid,integer,timestamp with time zone) to amanah_app;

revoke execute on function committed_until(date) from public;

grant execute on function committed_until(date) to amanah_app;

grant execute on function committed_until(date) to amanah_reader;

revoke execute on function count_changed_donations() from public;

revoke execute on function count_new_donations() from public;

revoke execute on function decision_lives(text) from public;

grant execute on function decision_lives(text) to amanah_app;

grant execute on function decision_lives(text) to amanah_reader;

revoke execute on function disbursable_of_cause(uuid) from public;

grant execute on function disbursable_of_cause(uuid) to amanah_app;

grant execute on function disbursable_of_cause(uuid) to amanah_reader;

revoke execute on function disbursed_of_cause(uuid) from public;

grant execute on function disbursed_of_cause(uuid) to amanah_app;

grant execute on function disbursed_of_cause(uuid) to amanah_reader;

revoke execute on function empty_saving_goal(uuid,uuid,uuid) from public;

grant execute on function empty_saving_goal(uuid,uuid,uuid) to amanah_app;

revoke execute on function end_of_day(date) from public;

grant execute on function end_of_day(date) to amanah_app;

grant execute on function end_of_day(date) to amanah_reader;

revoke execute on function find_month_problems() from public;

grant execute on function find_month_problems() to amanah_app;

grant execute on function find_month_problems() to amanah_reader;

revoke execute on function first_id_at(timestamp with time zone) from public;

grant execute on function first_id_at(timestamp with time zone) to amanah_app;

grant execute on function first_id_at(timestamp with time zone) to amanah_reader;

revoke execute on function forget_person() from public;

revoke execute on function forget_rows(text,interval,integer) from public;

grant execute on function forget_rows(text,interval,integer) to amanah_app;

revoke execute on function give_back_tally() from public;

revoke execute on function hold_balances(uuid[],uuid[]) from public;

grant execute on function hold_balances(uuid[],uuid[]) to amanah_app;

revoke execute on function hold_causes(uuid[]) from public;

grant execute on function hold_causes(uuid[]) to amanah_app;

revoke execute on function hold_of_person(uuid) from public;

grant execute on function hold_of_person(uuid) to amanah_app;

grant execute on function hold_of_person(uuid) to amanah_reader;

revoke execute on function hold_open_cause(uuid) from public;

grant execute on function hold_open_cause(uuid) to amanah_app;

revoke execute on function hold_operator(uuid,text) from public;

grant execute on function hold_operator(uuid,text) to amanah_app;

revoke execute on function in_time(timestamp with time zone,bigint) from public;

grant execute on function in_time(timestamp with time zone,bigint) to amanah_app;

revoke execute on function is_archived(text,uuid) from public;

grant execute on function is_archived(text,uuid) to amanah_app;

grant execute on function is_archived(text,uuid) to amanah_reader;

revoke execute on function is_day_sealed(date) from public;

grant execute on function is_day_sealed(date) to amanah_app;

grant execute on function is_day_sealed(date) to amanah_reader;

revoke execute on function is_operator(uuid,text) from public;

grant execute on function is_operator(uuid,text) to amanah_app;

revoke execute on function keep_account_kinds() from public;

revoke execute on function keep_contribution() from public;

revoke execute on function keep_decision() from public;

revoke execute on function keep_own_accounts() from public;

revoke execute on function keep_payment_refund() from public;

revoke execute on function keep_payout() from public;

revoke execute on function keep_payout_accounts() from public;

revoke execute on function keep_payouts_end() from public;

revoke execute on function keep_permission_names() from public;

revoke execute on function keep_place() from public;

revoke execute on function keep_release_with_saver() from public;

revoke execute on function keep_revoked_token() from public;

revoke execute on function keep_start_date() from public;

revoke execute on function keep_status() from public;

revoke execute on function keep_withdrawal() from public;

revoke execute on function kept_for_cause(uuid) from public;

grant execute on function kept_for_cause(uuid) to amanah_app;

grant execute on function kept_for_cause(uuid) to amanah_reader;

revoke execute on function kept_for_causes(uuid) from public;

grant execute on function kept_for_causes(uuid) to amanah_app;

grant execute on function kept_for_causes(uuid) to amanah_reader;

revoke execute on function list_transactions() from public;

revoke execute on function lock_refund(uuid) from public;

grant execute on function lock_refund(uuid) to amanah_app;

revoke execute on function lock_source(uuid,text,uuid,uuid) from public;

grant execute on function lock_source(uuid,text,uuid,uuid) to amanah_app;

revoke execute on function look_at_round() from public;

revoke execute on function make_coming_month() from public;

grant execute on function make_coming_month() to amanah_app;

revoke execute on function make_month(text,date) from public;

revoke execute on function missing_of_decision(decisions) from public;

grant execute on function missing_of_decision(decisions) to amanah_app;

grant execute on function missing_of_decision(decisions) to amanah_reader;

revoke execute on function month_name(text,date) from public;

revoke execute on function open_balance() from public;

revoke execute on function open_payout_attempt(uuid,boolean) from public;

grant execute on function open_payout_attempt(uuid,boolean) to amanah_app;

revoke execute on function outcome_of_word(text) from public;

grant execute on function outcome_of_word(text) to amanah_app;

grant execute on function outcome_of_word(text) to amanah_reader;

revoke execute on function pay_from_balances(jsonb,payment_target[],integer) from public;

grant execute on function pay_from_balances(jsonb,payment_target[],integer) to amanah_app;

revoke execute on function payout_postings(text,text,uuid) from public;

revoke execute on function perhaps_refunded_of_payment(uuid) from public;

grant execute on function perhaps_refunded_of_payment(uuid) to amanah_app;

grant execute on function perhaps_refunded_of_payment(uuid) to amanah_reader;

revoke execute on function post_journal(uuid,text,text,uuid[],numeric[]) from public;

grant execute on function post_journal(uuid,text,text,uuid[],numeric[]) to amanah_app;

revoke execute on function proven_postings(text,text) from public;

revoke execute on function record_transactions(uuid,jsonb) from public;

grant execute on function record_transactions(uuid,jsonb) to amanah_app;

revoke execute on function refund_account(uuid) from public;

grant execute on function refund_account(uuid) to amanah_app;

grant execute on function refund_account(uuid) to amanah_reader;

revoke execute on function refund_exceeds(uuid) from public;

grant execute on function refund_exceeds(uuid) to amanah_app;

grant execute on function refund_exceeds(uuid) to amanah_reader;

revoke execute on function refund_is_void(uuid) from public;

grant execute on function refund_is_void(uuid) to amanah_app;

grant execute on function refund_is_void(uuid) to amanah_reader;

revoke execute on function refundable_of_payment(uuid,boolean) from public;

grant execute on function refundable_of_payment(uuid,boolean) to amanah_app;

grant execute on function refundable_of_payment(uuid,boolean) to amanah_reader;

revoke execute on function refunded_of_payment(uuid) from public;

grant execute on function refunded_of_payment(uuid) to amanah_app;

grant execute on function refunded_of_payment(uuid) to amanah_reader;

revoke execute on function refusal(text,text,text) from public;

grant execute on function refusal(text,text,text) to amanah_app;

revoke execute on function refuse_balance_payment(uuid,text,text,jsonb) from public;

grant execute on function refuse_balance_payment(uuid,text,text,jsonb) to amanah_app;

revoke execute on function refuse_change() from public;

revoke execute on function refuse_erased() from public;

revoke execute on function refuse_old_snapshot() from public;

grant execute on function refuse_old_snapshot() to amanah_app;

revoke execute on function refuse_what_causes_keep(uuid,numeric) from public;

revoke execute on function reserved_since(uuid,timestamp with time zone) from public;

grant execute on function reserved_since(uuid,timestamp with time zone) to amanah_app;

grant execute on function reserved_since(uuid,timestamp with time zone) to amanah_reader;

revoke execute on function settle_donation(text,uuid,uuid,numeric,uuid,uuid,uuid,integer,text) from public;

grant execute on function settle_donation(text,uuid,uuid,numeric,uuid,uuid,uuid,integer,text) to amanah_app;

revoke execute on function settle_donations(text,balance_payment[]) from public;

grant execute on function settle_donations(text,balance_payment[]) to amanah_app;

revoke execute on function settle_product(uuid) from public;

grant execute on function settle_product(uuid) to amanah_app;

revoke execute on function settle_products(balance_payment[]) from public;

grant execute on function settle_products(balance_payment[]) to amanah_app;

revoke execute on function settle_receipt(uuid,uuid) from public;

grant execute on function settle_receipt(uuid,uuid) to amanah_app;

revoke execute on function settle_saving_goal(uuid,uuid) from public;

grant execute on function settle_saving_goal(uuid,uuid) to amanah_app;

revoke execute on function settle_saving_goals(balance_payment[]) from public;

grant execute on function settle_saving_goals(balance_payment[]) to amanah_app;

revoke execute on function suspend_receipt(uuid,uuid,text,text,text,numeric,numeric,text) from public;

grant execute on function suspend_receipt(uuid,uuid,text,text,text,numeric,numeric,text) to amanah_app;

revoke execute on function take_provider_call(integer,boolean,uuid,boolean) from public;

grant execute on function take_provider_call(integer,boolean,uuid,boolean) to amanah_app;

revoke execute on function tally_payout() from public;

revoke execute on function tally_start(timestamp with time zone) from public;

grant execute on function tally_start(timestamp with time zone) to amanah_app;

grant execute on function tally_start(timestamp with time zone) to amanah_reader;

revoke execute on function targets_at(uuid[]) from public;

grant execute on function targets_at(uuid[]) to amanah_app;

revoke execute on function targets_of_causes(uuid[]) from public;

grant execute on function targets_of_causes(uuid[]) to amanah_app;

revoke execute on function targets_of_products(text,uuid[],numeric[],boolean) from public;

grant execute on function targets_of_products(text,uuid[],numeric[],boolean) to amanah_app;

revoke execute on function targets_of_saving_goals(uuid[],uuid[],numeric[],boolean) from public;

grant execute on function targets_of_saving_goals(uuid[],uuid[],numeric[],boolean) to amanah_app;

revoke execute on function whole_table(oid) from public;

grant execute on function whole_table(oid) to amanah_app;

revoke execute on function write_journal(uuid,text,text,uuid[],numeric[]) from public;

revoke execute on function write_seal(bigint,text,text,text,timestamp with time zone,timestamp with time zone,uuid[]) from public;

grant execute on function write_seal(bigint,text,text,text,timestamp with time zone,timestamp with time zone,uuid[]) to amanah_app;

revoke usage on schema public from public;

grant usage on schema public to amanah_app;

grant usage on schema public to amanah_reader;

grant usage on sequence official_document_ids to amanah_app;

grant usage on sequence opening_numbers to amanah_app;

grant select (account_id), select (balance), select (shard) on table account_balances to amanah_reader;

grant select on table account_balances to amanah_app;

grant insert (id), insert (kind), insert (name), insert (organization_id), insert (owner_id), insert (user_id), select on table accounts to amanah_app;

grant select (created_at), select (currency), select (id), select (kind), select (may_go_negative), select (name), select (organization_id), select (owner_id), select (user_id) on table accounts to amanah_reader;

grant delete, insert, select, update (address_type), update (details_sealed), update (organization_id), update (updated_at), update (updated_by) on table addresses to amanah_app;

grant select (address_type), select (created_at), select (created_by), select (deleted_by), select (id), select (organization_id), select (updated_at), select (updated_by), select (user_id) on table addresses to amanah_reader;

grant select (archived_at), select (first_id), select (manifest_key), select (manifest_sha256), select (month), select (next_id), select (rows), select (table_name) on table archived_months to amanah_reader;

grant select on table archived_months to amanah_app;

grant insert, select, update (deleted_at), update (details_sealed) on table bank_accounts to amanah_app;

grant select (bank_code), select (created_at), select (deleted_at), select (id), select (organization_id), select (usable_at), select (user_id) on table bank_accounts to amanah_reader;

grant insert, select on table callback_keys to amanah_app;

grant select (callback_id), select (webhook_id) on table callback_keys to amanah_reader;

grant delete, insert, select on table cause_managers to amanah_app;

grant select (cause_id), select (created_at), select (created_by), select (user_id) on table cause_managers to amanah_reader;

grant select (amount), select (cause_id), select (decision_id) on table cause_remainders to amanah_reader;

grant select on table cause_remainders to amanah_app;

grant select (cause_id), select (donated), select (donations), select (shard) on table cause_totals to amanah_reader;

grant select on table cause_totals to amanah_app;

grant insert, select, update (approved_at), update (approved_by), update (benefit), update (description), update (location), update (name), update (regulations), update (status), update (stopped_from), update (target_amount), update (updated_at) on table charitable_causes to amanah_app;

grant select (account_id), select (approved_at), select (approved_by), select (benefit), select (created_at), select (created_by), select (currency), select (description), select (id), select (location), select (name), select (organization_id), select (owner_type), select (regulations), select (status), select (stopped_from), select (target_amount), select (updated_at) on table charitable_causes to amanah_reader;

grant select on table check_allocations_match_donations to amanah_app;

grant select on table check_allocations_match_donations to amanah_reader;

grant select on table check_balances_match_postings to amanah_app;

grant select on table check_balances_match_postings to amanah_reader;

grant select on table check_callbacks_have_their_keys to amanah_app;

grant select on table check_callbacks_have_their_keys to amanah_reader;

grant select on table check_cause_totals_match_donations to amanah_app;

grant select on table check_cause_totals_match_donations to amanah_reader;

grant select on table check_causes_keep_what_was_given to amanah_app;

grant select on table check_causes_keep_what_was_given to amanah_reader;

grant select on table check_circle_contributions_once to amanah_app;

grant select on table check_circle_contributions_once to amanah_reader;

grant select on table check_circle_contributions_posted to amanah_app;

grant select on table check_circle_contributions_posted to amanah_reader;

grant select on table check_circle_covers to amanah_app;

grant select on table check_circle_covers to amanah_reader;

grant select on table check_circle_holdings to amanah_app;

grant select on table check_circle_holdings to amanah_reader;

grant select on table check_circle_pots_paid_once to amanah_app;

grant select on table check_circle_pots_paid_once to amanah_reader;

grant select on table check_circle_settlements to amanah_app;

grant select on table check_circle_settlements to amanah_reader;

grant select on table check_circle_states to amanah_app;

grant select on table check_circle_states to amanah_reader;

grant select on table check_closed_goals_are_empty to amanah_app;

grant select on table check_closed_goals_are_empty to amanah_reader;

grant select on table check_closings_match_postings to amanah_app;

grant select on table check_closings_match_postings to amanah_reader;

grant select on table check_completed_targets_are_reached to amanah_app;

grant select on table check_completed_targets_are_reached to amanah_reader;

grant select on table check_decisions_were_carried_out to amanah_app;

grant select on table check_decisions_were_carried_out to amanah_reader;

grant select on table check_disbursements_wait_for_their_decision to amanah_app;

grant select on table check_disbursements_wait_for_their_decision to amanah_reader;

grant select on table check_donations_posted_once to amanah_app;

grant select on table check_donations_posted_once to amanah_reader;

grant select on table check_goal_orders_follow_orders to amanah_app;

grant select on table check_goal_orders_follow_orders to amanah_reader;

grant select on table check_idempotency_keys_complete to amanah_app;

grant select on table check_idempotency_keys_complete to amanah_reader;

grant select on table check_journals_are_sealed to amanah_app;

grant select on table check_journals_are_sealed to amanah_reader;

grant select on table check_journals_balance to amanah_app;

grant select on table check_journals_balance to amanah_reader;

grant select on table check_journals_have_their_keys to amanah_app;

grant select on table check_journals_have_their_keys to amanah_reader;

grant select on table check_ledger_rows_have_parents to amanah_app;

grant select on table check_ledger_rows_have_parents to amanah_reader;

grant select on table check_months_are_made to amanah_app;

grant select on table check_months_are_made to amanah_reader;

grant select on table check_no_forbidden_negative to amanah_app;

grant select on table check_no_forbidden_negative to amanah_reader;

grant select on table check_official_documents_name_documents_of_their_owner to amanah_app;

grant select on table check_official_documents_name_documents_of_their_owner to amanah_reader;

grant select on table check_open_pool_matches_donations to amanah_app;

grant select on table check_open_pool_matches_donations to amanah_reader;

grant select on table check_openings_are_kept to amanah_app;

grant select on table check_openings_are_kept to amanah_reader;

grant select on table check_orders_posted_once to amanah_app;

grant select on table check_orders_posted_once to amanah_reader;

grant select on table check_partner_accounts_are_theirs to amanah_app;

grant select on table check_partner_accounts_are_theirs to amanah_reader;

grant select on table check_partner_payments_posted_once to amanah_app;

grant select on table check_partner_payments_posted_once to amanah_reader;

grant select on table check_partner_pending_matches_payments to amanah_app;

grant select on table check_partner_pending_matches_payments to amanah_reader;

grant select on table check_partner_receipts_applied_once to amanah_app;

grant select on table check_partner_receipts_applied_once to amanah_reader;

grant select on table check_payments_refunded_within to amanah_app;

grant select on table check_payments_refunded_within to amanah_reader;

grant select on table check_payout_tallies_match_payouts to amanah_app;

grant select on table check_payout_tallies_match_payouts to amanah_reader;

grant select on table check_payouts_are_reversed_as_was_said to amanah_app;

grant select on table check_payouts_are_reversed_as_was_said to amanah_reader;

grant select on table check_payouts_posted_once to amanah_app;

grant select on table check_payouts_posted_once to amanah_reader;

grant select on table check_payouts_sent_once to amanah_app;

grant select on table check_payouts_sent_once to amanah_reader;

grant select on table check_postings_have_accounts to amanah_app;

grant select on table check_postings_have_accounts to amanah_reader;

grant select on table check_receipts_posted_once to amanah_app;

grant select on table check_receipts_posted_once to amanah_reader;

grant select on table check_receipts_reach_their_owners to amanah_app;

grant select on table check_receipts_reach_their_owners to amanah_reader;

grant select on table check_refused_balance_payments_are_not_made to amanah_app;

grant select on table check_refused_balance_payments_are_not_made to amanah_reader;

grant select on table check_reserved_matches_payouts to amanah_app;

grant select on table check_reserved_matches_payouts to amanah_reader;

grant select on table check_roles_know_their_permissions to amanah_app;

grant select on table check_roles_know_their_permissions to amanah_reader;

grant select on table check_sealed_days_are_whole to amanah_app;

grant select on table check_sealed_days_are_whole to amanah_reader;

grant select on table check_subscriptions_paid_once to amanah_app;

grant select on table check_subscriptions_paid_once to amanah_reader;

grant select on table check_suspense_matches_receipts to amanah_app;

grant select on table check_suspense_matches_receipts to amanah_reader;

grant select on table check_transaction_counts to amanah_app;

grant select on table check_transaction_counts to amanah_reader;

grant select on table check_transaction_organizations to amanah_app;

grant select on table check_transaction_organizations to amanah_reader;

grant select on table check_transaction_receivers to amanah_app;

grant select on table check_transaction_receivers to amanah_reader;

grant select on table check_transactions_agree_with_postings to amanah_app;

grant select on table check_transactions_agree_with_postings to amanah_reader;

grant select on table check_uploads_end to amanah_app;

grant select on table check_uploads_end to amanah_reader;

grant select on table check_users_hold_live_roles to amanah_app;

grant select on table check_users_hold_live_roles to amanah_reader;

grant select on table check_users_hold_roles_of_their_organization to amanah_app;

grant select on table check_users_hold_roles_of_their_organization to amanah_reader;

grant select on table check_webhook_versions_are_one_event to amanah_app;

grant select on table check_webhook_versions_are_one_event to amanah_reader;

grant select on table check_webhooks_have_their_keys to amanah_app;

grant select on table check_webhooks_have_their_keys to amanah_reader;

grant select on table check_withdrawals_are_told to amanah_app;

grant select on table check_withdrawals_are_told to amanah_reader;

grant insert, select, update on table clearing_comparisons to amanah_app;

grant select (agreed), select (agreed_day), select (clearing_balance), select (clearing_change), select (created_at), select (day), select (difference), select (measured_at), select (offset_high), select (offset_low), select (provider_balance), select (provider_change), select (received_under_way), select (spent_under_way), select (updated_at) on table clearing_comparisons to amanah_reader;

grant insert, select, update on table clearing_measurements to amanah_app;

grant select (day), select (measured), select (measured_at) on table clearing_measurements to amanah_reader;

grant select (closed_at), select (day) on table closed_days to amanah_reader;

grant select on table closed_days to amanah_app;

grant select (account_id), select (balance), select (day) on table closings to amanah_reader;

grant select on table closings to amanah_app;

grant insert (account_id), insert (action), insert (amount), insert (donation_id), insert (evidence), insert (id), insert (kind), insert (note), insert (outcome), insert (payout_id), insert (proposed_by), insert (receipt_id), insert (reconciliation_id), insert (reference), insert (user_id), insert (withdrawal_id), select, update (approved_by), update (first_approved_by), update (reason), update (rejected_by), update (status) on table decisions to amanah_app;

grant select (account_id), select (action), select (amount), select (approved_at), select (approved_by), select (created_at), select (donation_id), select (ended_at), select (evidence), select (first_approved_by), select (id), select (kind), select (note), select (outcome), select (payout_id), select (proposed_by), select (reason), select (receipt_id), select (reconciliation_id), select (reference), select (rejected_by), select (status), select (user_id), select (withdrawal_id) on table decisions to amanah_reader;

grant insert, select, update (name), update (updated_at) on table document_categories to amanah_app;

grant select (created_at), select (id), select (name), select (updated_at) on table document_categories to amanah_reader;

grant delete, insert, select, update (url_sealed) on table document_uploads to amanah_app;

grant select (created_at), select (given_up), select (id), select (user_id) on table document_uploads to amanah_reader;

grant insert, select, update (category_id), update (content_type), update (deleted_at), update (deleted_by), update (document_type), update (file_name_sealed), update (identity_scan), update (product_id), update (product_type), update (sha256), update (size_bytes), update (updated_at), update (updated_by), update (url_hash), update (url_sealed), update (visibility) on table documents to amanah_app;

grant select (category_id), select (content_type), select (created_at), select (created_by), select (deleted_at), select (deleted_by), select (document_type), select (id), select (identity_scan), select (organization_id), select (product_id), select (product_type), select (sha256), select (size_bytes), select (updated_at), select (updated_by), select (visibility) on table documents to amanah_reader;

grant insert, select on table donation_allocations to amanah_app;

grant select (attempt_id), select (cause_id), select (created_at), select (created_by), select (donation_count), select (id), select (journal_id), select (total_amount) on table donation_allocations to amanah_reader;

grant insert, select on table donation_subscription_attempts to amanah_app;

grant select (attempt), select (created_at), select (due_at), select (outcome), select (period), select (reason), select (subscription_id) on table donation_subscription_attempts to amanah_reader;

grant insert, select, update (attempted_at), update (ended_at), update (periods_paid), update (refusals), update (status), update (updated_at) on table donation_subscriptions to amanah_app;

grant select ("interval"), select (amount), select (attempted_at), select (cause_id), select (created_at), select (due_at), select (ended_at), select (id), select (periods_paid), select (refusals), select (source_account_id), select (started_at), select (status), select (updated_at), select (user_id) on table donation_subscriptions to amanah_reader;

grant insert, select, update (allocation_batch_id), update (cause_id), update (refund_transaction_id), update (status), update (transaction_id), update (updated_at) on table donations to amanah_app;

grant select (allocation_batch_id), select (amount), select (cause_id), select (created_at), select (id), select (payment_order_id), select (period), select (refund_transaction_id), select (status), select (subscription_id), select (transaction_id), select (type), select (updated_at), select (user_id) on table donations to amanah_reader;

grant insert, select, update (ended_at), update (erased_at), update (held_because), update (status) on table erasures to amanah_app;

grant select (begun_at), select (decision_id), select (ended_at), select (erased_at), select (held_because), select (id), select (status), select (user_id) on table erasures to amanah_reader;

grant insert, select on table events to amanah_app;

grant select (actor_id), select (created_at), select (data), select (event), select (id), select (impact), select (request_id), select (resource_id), select (resource_type) on table events to amanah_reader;

grant insert, select, update (attempts), update (body_sealed), update (delivered_at) on table gateway_callbacks to amanah_app;

grant select (attempts), select (body_bytes), select (body_encoding), select (delivered_at), select (event), select (id), select (kind), select (provider_payment_id), select (provider_payment_method_id), select (provider_payment_request_id), select (provider_transfer_id), select (received_at), select (reference), select (unread), select (webhook_id) on table gateway_callbacks to amanah_reader;

grant insert, select, update (answer_body), update (answer_status) on table idempotency_keys to amanah_app;

grant select (answer_status), select (created_at), select (number), select (resource_id), select (user_id) on table idempotency_keys to amanah_reader;

grant delete, insert, select, update (accepted_at) on table invitations to amanah_app;

grant select (accepted_at), select (by_super_admin), select (created_at), select (created_by), select (expires_at), select (id), select (user_id) on table invitations to amanah_reader;

grant select (business_key), select (journal_id) on table journal_keys to amanah_reader;

grant select on table journal_keys to amanah_app;

grant select (business_key), select (created_at), select (id), select (kind) on table journals to amanah_reader;

grant select on table journals to amanah_app;

grant insert, select on table keys_databases to amanah_app;

grant select (key_check_value), select (only_one) on table keys_databases to amanah_reader;

grant insert, select, update (logged_in_at) on table known_logins to amanah_app;

grant select (address), select (logged_in_at) on table known_logins to amanah_reader;

grant insert, select, update (lifted_at), update (lifted_by) on table legal_holds to amanah_app;

grant select (id), select (lifted_at), select (lifted_by), select (note), select (placed_at), select (placed_by), select (user_id) on table legal_holds to amanah_reader;

grant select on table limited_payouts to amanah_app;

grant select on table limited_payouts to amanah_reader;

grant insert, select on table login_failures to amanah_app;

grant select (address), select (failed_at), select (id) on table login_failures to amanah_reader;

grant delete, insert, select, update (details_sealed), update (document_id), update (expires_on), update (issued_on), update (kind), update (updated_at), update (verification_status) on table official_documents to amanah_app;

grant select (created_at), select (document_id), select (expires_on), select (id), select (issued_on), select (kind), select (organization_id), select (updated_at), select (user_id), select (verification_status) on table official_documents to amanah_reader;

grant insert, select, update (decided_at), update (kind), update (made), update (refusal), update (refused_upto) on table openings to amanah_app;

grant select (decided_at), select (kind), select (made), select (refusal), select (refused_upto), select (resource_id) on table openings to amanah_reader;

grant select (created_at), select (id), select (label), select (value) on table organization_industries to amanah_reader;

grant select on table organization_industries to amanah_app;

grant select (created_at), select (id), select (label), select (range) on table organization_sizes to amanah_reader;

grant select on table organization_sizes to amanah_app;

grant insert, select, update (email), update (industry), update (logo_id), update (name), update (official_registration_number), update (phone_number), update (size), update (status), update (updated_at) on table organizations to amanah_app;

grant select (created_at), select (email), select (id), select (industry), select (logo_id), select (name), select (official_registration_number), select (phone_number), select (size), select (status), select (updated_at) on table organizations to amanah_reader;

grant delete, insert, select on table partner_fees to amanah_app;

grant select (basis_points), select (channel), select (fixed), select (id), select (method), select (organization_id), select (partner_id), select (provider_basis_points), select (provider_fixed) on table partner_fees to amanah_reader;

grant insert, select, update (answer_sealed), update (answer_status), update (answered_at) on table partner_idempotency_keys to amanah_app;

grant select (answer_status), select (answered_at), select (created_at), select (id), select (partner_id), select (resource_id), select (resource_type) on table partner_idempotency_keys to amanah_reader;

grant insert, select, update (require_signature_v2), update (revoked_at), update (signing_secret_sealed), update (valid_until) on table partner_keys to amanah_app;

grant select (created_at), select (created_by), select (id), select (partner_id), select (permissions), select (prefix), select (require_signature_v2), select (revoked_at), select (rotated_from), select (valid_until) on table partner_keys to amanah_reader;

grant insert, select, update (revoked_at) on table partner_organizations to amanah_app;

grant select (created_at), select (organization_id), select (partner_id), select (revoked_at) on table partner_organizations to amanah_reader;

grant insert, select, update (available_at), update (cancelled_at), update (customer_sealed), update (failure_code), update (finalized_at), update (instrument_asked_at), update (instrument_at), update (payment_code), update (provider_payment_method_id), update (provider_payment_request_id), update (released_at), update (settling_since), update (status), update (updated_at), update (version) on table partner_payments to amanah_app;

grant select (amount), select (available_at), select (cancelled_at), select (channel_id), select (created_at), select (expires_at), select (external_ref), select (failure_code), select (fee), select (fee_mode), select (finalized_at), select (id), select (instrument_asked_at), select (instrument_at), select (net_amount), select (organization_id), select (partner_id), select (payment_code), select (provider_fee), select (provider_payment_method_id), select (provider_payment_request_id), select (released_at), select (request_id), select (settling_since), select (status), select (updated_at), select (version) on table partner_payments to amanah_reader;

grant insert, select, update (fee_mode), update (max_daily_amount), update (max_hourly_count), update (max_payout_amount), update (name), update (payouts_enabled), update (replayed_until), update (settlement_delay_hours), update (status), update (updated_at) on table partners to amanah_app;

grant select (available_account_id), select (created_at), select (created_by), select (fee_mode), select (id), select (max_daily_amount), select (max_hourly_count), select (max_payout_amount), select (name), select (organization_id), select (payouts_enabled), select (pending_account_id), select (replayed_until), select (reserved_account_id), select (settlement_delay_hours), select (status), select (updated_at) on table partners to amanah_reader;

grant select (active), select (channel_code), select (fee_basis_points), select (fee_fixed), select (id), select (maximum_amount), select (method), select (minimum_amount), select (name), select (needs_phone), select (provider_fee_basis_points), select (provider_fee_fixed), select (refund_window_days), select (refundable), select (refundable_in_part) on table payment_channels to amanah_reader;

grant select on table payment_channels to amanah_app;

grant insert, select, update (cancelled_at), update (failure_code), update (finalized_at), update (instrument_asked_at), update (payment_code), update (provider_fee), update (provider_payment_method_id), update (provider_payment_request_id), update (settling_since), update (status), update (texts_sealed), update (updated_at) on table payment_orders to amanah_app;

grant select (admin_fee), select (cancelled_at), select (created_at), select (expires_at), select (failure_code), select (finalized_at), select (id), select (instrument_asked_at), select (nominal), select (on_behalf_of), select (organization_id), select (payment_code), select (payment_id), select (provider_fee), select (provider_payment_method_id), select (provider_payment_request_id), select (reference_id), select (reference_type), select (request_id), select (settling_since), select (status), select (target_account_id), select (updated_at), select (user_id) on table payment_orders to amanah_reader;

grant insert, select on table payment_refunds to amanah_app;

grant select (created_at), select (id), select (payment_id) on table payment_refunds to amanah_reader;

grant select (answered_at), select (failure_code), select (not_known_at), select (number), select (outcome), select (payout_id), select (sent_at) on table payout_attempts to amanah_reader;

grant select on table payout_attempts to amanah_app;

grant select (account_number_max_length), select (account_number_min_length), select (active), select (bank_code), select (maximum_amount), select (minimum_amount), select (name), select (provider_fee_basis_points), select (provider_fee_fixed) on table payout_banks to amanah_reader;

grant select on table payout_banks to amanah_app;

grant select (amount), select (owner_id), select (payouts), select (starts_at) on table payout_tallies to amanah_reader;

grant select on table payout_tallies to amanah_app;

grant insert, select on table payout_words to amanah_app;

grant select (at), select (failure_code), select (id), select (payout_id), select (said) on table payout_words to amanah_reader;

grant insert, select, update (asked_at), update (asks), update (contradicted_at), update (delay_told_at), update (explained_word), update (failure_code), update (finalized_at), update (last_word), update (last_word_at), update (look_again_at), update (provider_cost), update (provider_transfer_id), update (request_digest), update (status), update (succeeded_at), update (texts_sealed), update (unknown_since), update (updated_at), update (version) on table payouts to amanah_app;

grant select (amount), select (asked_at), select (asks), select (bank_code), select (contradicted_at), select (created_at), select (delay_told_at), select (explained_word), select (external_ref), select (failure_code), select (fee), select (fee_mode), select (finalized_at), select (id), select (kind), select (last_word), select (last_word_at), select (look_again_at), select (net_amount), select (partner_id), select (provider_cost), select (provider_fee), select (provider_transfer_id), select (reference), select (refund_of), select (request_id), select (reserved_account_id), select (source_account_id), select (status), select (succeeded_at), select (unknown_since), select (updated_at), select (version) on table payouts to amanah_reader;

grant select (display_name), select (id), select (name) on table permission_categories to amanah_reader;

grant select on table permission_categories to amanah_app;

grant select (category_id), select (created_at), select (description), select (display_name), select (id), select (name), select (updated_at) on table permissions to amanah_reader;

grant select on table permissions to amanah_app;

grant select (account_id), select (amount), select (created_at), select (id), select (journal_id) on table postings to amanah_reader;

grant select on table postings to amanah_app;

grant insert, select, update (minimum_amount), update (name), update (status), update (target_amount), update (updated_at) on table products to amanah_app;

grant select (account_id), select (created_at), select (created_by), select (id), select (kind), select (minimum_amount), select (name), select (status), select (target_amount), select (updated_at) on table products to amanah_reader;

grant delete, insert, select, update (proved_at) on table proved_checks to amanah_app;

grant select (check_name), select (proved_at) on table proved_checks to amanah_reader;

grant select (filled_at), select (id), select (paused_until), select (tokens) on table provider_budget to amanah_reader;

grant select, update (filled_at), update (paused_until), update (tokens) on table provider_budget to amanah_app;

grant insert, select, update (calls), update (counted_at) on table provider_callers to amanah_app;

grant select (calls), select (counted_at), select (partner_id) on table provider_callers to amanah_reader;

grant select (account_id), select (amount), select (id), select (note), select (order_id), select (partner_payment_id), select (provider_payment_id), select (provider_payment_method_id), select (reason), select (received_at), select (reference), select (settled_at), select (settled_by), select (state) on table receipts to amanah_reader;

grant select on table receipts to amanah_app;

grant insert, select, update (beat_at), update (compared), update (cursor), update (differences), update (finished_at), update (phase), update (started_at), update (state), update (taken_by), update (takes), update (unsettled) on table reconciled_days to amanah_app;

grant select (beat_at), select (compared), select (cursor), select (day), select (differences), select (finished_at), select (phase), select (started_at), select (state), select (taken_by), select (takes), select (unsettled) on table reconciled_days to amanah_reader;

grant delete, insert, select on table reconciled_records to amanah_app;

grant select (day), select (key), select (kind) on table reconciled_records to amanah_reader;

grant insert, select, update (met_at), update (note), update (ours), update (reference), update (resource_id), update (state), update (theirs), update (updated_at) on table reconciliations to amanah_app;

grant select (created_at), select (day), select (id), select (met_at), select (note), select (ours), select (reference), select (resource_id), select (resource_type), select (state), select (subject), select (theirs), select (updated_at) on table reconciliations to amanah_reader;

grant delete, insert, select on table recovery_codes to amanah_app;

grant select (user_id) on table recovery_codes to amanah_reader;

grant select on table refusals_of_balance_payments to amanah_app;

grant select on table refusals_of_balance_payments to amanah_reader;

grant select (refusal), select (refused_at), select (refused_upto), select (user_id) on table refused_balance_payments to amanah_reader;

grant select on table refused_balance_payments to amanah_app;

grant insert, select on table revoked_tokens to amanah_app;

grant select (expires_at), select (id) on table revoked_tokens to amanah_reader;

grant delete, insert, select on table role_permissions to amanah_app;

grant select (permission_id), select (role_id) on table role_permissions to amanah_reader;

grant insert, select, update (deleted_at), update (description), update (display_name), update (name), update (updated_at), update (updated_by) on table roles to amanah_app;

grant select (created_at), select (created_by), select (deleted_at), select (description), select (display_name), select (id), select (is_default), select (name), select (organization_id), select (permission_names), select (updated_at), select (updated_by), select (user_type) on table roles to amanah_reader;

grant insert, select, update (refund_journal_id), update (refunded_amount), update (status), update (swept_at), update (transaction_id), update (updated_at) on table saving_circle_contributions to amanah_app;

grant select (amount), select (created_at), select (guarantee_amount), select (id), select (member_id), select (payment_order_id), select (rail), select (refund_account_id), select (refund_journal_id), select (refunded_amount), select (saving_circle_id), select (status), select (swept_at), select (transaction_id), select (turn_number), select (updated_at), select (user_id) on table saving_circle_contributions to amanah_reader;

grant insert, select on table saving_circle_covers to amanah_app;

grant select (amount), select (created_at), select (debtor_member_id), select (guarantor_member_id), select (saving_circle_id), select (turn_number) on table saving_circle_covers to amanah_reader;

grant delete, insert, select, update (account_id), update (consented_at), update (drawn_account_id), update (drawn_turn), update (excluded_turn), update (turn_number), update (user_id) on table saving_circle_members to amanah_app;

grant select (account_id), select (consented_at), select (created_at), select (drawn_account_id), select (drawn_turn), select (entropy), select (excluded_turn), select (id), select (joining_order), select (saving_circle_id), select (turn_number), select (user_id) on table saving_circle_members to amanah_reader;

grant select on table saving_circle_positions to amanah_app;

grant select on table saving_circle_positions to amanah_reader;

grant insert, select, update (joined_at), update (left_at), update (status), update (updated_at) on table saving_circle_replacements to amanah_app;

grant select (account_id), select (created_at), select (id), select (joined_at), select (leaving_user_id), select (left_at), select (member_id), select (proposed_by), select (saving_circle_id), select (status), select (updated_at), select (user_id) on table saving_circle_replacements to amanah_reader;

grant insert, select, update (amount), update (asked_at), update (defaulted_at), update (journal_id), update (look_at), update (overdue_reported_at), update (paid_at), update (receiver_member_id), update (remedied_at), update (reminded_at) on table saving_circle_rounds to amanah_app;

grant select (amount), select (asked_at), select (defaulted_at), select (due_at), select (journal_id), select (look_at), select (opened_at), select (overdue_reported_at), select (paid_at), select (receiver_member_id), select (remedied_at), select (reminded_at), select (saving_circle_id), select (turn_number) on table saving_circle_rounds to amanah_reader;

grant insert, select on table saving_circle_settlements to amanah_app;

grant select (account_id), select (amount), select (created_at), select (id), select (saving_circle_id) on table saving_circle_settlements to amanah_reader;

grant delete, insert, select, update (attempted_turn), update (source_account_id) on table saving_circle_standing_orders to amanah_app;

grant select (attempted_turn), select (created_at), select (id), select (source_account_id) on table saving_circle_standing_orders to amanah_reader;

grant insert, select, update (amount), update (capacity), update (current_turn), update (deleted_at), update (draw_seed), update (draw_seed_sealed), update (ended_at), update (first_turn), update (grace_days), update (guarantee_percent), update (name), update (next_opens_at), update (on_default), update (schedule_anchor), update (schedule_step), update (start_date), update (started_at), update (starts_at), update (status), update (updated_at), update (visibility) on table saving_circles to amanah_app;

grant select (account_id), select (amount), select (capacity), select (created_at), select (created_by), select (current_turn), select (deleted_at), select (draw_commitment), select (draw_seed), select (ended_at), select (first_turn), select (grace_days), select (guarantee_percent), select (holding_account_id), select (id), select (name), select (next_opens_at), select (on_default), select (organization_id), select (owner_id), select (owner_type), select (round_interval), select (schedule_anchor), select (schedule_step), select (start_date), select (started_at), select (starts_at), select (status), select (turn_order), select (updated_at), select (visibility) on table saving_circles to amanah_reader;

grant insert, select, update (status), update (updated_at) on table saving_goal_orders to amanah_app;

grant select (created_at), select (payment_order_id), select (saving_goal_id), select (status), select (updated_at) on table saving_goal_orders to amanah_reader;

grant insert, select, update (closed_at), update (name), update (released_to), update (status), update (target_amount), update (target_date), update (updated_at) on table saving_goals to amanah_app;

grant select (account_id), select (closed_at), select (created_at), select (id), select (name), select (organization_id), select (released_to), select (status), select (target_amount), select (target_date), select (updated_at), select (user_id) on table saving_goals to amanah_reader;

grant select (executed_at), select (id), select (name) on table schema_migrations to amanah_reader;

grant select on table schema_migrations to amanah_app;

grant select (journal_id), select (seal_number) on table seal_journals to amanah_reader;

grant select on table seal_journals to amanah_app;

grant select (covers_until), select (hash), select (jws), select (last_journal_id), select (number), select (pass), select (previous), select (sealed_at) on table seals to amanah_reader;

grant select on table seals to amanah_app;

grant delete, insert, select, update (confirmed_at), update (created_at), update (last_step), update (secret_sealed) on table second_factors to amanah_app;

grant select (confirmed_at), select (created_at), select (id), select (last_step) on table second_factors to amanah_reader;

grant insert, select on table sign_ups to amanah_app;

grant select (address), select (id), select (made_at) on table sign_ups to amanah_reader;

grant delete, insert, select, update (look_again_at), update (looks) on table sweep_looks to amanah_app;

grant select (kind), select (look_again_at), select (looks), select (subject_id) on table sweep_looks to amanah_reader;

grant insert, select, update (private_key_sealed), update (published_until) on table token_signing_keys to amanah_app;

grant select (created_at), select (id), select (public_jwk), select (published_until) on table token_signing_keys to amanah_reader;

grant select (count), select (reference_type), select (shard), select (type) on table transaction_counts to amanah_reader;

grant select on table transaction_counts to amanah_app;

grant select (created_at), select (organization_id), select (reference_id), select (reference_type), select (transaction_id), select (type), select (user_id) on table transaction_organizations to amanah_reader;

grant select on table transaction_organizations to amanah_app;

grant select (created_at), select (reference_id), select (reference_type), select (transaction_id), select (type), select (user_id) on table transaction_receivers to amanah_reader;

grant select on table transaction_receivers to amanah_app;

grant select (amount), select (batch_id), select (created_at), select (created_by), select (date), select (deleted_by), select (destination_account_id), select (id), select (organization_id), select (payment_order_id), select (purpose), select (reference_id), select (reference_type), select (source_account_id), select (status), select (type), select (updated_at), select (updated_by), select (user_id) on table transactions to amanah_reader;

grant select on table transactions to amanah_app;

grant delete, insert, select, update (email_digest), update (erased_at), update (password_hash), update (profile_sealed), update (role_id), update (status), update (token_generation), update (tokens_ended_at), update (updated_at) on table users to amanah_app;

grant select (created_at), select (erased_at), select (id), select (organization_id), select (role_id), select (status), select (token_generation), select (tokens_ended_at), select (updated_at), select (user_type) on table users to amanah_reader;

grant insert, select, update (attempts), update (body_sealed), update (delivered_at), update (last_error), update (last_status), update (next_attempt_at), update (redeliveries), update (status) on table webhook_deliveries to amanah_app;

grant select (attempts), select (created_at), select (delivered_at), select (endpoint_id), select (id), select (last_error), select (last_status), select (next_attempt_at), select (partner_id), select (redeliveries), select (resource_id), select (resource_type), select (status), select (type), select (version) on table webhook_deliveries to amanah_reader;

grant delete, insert, select, update (disabled_at), update (disabled_reason), update (earlier_secrets_sealed), update (events), update (failing_since), update (secret_sealed), update (status), update (tests), update (updated_at), update (url) on table webhook_endpoints to amanah_app;

grant select (created_at), select (disabled_at), select (disabled_reason), select (events), select (failing_since), select (id), select (partner_id), select (set_by_operator), select (status), select (tests), select (updated_at), select (url) on table webhook_endpoints to amanah_reader;

grant insert, select on table webhook_version_keys to amanah_app;

grant select (delivery_id), select (endpoint_id), select (resource_id), select (resource_type), select (version) on table webhook_version_keys to amanah_reader;

grant insert, select on table withdrawals to amanah_app;

grant select (bank_account_id), select (cause_id), select (created_at), select (id), select (organization_id), select (purpose_note), select (transaction_id), select (user_id) on table withdrawals to amanah_reader;

-- Default privileges

alter default privileges revoke execute on functions from public;
