import type { EntityManager } from '@mikro-orm/postgresql';
import { ownerOf } from '../bank-accounts/bank-account.ts';
import { findPage, type ListWindow } from '../database/find-page.ts';
import { type Caller, isPlatform } from '../identity/caller.ts';
import { Payout } from '../payouts/payout.entity.ts';
import { must } from '../shared/assert.ts';
import { refuse } from '../shared/errors.ts';
import { Withdrawal } from './withdrawal.entity.ts';

/** A withdrawal: the fields of every payout, and its own. */
export interface WholeWithdrawal {
  withdrawal: Withdrawal;
  payout: Payout;
}

/** The withdrawal with this id as it stands now, or null. */
export async function findWithdrawal(em: EntityManager, id: string): Promise<WholeWithdrawal | null> {
  const withdrawal = await em.findOne(Withdrawal, { id });
  if (withdrawal === null) return null;
  return { withdrawal, payout: await em.findOneOrFail(Payout, { id }, { refresh: true }) };
}

/**
 * A page of the withdrawals the caller may read: its own, for organization users the organization's, for platform all.
 */
export async function findWithdrawals(
  em: EntityManager,
  caller: Caller,
  window: ListWindow,
): Promise<{ items: WholeWithdrawal[]; total: number }> {
  return withPayouts(em, await findPage(em, Withdrawal, isPlatform(caller) ? {} : ownerOf(caller), window));
}

/** A page of the disbursements of a cause. */
export const findDisbursements = async (
  em: EntityManager,
  causeId: string,
  window: ListWindow,
): Promise<{ items: WholeWithdrawal[]; total: number }> =>
  withPayouts(em, await findPage(em, Withdrawal, { cause_id: causeId }, window));

async function withPayouts(
  em: EntityManager,
  { items, total }: { items: Withdrawal[]; total: number },
): Promise<{ items: WholeWithdrawal[]; total: number }> {
  const payouts = await em.find(Payout, { id: { $in: items.map(({ id }) => id) } });
  const payoutOf = new Map(payouts.map((payout) => [payout.id, payout]));
  const whole = (withdrawal: Withdrawal): WholeWithdrawal => ({
    withdrawal,
    payout: must(payoutOf.get(withdrawal.id), 'a withdrawal is a payout'),
  });
  return { items: items.map(whole), total };
}

/** A withdrawal. Throws NOT_FOUND, and FORBIDDEN when it belongs to somebody else. */
export async function getWithdrawal(em: EntityManager, caller: Caller, id: string): Promise<WholeWithdrawal> {
  const found = (await findWithdrawal(em, id)) ?? refuse('NOT_FOUND', 'no such withdrawal', { field: 'id' });
  const { user_id: userId, organization_id: organizationId = null } = found.withdrawal;
  const isOwn =
    organizationId === null
      ? userId === caller.userId
      : caller.userType === 'organization' && organizationId === caller.organizationId;
  if (!isOwn && !isPlatform(caller)) refuse('FORBIDDEN', 'the withdrawal is not yours', { field: 'id' });
  return found;
}
