import { type StatusOf, statusLaw } from '../shared/status-law.ts';

/** Types of ledger transactions (docs/contract.md 2). The reference types differ from those of payments. */
export const ledgerReferenceTypes = [
  'donation',
  'saving_goal',
  'saving_circle',
  'investment',
  'commodity_financing',
  'account_top_up',
] as const;
export type LedgerReferenceType = (typeof ledgerReferenceTypes)[number];

/** A transaction is written with its journal and never changes; a reversal is a separate row. */
export const transactionLaw = statusLaw({
  initial: ['successful', 'reversed'],
  transitions: {
    pending: [],
    successful: [],
    failed: [],
    reversed: [],
  },
});
export type TransactionStatus = StatusOf<typeof transactionLaw>;

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
