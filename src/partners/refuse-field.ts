import { isDomainError, refuse } from '../shared/errors.ts';

/** Refuses a partner's request because of one field, as every validation failure does (docs/contract.md 8). */
export function refuseField(field: string, complaint: string): never {
  refuse('REQUEST_INVALID_PAYLOAD', complaint, { field, details: [{ field, message: `${field}: ${complaint}` }] });
}

/** What `reckon` gives; a plain refusal of its is told as one of `field`. */
export function aboutField<T>(field: string, reckon: () => T): T {
  try {
    return reckon();
  } catch (error) {
    if (!isDomainError(error)) throw error;
    return refuseField(field, error.complaint);
  }
}
