import type { ProductKind } from '../../../giving/products/product.ts';
import type { LedgerReferenceType } from '../../../ledger/transaction.ts';
import type { PaymentHandler, PaymentIntent, Rail, SqlCall } from '../handler.ts';
import type { ReferenceType } from '../payment-order.ts';
import { readTarget } from '../read-target.ts';

const targetsOf = (
  kind: ProductKind,
  payments: readonly Pick<PaymentIntent, 'referenceId' | 'amount'>[],
  isHeld: boolean,
): SqlCall => ({
  call: 'targets_of_products(?, ?::uuid[], ?::numeric[], ?)',
  params: [kind, payments.map(({ referenceId }) => referenceId), payments.map(({ amount }) => amount), isHeld],
});

/** A payment into an open product of one kind; the reference types of products differ only in these facts. */
export const productPayment = <Type extends ReferenceType>(facts: {
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
