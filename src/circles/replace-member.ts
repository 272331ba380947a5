import type { EntityManager } from '@mikro-orm/postgresql';
import { readPayer } from '../people/identity/read-payer.ts';
import { readDatabaseClock } from '../platform/database/database-clock.ts';
import { must } from '../shared/assert.ts';
import { isDomainError, refuse } from '../shared/errors.ts';
import { failpoint } from '../shared/failpoint.ts';
import { newId } from '../shared/ids.ts';
import {
  type Asking,
  type AskingForPlace,
  changeCircle,
  getPlace,
  recordChange,
  requireStatus,
  type WakingCircles,
} from './change-circle.ts';
import { ownersOf, refuseMembers } from './change-members.ts';
import { mayManageCircle } from './circle-access.ts';
import { CircleMember } from './circle-member.entity.ts';
import { CircleReplacement } from './circle-replacement.entity.ts';
import { cancelPendingContribution } from './end-orders.ts';
import type { SavingCircle } from './saving-circle.entity.ts';
import { needsConsent, requireConsent } from './terms.ts';

interface Proposing extends AskingForPlace {
  accountId: string;
}

/**
 * Proposes that an account's owner take over a place in an `active` circle, for the leaving member (who agrees by
 * proposing) or a manager. Withdraws other proposals for the place; a repeat returns the open one. Signals the circle's
 * workflow. Throws NOT_FOUND, FORBIDDEN, and 400 for a circle that is not active, a place that has ended, and an
 * ineligible owner.
 */
export function proposeReplacement(
  em: EntityManager,
  ports: WakingCircles,
  proposing: Proposing,
): Promise<CircleReplacement> {
  const { caller, accountId } = proposing;
  return changeCircle(em, ports, proposing, async (tx, circle) => {
    const member = await getPlace(tx, circle, proposing);
    refuseUnlessLive(circle, member);
    const [newcomer] = await ownersOf(tx, caller, [accountId], 'account_id');
    const joiner = must(newcomer, 'ownersOf returns an owner for every account');
    await refuseMembers(tx, circle, [joiner], 'account_id');
    const isLeaving = member.user_id === caller.userId;
    const { id: saving_circle_id } = circle;
    const { id: member_id, user_id: leaving_user_id } = member;
    const place = { member_id, leaving_user_id, account_id: accountId, user_id: joiner.userId };
    const open = await tx.findOne(CircleReplacement, { ...place, status: 'pending' }, { refresh: true });
    if (open !== null) {
      if (isLeaving && !open.left_at) await agree(tx, circle, open, { accepting: proposing, isNew: false });
      return open;
    }
    const now = await readDatabaseClock(tx);
    const withdrawn = { status: 'withdrawn' as const, updated_at: now };
    await tx.nativeUpdate(CircleReplacement, { member_id, status: 'pending' }, withdrawn);
    const proposed = { saving_circle_id, proposed_by: caller.userId, left_at: isLeaving ? now : null, ...place };
    const replacement = tx.create(CircleReplacement, { id: newId(), ...proposed });
    await tx.flush();
    const told = { replacement_proposed: replacement.id, member_id, user_id: joiner.userId };
    await recordChange(tx, saving_circle_id, told, { by: proposing });
    return replacement;
  });
}

interface Accepting extends Asking {
  replacementId: string;
  /** The new member's consent, where the terms require it. */
  consent?: boolean | undefined;
}

/**
 * Agrees to a replacement, as the new or the leaving member. Once both have agreed, transfers the place with its debts
 * and rights. Each agreement signals the circle's workflow; agreeing again has no effect. Throws NOT_FOUND; FORBIDDEN
 * for anybody else; and 400 if the proposal was withdrawn, the circle is no longer active, the place has ended, or the
 * new member already belongs to the circle, is suspended, or does not give the required consent.
 */
export async function acceptReplacement(
  em: EntityManager,
  ports: WakingCircles,
  accepting: Accepting,
): Promise<CircleReplacement> {
  const { caller, circleId, replacementId } = accepting;
  return changeCircle(em, ports, accepting, async (tx, circle) => {
    const replacement = await tx.findOne(
      CircleReplacement,
      { id: replacementId, saving_circle_id: circleId },
      { refresh: true },
    );
    const isNew = replacement?.user_id === caller.userId;
    const isLeaving = replacement?.leaving_user_id === caller.userId;
    if (replacement === null && mayManageCircle(caller, circle)) {
      refuse('NOT_FOUND', 'the replacement was not found', { field: 'replacement_id' });
    }
    if (replacement === null || (!isNew && !isLeaving)) {
      refuse('FORBIDDEN', 'only the new and the leaving member may do this', { field: 'replacement_id' });
    }
    if (replacement.status === 'completed') return replacement;
    await agree(tx, circle, replacement, { accepting, isNew });
    await failpoint('accept-replacement.passed');
    return replacement;
  });
}

async function agree(
  tx: EntityManager,
  circle: SavingCircle,
  replacement: CircleReplacement,
  { accepting, isNew }: { accepting: Pick<Accepting, 'caller' | 'consent' | 'requestId'>; isNew: boolean },
): Promise<void> {
  if (replacement.status !== 'pending') {
    refuse('REQUEST_INVALID', 'a later proposal replaced it', { field: 'replacement_id' });
  }
  const member = await tx.findOneOrFail(CircleMember, { id: replacement.member_id }, { refresh: true });
  refuseUnlessLive(circle, member);
  if (isNew) requireConsent(circle, accepting.consent);
  await readPayer(tx, replacement.user_id).catch((error) => {
    if (!isDomainError(error)) throw error;
    refuse('REQUEST_INVALID', 'the new member is suspended, or their organization is', { field: 'replacement_id' });
  });
  const now = await readDatabaseClock(tx);
  if (isNew) replacement.joined_at ??= now;
  else replacement.left_at ??= now;
  replacement.updated_at = now;
  if (replacement.joined_at && replacement.left_at) {
    const { account_id, user_id, joined_at } = replacement;
    await refuseMembers(tx, circle, [{ accountId: account_id, userId: user_id }], 'account_id');
    replacement.status = 'completed';
    await tx.flush();
    // The row is the place and keeps its contributions, turn and debts; its unpaid orders are superseded.
    await cancelPendingContribution(tx, { circleId: circle.id, turn: circle.current_turn, memberId: member.id });
    await tx.execute('delete from saving_circle_standing_orders where id = ?', [member.id]);
    Object.assign(member, { user_id, account_id, consented_at: needsConsent(circle) ? joined_at : null });
  }
  await tx.flush();
  const { id: replacement_id, leaving_user_id: left_user_id, user_id, status } = replacement;
  await recordChange(
    tx,
    circle.id,
    { replacement_id, member_id: member.id, left_user_id, user_id },
    { by: accepting, event: status === 'completed' ? 'MEMBER_REPLACED' : 'RESOURCE_UPDATED' },
  );
}

function refuseUnlessLive(circle: SavingCircle, member: CircleMember): void {
  requireStatus(circle, 'active', 'members can only be replaced in an active saving circle');
  if (member.excluded_turn) refuse('REQUEST_INVALID', `the member's place has ended`, { field: 'member_id' });
}
