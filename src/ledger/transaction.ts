/** Facts of ledger transactions (giving-circles-payments.md section 2). The ledger enum is not the payments enum. */
export const ledgerReferenceTypes = [
  'donation',
  'saving_goal',
  'saving_circle',
  'investment',
  'commodity_financing',
  'account_top_up',
] as const;
export type LedgerReferenceType = (typeof ledgerReferenceTypes)[number];

export const transactionStatuses = ['pending', 'successful', 'failed', 'reversed'] as const;
export type TransactionStatus = (typeof transactionStatuses)[number];

export const transactionTypes = ['price', 'fee', 'tax'] as const;
export type TransactionType = (typeof transactionTypes)[number];

export const transactionPurposes = [
  'topup_pocket',
  'topup_product',
  'external_withdrawal',
  'internal_withdrawal',
  'product_transfer',
  'pocket_transfer',
] as const;
export type TransactionPurpose = (typeof transactionPurposes)[number];
