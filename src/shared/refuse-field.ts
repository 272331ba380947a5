import { isDomainError, refuse } from './errors.ts';

/** Refuses a partner's request because of one field, in the form of any validation failure (docs/contract.md 8). */
export function refuseField(field: string, complaint: string): never {
  refuse('REQUEST_INVALID_PAYLOAD', complaint, { field, details: [{ field, message: `${field}: ${complaint}` }] });
}

/** The result of `reckon`; a DomainError that it throws is rethrown as a validation failure of `field`. */
export function aboutField<T>(field: string, reckon: () => T): T {
  try {
    return reckon();
  } catch (error) {
    if (!isDomainError(error)) throw error;
    return refuseField(field, error.complaint);
  }
}
