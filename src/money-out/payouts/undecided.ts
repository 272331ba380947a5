import type { EntityManager } from '@mikro-orm/postgresql';
import type { DecisionStatus } from '../decisions/decision.ts';
import type { Payout } from '../payouts/payout.entity.ts';

/**
 * Whether a withdrawal waits for the decision of two people (`isHeld`), or may no longer be requested (`failureCode`):
 * they rejected it or did not decide, its owner may no longer move money, or its cause was stopped.
 */
export async function readDecision(
  em: EntityManager,
  { id, status }: Payout,
): Promise<{ isHeld: boolean; failureCode: string | null }> {
  if (status !== 'pending') return { isHeld: false, failureCode: null };
  const [decision] = await em.execute<{ status: DecisionStatus | null; ends: string | null }[]>(
    `select d.status, why_disbursement_ends(w.id) as ends
     from withdrawals w left join decisions d on d.withdrawal_id = w.id where w.id = ?`,
    [id],
  );
  return { isHeld: decision?.status === 'pending', failureCode: decision?.ends ?? null };
}
