import type { EntityManager } from '@mikro-orm/postgresql';
import { requireOperator } from '../../money-out/decisions/carry-out.ts';
import { hasSecondFactor } from '../../people/identity/second-factor.ts';
import { User } from '../../people/members/user.entity.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { LegalHold } from './legal-hold.entity.ts';

interface ByOperator {
  caller: Caller;
  userId: string;
  requestId: string;
}

/**
 * Places a legal hold on a person; a waiting erasure keeps waiting. Throws NOT_FOUND; REQUEST_INVALID if there already
 * is one, or the person has been erased or was only invited; FORBIDDEN or UNAUTHENTICATED if the permission or the
 * session has ended since.
 */
export async function placeLegalHold(em: EntityManager, placing: ByOperator & { note: string }): Promise<LegalHold> {
  const { caller, userId, note } = placing;
  return em.transactional(async (tx) => {
    const user = await lockHeld(tx, userId);
    await requireOperator(tx, caller, 'propose-decision');
    if (user.erased_at) refuse('REQUEST_INVALID', 'the user has been erased', { field: 'user_id' });
    if (user.status === 'invited') {
      refuse('REQUEST_INVALID', 'the user has not accepted the invitation', { field: 'user_id' });
    }
    if ((await findStanding(tx, userId)) !== null) {
      refuse('REQUEST_INVALID', 'the user is already under a legal hold', { field: 'user_id' });
    }
    const id = newId();
    await tx.execute('insert into legal_holds (id, user_id, note, placed_by) values (?, ?, ?, ?)', [
      id,
      userId,
      note,
      caller.userId,
    ]);
    await tell(tx, 'LEGAL_HOLD_PLACED', placing);
    return tx.findOneOrFail(LegalHold, id);
  });
}

/** Returns the legal hold on a person. Throws NOT_FOUND when there is none. */
export async function getLegalHold(em: EntityManager, userId: string): Promise<LegalHold> {
  return (await findStanding(em, userId)) ?? refuse('NOT_FOUND', 'The user is not under a legal hold');
}

/**
 * Lifts the legal hold on a person. Like approving a decision, this needs a second factor and somebody who neither
 * placed the hold nor is under it. Throws NOT_FOUND, FORBIDDEN, and UNAUTHENTICATED when the session has ended since.
 */
export async function liftLegalHold(
  em: EntityManager,
  lifting: ByOperator & { needsSecondFactor: boolean },
): Promise<LegalHold> {
  const { caller, userId, needsSecondFactor } = lifting;
  return em.transactional(async (tx) => {
    await lockHeld(tx, userId);
    const { id, placed_by } = await getLegalHold(tx, userId);
    await requireOperator(tx, caller, 'approve-decision');
    if (needsSecondFactor && !(await hasSecondFactor(tx, caller))) {
      refuse('FORBIDDEN', 'Log in with a second factor (POST /v1/auth/totp) to lift a legal hold');
    }
    if (placed_by === caller.userId || userId === caller.userId) {
      refuse('FORBIDDEN', 'A legal hold must be lifted by someone who neither placed it nor is under it');
    }
    await tx.execute('update legal_holds set lifted_by = ?, lifted_at = clock_timestamp() where id = ?', [
      caller.userId,
      id,
    ]);
    await tell(tx, 'LEGAL_HOLD_LIFTED', lifting);
    return tx.findOneOrFail(LegalHold, { id }, { refresh: true });
  });
}

const findStanding = (em: EntityManager, userId: string): Promise<LegalHold | null> =>
  em.findOne(LegalHold, { user_id: userId, lifted_at: null }, { refresh: true });

/** Finds the person with the lock that an erasure also takes; it allows writing rows that refer to the person. */
async function lockHeld(tx: EntityManager, userId: string): Promise<User> {
  await tx.execute('select from users where id = ? for no key update', [userId]);
  const user = await tx.findOne(User, userId, { refresh: true });
  return user ?? refuse('NOT_FOUND', 'The user was not found');
}

const tell = (tx: EntityManager, event: string, { caller, userId, requestId }: ByOperator): Promise<unknown> =>
  recordAction(tx, { caller, requestId }, [event, 'HIGH'], ['user', userId]);

/**
 * Returns what blocks the erasure of a person now, in words, or null: money, obligations, decisions, or a legal hold.
 */
export async function findHold(em: EntityManager, userId: string): Promise<string | null> {
  const [row] = await em.execute<[{ hold: string | null }]>(`select hold_of_person(?) as hold`, [userId]);
  return row.hold;
}
