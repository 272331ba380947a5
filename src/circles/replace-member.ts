import type { EntityManager } from '@mikro-orm/postgresql';
import { readPayer } from '../people/identity/read-payer.ts';
import { readDatabaseClock } from '../platform/database/database-clock.ts';
import { recordEvent } from '../platform/events/record-event.ts';
import type { Caller } from '../shared/caller.ts';
import { isDomainError, refuse } from '../shared/errors.ts';
import { failpoint } from '../shared/failpoint.ts';
import { newId } from '../shared/ids.ts';
import { thenWake } from '../shared/then-wake.ts';
import { ownersOf } from './add-members.ts';
import { cancelPendingContribution } from './cancel-pending.ts';
import { mayManageCircle } from './circle-access.ts';
import type { CircleWorkflows } from './circle-contract.ts';
import { CircleMember } from './circle-member.entity.ts';
import { CircleReplacement } from './circle-replacement.entity.ts';
import { lockLiveCircle } from './lock-circle.ts';
import type { SavingCircle } from './saving-circle.entity.ts';
import { needsConsent, termsOf } from './terms.ts';

type Ports = { workflows: Pick<CircleWorkflows, 'wakeSavingCircle'> };

interface Proposing {
  caller: Caller;
  circleId: string;
  memberId: string;
  /** The new member's account. */
  accountId: string;
  requestId: string;
}

/**
 * Proposes that the owner of an account takes over a member's place in an `active` circle: by the leaving member, who
 * thereby agrees, the creator or an admin. Withdraws another proposal for the place; the same again is the open one.
 * Wakes the circle's workflow. Throws NOT_FOUND, FORBIDDEN, and 400 for a circle that is not active, a place that has
 * ended, and an account that no eligible user owns or whose user is a member already.
 */
export function proposeReplacement(
  em: EntityManager,
  { workflows }: Ports,
  proposing: Proposing,
): Promise<CircleReplacement> {
  const { caller, circleId, memberId, accountId } = proposing;
  return thenWake(
    em.transactional(async (tx) => {
      const circle = await lockLiveCircle(tx, circleId);
      const member = await tx.findOne(CircleMember, { id: memberId, saving_circle_id: circleId }, { refresh: true });
      const isLeaving = member?.user_id === caller.userId;
      if (!isLeaving && !mayManageCircle(caller, circle)) {
        refuse('FORBIDDEN', 'only the member, the creator or an admin may do this', { field: 'member_id' });
      }
      if (member === null)
        refuse('NOT_FOUND', 'the member of this saving circle was not found', { field: 'member_id' });
      refuseUnlessLive(circle, member);
      const [newcomer] = await ownersOf(tx, caller, [accountId], 'account_id');
      if (newcomer === undefined) refuse('NOT_FOUND', 'the account was not found', { field: 'account_id' });
      await refuseMember(tx, circle, newcomer);
      const same = { leaving_user_id: member.user_id, account_id: accountId, user_id: newcomer.userId };
      const open = await tx.findOne(CircleReplacement, { member_id: memberId, status: 'pending' }, { refresh: true });
      const isSame = open !== null && Object.entries(same).every(([key, id]) => open[key as keyof typeof same] === id);
      if (!isSame) return propose(tx, { ...same, left_at: isLeaving ? await readDatabaseClock(tx) : null }, proposing);
      if (isLeaving && !open.left_at) await agree(tx, circle, open, { accepting: proposing, isNew: false });
      return open;
    }),
    () => workflows.wakeSavingCircle(circleId, 'circleChanged'),
  );
}

async function propose(
  tx: EntityManager,
  proposed: Pick<CircleReplacement, 'leaving_user_id' | 'account_id' | 'user_id' | 'left_at'>,
  { caller, circleId, memberId, requestId }: Proposing,
): Promise<CircleReplacement> {
  await tx.nativeUpdate(
    CircleReplacement,
    { member_id: memberId, status: 'pending' },
    { status: 'withdrawn', updated_at: await readDatabaseClock(tx) },
  );
  const replacement = tx.create(CircleReplacement, {
    id: newId(),
    saving_circle_id: circleId,
    member_id: memberId,
    proposed_by: caller.userId,
    ...proposed,
  });
  await tx.flush();
  await recordEvent(tx, {
    event: 'RESOURCE_UPDATED',
    resourceType: 'saving_circle',
    resourceId: circleId,
    actorId: caller.userId,
    requestId,
    data: { replacement_proposed: replacement.id, member_id: memberId, user_id: proposed.user_id },
  });
  return replacement;
}

interface Accepting {
  caller: Caller;
  circleId: string;
  replacementId: string;
  /** The new member's consent, where the terms require it. */
  consent?: boolean | undefined;
  requestId: string;
}

/**
 * Agrees to a replacement, as the new or the leaving member. Once both have, the place is transferred with its debts
 * and rights. Each agreement wakes the circle's workflow; agreeing twice changes nothing more. Throws NOT_FOUND;
 * FORBIDDEN for anybody else; and 400 when it was withdrawn, the circle is not active any more, the place has ended, the
 * new member has joined otherwise meanwhile, is suspended, or does not consent to what the terms require.
 */
export function acceptReplacement(
  em: EntityManager,
  { workflows }: Ports,
  accepting: Accepting,
): Promise<CircleReplacement> {
  const { caller, circleId, replacementId } = accepting;
  return thenWake(
    em.transactional(async (tx) => {
      const circle = await lockLiveCircle(tx, circleId);
      const replacement = await tx.findOne(
        CircleReplacement,
        { id: replacementId, saving_circle_id: circleId },
        { refresh: true },
      );
      const isNew = replacement?.user_id === caller.userId;
      const isLeaving = replacement?.leaving_user_id === caller.userId;
      if (!isNew && !isLeaving) {
        if (replacement === null && mayManageCircle(caller, circle)) {
          refuse('NOT_FOUND', 'the replacement was not found', { field: 'replacement_id' });
        }
        refuse('FORBIDDEN', 'only the new and the leaving member may do this', { field: 'replacement_id' });
      }
      if (replacement === null) refuse('NOT_FOUND', 'the replacement was not found', { field: 'replacement_id' });
      if (replacement.status === 'completed') return replacement;
      await agree(tx, circle, replacement, { accepting, isNew });
      await failpoint('accept-replacement.passed');
      return replacement;
    }),
    async () => {
      await failpoint('accept-replacement.after');
      await workflows.wakeSavingCircle(circleId, 'circleChanged');
    },
  );
}

async function agree(
  tx: EntityManager,
  circle: SavingCircle,
  replacement: CircleReplacement,
  { accepting, isNew }: { accepting: Pick<Accepting, 'caller' | 'consent' | 'requestId'>; isNew: boolean },
): Promise<void> {
  if (replacement.status !== 'pending') {
    refuse('REQUEST_INVALID', 'it was withdrawn by a later proposal', { field: 'replacement_id' });
  }
  const member = await tx.findOneOrFail(CircleMember, { id: replacement.member_id }, { refresh: true });
  refuseUnlessLive(circle, member);
  const consents = needsConsent(termsOf(circle));
  if (isNew && consents && accepting.consent !== true) {
    refuse(
      'REQUEST_INVALID',
      'must be true: members who have received go on paying, by debits of the account if necessary',
      {
        field: 'consent',
      },
    );
  }
  if (!(await mayPay(tx, replacement.user_id))) {
    refuse('REQUEST_INVALID', 'the new member is suspended, or their organization is', { field: 'replacement_id' });
  }
  const now = await readDatabaseClock(tx);
  if (isNew) replacement.joined_at ??= now;
  else replacement.left_at ??= now;
  replacement.updated_at = now;
  if (replacement.joined_at && replacement.left_at) {
    await refuseMember(tx, circle, { accountId: replacement.account_id, userId: replacement.user_id });
    replacement.status = 'completed';
    await tx.flush();
    await transferPlace(tx, circle, { member, replacement, consents });
  }
  await tx.flush();
  await recordEvent(tx, {
    event: replacement.status === 'completed' ? 'MEMBER_REPLACED' : 'RESOURCE_UPDATED',
    resourceType: 'saving_circle',
    resourceId: circle.id,
    actorId: accepting.caller.userId,
    requestId: accepting.requestId,
    data: {
      replacement_id: replacement.id,
      member_id: member.id,
      left_user_id: replacement.leaving_user_id,
      user_id: replacement.user_id,
    },
  });
}

/** Whether somebody could pay a round, until the transaction ends: as `readPayer`. */
async function mayPay(tx: EntityManager, userId: string): Promise<boolean> {
  try {
    await readPayer(tx, userId);
    return true;
  } catch (error) {
    if (isDomainError(error)) return false;
    throw error;
  }
}

/**
 * The member's row is the place: contributions, turn, debts and what is due stay with it. What was ordered for it and
 * not paid gives way.
 */
async function transferPlace(
  tx: EntityManager,
  { id: circleId, current_turn: turn }: SavingCircle,
  transfer: { member: CircleMember; replacement: CircleReplacement; consents: boolean },
): Promise<void> {
  const { member, replacement, consents } = transfer;
  const { user_id, account_id, joined_at } = replacement;
  await cancelPendingContribution(tx, { circleId, turn, memberId: member.id });
  await tx.execute('delete from saving_circle_standing_orders where id = ?', [member.id]);
  member.user_id = user_id;
  member.account_id = account_id;
  member.consented_at = consents ? (joined_at ?? null) : null;
}

function refuseUnlessLive(circle: SavingCircle, member: CircleMember): void {
  if (circle.status !== 'active') {
    refuse('REQUEST_INVALID', `members can only be replaced in an active saving circle; this one is ${circle.status}`, {
      field: 'id',
    });
  }
  if (member.excluded_turn) refuse('REQUEST_INVALID', `the member's place has ended`, { field: 'member_id' });
}

/** Refuses a user who is a member already, or an account that a member has joined with. */
async function refuseMember(
  tx: EntityManager,
  circle: SavingCircle,
  { accountId, userId }: { accountId: string; userId: string },
): Promise<void> {
  const taken = await tx.count(CircleMember, {
    saving_circle_id: circle.id,
    $or: [{ user_id: userId }, { account_id: accountId }],
  });
  if (taken > 0) {
    refuse('REQUEST_INVALID', `the account ${accountId} or its user is a member already`, { field: 'account_id' });
  }
}
