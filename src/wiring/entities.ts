import { CircleContribution } from '../circles/circle-contribution.entity.ts';
import { CircleMember } from '../circles/circle-member.entity.ts';
import { CircleReplacement } from '../circles/circle-replacement.entity.ts';
import { CircleRound } from '../circles/circle-round.entity.ts';
import { SavingCircle } from '../circles/saving-circle.entity.ts';
import { Erasure } from '../control/erasure/erasure.entity.ts';
import { LegalHold } from '../control/erasure/legal-hold.entity.ts';
import { ClearingComparison } from '../control/reconciliation/clearing-comparison.entity.ts';
import { Reconciliation } from '../control/reconciliation/reconciliation.entity.ts';
import { Cause } from '../giving/causes/cause.entity.ts';
import { Donation } from '../giving/donations/donation.entity.ts';
import { Subscription } from '../giving/donations/subscription.entity.ts';
import { Product } from '../giving/products/product.entity.ts';
import { SavingGoal } from '../giving/saving-goals/saving-goal.entity.ts';
import { Account } from '../ledger/accounts/account.entity.ts';
import { Transaction } from '../ledger/transaction.entity.ts';
import { PartnerPayment } from '../money-in/collections/partner-payment.entity.ts';
import { PartnerInstrument } from '../money-in/partner-instruments/partner-instrument.entity.ts';
import { PaymentChannel } from '../money-in/payments/payment-channel.entity.ts';
import { PaymentOrder } from '../money-in/payments/payment-order.entity.ts';
import { Receipt } from '../money-in/payments/receipt.entity.ts';
import { Decision } from '../money-out/decisions/decision.entity.ts';
import { PayoutBatch } from '../money-out/payout-batches/payout-batch.entity.ts';
import { Payout } from '../money-out/payouts/payout.entity.ts';
import { Withdrawal } from '../money-out/withdrawals/withdrawal.entity.ts';
import { Partner } from '../partners/partner.entity.ts';
import { PartnerKey } from '../partners/partner-key.entity.ts';
import { WebhookEndpoint } from '../partners/webhook-endpoint.entity.ts';
import { WebhookDelivery } from '../partners/webhooks/webhook-delivery.entity.ts';
import { Role } from '../people/access/role.entity.ts';
import { Address } from '../people/addresses/address.entity.ts';
import { BankAccount } from '../people/bank-accounts/bank-account.entity.ts';
import { Document } from '../people/documents/document.entity.ts';
import { DocumentCategory } from '../people/documents/document-category.entity.ts';
import { Organization } from '../people/members/organization.entity.ts';
import { User } from '../people/members/user.entity.ts';
import { OfficialDocument } from '../people/official-documents/official-document.entity.ts';
import { CallbackRow } from '../platform/callbacks/callback.entity.ts';

/** All entities; MikroORM discovers none by itself. */
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
  PartnerInstrument,
  PartnerKey,
  PartnerPayment,
  PaymentChannel,
  PaymentOrder,
  Payout,
  PayoutBatch,
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
