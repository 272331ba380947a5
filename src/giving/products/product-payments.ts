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

interface Facts {
  kind: ProductKind;
  permission: string;
  rails: readonly Rail[];
  ledgerReferenceType: LedgerReferenceType;
}

/** Creates the handler of payments into open products of one kind. */
const productPayment = <Type extends ReferenceType>(
  referenceType: Type,
  { kind, ...facts }: Facts,
): PaymentHandler & { referenceType: Type } => ({
  ...facts,
  referenceType,
  referenceOf: 'the product',
  gatewayPurpose: 'topup_product',
  findTarget: (em, { referenceId, amount }) => readTarget(em, targetsOf(kind, [{ referenceId, amount }], false)),
  effect: {
    hold: async (tx, { referenceId }) =>
      void (await tx.execute('select from products where id = ? and target_amount is not null for no key update', [
        referenceId,
      ])),
    inTransaction: (tx, { referenceId }) => tx.execute('select settle_product(?)', [referenceId]),
  },
  together: {
    targets: (payments) => targetsOf(kind, payments, true),
    effect: (paid) => `settle_products(${paid})`,
  },
});

const [byGateway, onBothRails] = [['gateway'], ['gateway', 'balance']] as const satisfies Rail[][];

/**
 * The handlers of payments into products. The ledger records takaful insurance as an investment, a tabaru contribution
 * as a donation.
 */
export const productPayments = {
  commodity_financing_payment: productPayment('commodity_financing_payment', {
    kind: 'commodity_financing',
    permission: 'pay-commodity-financing',
    rails: onBothRails,
    ledgerReferenceType: 'commodity_financing',
  }),
  investment: productPayment('investment', {
    kind: 'investment',
    permission: 'create-investment',
    rails: onBothRails,
    ledgerReferenceType: 'investment',
  }),
  takaful_insurance: productPayment('takaful_insurance', {
    kind: 'takaful_insurance',
    permission: 'pay-takaful',
    rails: byGateway,
    ledgerReferenceType: 'investment',
  }),
  takaful_tabaru_contribution: productPayment('takaful_tabaru_contribution', {
    kind: 'takaful_tabaru',
    permission: 'pay-takaful',
    rails: onBothRails,
    ledgerReferenceType: 'donation',
  }),
  trusted_partner_investment: productPayment('trusted_partner_investment', {
    kind: 'trusted_partner_investment',
    permission: 'create-investment',
    rails: byGateway,
    ledgerReferenceType: 'investment',
  }),
};
