import { defineEntity, p } from '@mikro-orm/core';
import type { AccountKind } from './account.ts';

const AccountSchema = defineEntity({
  name: 'Account',
  tableName: 'accounts',
  properties: {
    id: p.uuid().primary(),
    name: p.string().length(100),
    kind: p.text().$type<AccountKind>(),
    user_id: p.uuid().nullable(),
    organization_id: p.uuid().nullable(),
    owner_id: p.uuid().nullable(),
    currency: p.character().length(3).default('IDR'),
    created_at: p.datetime().defaultRaw('now()'),
  },
});

/** A ledger account. Its balance is the sum of its shards (`account_balance(id)`), never a column here. */
export class Account extends AccountSchema.class {}
AccountSchema.setClass(Account);
