import { defineEntity, p } from '@mikro-orm/core';

const WithdrawalSchema = defineEntity({
  name: 'Withdrawal',
  tableName: 'withdrawals',
  properties: {
    /** Its payout's. */
    id: p.uuid().primary(),
    /** Who asked for it. */
    user_id: p.uuid(),
    /** Of an account of an organization. */
    organization_id: p.uuid().nullable(),
    bank_account_id: p.uuid(),
    /** Its row in the ledger. */
    transaction_id: p.uuid(),
    /** Of a disbursement. */
    cause_id: p.uuid().nullable(),
    purpose_note: p.string().length(500).nullable(),
    created_at: p.datetime(),
  },
});

/** What a payout of a person or an organization has beside every payout: whose it is, and to which bank account. */
export class Withdrawal extends WithdrawalSchema.class {}
WithdrawalSchema.setClass(Withdrawal);
