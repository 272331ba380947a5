import type { EntityManager } from '@mikro-orm/postgresql';
import { User } from '../../people/members/user.entity.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import { must } from '../../shared/assert.ts';
import { refuse } from '../../shared/errors.ts';
import type { Decision } from './decision.entity.ts';
import type { DecisionHandling } from './handling.ts';

const field = 'user_id';

/**
 * Admits an approver. Needs two people who invited neither each other nor the new approver, so that nobody can create
 * the second person a decision needs. Suspension or loss of the role revokes the admission.
 */
export const admittingApprover: DecisionHandling<'admit_approver'> = {
  async look(em, _, { user_id: id }, proposerId) {
    const user = (await em.findOne(User, id)) ?? refuse('NOT_FOUND', 'the user was not found', { field });
    const [row] = await em.execute<{ why: string | null }[]>('select why_not_admitting(?, ?, null) as why', [
      id,
      proposerId,
    ]);
    if (row?.why) refuse('FORBIDDEN', row.why, { field });
    const why = await whyNotAdmissible(em, user);
    if (why !== null) refuse('REQUEST_INVALID', why, { field });
    const { user_type, status, role_id } = user;
    return { evidence: { provider: null, books: { user_type, status, role_id } }, isProven: false };
  },
  hold: (tx, decision) => tx.execute('select from users where id = ? for no key update', [personOf(decision)]),
  async act(tx, _, decision) {
    const userId = personOf(decision);
    await tx.execute('update users set approver_since = clock_timestamp() where id = ?', [userId]);
    const by = { actorId: decision.approved_by ?? null, requestId: null };
    const data = { decision_id: decision.id, proposed_by: decision.proposed_by };
    await recordAction(tx, by, ['APPROVER_ADMITTED', 'HIGH'], ['user', userId], data);
    return undefined;
  },
  async whyMoved(tx, decision) {
    return whyNotAdmissible(tx, await tx.findOneOrFail(User, personOf(decision), { refresh: true }));
  },
};

/** Why this user cannot be admitted now; null if they can. */
async function whyNotAdmissible(em: EntityManager, user: User): Promise<string | null> {
  if (user.user_type !== 'platform') return 'only users of the platform approve decisions';
  if (user.status !== 'active') return `the user is ${user.status}, not active`;
  if (user.approver_since) return 'the user has been admitted already';
  const holds = await em.execute<unknown[]>(
    `select 1 from role_permissions r join permissions p on p.id = r.permission_id
     where r.role_id = ? and p.name = 'approve-decision'`,
    [user.role_id ?? null],
  );
  return holds.length > 0 ? null : 'the role of the user lacks the permission approve-decision';
}

const personOf = ({ user_id }: Decision): string => must(user_id, 'a decision about an admission names a user');
