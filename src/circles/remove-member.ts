import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../platform/events/record-event.ts';
import type { Caller } from '../shared/caller.ts';
import { refuse } from '../shared/errors.ts';
import { thenWake } from '../shared/then-wake.ts';
import { mayManageCircle } from './circle-access.ts';
import type { CircleWorkflows } from './circle-contract.ts';
import { CircleMember } from './circle-member.entity.ts';
import { lockLiveCircle } from './lock-circle.ts';

/**
 * Removes a member from a `new` circle and wakes its workflow: by the member, the creator or an admin. Throws
 * NOT_FOUND, FORBIDDEN, and 400 once the circle is not `new`.
 */
export function removeMember(
  em: EntityManager,
  { workflows }: { workflows: Pick<CircleWorkflows, 'wakeSavingCircle'> },
  input: { caller: Caller; circleId: string; memberId: string; requestId: string },
): Promise<CircleMember> {
  const { caller, circleId, memberId, requestId } = input;
  return thenWake(
    em.transactional(async (tx) => {
      const circle = await lockLiveCircle(tx, circleId);
      const member = await tx.findOne(CircleMember, { id: memberId, saving_circle_id: circleId }, { refresh: true });
      const isOneself = member?.user_id === caller.userId;
      if (!isOneself && !mayManageCircle(caller, circle)) {
        refuse('FORBIDDEN', 'only the member, the creator or an admin may do this', { field: 'member_id' });
      }
      if (member === null)
        refuse('NOT_FOUND', 'the member of this saving circle was not found', { field: 'member_id' });
      if (circle.status !== 'new') {
        refuse('REQUEST_INVALID', `members can only leave a new saving circle; this one is ${circle.status}`, {
          field: 'id',
        });
      }
      await tx.nativeDelete(CircleMember, { id: member.id });
      await recordEvent(tx, {
        event: 'RESOURCE_UPDATED',
        resourceType: 'saving_circle',
        resourceId: circle.id,
        actorId: caller.userId,
        requestId,
        data: { member_removed: member.id, user_id: member.user_id, account_id: member.account_id },
      });
      return member;
    }),
    () => workflows.wakeSavingCircle(circleId, 'circleChanged'),
  );
}
