import { executePrepared } from '../../database/prepared-statements.ts';
import type { LedgerReferenceType } from '../../ledger/transaction.ts';
import type { ProductKind, ProductStatus } from '../../products/product.ts';
import { refuse } from '../../shared/errors.ts';
import { addMoney, compareMoney, formatMoney, type Money, subtractMoney } from '../../shared/money.ts';
import type { PaymentHandler, Rail } from '../handler.ts';
import type { ReferenceType } from '../payment-order.ts';

interface ProductRow {
  kind: ProductKind;
  status: ProductStatus;
  account_id: string;
  minimum_amount: Money | null;
  target_amount: Money | null;
  held: Money | null;
}

// A product's balance is only read where it has a target that could be exceeded.
const query = `select kind, status, account_id, minimum_amount::text, target_amount::text,
    case when target_amount is not null then account_balance(account_id)::text end as held
  from products where id = ?`;

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
  async findTarget(em, { referenceId, amount }) {
    const [product] = await executePrepared<ProductRow>(em, query, [referenceId]);
    if (product === undefined) refuse('NOT_FOUND', 'no such product', { field: 'reference_id' });
    const { kind, status, minimum_amount: minimum, target_amount: target, held } = product;
    if (kind !== facts.kind)
      refuse('REQUEST_INVALID', `a product of kind ${kind}, not ${facts.kind}`, { field: 'reference_id' });
    if (status !== 'open') refuse('REQUEST_INVALID', `the product is ${status}`, { field: 'reference_id' });
    const rest = target === null ? null : subtractMoney(target, held ?? '0');
    if (minimum !== null && rest !== null && compareMoney(rest, minimum) < 0) {
      if (compareMoney(amount, rest) !== 0)
        refuse('REQUEST_INVALID', `the product takes exactly IDR ${rest}`, { field: 'amount' });
    } else if (minimum !== null && compareMoney(amount, minimum) < 0) {
      refuse('REQUEST_INVALID', `the product takes at least IDR ${formatMoney(minimum)}`, { field: 'amount' });
    }
    if (target !== null && compareMoney(addMoney(held ?? '0', amount), target) > 0) {
      refuse('REQUEST_INVALID', 'it would exceed the target of the product', { field: 'amount' });
    }
    return { accountId: product.account_id };
  },
  effect: {
    hold: async (tx, { referenceId }) =>
      void (await tx.execute('select from products where id = ? and target_amount is not null for no key update', [
        referenceId,
      ])),
    sql: ({ orderId, referenceId }) => ({ call: 'settle_product(?, ?)', params: [referenceId, orderId === null] }),
  },
  together: {
    targets: (payments) => ({
      call: 'accounts_of_products(?, ?::uuid[], ?::numeric[])',
      params: [facts.kind, payments.map(({ referenceId }) => referenceId), payments.map(({ amount }) => amount)],
    }),
    effect: (paid) => `settle_products(${paid})`,
  },
});
