import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../events/record-event.ts';
import type { Caller } from '../identity/caller.ts';
import { refuse } from '../shared/errors.ts';
import { BankAccount } from './bank-account.entity.ts';
import { mayUseBankAccount } from './bank-account.ts';

/** Deletes a bank account. Refuses with FORBIDDEN another's, with NOT_FOUND one that is missing or deleted already. */
export async function deleteBankAccount(
  em: EntityManager,
  { caller, requestId, id }: { caller: Caller; requestId: string; id: string },
): Promise<void> {
  await em.transactional(async (tx) => {
    const account = await tx.findOne(BankAccount, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
    if (account === null) refuse('NOT_FOUND', 'no such bank account', { field: 'id' });
    if (!mayUseBankAccount(caller, account)) refuse('FORBIDDEN', 'the bank account is not yours', { field: 'id' });
    if (account.deleted_at != null) refuse('NOT_FOUND', 'no such bank account', { field: 'id' });
    account.deleted_at = new Date();
    await tx.flush();
    await recordEvent(tx, {
      event: 'RESOURCE_DELETED',
      impact: 'HIGH',
      resourceType: 'bank_account',
      resourceId: id,
      actorId: caller.userId,
      requestId,
    });
  });
}
