import { anyToAny, type StatusOf, statusLaw } from './status-law.ts';

/** Statuses of organizations (docs/contract.md 1). Super admins set the status; see `updateOrganization`. */
export const organizationLaw = statusLaw({
  initial: ['pending'],
  transitions: anyToAny(['pending', 'active', 'inactive', 'suspended']),
});
export type OrganizationStatus = StatusOf<typeof organizationLaw>;

/** Whether users of an organization in this status may change anything (docs/contract.md 1). They may always read. */
export function mayChangeThings(status: OrganizationStatus | null): boolean {
  return status !== 'inactive' && status !== 'suspended';
}

export const organizationSizeLabels = ['tens', 'hundreds', 'thousands', 'millions'] as const;

/** Industry values exactly as documented, including `technnology` with its double n. */
export const industryValues = [
  'finance',
  'health',
  'agriculture',
  'education',
  'technnology',
  'manufacturing',
  'marine',
  'aviation',
  'security',
  'government',
  'ngo',
] as const;
