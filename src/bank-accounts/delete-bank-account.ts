import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../events/record-event.ts';
import type { Caller } from '../identity/caller.ts';
import { refuse } from '../shared/errors.ts';
import { BankAccount } from './bank-account.entity.ts';
import { mayUseBankAccount } from './bank-account.ts';

/** Soft-deletes a bank account. Throws FORBIDDEN for another's, NOT_FOUND for one missing or already deleted. */
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
