import { DomainError, isDomainError, refuse } from '../../shared/errors.ts';
import { type AllocationRefused, type DonationRefusal, donationRefusalTexts, unpackIds } from './allocation.ts';

/** Returns the error for a cause that accepts no donations: NOT_FOUND if it is unknown, REQUEST_INVALID otherwise. */
export function refusalOfCause(causeId: string, refusal: string): DomainError {
  const field = 'cause_id';
  return refusal === 'unknown'
    ? new DomainError('NOT_FOUND', `the charitable cause ${causeId} was not found`, { field })
    : new DomainError('REQUEST_INVALID', `${causeId}: the charitable cause is ${refusal}, not active`, { field });
}

/** Returns the refused donations and cause if the error is a refused allocation, otherwise null. */
export function refusedAllocation(error: unknown): AllocationRefused | null {
  const details: unknown = isDomainError(error) ? error.details : null;
  const isRefused = typeof details === 'object' && details !== null && 'donations' in details && 'cause' in details;
  return isRefused ? (details as AllocationRefused) : null;
}

/** Throws the stored refusal of an allocation, so that later requests get the same outcome. */
export const refuseAsWritten = (details: AllocationRefused): never =>
  refuse('REQUEST_INVALID', 'cannot be allocated', { field: 'donation_ids', details });

/**
 * Throws the refusal of an allocation for the client, naming every invalid donation with its reason: 404 if one of
 * them, or the cause, is unknown, 400 otherwise.
 */
export function refuseAllocation(causeId: string, { cause, donations }: AllocationRefused): never {
  const refusals = cause === null ? [] : [refusalOfCause(causeId, cause)];
  for (const [reason, packed] of Object.entries(donations) as [DonationRefusal, string][]) {
    const code = reason === 'unknown' ? 'NOT_FOUND' : 'REQUEST_INVALID';
    for (const id of unpackIds(packed)) {
      refusals.push(new DomainError(code, `${id}: ${donationRefusalTexts[reason]}`, { field: 'donation_ids' }));
    }
  }
  const code = refusals.some((refusal) => refusal.code === 'NOT_FOUND') ? 'NOT_FOUND' : 'REQUEST_INVALID';
  const { field = 'donation_ids', complaint } = refusals[0] ?? { complaint: 'cannot be allocated' };
  return refuse(code, complaint, { field, messages: refusals.map(({ message }) => message) });
}
