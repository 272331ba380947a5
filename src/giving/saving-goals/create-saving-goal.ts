import type { EntityManager } from '@mikro-orm/postgresql';
import { openAccount } from '../../ledger/accounts/open-account.ts';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { recordEvent } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { newId } from '../../shared/ids.ts';
import type { Money } from '../../shared/money.ts';
import { SavingGoal } from './saving-goal.entity.ts';

export interface NewSavingGoal {
  name: string;
  /** IDR. */
  target_amount: Money;
  /** `YYYY-MM-DD`. */
  target_date?: string | null | undefined;
}

/** Creates an active saving goal for the caller, with its own account; returns its id. */
export function createSavingGoal(
  em: EntityManager,
  caller: Caller,
  { name, target_amount, target_date }: NewSavingGoal,
  requestId: string,
): Promise<string> {
  return em.transactional(async (tx) => {
    const id = newId();
    const by = { actorId: caller.userId, requestId };
    const account = {
      kind: 'saving_goal',
      name: name.slice(0, 100),
      userId: caller.userId,
      organizationId: caller.userType === 'organization' ? caller.organizationId : null,
      ownerId: id,
    } as const;
    const accountId = await openAccount(tx, account, by);
    const now = await readDatabaseClock(tx);
    tx.create(SavingGoal, {
      id,
      user_id: caller.userId,
      organization_id: caller.organizationId,
      name,
      account_id: accountId,
      target_amount,
      target_date: target_date ?? null,
      status: 'active',
      created_at: now,
      updated_at: now,
    });
    await recordEvent(tx, { event: 'RESOURCE_CREATED', resourceType: 'saving_goal', resourceId: id, ...by });
    return id;
  });
}
