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
 * The creator and managers set any status, but `active`, `approved` and `completed` only while the cause is approved;
 * approvals, stops and disbursements set it, too. No status is final.
 */
export const causeLaw = statusLaw({ initial: ['pending'], transitions: anyToAny(causeStatuses) });
export type CauseStatus = StatusOf<typeof causeLaw>;

export const causeOwnerTypes = ['organization', 'individual', 'platform'] as const;
export type CauseOwnerType = (typeof causeOwnerTypes)[number];

/**
 * Returns whether a cause accepts donations and allocations, and everybody may read it: if it is `active`, or
 * `in_progress` and approved, as creator and managers can set `in_progress` without approval.
 */
export const takesDonations = ({ status, isApproved }: { status: CauseStatus; isApproved: boolean }): boolean =>
  status === 'active' || (status === 'in_progress' && isApproved);

/** Returns whether creator and managers may set this status only on an approved cause (docs/contract.md 5). */
export const needsApproval = (status: CauseStatus): boolean =>
  status === 'active' || status === 'approved' || status === 'completed';

/** The fields that the approval is based on; changing one of them revokes the approval. */
export const approvedFields = ['name', 'regulations', 'benefit', 'target_amount'] as const;

export const causeTextLimits = { name: 200, location: 255, text: 5000, reason: 300 } as const;
