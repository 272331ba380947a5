import type { LedgerReferenceType } from '../../ledger/transaction.ts';
import { readTarget } from '../../money-in/payments/balance-payment.ts';
import type { PaymentHandler, PaymentIntent, Rail, SqlCall } from '../../money-in/payments/handler.ts';
import type { ReferenceType } from '../../money-in/payments/payment-order.ts';
import type { ProductKind } from './product.ts';

const targetsOf = (
  kind: ProductKind,
  payments: readonly Pick<PaymentIntent, 'referenceId' | 'amount'>[],
  isHeld: boolean,
): SqlCall => ({
  call: 'targets_of_products(?, ?::uuid[], ?::numeric[], ?)',
  params: [kind, payments.map(({ referenceId }) => referenceId), payments.map(({ amount }) => amount), isHeld],
});

/** A payment into an open product of one kind; the reference types of products differ only in these facts. */
const productPayment = <Type extends ReferenceType>(facts: {
  referenceType: Type;
  kind: ProductKind;
  permission: string;
  rails: readonly Rail[];
  ledgerReferenceType: LedgerReferenceType;
}): PaymentHandler & { referenceType: Type } => ({
  referenceType: facts.referenceType,
  permission: facts.permission,
  rails: facts.rails,
  ledgerReferenceType: facts.ledgerReferenceType,
  gatewayPurpose: 'topup_product',
  findTarget: (em, { referenceId, amount }) => readTarget(em, targetsOf(facts.kind, [{ referenceId, amount }], false)),
  effect: {
    hold: async (tx, { referenceId }) =>
      void (await tx.execute('select from products where id = ? and target_amount is not null for no key update', [
        referenceId,
      ])),
    sql: ({ referenceId }) => ({ call: 'settle_product(?)', params: [referenceId] }),
  },
  together: {
    targets: (payments) => targetsOf(facts.kind, payments, true),
    effect: (paid) => `settle_products(${paid})`,
  },
});

/** A payment for commodity financing, on both rails. */
export const commodityFinancingPayment = productPayment({
  referenceType: 'commodity_financing_payment',
  kind: 'commodity_financing',
  permission: 'pay-commodity-financing',
  rails: ['gateway', 'balance'],
  ledgerReferenceType: 'commodity_financing',
});

/** An investment in a product, on both rails. */
export const investment = productPayment({
  referenceType: 'investment',
  kind: 'investment',
  permission: 'create-investment',
  rails: ['gateway', 'balance'],
  ledgerReferenceType: 'investment',
});

/** A premium of takaful insurance. Gateway only; in the ledger it is an investment. */
export const takafulInsurance = productPayment({
  referenceType: 'takaful_insurance',
  kind: 'takaful_insurance',
  permission: 'pay-takaful',
  rails: ['gateway'],
  ledgerReferenceType: 'investment',
});

/** A contribution to a tabaru fund, on both rails; in the ledger it is a donation. */
export const takafulTabaruContribution = productPayment({
  referenceType: 'takaful_tabaru_contribution',
  kind: 'takaful_tabaru',
  permission: 'pay-takaful',
  rails: ['gateway', 'balance'],
  ledgerReferenceType: 'donation',
});

/** An investment through a trusted partner. Gateway only. */
export const trustedPartnerInvestment = productPayment({
  referenceType: 'trusted_partner_investment',
  kind: 'trusted_partner_investment',
  permission: 'create-investment',
  rails: ['gateway'],
  ledgerReferenceType: 'investment',
});
