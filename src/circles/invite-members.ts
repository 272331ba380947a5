import type { EntityManager } from '@mikro-orm/postgresql';
import { tell } from '../people/mail/tell.ts';
import { emailDigest } from '../people/members/profile.ts';
import type { Sealer } from '../platform/encryption/sealer.ts';
import { refuse, withFieldNames } from '../shared/errors.ts';
import { textArray } from '../shared/postgres.ts';
import { type Asking, lockLiveCircle, recordChange } from './change-circle.ts';
import { requireManager } from './circle-access.ts';

/**
 * Asks people of the circle's organization to join, by id or e-mail, for its creator and admins: they read it while it is
 * `new`, are told by mail, and join by themselves. Whoever was asked before is not told again. Throws NOT_FOUND,
 * FORBIDDEN, and REQUEST_INVALID when the circle is not `new` or one of them is no active user of its organization.
 */
export async function inviteMembers(
  em: EntityManager,
  sealer: Sealer,
  asking: Asking & { userIds: string[]; emails: string[] },
): Promise<void> {
  const { caller, circleId, userIds, emails } = asking;
  const digests = await Promise.all(emails.map((email) => emailDigest(sealer, email)));
  await em.transactional(async (tx) => {
    const circle = await withFieldNames({ id: 'saving_circle_id' }, () => lockLiveCircle(tx, circleId));
    requireManager(caller, circle);
    if (circle.status !== 'new') {
      refuse('REQUEST_INVALID', `the saving circle is ${circle.status}, not new`, { field: 'saving_circle_id' });
    }
    const found = await tx.execute<{ id: string; email_digest: string }[]>(
      `select id, email_digest from users where (id = any(?::uuid[]) or email_digest = any(?::text[]))
         and organization_id = ? and status = 'active' order by id for key share`,
      [textArray(userIds), textArray(digests), circle.organization_id ?? null],
    );
    const known = new Set(found.map(({ id }) => id));
    const reached = new Set(found.map(({ email_digest }) => email_digest));
    const stranger = userIds.find((id) => !known.has(id.toLowerCase()));
    const unreached = emails.find((_, index) => !reached.has(digests[index] as string));
    const unknown = stranger ?? unreached;
    if (unknown !== undefined)
      refuse('REQUEST_INVALID', `${unknown} is not an active user of the circle's organization`, {
        field: stranger === undefined ? 'emails' : 'user_ids',
      });
    const invited = await tx.execute<{ user_id: string }[]>(
      `insert into saving_circle_invitations (saving_circle_id, user_id, created_by)
       select ?, id, ? from unnest(?::uuid[]) as id on conflict do nothing returning user_id`,
      [circleId, caller.userId, textArray([...known])],
    );
    const asked = invited.map(({ user_id }) => user_id);
    if (asked.length === 0) return;
    await tell(tx, { kind: 'circle_invitation', resourceId: circleId, turnNumber: null, userIds: asked });
    await recordChange(tx, circleId, { invited: asked }, { by: asking });
  });
}
