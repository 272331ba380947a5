import type { EntityManager } from '@mikro-orm/postgresql';
import type { DecisionStatus } from '../decisions/decision.ts';
import type { Payout } from '../payouts/payout.entity.ts';

/** Whether a withdrawal waits for the decision of two people, or has to fail because they said no or did not decide. */
export async function readDecision(
  em: EntityManager,
  { id, status }: Payout,
): Promise<{ isHeld: boolean; failureCode: string | null }> {
  if (status !== 'pending') return { isHeld: false, failureCode: null };
  const [decision] = await em.execute<{ status: DecisionStatus }[]>(
    'select status from decisions where withdrawal_id = ?',
    [id],
  );
  const isNo = decision?.status === 'rejected' || decision?.status === 'lapsed';
  return {
    isHeld: decision?.status === 'pending',
    failureCode: isNo ? `DECISION_${decision.status.toUpperCase()}` : null,
  };
}
