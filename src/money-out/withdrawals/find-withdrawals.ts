import { type FilterQuery, raw } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { ownerOf } from '../../people/bank-accounts/bank-account.ts';
import { type ListWindow, readPage } from '../../platform/database/find-page.ts';
import type { Listed } from '../../platform/database/position.ts';
import { readFresh } from '../../platform/database/replica.ts';
import { type Caller, isPlatform } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { findPayoutsOf } from '../payouts/find-payouts.ts';
import { Payout } from '../payouts/payout.entity.ts';
import type { PayoutStatus } from '../payouts/payout.ts';
import { Withdrawal } from './withdrawal.entity.ts';

/** A withdrawal's own fields and those of its payout. */
export interface WholeWithdrawal {
  withdrawal: Withdrawal;
  payout: Payout;
}

/** The withdrawal with this id, read afresh, or null. */
export async function findWithdrawal(em: EntityManager, id: string): Promise<WholeWithdrawal | null> {
  const withdrawal = await em.findOne(Withdrawal, { id });
  if (withdrawal === null) return null;
  return { withdrawal, payout: await em.findOneOrFail(Payout, { id }, { refresh: true }) };
}

/** Filters of a list of withdrawals; absent ones do not apply. */
export interface WithdrawalFilter {
  status?: PayoutStatus | undefined;
  cause_id?: string | undefined;
  from?: Date | undefined;
  /** Exclusive end of the period. */
  to?: Date | undefined;
}

/**
 * A page of the withdrawals that the caller may read: their own; the organization's for its users; all for platform
 * users.
 */
export function findWithdrawals(
  em: EntityManager,
  caller: Caller,
  { filter, ...window }: ListWindow & { filter: WithdrawalFilter },
): Promise<Listed & { items: WholeWithdrawal[] }> {
  const within: FilterQuery<Withdrawal> = isPlatform(caller) ? {} : ownerOf(caller);
  return readWithdrawals(em, within, asked(filter), window);
}

/** A page of the disbursements of a cause. */
export const findDisbursements = (
  em: EntityManager,
  causeId: string,
  { status, ...window }: ListWindow & Pick<WithdrawalFilter, 'status'>,
): Promise<Listed & { items: WholeWithdrawal[] }> =>
  readWithdrawals(em, { cause_id: causeId }, asked({ status }), window);

/** The given filters as conditions. */
function asked({ status, cause_id, from, to }: WithdrawalFilter): FilterQuery<Withdrawal>[] {
  // A withdrawal has its payout's status.
  const ofStatus = () =>
    raw((alias) => `exists (select from payouts p where p.id = ${alias}.id and p.status = ?)`, [status]);
  return [
    ...(status === undefined ? [] : [{ [ofStatus()]: [] } as FilterQuery<Withdrawal>]),
    ...(cause_id === undefined ? [] : [{ cause_id }]),
    ...(from === undefined ? [] : [{ created_at: { $gte: from } }]),
    ...(to === undefined ? [] : [{ created_at: { $lt: to } }]),
  ];
}

const readWithdrawals = (
  em: EntityManager,
  within: FilterQuery<Withdrawal>,
  where: FilterQuery<Withdrawal>[],
  window: ListWindow,
): Promise<Listed & { items: WholeWithdrawal[] }> =>
  readFresh(em, async (reader) => {
    const { items, ...listed } = await readPage(reader, Withdrawal, { $and: [within, ...where] }, window, { within });
    const payoutOf = await findPayoutsOf(reader, items);
    return { items: items.map((withdrawal) => ({ withdrawal, payout: payoutOf(withdrawal) })), ...listed };
  });

/** A withdrawal. Throws NOT_FOUND, and FORBIDDEN for another owner's. */
export async function getWithdrawal(em: EntityManager, caller: Caller, id: string): Promise<WholeWithdrawal> {
  const found = (await findWithdrawal(em, id)) ?? refuse('NOT_FOUND', 'the withdrawal was not found', { field: 'id' });
  const { user_id: userId, organization_id: organizationId = null } = found.withdrawal;
  const isOwn =
    organizationId === null
      ? userId === caller.userId
      : caller.userType === 'organization' && organizationId === caller.organizationId;
  if (!isOwn && !isPlatform(caller)) refuse('FORBIDDEN', 'the withdrawal is not yours', { field: 'id' });
  return found;
}
