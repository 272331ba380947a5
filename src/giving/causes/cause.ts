import { anyToAny, type StatusOf, statusLaw } from '../../shared/status-law.ts';

/** The statuses of a charitable cause (docs/contract.md 5). */
const causeStatuses = [
  'pending',
  'new',
  'active',
  'approved',
  'in_progress',
  'completed',
  'cancelled',
  'rejected',
  'deactivated',
] as const;

/**
 * Set by its creator and managers (`active` and `approved` only while it is approved) and by the platform: no status is
 * final.
 */
export const causeLaw = statusLaw({ initial: ['pending'], transitions: anyToAny(causeStatuses) });
export type CauseStatus = StatusOf<typeof causeLaw>;

export const causeOwnerTypes = ['organization', 'individual', 'platform'] as const;
export type CauseOwnerType = (typeof causeOwnerTypes)[number];

/**
 * Whether a cause takes donations and allocations, and can be read by everybody: when `active`, or when `in_progress`
 * and approved, since creator and managers can set that status without approval.
 */
export const takesDonations = ({ status, isApproved }: { status: CauseStatus; isApproved: boolean }): boolean =>
  status === 'active' || (status === 'in_progress' && isApproved);

/** Whether creator and managers may set this status only on an approved cause (docs/contract.md 5). */
export const needsApproval = (status: CauseStatus): boolean =>
  status === 'active' || status === 'approved' || status === 'completed';

/** The fields that the approval is based on: changing one of them revokes it. */
export const approvedFields = ['name', 'regulations', 'benefit', 'target_amount'] as const;

export const causeTextLimits = { name: 200, location: 255, text: 5000, reason: 300 } as const;
