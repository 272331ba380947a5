import { anyToAny, type StatusOf, statusLaw } from '../shared/status-law.ts';

/** Pure facts about organizations (docs/contract.md 1). The super admin sets the status. */
export const organizationLaw = statusLaw({
  initial: ['pending'],
  transitions: anyToAny(['pending', 'active', 'inactive', 'suspended']),
});
export type OrganizationStatus = StatusOf<typeof organizationLaw>;

/** Whether users of an organization in this status may change anything (docs/contract.md 1); reading is always open to them. */
export function mayChangeThings(status: OrganizationStatus | null): boolean {
  return status !== 'inactive' && status !== 'suspended';
}

export const organizationSizeLabels = ['tens', 'hundreds', 'thousands', 'millions'] as const;

/** Industry values exactly as documented, `technnology` with three n included. */
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
