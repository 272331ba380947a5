import type { EntityManager } from '@mikro-orm/postgresql';
import { recordAction } from '../../platform/events/record-event.ts';
import { withFieldNames } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { getDefaultRole } from '../access/find-role.ts';
import { createUser, type SignUpPorts } from '../identity/create-user.ts';
import { countingTaken, countSignUp, refuseManySignUps, type SignUpOrigin } from '../identity/limit-sign-ups.ts';
import { countedAddress, loginAttempt } from '../identity/login-failures.ts';
import { hashForSignUp } from '../identity/password.ts';
import { refuseGuessable } from '../identity/password-rules.ts';
import { recordTokenMail } from '../mail/record-mail.ts';
import { Organization } from '../members/organization.entity.ts';
import { preparePerson } from '../members/profile.ts';
import type { User } from '../members/user.entity.ts';

export interface SignUpOrganizationInput {
  name: string;
  email: string;
  phoneNumber: string | undefined;
  officialRegistrationNumber: string | undefined;
  industry: string | undefined;
  size: string | undefined;
  admin: { name: string; email: string; password: string };
  origin: SignUpOrigin;
  requestId: string | null;
}

/**
 * Signs up a `pending` organization with an admin (role `organization_admin`) and one IDR account. Throws as `signUp`
 * does.
 */
export async function signUpOrganization(
  em: EntityManager,
  { sealer, openFirstAccount }: SignUpPorts,
  input: SignUpOrganizationInput,
): Promise<{ organization: Organization; admin: User; accountId: string }> {
  refuseGuessable(input.admin.password, input.admin.email, 'admin.password');
  await refuseManySignUps(em, input.origin);
  const adminId = newId();
  const passwordSealed = await hashForSignUp(
    sealer,
    adminId,
    input.admin.password,
    countedAddress(input.origin.address),
  );
  const person = await preparePerson(sealer, input.admin, adminId);
  const { requestId } = input;
  const attempt = loginAttempt(person.email_digest, input.origin.address);
  const write = async (tx: EntityManager) => {
    await countSignUp(tx, input.origin);
    const organization = tx.create(Organization, {
      id: newId(),
      name: input.name,
      email: input.email,
      phone_number: input.phoneNumber ?? null,
      official_registration_number: input.officialRegistrationNumber ?? null,
      industry: input.industry ?? null,
      size: input.size ?? null,
      status: 'pending',
    });
    await tx.flush();
    const role = await getDefaultRole(tx, 'organization_admin');
    const admin = await withFieldNames({ email: 'admin.email' }, () =>
      createUser(tx, {
        person,
        userType: 'organization',
        organizationId: organization.id,
        roleId: role.id,
        status: 'active',
        passwordSealed,
        actorId: null,
        requestId,
      }),
    );
    await recordAction(tx, { actorId: admin.id, requestId }, 'RESOURCE_CREATED', ['organization', organization.id]);
    const owner = { organizationId: organization.id };
    await recordTokenMail(tx, sealer, { userId: admin.id, kind: 'confirm_address' });
    const accountId = await openFirstAccount(tx, owner, { actorId: admin.id, requestId });
    return { organization, admin, accountId };
  };
  return countingTaken(em, { attempt, requestId }, () => em.transactional(write));
}
