import { systemAccounts } from '../../src/ledger/accounts/account.ts';
import { newId } from '../../src/shared/ids.ts';
import {
  attemptsOf,
  callback,
  circle,
  circleMember,
  circleOf,
  contributionOf,
  decisionOf,
  delivery,
  donation,
  landedElsewhere,
  openOrderInSuspense,
  orderOf,
  organization,
  partnerPayment,
  payoutOf,
  planted,
  receiptOf,
  refundedPayment,
  refusedAndMade,
  round,
  subscription,
  together,
  user,
  userWithRole,
} from './planted-rows.ts';

/** The id of a planted instrument. */
const own = newId();

/** Corruptions for each view, inserted without triggers, as only a superuser can. */
export const corruptions: [view: string, sql: string][] = [
  [
    'check_uploads_end',
    `insert into document_uploads (id, user_id, url_sealed, created_at)
     values ('${newId()}', '${user}', 'x', now() - interval '1 hour')`,
  ],
  [
    'check_official_documents_name_documents_of_their_owner',
    `with document as (insert into documents (id, url_sealed, url_hash, document_type, visibility, content_type, size_bytes, created_by)
       values ('${newId()}', 'x', 'x', 'image', 'private', 'image/png', 1, '${user}') returning id)
     insert into official_documents (id, user_id, kind, details_sealed, document_id, verification_status)
     select 1, '${newId()}', 'passport', 'x', id, 'pending' from document`,
  ],
  ['check_users_hold_live_roles', userWithRole(organization, true)],
  ['check_roles_know_their_permissions', "update roles set permission_names = 'fly' where name = 'individual_user'"],
  ['check_users_hold_roles_of_their_organization', userWithRole(newId(), false)],
  ['check_journals_balance', `insert into journals (id, business_key, kind) values ('${newId()}', 'planted', 'test')`],
  [
    'check_journals_are_sealed',
    `insert into journals (id, business_key, kind, created_at)
     values ('${newId()}', 'planted', 'test', now() - interval '49 hours')`,
  ],
  [
    'check_sealed_days_are_whole',
    `insert into seals (number, hash, jws, pass, sealed_at, covers_until) values (1, 'x', 'x', 'x', now(), now());
     insert into journals (id, business_key, kind, created_at)
     values ('${newId()}', 'planted', 'test', now() - interval '25 hours')`,
  ],
  // A closing without postings, and a closed day without its closings.
  ['check_closings_match_postings', `insert into closings values ('${systemAccounts.suspense}', '2020-01-01', 1)`],
  [
    'check_closings_match_postings',
    `insert into closed_days (day) select (max(created_at) at time zone interval '7 hours')::date from postings`,
  ],
  // A journal without its key, a key without its journal, and a second journal of one key.
  [
    'check_journals_have_their_keys',
    `insert into journals (id, business_key, kind) values ('${newId()}', 'planted', 'test')`,
  ],
  ['check_journals_have_their_keys', `insert into journal_keys values ('planted', '${newId()}')`],
  [
    'check_journals_have_their_keys',
    `insert into journals (id, business_key, kind) select '${newId()}', business_key, kind from journals limit 1`,
  ],
  ['check_callbacks_have_their_keys', callback],
  ['check_callbacks_have_their_keys', `insert into callback_keys values ('planted', 'x', '${newId()}')`],
  ['check_webhooks_have_their_keys', delivery],
  [
    'check_webhooks_have_their_keys',
    `insert into webhook_version_keys values ('payout', '${newId()}', 1, '${newId()}', '${newId()}')`,
  ],
  // A version sent with different bodies to two endpoints.
  [
    'check_webhook_versions_are_one_event',
    `insert into webhook_deliveries (id, partner_id, endpoint_id, resource_type, resource_id, version, type, body_sealed,
       body_digest, next_attempt_at) select uuidv7(), '${newId()}', uuidv7(), 'payout', '${newId()}', 1, type, 'x', 'x', now()
     from unnest(array['payout.failed', 'payout.succeeded']) type`,
  ],
  // Rows without a partition, and a missing partition of the coming month.
  [
    'check_months_are_made',
    "insert into events (id, event, impact, resource_type, created_at) values (uuidv7(interval '-5 years'), 'X', 'LOW', 'x', now() - interval '5 years')",
  ],
  [
    'check_months_are_made',
    `do $$ begin execute format('drop table months.%I', month_name('events', (date_trunc('month', now()) + interval '1 month')::date)); end $$`,
  ],
  ['check_balances_match_postings', 'update account_balances set balance = balance + 1'],
  ['check_no_forbidden_negative', 'update account_balances set balance = -1 where shard = 0'],
  ['check_postings_have_accounts', "delete from accounts where kind = 'user'"],
  [
    'check_transactions_agree_with_postings',
    `insert into transactions (id, user_id, amount, status, source_account_id, type, reference_type, reference_id,
       batch_id, purpose) select '${newId()}', '${user}', 7, 'successful', '${systemAccounts.suspense}', 'price',
       'account_top_up', '${newId()}', id, 'topup_pocket' from journals limit 1`,
  ],
  ['check_orders_posted_once', orderOf('PAID')],
  ['check_orders_posted_once', landedElsewhere().order],
  ['check_receipts_posted_once', landedElsewhere().receipt],
  ['check_receipts_posted_once', receiptOf('credited')],
  ['check_suspense_matches_receipts', receiptOf('suspended')],
  ['check_receipts_reach_their_owners', openOrderInSuspense],
  ['check_donations_posted_once', donation(null)],
  [
    'check_donations_posted_once',
    `with paid as (insert into transactions (id, user_id, amount, status, source_account_id, type, reference_type, reference_id,
       batch_id, purpose) values ('${newId()}', '${user}', 5, 'successful', '${newId()}', 'price', 'donation', '${newId()}',
       '${newId()}', 'product_transfer') returning id)
     insert into donations (id, user_id, type, amount, status, transaction_id, refund_transaction_id)
     select '${newId()}', '${user}', 'open', 5, 'refunded', id, '${newId()}' from paid`,
  ],
  ['check_open_pool_matches_donations', donation(null)],
  ['check_cause_totals_match_donations', donation(newId(), newId())],
  ['check_allocations_match_donations', donation(newId(), newId())],
  ['check_subscriptions_paid_once', subscription],
  ['check_partner_payments_posted_once', partnerPayment('PAID')],
  ['check_partner_receipts_applied_once', partnerPayment('PAID')],
  ['check_partner_pending_matches_payments', partnerPayment('PAID')],
  ['check_partner_accounts_are_theirs', planted],
  ['check_payouts_posted_once', payoutOf('succeeded')],
  ['check_payouts_are_reversed_as_was_said', payoutOf('reversed')],
  ['check_reserved_matches_payouts', payoutOf('pending')],
  // A payout without its tally, and a tally without its payout.
  ['check_payout_tallies_match_payouts', payoutOf('pending')],
  ['check_payout_tallies_match_payouts', `insert into payout_tallies values ('${newId()}', tally_start(now()), 0, 1)`],
  [
    'check_withdrawals_are_told',
    together(
      payoutOf('pending'),
      "update payouts set kind = 'withdrawal', partner_id = null where reference = 'PO-PLANTED'",
    ),
  ],
  [
    'check_causes_keep_what_was_given',
    `with cause as (insert into charitable_causes (id, name, description, target_amount, regulations, benefit, owner_type,
       account_id, status, created_by) select '${newId()}', 'Planted', 'x', 1, 'x', 'x', 'individual', id, 'pending',
       '${user}' from accounts where kind = 'user' limit 1 returning id)
     insert into cause_totals (cause_id, shard, donated, donations) select id, 1, 900000000000, 1 from cause`,
  ],
  [
    'check_disbursements_wait_for_their_decision',
    together(
      payoutOf('succeeded'),
      `insert into decisions (id, kind, withdrawal_id, note, evidence, proposed_by)
       select '${newId()}', 'disburse', id, 'planted', '{}', '${newId()}' from payouts where reference = 'PO-PLANTED'`,
    ),
  ],
  [
    'check_payments_refunded_within',
    together(
      payoutOf('pending'),
      "update payouts set kind = 'payment_refund', fee = 0, amount = 9 where reference = 'PO-PLANTED'",
    ),
  ],
  [
    'check_payments_refunded_within',
    together(
      payoutOf('pending'),
      `insert into partner_payments (id, partner_id, channel_id, fee_mode, amount, fee, net_amount, status, expires_at,
         finalized_at, created_at, updated_at)
       select '${refundedPayment}', partner_id, 1, 'DEDUCTED', 10, 1, 9, 'FAILED', now(), now(), now(), now()
       from payouts where reference = 'PO-PLANTED'`,
      `insert into payment_refunds (id, payment_id, created_at)
       select id, '${refundedPayment}', now() from payouts where reference = 'PO-PLANTED'`,
    ),
  ],
  [
    'check_instrument_payments_fit',
    `insert into partner_instruments (id, partner_id, channel_id, status, look_again_at, created_at, updated_at)
     values ('${own}', '${newId()}', 1, 'active', now(), now(), now());
     insert into partner_payments (id, partner_id, channel_id, instrument_id, fee_mode, amount, fee, net_amount, status, expires_at,
       created_at, updated_at)
     values ('${newId()}', '${newId()}', 1, '${own}', 'DEDUCTED', 10, 1, 9, 'WAITING_PAYMENT', now(), now(), now())`,
  ],
  [
    'check_payout_batches_are_whole',
    `insert into payout_batches (id, partner_id, fee_mode, item_count, total_amount, total_fee, status, made_by, decided_by,
       decided_at, lapses_at, look_again_at, created_at, updated_at)
     values ('${newId()}', '${newId()}', 'DEDUCTED', 1, 10, 0, 'processing', '${newId()}', '${newId()}', now(), now(), now(),
       now(), now())`,
  ],
  // A successful payout without its booking, a booking without its journal, and a booking journal without its row.
  ['check_transfers_booked_once', payoutOf('succeeded', 'planted')],
  [
    'check_transfers_booked_once',
    `insert into booked_transfers (provider_id, decision_id, journal_id) values ('planted', '${newId()}', '${newId()}')`,
  ],
  [
    'check_transfers_booked_once',
    `insert into journals (id, business_key, kind) values ('${newId()}', 'transfer/planted/booked/${newId()}', 'transfer.booked')`,
  ],
  ['check_payouts_sent_once', payoutOf('pending', 'planted')],
  // Second attempts before the provider reported the first as unknown, a sixth attempt, one after the payout was final.
  ['check_payouts_sent_once', attemptsOf('pending', 2, null)],
  ['check_payouts_sent_once', attemptsOf('pending', 2, '61 minutes')],
  ['check_payouts_sent_once', attemptsOf('pending', 6, '2 minutes')],
  ['check_payouts_sent_once', attemptsOf('succeeded', 1, null)],
  [
    'check_completed_targets_are_reached',
    `insert into saving_goals (id, user_id, name, account_id, target_amount, status)
     values ('${newId()}', '${user}', 'Planted', '${newId()}', 5, 'completed')`,
  ],
  [
    'check_closed_goals_are_empty',
    `insert into saving_goals (id, user_id, name, account_id, target_amount, status, closed_at, released_to)
     values ('${newId()}', '${user}', 'Planted', '${systemAccounts.gatewayClearing}', 5, 'active', now(), '${newId()}')`,
  ],
  [
    'check_goal_orders_follow_orders',
    `with o as (${orderOf('EXPIRED')} returning id)
     insert into saving_goal_orders (payment_order_id, saving_goal_id, status) select id, '${newId()}', 'pending' from o`,
  ],
  [
    'check_ledger_rows_have_parents',
    `insert into postings (journal_id, account_id, amount) values ('${newId()}', '${systemAccounts.suspense}', 1)`,
  ],
  ['check_transaction_counts', "insert into transaction_counts values ('investment', 'price', 3, 1)"],
  [
    'check_transaction_receivers',
    `insert into transaction_receivers values ('${user}', '${newId()}', now(), 'donation', 'price', '${newId()}')`,
  ],
  [
    'check_transaction_organizations',
    `insert into transaction_organizations values ('${newId()}', '${newId()}', now(), '${user}', 'investment', 'price', '${newId()}')`,
  ],
  [
    'check_circle_contributions_once',
    together('drop index one_contribution_of_a_turn', contributionOf('completed'), contributionOf('completed')),
  ],
  ['check_circle_contributions_posted', contributionOf('completed')],
  ['check_circle_holdings', circleOf('active')],
  ['check_circle_pots_paid_once', together(circleOf('active'), circleMember, round)],
  [
    'check_requests_are_kept',
    `insert into requests (owner_id, key_hash, fingerprint, resource_id, kind, made)
     values ('${newId()}', '', '', '${newId()}', 'payout', 1)`,
  ],
  ['check_requests_are_kept', refusedAndMade],
  // Decisions without their effect, and effects without their decision.
  ['check_decisions_were_carried_out', decisionOf({ kind: 'book_external', amount: 5, reference: 'planted' })],
  ['check_decisions_were_carried_out', decisionOf({ kind: 'settle_payout', payout_id: newId(), outcome: 'failed' })],
  [
    'check_decisions_were_carried_out',
    together(
      payoutOf('pending'),
      "update payouts set status = 'failed', finalized_at = now(), failure_code = 'SETTLED_BY_OPERATOR' where reference = 'PO-PLANTED'",
    ),
  ],
  ['check_decisions_were_carried_out', receiptOf('refunded')],
  [
    'check_decisions_were_carried_out',
    `insert into journals (id, business_key, kind) values ('${newId()}', 'platform-external/x', 'platform.external')`,
  ],
  ['check_circle_states', together(circleOf('completed'), circleMember)],
  [
    'check_circle_covers',
    together(
      circleOf('active'),
      `insert into saving_circle_covers (saving_circle_id, turn_number, debtor_member_id, guarantor_member_id, amount)
        values ('${circle}', 1, '${newId()}', '${newId()}', 5)`,
    ),
  ],
  [
    'check_circle_settlements',
    together(
      circleOf('active'),
      circleMember,
      `insert into saving_circle_settlements (id, saving_circle_id, account_id, amount)
        select id, saving_circle_id, account_id, 5 from saving_circle_members where saving_circle_id = '${circle}'`,
    ),
  ],
  [
    'check_circle_settlements',
    together(
      circleOf('completed'),
      circleMember,
      `insert into saving_circle_contributions (id, saving_circle_id, member_id, user_id, turn_number, amount,
          guarantee_amount, rail, status, refund_account_id, transaction_id)
        select '${newId()}', '${circle}', id, user_id, 1, 10, 5, 'balance', 'completed', account_id, '${newId()}'
        from saving_circle_members where saving_circle_id = '${circle}'`,
    ),
  ],
];
