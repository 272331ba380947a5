import { productPayment } from './product-payment.ts';

/** An investment through a trusted partner. Gateway only. */
export const trustedPartnerInvestment = productPayment({
  referenceType: 'trusted_partner_investment',
  kind: 'trusted_partner_investment',
  permission: 'create-investment',
  rails: ['gateway'],
  ledgerReferenceType: 'investment',
});
