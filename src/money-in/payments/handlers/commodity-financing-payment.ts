import { productPayment } from './product-payment.ts';

/** A payment for commodity financing, on both rails. */
export const commodityFinancingPayment = productPayment({
  referenceType: 'commodity_financing_payment',
  kind: 'commodity_financing',
  permission: 'pay-commodity-financing',
  rails: ['gateway', 'balance'],
  ledgerReferenceType: 'commodity_financing',
});
