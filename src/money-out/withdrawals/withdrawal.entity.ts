import { defineEntity, p } from '@mikro-orm/core';

const WithdrawalSchema = defineEntity({
  name: 'Withdrawal',
  tableName: 'withdrawals',
  properties: {
    /** The payout's id. */
    id: p.uuid().primary(),
    /** The user who requested it. */
    user_id: p.uuid(),
    /** For an organization's account. */
    organization_id: p.uuid().nullable(),
    bank_account_id: p.uuid(),
    /** The withdrawal's row in `transactions`. */
    transaction_id: p.uuid(),
    /** For a disbursement. */
    cause_id: p.uuid().nullable(),
    purpose_note: p.string().length(500).nullable(),
    created_at: p.datetime(),
  },
});

/** A withdrawal's fields besides its payout's: owner, destination, and for a disbursement its cause and purpose. */
export class Withdrawal extends WithdrawalSchema.class {}
WithdrawalSchema.setClass(Withdrawal);
