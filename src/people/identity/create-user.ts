import type { EntityManager } from '@mikro-orm/postgresql';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import { refuse } from '../../shared/errors.ts';
import { isUniqueViolation } from '../../shared/postgres.ts';
import type { UserStatus, UserType } from '../../shared/user.ts';
import type { NewPerson } from '../members/profile.ts';
import { User } from '../members/user.entity.ts';
import { freeExpiredAddress } from './take-back-invitation.ts';

export interface NewUser {
  /** From `preparePerson`. */
  person: NewPerson;
  userType: UserType;
  organizationId: string | null;
  roleId: string;
  status: UserStatus;
  /** From `hashPassword`. */
  passwordSealed: string | null;
  /** Whether the user is an approver from the start. */
  isApprover?: boolean;
  actorId: string | null;
  requestId: string | null;
}

/** Creates a user with its event in the caller's transaction. Throws DUPLICATE (400) for a taken e-mail address. */
export async function createUser(tx: EntityManager, input: NewUser): Promise<User> {
  const { id, profile_sealed, email_digest } = input.person;
  await freeExpiredAddress(tx, email_digest, input.actorId, input.requestId);
  const taken = await tx.execute<unknown[]>('select from users where email_digest = ?', [email_digest]);
  if (taken.length > 0) refuseTaken();
  const user = tx.create(User, {
    id,
    profile_sealed,
    email_digest,
    user_type: input.userType,
    organization_id: input.organizationId,
    role_id: input.roleId,
    status: input.status,
    password_sealed: input.passwordSealed,
    approver_since: input.isApprover ? await readDatabaseClock(tx) : null,
  });
  try {
    await tx.flush();
  } catch (error) {
    if (isUniqueViolation(error)) refuseTaken();
    throw error;
  }
  await recordAction(
    tx,
    { actorId: input.actorId ?? user.id, requestId: input.requestId },
    'RESOURCE_CREATED',
    ['user', user.id],
    { user_type: input.userType, organization_id: input.organizationId, role_id: input.roleId },
  );
  return user;
}

const refuseTaken = (): never => refuse('DUPLICATE', 'a user with this address already exists', { field: 'email' });

/** Opens the first account of a user or an organization, with its event, in the caller's transaction; returns its id. */
export type OpenFirstAccount = (
  tx: EntityManager,
  owner: { userId: string } | { organizationId: string },
  by: { actorId: string; requestId: string | null },
) => Promise<string>;

/** The dependencies of a sign-up. */
export interface SignUpPorts {
  sealer: Sealer;
  openFirstAccount: OpenFirstAccount;
}
