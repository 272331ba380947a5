import type { EntityManager } from '@mikro-orm/postgresql';
import { failpoint } from '../../shared/failpoint.ts';
import { newId } from '../../shared/ids.ts';
import { getDefaultRole } from '../access/find-role.ts';
import { recordTokenMail } from '../mail/record-mail.ts';
import { preparePerson } from '../members/profile.ts';
import type { User } from '../members/user.entity.ts';
import { createUser, type SignUpPorts } from './create-user.ts';
import { countingTaken, countSignUp, refuseManySignUps, type SignUpOrigin } from './limit-sign-ups.ts';
import { countedAddress, loginAttempt } from './login-failures.ts';
import { hashForSignUp } from './password.ts';
import { refuseGuessable } from './password-rules.ts';

export interface SignUpInput {
  name: string;
  email: string;
  password: string;
  origin: SignUpOrigin;
  requestId: string | null;
}

/**
 * Signs up an individual: a user with the default role `individual_user` and one IDR account. Throws 400 for a taken
 * e-mail address or a guessable password, TOO_MANY_REQUESTS beyond the network address's limit.
 */
export async function signUp(
  em: EntityManager,
  { sealer, openFirstAccount }: SignUpPorts,
  { name, email, password, origin, requestId }: SignUpInput,
): Promise<User> {
  refuseGuessable(password, email);
  await refuseManySignUps(em, origin);
  const id = newId();
  const passwordSealed = await hashForSignUp(sealer, id, password, countedAddress(origin.address));
  const person = await preparePerson(sealer, { email, name }, id);
  await failpoint('sign-up.before-row');
  const attempt = loginAttempt(person.email_digest, origin.address);
  const write = async (tx: EntityManager) => {
    await countSignUp(tx, origin);
    const role = await getDefaultRole(tx, 'individual_user');
    const user = await createUser(tx, {
      person,
      userType: 'individual',
      organizationId: null,
      roleId: role.id,
      status: 'active',
      passwordSealed,
      actorId: null,
      requestId,
    });
    await openFirstAccount(tx, { userId: user.id }, { actorId: user.id, requestId });
    await recordTokenMail(tx, sealer, { userId: user.id, kind: 'confirm_address' });
    return user;
  };
  return countingTaken(em, { attempt, requestId }, () => em.transactional(write));
}
