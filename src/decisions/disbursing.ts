import { Cause } from '../causes/cause.entity.ts';
import { isStopped } from '../causes/stop-cause.ts';
import { Payout } from '../payouts/payout.entity.ts';
import { startCause } from '../withdrawals/cause-of-disbursement.ts';
import { Withdrawal } from '../withdrawals/withdrawal.entity.ts';
import type { Decision } from './decision.entity.ts';
import { endDecision, lockDecision } from './end-decision.ts';
import type { CarryingOut, DecisionPorts } from './handling.ts';

/** Sends a disbursement: two people of the platform have approved what the owner of its cause asked for. */
export const disbursing: CarryingOut = {
  async carryOut(em, _, { id }) {
    await em.fork().transactional(async (tx) => {
      const decision = await lockDecision(tx, id);
      if (decision.status !== 'pending' || !decision.approved_by) return;
      const withdrawal = await tx.findOneOrFail(Withdrawal, { id: decision.withdrawal_id ?? '' });
      await endDecision(tx, decision, { status: 'carried_out' });
      await startCause(tx, withdrawal.cause_id ?? '');
    });
  },
  async whyMoved(tx, { withdrawal_id }) {
    const id = withdrawal_id ?? '';
    const { status } = await tx.findOneOrFail(Payout, { id }, { refresh: true });
    if (status !== 'pending') return `the withdrawal is ${status} by now`;
    const { cause_id } = await tx.findOneOrFail(Withdrawal, { id });
    const cause = await tx.findOneOrFail(Cause, { id: cause_id ?? '' }, { refresh: true });
    if (isStopped(cause)) return 'the platform has stopped the charitable cause';
    return cause.approved_at ? null : 'the charitable cause is not approved any more';
  },
};

/**
 * Wakes the workflow of the withdrawal an ended decision is about; returns the decision. If Temporal is unavailable,
 * the sweep wakes it later.
 */
export async function tellWithdrawal(
  { workflows }: Pick<DecisionPorts, 'workflows'>,
  decision: Decision,
): Promise<Decision> {
  const { withdrawal_id: id, status } = decision;
  if (id && status !== 'pending') {
    await workflows.hintPayout({ id, kind: 'withdrawal' }).catch(() => undefined);
  }
  return decision;
}
