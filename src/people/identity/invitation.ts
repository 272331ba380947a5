import type { UserType } from '../../shared/user.ts';

/** How long an invitation can be accepted. */
export const invitationDays = 7;

/** The permission that the inviter needs, by the type of the invited user. */
export const invitePermissions = {
  platform: 'invite-platform-admin',
  organization: 'invite-organization-admin',
  individual: 'invite-individual-user',
} as const satisfies Record<UserType, string>;
