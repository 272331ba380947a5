import { productPayment } from './product-payment.ts';

/** A premium of takaful insurance. Gateway only; in the ledger it is an investment. */
export const takafulInsurance = productPayment({
  referenceType: 'takaful_insurance',
  kind: 'takaful_insurance',
  permission: 'pay-takaful',
  rails: ['gateway'],
  ledgerReferenceType: 'investment',
});
