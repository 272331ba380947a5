import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../../shared/assert.ts';
import { refuse } from '../../shared/errors.ts';
import { compareMoney, type Money } from '../../shared/money.ts';
import { refuseBeyondBalance, type WithdrawalHeadroom } from './withdrawal-headroom.ts';

interface CauseRow {
  owner_type: string;
  account_id: string;
  /** Whether the cause and the source account have the same owner. */
  own: boolean;
  approved: boolean;
  stopped: boolean;
}

/**
 * Checks that `amount` (IDR) of a cause may be disbursed from its account. Throws NOT_FOUND for a missing cause;
 * FORBIDDEN for another owner's; REQUEST_INVALID for a cause that has another account, is not approved or is stopped,
 * and for more than its undisbursed donations; INSUFFICIENT_BALANCE for more than the balance. `lock` locks the cause
 * until the transaction ends; the undisbursed amount is exact only under the account's lock.
 */
export async function judgeDisbursement(
  em: EntityManager,
  headroom: WithdrawalHeadroom,
  { causeId, accountId, amount, lock = false }: { causeId: string; accountId: string; amount: Money; lock?: boolean },
): Promise<{ isOfIndividual: boolean }> {
  const [cause] = await em.execute<CauseRow[]>(
    `select c.owner_type, c.account_id, c.approved_at is not null as approved,
       c.stopped_from is not null as stopped,
       (a.user_id, a.organization_id) is not distinct from (b.user_id, b.organization_id) as own
     from charitable_causes c join accounts a on a.id = c.account_id join accounts b on b.id = ?
     where c.id = ? ${lock ? 'for no key update of c' : ''}`,
    [accountId, causeId],
  );
  const field = 'cause_id';
  if (cause === undefined) return refuse('NOT_FOUND', 'the charitable cause was not found', { field });
  if (!cause.own) refuse('FORBIDDEN', 'the charitable cause is not yours', { field });
  if (cause.account_id !== accountId)
    refuse('REQUEST_INVALID', 'the charitable cause holds its money in another account', { field });
  if (cause.stopped) refuse('REQUEST_INVALID', 'the platform has stopped the charitable cause', { field });
  if (!cause.approved) refuse('REQUEST_INVALID', 'the charitable cause is not approved', { field });
  refuseBeyondBalance(headroom, amount);
  const [left] = await em.execute<{ disbursable: Money }[]>('select disbursable_of_cause(?)::text as disbursable', [
    causeId,
  ]);
  const { disbursable } = must(left, 'a select without a table has a row');
  if (compareMoney(amount, disbursable) > 0) {
    refuse('REQUEST_INVALID', `IDR ${disbursable} of the charitable cause may be disbursed`, { field: 'amount' });
  }
  return { isOfIndividual: cause.owner_type === 'individual' };
}
