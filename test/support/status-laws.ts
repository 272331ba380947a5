import { circleLaw, contributionLaw, replacementLaw } from '../../src/circles/saving-circle.ts';
import { erasureLaw } from '../../src/control/erasure/erasure.ts';
import { dayPhaseLaw, reconciledDayLaw, reconciliationLaw } from '../../src/control/reconciliation/reconciliation.ts';
import { causeLaw } from '../../src/giving/causes/cause.ts';
import { donationLaw } from '../../src/giving/donations/donation.ts';
import { subscriptionAttemptLaw, subscriptionLaw } from '../../src/giving/donations/subscription.ts';
import { productLaw } from '../../src/giving/products/product.ts';
import { savingGoalLaw, savingGoalOrderLaw } from '../../src/giving/saving-goals/saving-goal.ts';
import { transactionLaw } from '../../src/ledger/transaction.ts';
import { partnerInstrumentLaw } from '../../src/money-in/partner-instruments/partner-instrument.ts';
import { paymentOrderLaw } from '../../src/money-in/payments/payment-order.ts';
import { receiptLaw } from '../../src/money-in/payments/receipt.ts';
import { decisionLaw } from '../../src/money-out/decisions/decision.ts';
import { payoutBatchLaw } from '../../src/money-out/payout-batches/payout-batch.ts';
import { payoutAttemptLaw, payoutLaw } from '../../src/money-out/payouts/payout.ts';
import { partnerLaw } from '../../src/partners/partner.ts';
import { webhookEndpointLaw } from '../../src/partners/webhook-endpoint.ts';
import { webhookDeliveryLaw } from '../../src/partners/webhooks/webhook-delivery.ts';
import { mailLaw } from '../../src/people/mail/mail.ts';
import { verificationLaw } from '../../src/people/official-documents/official-document.ts';
import { organizationLaw } from '../../src/shared/organization.ts';
import type { StatusLaw } from '../../src/shared/status-law.ts';
import { userLaw } from '../../src/shared/user.ts';

/** The law of every status column in the database, by `table.column`. */
export const statusLaws: Readonly<Record<string, StatusLaw>> = {
  'charitable_causes.status': causeLaw,
  'decisions.status': decisionLaw,
  'donation_subscription_attempts.outcome': subscriptionAttemptLaw,
  'donation_subscriptions.status': subscriptionLaw,
  'donations.status': donationLaw,
  'erasures.status': erasureLaw,
  'mails.status': mailLaw,
  'official_documents.verification_status': verificationLaw,
  'organizations.status': organizationLaw,
  'partner_instruments.status': partnerInstrumentLaw,
  'partner_payments.status': paymentOrderLaw,
  'partners.status': partnerLaw,
  'payment_orders.status': paymentOrderLaw,
  'payout_attempts.outcome': payoutAttemptLaw,
  'payout_batches.status': payoutBatchLaw,
  'payouts.status': payoutLaw,
  'products.status': productLaw,
  'receipts.state': receiptLaw,
  'reconciled_days.phase': dayPhaseLaw,
  'reconciled_days.state': reconciledDayLaw,
  'reconciliations.state': reconciliationLaw,
  'saving_circle_contributions.status': contributionLaw,
  'saving_circle_replacements.status': replacementLaw,
  'saving_circles.status': circleLaw,
  'saving_goal_orders.status': savingGoalOrderLaw,
  'saving_goals.status': savingGoalLaw,
  'transactions.status': transactionLaw,
  'users.status': userLaw,
  'webhook_deliveries.status': webhookDeliveryLaw,
  'webhook_endpoints.status': webhookEndpointLaw,
};
