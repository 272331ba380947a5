import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import type { NewEvent } from '../platform/events/event.ts';
import { recordEvent } from '../platform/events/record-event.ts';
import type { Caller } from '../shared/caller.ts';
import { refuse } from '../shared/errors.ts';
import { failpoint } from '../shared/failpoint.ts';
import { thenWake } from '../shared/then-wake.ts';
import { mayManageCircle } from './circle-access.ts';
import type { CircleWorkflows } from './circle-contract.ts';
import { CircleMember } from './circle-member.entity.ts';
import { SavingCircle } from './saving-circle.entity.ts';
import type { CircleStatus } from './saving-circle.ts';

export interface Asking {
  caller: Caller;
  circleId: string;
  requestId: string;
}

/** The input of a change to one member's place. */
export interface AskingForPlace extends Asking {
  memberId: string;
}

export interface WakingCircles {
  workflows: Pick<CircleWorkflows, 'wakeSavingCircle'>;
}

type Change<T> = (tx: EntityManager, circle: SavingCircle) => Promise<T>;

/** Applies a change under the circle's lock, in one transaction, and signals its workflow. Throws NOT_FOUND. */
export const changeCircle = <T>(
  em: EntityManager,
  { workflows }: WakingCircles,
  { circleId }: Pick<Asking, 'circleId'>,
  change: Change<T>,
): Promise<T> =>
  thenWake(
    em.transactional(async (tx) => change(tx, await lockLiveCircle(tx, circleId))),
    async () => {
      await failpoint('change-circle.after');
      await workflows.wakeSavingCircle(circleId);
    },
  );

/** Records a change to a circle by a request, or, without one, by its workflow. */
export const recordChange = (
  tx: EntityManager,
  circleId: string,
  data: object | undefined,
  { by, ...event }: { by?: Pick<Asking, 'caller' | 'requestId'> } & Partial<Pick<NewEvent, 'event' | 'impact'>> = {},
): Promise<void> =>
  recordEvent(tx, {
    event: 'RESOURCE_UPDATED',
    resourceType: 'saving_circle',
    resourceId: circleId,
    actorId: by?.caller.userId ?? null,
    requestId: by?.requestId ?? null,
    ...(data && { data }),
    ...event,
  });

/**
 * Returns a member's place in a circle. Throws FORBIDDEN unless the caller is that member or manages the circle, and
 * NOT_FOUND.
 */
export async function getPlace(
  tx: EntityManager,
  circle: SavingCircle,
  { caller, memberId }: AskingForPlace,
): Promise<CircleMember> {
  const member = await tx.findOne(CircleMember, { id: memberId, saving_circle_id: circle.id }, { refresh: true });
  if (member?.user_id !== caller.userId && !mayManageCircle(caller, circle)) {
    refuse('FORBIDDEN', 'only the member, the creator or an admin may do this', { field: 'member_id' });
  }
  return member ?? refuse('NOT_FOUND', 'the member of this saving circle was not found', { field: 'member_id' });
}

export function requireStatus({ status }: SavingCircle, needed: CircleStatus, what: string, field = 'id'): void {
  if (status !== needed) refuse('REQUEST_INVALID', `${what}; this one is ${status}`, { field });
}

export const refuseUnknownCircle = (): never => refuse('NOT_FOUND', 'the saving circle was not found', { field: 'id' });

/** Locks a circle, even a deleted one, exclusively until the transaction ends and reads it afresh. Throws NOT_FOUND. */
export async function lockCircle(tx: EntityManager, id: string): Promise<SavingCircle> {
  const lockMode = LockMode.PESSIMISTIC_WRITE;
  return (await tx.findOne(SavingCircle, { id }, { lockMode, refresh: true })) ?? refuseUnknownCircle();
}

/** As `lockCircle`, but also throws NOT_FOUND for a deleted circle. */
export async function lockLiveCircle(tx: EntityManager, id: string): Promise<SavingCircle> {
  const circle = await lockCircle(tx, id);
  return circle.deleted_at ? refuseUnknownCircle() : circle;
}

/** As `lockCircle`, with a shared lock: contributions wait only for changes to the circle, not for each other. */
export async function shareCircle(tx: EntityManager, id: string): Promise<SavingCircle> {
  const lockMode = LockMode.PESSIMISTIC_READ;
  return (await tx.findOne(SavingCircle, { id }, { lockMode, refresh: true })) ?? refuseUnknownCircle();
}
