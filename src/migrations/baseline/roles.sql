-- Rights. A role that only migrations use owns everything. Loaded last; later migrations grant rights on what they
-- create.
--
-- amanah_app, the role of API and worker, reads everything and writes the tables named here. It writes postings,
-- balances, transactions and receipts only through functions that check them, run with the owner's rights (security
-- definer), exclude temporary tables from their search_path, and are granted one by one. In rows about money it may
-- update only the columns of their life cycle.
--
-- amanah_reader, the role of people, reports and `npm run verify`, reads everything except sealed and hashed columns
-- and stored responses, and writes no table. (Trying all numbers would reveal a bank account from a request's digest.)
--
-- Roles belong to the whole cluster; `npm run migrate` creates them before this file is loaded.

revoke all on schema public from public;
grant usage on schema public to amanah_app, amanah_reader;
revoke execute on all functions in schema public from public;
-- By default everybody may call a new function; this revokes that for functions that the owner creates later.
alter default privileges revoke execute on functions from public;

grant select on all tables in schema public to amanah_app;

-- Tables into which the application only inserts.
grant insert on events, donation_allocations, donation_subscription_attempts, payout_words, document_uploads, cause_managers,
  saving_circle_invitations, recovery_codes, role_permissions, partner_fees, reconciled_records, revoked_tokens, sign_ups, login_failures,
  callback_keys, webhook_version_keys, withdrawals, payment_refunds
  to amanah_app;
grant insert (id, name, kind, user_id, organization_id, owner_id), update (name) on accounts to amanah_app;

-- Rows that the application may delete. (forget_rows deletes rows with a retention time.)
grant delete on addresses, bank_account_checks, cause_managers, document_uploads, invitations, mails, official_documents, partner_fees,
  proved_checks, reconciled_records, recovery_codes, refresh_tokens, role_permissions, saving_circle_members,
  saving_circle_standing_orders, second_factors, sweep_looks,
  users, webhook_endpoints
  to amanah_app;

-- People and organizations.
grant insert, update (name, logo_id, email, phone_number, official_registration_number, industry, size, status,
  updated_at) on organizations to amanah_app;
grant insert, update (profile_sealed, email_digest, role_id, status, email_confirmed_at, email_bounced_at,
  locale, takes_receipts, takes_reminders, password_sealed, token_generation, tokens_ended_at,
  erased_at, approver_since, first_approval_at, updated_at) on users to amanah_app;
grant insert, update (status, held_because, erased_at, ended_at) on erasures to amanah_app;
grant insert, update (lifted_by, lifted_at) on legal_holds to amanah_app;
grant insert on keys_databases to amanah_app;
grant insert, update (name, display_name, description, updated_by, updated_at, deleted_at) on roles to amanah_app;
grant insert, update (accepted_at) on invitations to amanah_app;
grant insert, update (used_at) on refresh_tokens to amanah_app;
grant insert, update (facts_sealed, token_used_at, status, attempts, last_error, ended_at) on mails to amanah_app;
grant insert, update (told_upto, told_at, ended_at) on mail_rounds to amanah_app;
grant insert, update (secret_sealed, last_step, confirmed_at, created_at) on second_factors to amanah_app;
grant insert, update (logged_in_at) on known_logins to amanah_app;
grant insert, update (private_key_sealed, published_until) on token_signing_keys to amanah_app;
grant insert, update (address_type, organization_id, details_sealed, updated_by, updated_at) on addresses to amanah_app;
grant insert, update (details_sealed, deleted_at) on bank_accounts to amanah_app;
grant insert, update (name, updated_at) on document_categories to amanah_app;
grant insert, update (url_sealed, url_hash, document_type, product_type, product_id, visibility, category_id,
  file_name_sealed, content_type, size_bytes, sha256, identity_scan, updated_by, updated_at, deleted_at, deleted_by)
  on documents to amanah_app;
grant update (url_sealed) on document_uploads to amanah_app;
grant insert, update (kind, details_sealed, issued_on, expires_on, document_id, verification_status, updated_at)
  on official_documents to amanah_app;

-- Payments.
grant insert, update (status, provider_fee, provider_payment_request_id, provider_payment_method_id, payment_code,
  failure_code, texts_sealed, instrument_asked_at, settling_since, cancelled_at, updated_at, finalized_at)
  on payment_orders to amanah_app;
grant insert, update (fingerprint, resource_id, kind, made, refused_upto, refusal, id, answer_status, answer_body,
  answer_sealed, decided_at) on requests to amanah_app;
grant usage on sequence opening_numbers, official_document_ids to amanah_app;
grant insert, update (name, target_amount, minimum_amount, status, updated_at) on products to amanah_app;
grant insert, update (name, target_amount, target_date, status, closed_at, released_to, updated_at)
  on saving_goals to amanah_app;
grant insert, update (status, updated_at) on saving_goal_orders to amanah_app;
grant insert, update (name, description, target_amount, location, regulations, benefit, status, stopped_from, approved_by,
  approved_at, updated_at) on charitable_causes to amanah_app;
grant insert, update (status, cause_id, allocation_batch_id, transaction_id, refund_transaction_id, updated_at)
  on donations to amanah_app;
grant insert, update (status, periods_paid, refusals, attempted_at, postponed_at, ended_at, updated_at)
  on donation_subscriptions to amanah_app;
grant insert, update (name, capacity, amount, visibility, grace_days, on_default, guarantee_percent, start_date, starts_at, current_turn, first_turn, status,
  schedule_anchor, schedule_step, next_opens_at, draw_seed_sealed, draw_seed, updated_at, started_at, ended_at, deleted_at)
  on saving_circles to amanah_app;
grant insert, update (turn_number, drawn_turn, drawn_account_id, excluded_turn, account_id, user_id, consented_at)
  on saving_circle_members to amanah_app;
grant insert, update (left_at, joined_at, status, updated_at) on saving_circle_replacements to amanah_app;
grant insert, update (source_account_id, amount, guarantee_amount, attempted_turn) on saving_circle_standing_orders to amanah_app;
grant insert, update (receiver_member_id, reminded_at, overdue_reported_at, defaulted_at, remedied_at, paid_at,
  amount, journal_id, look_at) on saving_circle_rounds to amanah_app;
grant insert on saving_circle_covers, saving_circle_settlements to amanah_app;
grant insert, update (status, transaction_id, refund_journal_id, refunded_amount, swept_at, updated_at)
  on saving_circle_contributions to amanah_app;

-- Partners.
grant insert, update (name, status, fee_mode, settlement_delay_hours, payouts_enabled, max_payout_amount, max_daily_amount,
  max_hourly_count, replayed_until, updated_at) on partners to amanah_app;
grant insert, update (signing_secret_sealed, require_signature_v2, valid_until, revoked_at) on partner_keys to amanah_app;
grant insert, update (revoked_at) on partner_organizations to amanah_app;
grant insert on used_signatures, bank_account_questions to amanah_app;
grant insert, update (exists_at_bank, holder_sealed, checked_at) on bank_account_checks to amanah_app;
grant insert, update (status, provider_payment_request_id, provider_payment_method_id, payment_code, failure_code,
  customer_sealed, metadata_sealed, version, instrument_at, instrument_asked_at, settling_since, cancelled_at, finalized_at,
  available_at, released_at, updated_at) on partner_payments to amanah_app;
grant insert, update (status, texts_sealed, provider_payment_method_id, payment_code, failure_code, asked_at, closing_at, closed_at,
  seen_until, read_from, read_before, look_again_at, version, updated_at) on partner_instruments to amanah_app;
grant insert, update (status, failure_code, provider_transfer_id, provider_cost, texts_sealed, request_digest, last_word,
  last_word_at, asked_at, asks, unknown_since, delay_told_at, contradicted_at, explained_word, look_again_at, version,
  succeeded_at, finalized_at, updated_at) on payouts to amanah_app;
grant insert, update (status, metadata_sealed, decided_by, rejected_by, decided_at, look_again_at, version, finalized_at, updated_at)
  on payout_batches to amanah_app;
grant insert, update (texts_sealed) on payout_batch_items to amanah_app;
grant insert, update (url, events, status, disabled_reason, disabled_at, failing_since, tests, secret_sealed,
  earlier_secrets_sealed, updated_at) on webhook_endpoints to amanah_app;
grant insert, update (status, attempts, body_sealed, last_status, last_error, next_attempt_at, delivered_at,
  redeliveries) on webhook_deliveries to amanah_app;

-- The provider, and sweeps.
grant insert, update (delivered_at, attempts, body_sealed) on gateway_callbacks to amanah_app;
grant insert, update (tokens, filled_at, paused_until) on provider_budget to amanah_app;
grant update (enabled, reason, changed_by, changed_at) on payout_switch to amanah_app;
grant insert, update (calls, counted_at) on provider_callers to amanah_app;
grant insert, update (looks, look_again_at) on sweep_looks to amanah_app;
grant insert, update (proved_at) on proved_checks to amanah_app;
grant insert, update (state, phase, cursor, compared, differences, unsettled, taken_by, takes, beat_at, started_at,
  finished_at) on reconciled_days to amanah_app;
grant insert, update (ours, theirs, is_further, resource_id, reference, state, note, updated_at, met_at) on reconciliations to amanah_app;
grant insert, update on clearing_measurements, clearing_comparisons to amanah_app;
grant insert (id, kind, payout_id, outcome, receipt_id, action, account_id, reconciliation_id, amount, reference,
  provider_reference, withdrawal_id, donation_id, user_id, note, evidence, proposed_by), update (status, reason, first_approved_by, approved_by, rejected_by)
  on decisions to amanah_app;

-- Functions that move money, apply payments, or read.
grant execute on function
  pay_from_balances, in_time, lock_source, lock_refund, hold_balances, post_journal,
  record_transactions, apply_receipt, suspend_receipt, settle_receipt, book_external, book_transfer, unbook_transfer,
  open_payout_attempt, answer_payout_attempt, close_payout_attempt, keep_difference,
  refusal, targets_at, targets_of_causes, targets_of_products, targets_of_saving_goals, hold_causes, hold_open_cause,
  settle_donation, settle_donations, settle_product, settle_products, settle_saving_goal, settle_saving_goals,
  empty_saving_goal,
  take_provider_call, forget_rows, callers_of, write_seal, close_day, is_operator, hold_operator, brought_by, why_not_admitting,
  why_not_approving, why_powerless, make_coming_month, tell
  to amanah_app;
grant execute on function
  account_balance, balance_after, balance_before, end_of_day, committed_until, is_day_sealed, cause_current_amount, missing_of_decision,
  outcome_of_word, decision_lives, reserved_since, tally_start, disbursed_of_cause, disbursable_of_cause, unbooked_of_cause, kept_for_cause,
  kept_for_causes,
  payouts_held, refund_account, refunded_of_payment, standing_of_refund, transfers_beyond_ours, is_transfer_known, owner_of_disbursement,
  why_disbursement_ends, hold_of_person, first_id_at, is_archived, find_month_problems, checks_since, checks_since_time,
  checks_read_all
  to amanah_app, amanah_reader;
-- Trigger functions run with the rights of the writing role.
grant execute on function refuse_old_snapshot, whole_table to amanah_app;
-- Called on a replica before it is read.
grant execute on function await_replay to amanah_app;

-- The reader: all views, and every column of tables whose name does not mark a secret.
do $$
declare
  readable record;
begin
  for readable in
    select c.relname as name, c.relkind = 'v' as is_view, string_agg(quote_ident(a.attname), ', ' order by a.attnum)
      filter (where a.attname !~ '(_sealed|_hash|_digest)$' and a.attname not in ('answer_body', 'fingerprint')) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v')
    group by c.oid
  loop
    if readable.is_view then
      execute format('grant select on %I to amanah_reader', readable.name);
    else
      execute format('grant select (%s) on %I to amanah_reader', readable.columns, readable.name);
    end if;
  end loop;
end $$;
