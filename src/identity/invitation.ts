import type { UserType } from './user.ts';

/** An invitation can be accepted for this long. */
export const invitationDays = 7;

/** Who is invited decides which permission the inviter needs (docs/contract.md 1). */
export const invitePermissions = {
  platform: 'invite-platform-admin',
  organization: 'invite-organization-admin',
  individual: 'invite-individual-user',
} as const satisfies Record<UserType, string>;
