import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { failpoint } from '../../shared/failpoint.ts';
import { getDefaultRole } from '../access/find-role.ts';
import { recordTokenMail } from '../mail/record-mail.ts';
import type { User } from '../members/user.entity.ts';
import { createUser, openFirstAccount } from './create-user.ts';
import { countSignUp, refuseManySignUps, type SignUpOrigin } from './limit-sign-ups.ts';
import { countedAddress } from './login-failures.ts';
import { hashPassword } from './password.ts';
import { refuseGuessable } from './password-rules.ts';
import { preparePerson } from './profile.ts';

export interface SignUpInput {
  name: string;
  email: string;
  password: string;
  origin: SignUpOrigin;
  requestId: string | null;
}

/**
 * Signs up an individual: a user with the default role `individual_user` and one IDR account. Throws 400 for a taken
 * e-mail address or a guessable password, TOO_MANY_REQUESTS beyond the limit of the network address.
 */
export async function signUp(
  em: EntityManager,
  sealer: Sealer,
  { name, email, password, origin, requestId }: SignUpInput,
): Promise<User> {
  refuseGuessable(password, email);
  await refuseManySignUps(em, origin);
  const passwordHash = await hashPassword(password, countedAddress(origin.address));
  const person = await preparePerson(sealer, { email, name });
  await failpoint('sign-up.before-row');
  return em.transactional(async (tx) => {
    await countSignUp(tx, origin);
    const role = await getDefaultRole(tx, 'individual_user');
    const user = await createUser(tx, {
      person,
      userType: 'individual',
      organizationId: null,
      roleId: role.id,
      status: 'active',
      passwordHash,
      actorId: null,
      requestId,
    });
    await openFirstAccount(tx, { userId: user.id }, { actorId: user.id, requestId });
    await recordTokenMail(tx, sealer, { userId: user.id, kind: 'confirm_address' });
    return user;
  });
}
