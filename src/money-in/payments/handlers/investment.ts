import { productPayment } from './product-payment.ts';

/** An investment in a product, on both rails. */
export const investment = productPayment({
  referenceType: 'investment',
  kind: 'investment',
  permission: 'create-investment',
  rails: ['gateway', 'balance'],
  ledgerReferenceType: 'investment',
});
