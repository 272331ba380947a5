import type { EntityManager } from '@mikro-orm/postgresql';
import type { Decision } from '../../money-out/decisions/decision.entity.ts';
import type { CarryingOut } from '../../money-out/decisions/handling.ts';
import { Payout } from '../../money-out/payouts/payout.entity.ts';
import { Withdrawal } from '../../money-out/withdrawals/withdrawal.entity.ts';
import { BankAccount } from '../../people/bank-accounts/bank-account.entity.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { Cause } from '../causes/cause.entity.ts';
import { startCause } from '../causes/cause-of-disbursement.ts';
import { isStopped } from '../causes/is-stopped.ts';

/** Sends a disbursement that the cause's owner requested and two platform operators approved. */
export const disbursing: CarryingOut = {
  async hold(tx, { withdrawal_id }) {
    const { id, cause_id } = await tx.findOneOrFail(Withdrawal, { id: withdrawal_id ?? '' });
    // Lock the payout before its cause (see `lockOrder`). Its workflow rereads the payout once this decision is carried out.
    await tx.execute('select from payouts where id = ? for no key update', [id]);
    // Wait for a concurrent stop of the cause to commit, then check the cause.
    await tx.execute('select from charitable_causes where id = ? for no key update', [cause_id]);
  },
  whyMoved,
  async act(tx, _, { withdrawal_id, approved_by }) {
    const { id, cause_id } = await tx.findOneOrFail(Withdrawal, { id: withdrawal_id ?? '' });
    const { request_id: requestId = null } = await tx.findOneOrFail(Payout, { id });
    await startCause(tx, cause_id ?? '', { actorId: approved_by ?? null, requestId });
    return undefined;
  },
  async tell(_, workflows, { withdrawal_id: id }) {
    await failpoint('disburse.after');
    await workflows.hintPayout({ id: id ?? '', kind: 'withdrawal' });
  },
};

async function whyMoved(tx: EntityManager, { withdrawal_id }: Decision): Promise<string | null> {
  const id = withdrawal_id ?? '';
  const { status } = await tx.findOneOrFail(Payout, { id }, { refresh: true });
  if (status !== 'pending') return `the withdrawal is now ${status}`;
  const [owner] = await tx.execute<{ status: string | null }[]>('select owner_of_disbursement(?) as status', [id]);
  if (owner?.status) return `the owner is ${owner.status}`;
  const { cause_id, bank_account_id } = await tx.findOneOrFail(Withdrawal, { id });
  const { deleted_at } = await tx.findOneOrFail(
    BankAccount,
    { id: bank_account_id },
    { refresh: true, filters: false },
  );
  if (deleted_at) return 'the bank account was deleted';
  const cause = await tx.findOneOrFail(Cause, { id: cause_id ?? '' }, { refresh: true });
  if (isStopped(cause)) return 'the platform has stopped the charitable cause';
  return cause.approved_at ? null : 'the charitable cause is no longer approved';
}
