import { anyToAny, type StatusOf, statusLaw } from '../shared/status-law.ts';

/** Pure facts about charitable causes (docs/contract.md 5). */
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

/** Its creator and managers set it, to `active` and `approved` only once it has been approved: no status is final. */
export const causeLaw = statusLaw({ initial: ['pending'], transitions: anyToAny(causeStatuses) });
export type CauseStatus = StatusOf<typeof causeLaw>;

export const causeOwnerTypes = ['organization', 'individual', 'platform'] as const;
export type CauseOwnerType = (typeof causeOwnerTypes)[number];

/**
 * Whether a cause takes donations and allocations, and is read by everybody: an active one, and one that is in progress,
 * if it was approved, as its creator and managers set that status too.
 */
export const takesDonations = ({ status, isApproved }: { status: CauseStatus; isApproved: boolean }): boolean =>
  status === 'active' || (status === 'in_progress' && isApproved);

/** Whether only a cause that was once approved may be given this status by its creator or managers (docs/contract.md 5). */
export const needsApproval = (status: CauseStatus): boolean => status === 'active' || status === 'approved';

/** What the platform approves a cause by: a change of one of these takes the approval away. */
export const approvedFields = ['name', 'regulations', 'benefit', 'target_amount'] as const;

export const causeTextLimits = { name: 200, location: 255, text: 5000, reason: 300 } as const;
