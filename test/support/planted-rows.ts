import { systemAccounts } from '../../src/ledger/accounts/account.ts';
import { newId } from '../../src/shared/ids.ts';

export const user = newId();
export const orderOf = (status: string, id = newId()) =>
  `insert into payment_orders (id, user_id, reference_type, reference_id, target_account_id, payment_id, nominal,
     admin_fee, status, expires_at, created_at, updated_at)
   values ('${id}', '${user}', 'account_top_up', '${newId()}', '${systemAccounts.suspense}', 1, 10, 1,
     '${status}', now(), now(), now())`;
export const receiptOf = (state: string, id = newId()) =>
  `insert into receipts (id, provider_payment_id, provider_payment_method_id, reference, amount, state, reason)
   values ('${id}', '${newId()}', 'pm', 'nobody', 5, '${state}', 'unknown')`;

/** A journal that posts money from the gateway to the platform's revenue. */
const toRevenue = (key: string, amount: number) => {
  const journal = newId();
  return `insert into journals (id, business_key, kind) values ('${journal}', '${key}', 'test');
   insert into journal_keys values ('${key}', '${journal}');
   insert into postings (journal_id, account_id, amount) values ('${journal}', '${systemAccounts.feeRevenue}', ${amount}),
     ('${journal}', '${systemAccounts.gatewayClearing}', ${-amount})`;
};
export const landedElsewhere = () => {
  const [order, receipt] = [newId(), newId()];
  return {
    order: together(orderOf('PAID', order), toRevenue(`payment-order/${order}/settled`, 11)),
    receipt: together(
      receiptOf('credited', receipt),
      `update receipts set account_id = '${systemAccounts.openDonationPool}' where id = '${receipt}'`,
      toRevenue(`receipt/${receipt}/suspense`, 5),
      toRevenue(`receipt/${receipt}/settled`, 5),
    ),
  };
};

export const openOrderInSuspense = `with o as (${orderOf('WAITING_PAYMENT')} returning id)
   insert into receipts (id, provider_payment_id, provider_payment_method_id, reference, amount, state, reason)
   select '${newId()}', '${newId()}', 'pm', id::text, 11, 'suspended', 'late' from o`;

export const organization = newId();
export const userWithRole = (organizationId: string, deleted: boolean) =>
  `with role as (insert into roles (id, name, display_name, organization_id, user_type, description, deleted_at)
     values ('${newId()}', '${newId()}', 'Planted', '${organizationId}', 'organization', '', ${deleted ? 'now()' : 'null'})
     returning id)
   insert into users (id, user_type, organization_id, role_id, status, password_sealed)
   select '${newId()}', 'organization', '${organization}', id, 'active', 'x' from role`;

const partner = newId();
export const planted = `insert into partners (id, name, organization_id, fee_mode, available_account_id, pending_account_id,
    reserved_account_id) values ('${partner}', 'Planted', '${organization}', 'DEDUCTED', '${systemAccounts.suspense}',
    '${systemAccounts.openDonationPool}', '${systemAccounts.feeRevenue}')`;
export const partnerPayment = (status: string) =>
  `with partner as (${planted} returning id)
   insert into partner_payments (id, partner_id, channel_id, fee_mode, amount, fee, net_amount, status, expires_at,
     finalized_at, available_at, created_at, updated_at)
   select '${newId()}', id, 1, 'DEDUCTED', 10, 1, 9, '${status}', now(), now(), now(), now(), now() from partner`;

export const payoutOf = (status: string, transferId: string | null = null) =>
  `with partner as (${planted} returning id, available_account_id, reserved_account_id)
   insert into payouts (id, kind, source_account_id, reserved_account_id, partner_id, reference, fee_mode, amount, fee,
     net_amount, bank_code, texts_sealed, status, provider_transfer_id, finalized_at, created_at, updated_at)
   select '${newId()}', 'partner_payout', available_account_id, reserved_account_id, id, 'PO-PLANTED', 'DEDUCTED', 10, 1, 9, 'BCA', 'x', '${status}',
     ${transferId === null ? 'null' : `'${transferId}'`}, ${status === 'pending' ? 'null' : 'now()'}, now(), now()
   from partner`;

/**
 * Attempts an hour apart, the last in two hours; the provider reported each as not known this long after it was sent.
 */
export const attemptsOf = (status: string, count: number, notKnownAfter: string | null) =>
  together(
    'drop index payout_attempts_one_open',
    payoutOf(status),
    `insert into payout_attempts (payout_id, number, sent_at, not_known_at)
     select id, n, sent_at, sent_at + ${notKnownAfter === null ? 'null' : `interval '${notKnownAfter}'`}
     from payouts, generate_series(1, ${count}) n, lateral (select now() + make_interval(hours => 2 + n - ${count}) as sent_at)
     where reference = 'PO-PLANTED'`,
  );

export const refundedPayment = newId();
export const donation = (causeId: string | null, batchId: string | null = null) =>
  `insert into donations (id, user_id, type, amount, status, cause_id, allocation_batch_id, transaction_id)
   values ('${newId()}', '${user}', 'open', 5, 'completed', ${causeId === null ? 'null' : `'${causeId}'`},
     ${batchId === null ? 'null' : `'${batchId}'`}, '${newId()}')`;
export const subscription = `insert into donation_subscriptions (id, user_id, cause_id, amount, source_account_id, interval,
    status, started_at, periods_paid)
  values ('${newId()}', '${user}', '${newId()}', 5, '${newId()}', 'weekly', 'active', now(), 1)`;

export const circle = newId();
export const circleOf = (status: string) =>
  `insert into saving_circles (id, name, account_id, holding_account_id, owner_type, owner_id, created_by, capacity, amount,
     visibility, round_interval, turn_order, start_date, starts_at, status, ended_at, next_opens_at, first_turn)
   select '${circle}', 'Planted', '${newId()}', id, 'individual', '${user}', '${user}', 5, 10, 'private', 'monthly',
     'joining', '2026-01-01', now(), '${status}', ${status === 'active' ? 'null' : 'now()'},
     ${status === 'active' ? 'now()' : 'null'}, 1 from accounts where kind = 'user' limit 1`;
export const circleMember = `insert into saving_circle_members (id, saving_circle_id, account_id, user_id, turn_number)
   values ('${newId()}', '${circle}', '${newId()}', '${user}', 1)`;
const memberOfContributions = newId();
export const contributionOf = (status: string) =>
  `insert into saving_circle_contributions (id, saving_circle_id, member_id, user_id, turn_number, amount, rail, status,
     refund_account_id, transaction_id) values ('${newId()}', '${circle}', '${memberOfContributions}', '${user}', 1, 10, 'balance',
     '${status}', '${newId()}', '${newId()}')`;
export const round = `insert into saving_circle_rounds (saving_circle_id, turn_number, receiver_member_id, opened_at, due_at,
     paid_at, amount, journal_id) select '${circle}', 1, id, now(), now(), now(), 10, '${newId()}'
   from saving_circle_members where saving_circle_id = '${circle}'`;
export const together = (...statements: string[]) => `do $$ begin ${statements.join('; ')}; end $$`;

export const refusedAndMade = `with o as (${orderOf('PENDING')} returning id)
   insert into requests (owner_id, key_hash, fingerprint, resource_id, kind, refused_upto, refusal)
   select id, '', '', id, 'payment_order', 1, '{}' from o`;

export const decisionOf = (facts: object) =>
  `insert into decisions (id, note, evidence, proposed_by, approved_by, approved_at, status, ended_at, ${Object.keys(facts)})
   values ('${newId()}', 'planted', '{}', '${newId()}', '${newId()}', now(), 'carried_out', now(),
     ${Object.values(facts).map((value) => `'${value}'`)})`;

export const callback = `insert into gateway_callbacks (id, webhook_id, unread, body_sealed, body_digest, body_bytes)
   values ('${newId()}', 'planted', 'unknown event', 'x', 'x', 1)`;
export const delivery = `insert into webhook_deliveries (id, partner_id, endpoint_id, resource_type, resource_id, version, type, body_sealed,
     body_digest, next_attempt_at) values ('${newId()}', '${newId()}', '${newId()}', 'payout', '${newId()}', 1, 'payout.failed', 'x', 'x', now())`;
