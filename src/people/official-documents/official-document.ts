import type { Caller } from '../../shared/caller.ts';
import { anyToAny, type StatusOf, statusLaw } from '../../shared/status-law.ts';

/** Kinds, statuses and rules of official documents (docs/contract.md 7). */
export const officialDocumentKinds = ['passport', 'national_id', 'driving_license', 'taxpayer_id'] as const;
export type OfficialDocumentKind = (typeof officialDocumentKinds)[number];

/** Platform users set the status; a change by anybody else makes it `pending` again. */
export const verificationLaw = statusLaw({
  initial: ['pending'],
  transitions: anyToAny(['pending', 'verified', 'rejected']),
});
export type VerificationStatus = StatusOf<typeof verificationLaw>;

/** The identifying fields, stored sealed. */
export interface OfficialDetails {
  number: string;
  name_on_document: string;
}

export const placeOfDetails = (id: string) => ({ table: 'official_documents', column: 'details_sealed', row: id });

/** Returns the place of the encrypted details, under the key of the person they identify. */
export const placeToSeal = (id: string, userId: string) => ({ ...placeOfDetails(id), person: { id: userId } });

/**
 * Returns whether the caller is the document's owner, a user of type `organization` of its organization, or a platform
 * user.
 */
export const mayUseOfficialDocument = (
  caller: Pick<Caller, 'userId' | 'userType' | 'organizationId'>,
  document: { user_id: string; organization_id?: string | null },
): boolean =>
  caller.userType === 'platform' ||
  document.user_id === caller.userId ||
  (caller.userType === 'organization' &&
    caller.organizationId !== null &&
    document.organization_id === caller.organizationId);

const shownCharacters = 4;

/** Masks a number with asterisks except for its last four characters, or entirely if it has eight or fewer. */
export function maskNumber(number: string): string {
  const characters = [...number];
  const shown = characters.length > 2 * shownCharacters ? shownCharacters : 0;
  return characters.map((character, index) => (index < characters.length - shown ? '*' : character)).join('');
}
