import { Role } from './access/role.entity.ts';
import { Address } from './addresses/address.entity.ts';
import { BankAccount } from './bank-accounts/bank-account.entity.ts';
import { CallbackRow } from './callbacks/callback.entity.ts';
import { Cause } from './causes/cause.entity.ts';
import { CircleContribution } from './circles/circle-contribution.entity.ts';
import { CircleMember } from './circles/circle-member.entity.ts';
import { CircleReplacement } from './circles/circle-replacement.entity.ts';
import { CircleRound } from './circles/circle-round.entity.ts';
import { SavingCircle } from './circles/saving-circle.entity.ts';
import { PartnerPayment } from './collections/partner-payment.entity.ts';
import { Decision } from './decisions/decision.entity.ts';
import { Document } from './documents/document.entity.ts';
import { DocumentCategory } from './documents/document-category.entity.ts';
import { Donation } from './donations/donation.entity.ts';
import { Subscription } from './donations/subscription.entity.ts';
import { Erasure } from './erasure/erasure.entity.ts';
import { LegalHold } from './erasure/legal-hold.entity.ts';
import { User } from './identity/user.entity.ts';
import { Account } from './ledger/account.entity.ts';
import { Transaction } from './ledger/transaction.entity.ts';
import { OfficialDocument } from './official-documents/official-document.entity.ts';
import { Organization } from './organizations/organization.entity.ts';
import { Partner } from './partners/partner.entity.ts';
import { PartnerKey } from './partners/partner-key.entity.ts';
import { PaymentChannel } from './payments/payment-channel.entity.ts';
import { PaymentOrder } from './payments/payment-order.entity.ts';
import { Receipt } from './payments/receipt.entity.ts';
import { Payout } from './payouts/payout.entity.ts';
import { Product } from './products/product.entity.ts';
import { ClearingComparison } from './reconciliation/clearing-comparison.entity.ts';
import { Reconciliation } from './reconciliation/reconciliation.entity.ts';
import { PaymentRefund } from './refunds/payment-refund.entity.ts';
import { SavingGoal } from './saving-goals/saving-goal.entity.ts';
import { WebhookDelivery } from './webhooks/webhook-delivery.entity.ts';
import { WebhookEndpoint } from './webhooks/webhook-endpoint.entity.ts';
import { Withdrawal } from './withdrawals/withdrawal.entity.ts';

/** Every entity, listed: MikroORM discovers none. */
export const entities = [
  Account,
  Address,
  BankAccount,
  CallbackRow,
  Cause,
  CircleContribution,
  CircleMember,
  CircleReplacement,
  CircleRound,
  ClearingComparison,
  Decision,
  Document,
  DocumentCategory,
  Donation,
  Erasure,
  LegalHold,
  OfficialDocument,
  Organization,
  Partner,
  PartnerKey,
  PartnerPayment,
  PaymentChannel,
  PaymentOrder,
  PaymentRefund,
  Payout,
  Product,
  Receipt,
  Reconciliation,
  Role,
  SavingCircle,
  SavingGoal,
  Subscription,
  Transaction,
  User,
  WebhookDelivery,
  WebhookEndpoint,
  Withdrawal,
];
