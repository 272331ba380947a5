/** The terms of withdrawals in a run, IDR: low enough that the limit is reached, and that some disbursements wait. */
export const moneyOutTerms = {
  BANK_ACCOUNT_WAIT_HOURS: '0',
  WITHDRAWAL_FEE: '2500',
  WITHDRAWAL_DAILY_LIMIT: '250000',
  DISBURSEMENT_APPROVAL_ABOVE: '60000',
} as const;
