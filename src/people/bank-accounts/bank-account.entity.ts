import { defineEntity, p } from '@mikro-orm/core';

const BankAccountSchema = defineEntity({
  name: 'BankAccount',
  tableName: 'bank_accounts',
  properties: {
    id: p.uuid().primary(),
    user_id: p.uuid(),
    organization_id: p.uuid().nullable(),
    bank_code: p.text(),
    details_sealed: p.text(),
    usable_at: p.datetime(),
    created_at: p.datetime(),
    deleted_at: p.datetime().nullable(),
  },
});

/** A bank account of a person or an organization; number and holder are one sealed JSON object (`BankAccountDetails`). */
export class BankAccount extends BankAccountSchema.class {}
BankAccountSchema.setClass(BankAccount);
