import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import { must } from '../../shared/assert.ts';
import { sha256 } from '../../shared/digest.ts';
import { refuse } from '../../shared/errors.ts';
import { isOwnToken } from '../members/own-token.ts';
import { openProfile } from '../members/profile.ts';
import { User } from '../members/user.entity.ts';
import type { SignUpPorts } from './create-user.ts';
import { countedAddress, loginAttempt, rememberLogin } from './login-failures.ts';
import { hashPassword } from './password.ts';
import { refuseGuessable } from './password-rules.ts';

export interface AcceptInvitationInput {
  token: string;
  password: string;
  /** The network address the request came from. */
  address: string;
  requestId: string;
}

/** Accepts an invitation, once: activates the user with this password and opens an IDR account for an individual. */
export async function acceptInvitation(
  em: EntityManager,
  { sealer, openFirstAccount }: SignUpPorts,
  input: AcceptInvitationInput,
): Promise<User> {
  const tokenHash = sha256(input.token);
  const known = (await findWaiting(em, tokenHash)) ?? refuseInvitation();
  if (!(await isOwnToken(sealer, 'invitation', known.user_id, input.token))) refuseInvitation();
  const { email } = await openProfile(sealer, { id: known.user_id, profile_sealed: known.profile_sealed });
  refuseGuessable(input.password, email);
  const password_sealed = await hashPassword(sealer, known.user_id, input.password, countedAddress(input.address));
  return em.transactional(async (tx) => {
    // Lock the user before the invitation, as withdrawing and resending do, to see their result.
    const user = await tx.findOne(User, known.user_id, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
    const invitation = await findWaiting(tx, tokenHash);
    if (!user || !invitation) refuseInvitation();
    await tx.execute('update invitations set accepted_at = now() where id = ?', [invitation.id]);
    const now = await readDatabaseClock(tx);
    // The token was sent to this address, so using it confirms the address.
    tx.assign(user, {
      password_sealed,
      status: 'active',
      email_confirmed_at: now,
      email_bounced_at: null,
      updated_at: now,
    });
    await tx.flush();
    await rememberLogin(tx, loginAttempt(must(user.email_digest, 'an invited user has an address'), input.address));
    const { requestId } = input;
    await recordAction(tx, { actorId: user.id, requestId }, 'RESOURCE_UPDATED', ['user', user.id], {
      invitation_id: invitation.id,
      status: 'active',
    });
    if (user.user_type === 'individual') {
      await openFirstAccount(tx, { userId: user.id }, { actorId: user.id, requestId });
    }
    return user;
  });
}

/** Returns the invitation that this token can accept, or null, also if the inviter is now suspended. */
async function findWaiting(em: EntityManager, tokenHash: string) {
  const [found] = await em.execute<{ id: string; user_id: string; profile_sealed: string | null }[]>(
    `select i.id, i.user_id, u.profile_sealed from invitations i join users u on u.id = i.user_id
     where i.token_hash = ? and i.accepted_at is null and i.expires_at > now() and u.status = 'invited'
       and not exists (select from users c where c.id = i.created_by and c.status = 'suspended')`,
    [tokenHash],
  );
  return found ?? null;
}

function refuseInvitation(): never {
  refuse('REQUEST_INVALID', 'the invitation is unknown, expired or already accepted', { field: 'token' });
}
