import { causeLaw } from '../../src/causes/cause.ts';
import { circleLaw, contributionLaw, replacementLaw } from '../../src/circles/saving-circle.ts';
import { decisionLaw } from '../../src/decisions/decision.ts';
import { donationLaw } from '../../src/donations/donation.ts';
import { subscriptionAttemptLaw, subscriptionLaw } from '../../src/donations/subscription.ts';
import { erasureLaw } from '../../src/erasure/erasure.ts';
import { userLaw } from '../../src/identity/user.ts';
import { transactionLaw } from '../../src/ledger/transaction.ts';
import { verificationLaw } from '../../src/official-documents/official-document.ts';
import { organizationLaw } from '../../src/organizations/organization.ts';
import { partnerLaw } from '../../src/partners/partner.ts';
import { paymentOrderLaw } from '../../src/payments/payment-order.ts';
import { receiptLaw } from '../../src/payments/receipt.ts';
import { payoutAttemptLaw, payoutLaw } from '../../src/payouts/payout.ts';
import { productLaw } from '../../src/products/product.ts';
import { dayPhaseLaw, reconciledDayLaw, reconciliationLaw } from '../../src/reconciliation/reconciliation.ts';
import { savingGoalLaw, savingGoalOrderLaw } from '../../src/saving-goals/saving-goal.ts';
import type { StatusLaw } from '../../src/shared/status-law.ts';
import { webhookDeliveryLaw } from '../../src/webhooks/webhook-delivery.ts';
import { webhookEndpointLaw } from '../../src/webhooks/webhook-endpoint.ts';

/** The law of every status in the database: `table.column`. */
export const statusLaws: Readonly<Record<string, StatusLaw>> = {
  'charitable_causes.status': causeLaw,
  'decisions.status': decisionLaw,
  'donation_subscription_attempts.outcome': subscriptionAttemptLaw,
  'donation_subscriptions.status': subscriptionLaw,
  'donations.status': donationLaw,
  'erasures.status': erasureLaw,
  'official_documents.verification_status': verificationLaw,
  'organizations.status': organizationLaw,
  'partner_payments.status': paymentOrderLaw,
  'partners.status': partnerLaw,
  'payment_orders.status': paymentOrderLaw,
  'payout_attempts.outcome': payoutAttemptLaw,
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
