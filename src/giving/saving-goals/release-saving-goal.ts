import type { EntityManager } from '@mikro-orm/postgresql';
import { Account } from '../../ledger/accounts/account.entity.ts';
import { mayUseAccount } from '../../ledger/may-use-account.ts';
import { readPayer } from '../../people/identity/read-payer.ts';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { lockOwnGoal, refuseIfClosed } from './lock-own-goal.ts';

/**
 * Closes a saving goal of the caller, completed or not, and moves its balance to one of the caller's accounts, in one
 * transaction under the goal's lock. Payments that settle later are moved there too. Throws NOT_FOUND for a missing
 * goal or account, FORBIDDEN for someone else's and for an owner who is no longer active, REQUEST_INVALID for a closed
 * goal.
 */
export async function releaseSavingGoal(
  em: EntityManager,
  caller: Caller,
  { id, accountId, requestId }: { id: string; accountId: string; requestId: string },
): Promise<void> {
  await em.transactional(async (tx) => {
    const goal = await lockOwnGoal(tx, caller, id);
    const account = await tx.findOne(Account, { id: accountId });
    if (account === null) refuse('NOT_FOUND', 'the account was not found', { field: 'account_id' });
    if (!mayUseAccount(caller, account)) refuse('FORBIDDEN', 'the account is not yours', { field: 'account_id' });
    // The owner may have been suspended during the wait for the goal's lock.
    await readPayer(tx, caller.userId);
    refuseIfClosed(goal);
    goal.closed_at = goal.updated_at = await readDatabaseClock(tx);
    goal.released_to = accountId;
    await tx.flush();
    await recordAction(tx, { caller, requestId }, 'RESOURCE_UPDATED', ['saving_goal', id], {
      closed_at: goal.closed_at.toISOString(),
      released_to: accountId,
    });
    await tx.execute('select empty_saving_goal(?, null, ?)', [id, caller.userId]);
    await failpoint('release-saving-goal.posted');
  });
  await failpoint('release-saving-goal.after');
}
