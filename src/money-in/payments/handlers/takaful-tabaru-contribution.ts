import { productPayment } from './product-payment.ts';

/** A contribution to a tabaru fund, on both rails; in the ledger it is a donation. */
export const takafulTabaruContribution = productPayment({
  referenceType: 'takaful_tabaru_contribution',
  kind: 'takaful_tabaru',
  permission: 'pay-takaful',
  rails: ['gateway', 'balance'],
  ledgerReferenceType: 'donation',
});
