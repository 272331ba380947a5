import type { EntityManager } from '@mikro-orm/postgresql';
import type { Decision } from '../../money-out/decisions/decision.entity.ts';
import type { DecisionHandling } from '../../money-out/decisions/handling.ts';
import { User } from '../../people/members/user.entity.ts';
import { recordEvent } from '../../platform/events/record-event.ts';
import type { Sweep } from '../../platform/housekeeping/sweep-rows.ts';
import { must } from '../../shared/assert.ts';
import { refuse } from '../../shared/errors.ts';
import type { ErasureWorkflows } from './erasure.ts';
import { findHold } from './legal-holds.ts';

const due = "select id, begun_at as since from erasures where status not in ('complete', 'stopped')";

/**
 * Sweeps erasures in progress: starts a workflow that Temporal lost, or that an erasure repeated after a restore does
 * not have yet.
 */
const erasureSweep = ({ lookAfterErasure }: ErasureWorkflows): Sweep => ({
  kind: 'erasure',
  due,
  wake: (id) => lookAfterErasure(id),
});

const field = 'user_id';

/**
 * Erases a person; needs two operators. Carrying out the decision starts the erasure's workflow. Nothing may block the
 * erasure, either when it is proposed or when it is carried out.
 */
export const erasingPerson: DecisionHandling<'erase_person'> = {
  async look(em, _, { user_id: id }) {
    const user = (await em.findOne(User, id)) ?? refuse('NOT_FOUND', 'the user was not found', { field });
    const why = await whyNotErasable(em, user);
    if (why !== null) refuse('REQUEST_INVALID', why, { field });
    const { user_type, status } = user;
    return { evidence: { provider: null, books: { user_type, status, holds: null } }, isProven: false };
  },
  sweep: erasureSweep,
  // Two erasures of one person start one after the other.
  hold: (tx, decision) => tx.execute('select from users where id = ? for no key update', [personOf(decision)]),
  async whyMoved(tx, decision) {
    return whyNotErasable(tx, await tx.findOneOrFail(User, personOf(decision), { refresh: true }));
  },
  async act(tx, _, decision) {
    const userId = personOf(decision);
    await tx.execute("insert into erasures (id, user_id, decision_id, status) values (?, ?, ?, 'waiting')", [
      erasureOf(decision),
      userId,
      decision.id,
    ]);
    await recordEvent(tx, {
      event: 'ERASURE_BEGUN',
      impact: 'HIGH',
      resourceType: 'user',
      resourceId: userId,
      actorId: decision.approved_by ?? null,
      requestId: null,
      data: { decision_id: decision.id },
    });
    return undefined;
  },
  // If Temporal is down, the sweep starts the workflow.
  async tell(_, workflows, decision) {
    if (decision.status === 'carried_out') await workflows.lookAfterErasure(erasureOf(decision));
  },
};

/** Returns why this user cannot be erased now, or null. */
async function whyNotErasable(em: EntityManager, user: User): Promise<string | null> {
  if (user.status === 'invited') return 'the user has not accepted the invitation: take it back instead';
  if (user.erased_at) return 'the user has been erased';
  const under = "select 1 from erasures where user_id = ? and status <> 'stopped'";
  if ((await em.execute<unknown[]>(under, [user.id])).length > 0) return 'the user is being erased';
  const hold = await findHold(em, user.id);
  return hold === null ? null : `the user cannot be erased yet: ${hold}`;
}

const personOf = ({ user_id }: Decision): string => must(user_id, 'a decision about an erasure names a user');

/** An erasure has the id of the decision that starts it. */
const erasureOf = ({ id }: Decision): string => id;
