import { type ErrorCode, isDomainError, refuse } from '../shared/errors.ts';
import { type AllocationRefused, type DonationRefusal, donationRefusalTexts, unpackIds } from './allocation.ts';

/** Why the cause takes nothing: it is unknown (NOT_FOUND), or not active (REQUEST_INVALID). */
export function causeComplaint(causeId: string, refusal: string): { code: ErrorCode; message: string } {
  return refusal === 'unknown'
    ? { code: 'NOT_FOUND', message: `cause_id: ${causeId}: no such charitable cause` }
    : { code: 'REQUEST_INVALID', message: `cause_id: ${causeId}: the charitable cause is ${refusal}, not active` };
}

/** What was refused, when an error says that an allocation was; null otherwise. */
export function refusedAllocation(error: unknown): AllocationRefused | null {
  const details: unknown = isDomainError(error) ? error.details : null;
  const isRefused = typeof details === 'object' && details !== null && 'donations' in details && 'cause' in details;
  return isRefused ? (details as AllocationRefused) : null;
}

/** Refuses an allocation, naming every bad member and why: 404 when one of them is unknown, 400 otherwise. */
export function refuseAllocation(causeId: string, { cause, donations }: AllocationRefused): never {
  const complaints = cause === null ? [] : [causeComplaint(causeId, cause)];
  for (const [reason, packed] of Object.entries(donations) as [DonationRefusal, string][]) {
    const code = reason === 'unknown' ? 'NOT_FOUND' : 'REQUEST_INVALID';
    for (const id of unpackIds(packed)) {
      complaints.push({ code, message: `donation_ids: ${id}: ${donationRefusalTexts[reason]}` });
    }
  }
  const messages = complaints.map(({ message }) => message);
  const code = complaints.some((complaint) => complaint.code === 'NOT_FOUND') ? 'NOT_FOUND' : 'REQUEST_INVALID';
  return refuse(code, messages[0] ?? 'donation_ids: cannot be allocated', { messages });
}
