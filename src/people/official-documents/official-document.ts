import type { Caller } from '../../shared/caller.ts';
import { anyToAny, type StatusOf, statusLaw } from '../../shared/status-law.ts';

/** Pure facts about official documents (docs/contract.md 7). */
export const officialDocumentKinds = ['passport', 'national_id', 'driving_license', 'taxpayer_id'] as const;
export type OfficialDocumentKind = (typeof officialDocumentKinds)[number];

/** Set by platform users; a change by anybody else makes it `pending` again. */
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

/** The place of the encrypted details, under the key of the person they identify. */
export const placeToSeal = (id: string, userId: string) => ({ ...placeOfDetails(id), person: { id: userId } });

/** The document's owner, users of type `organization` of the document's organization, platform users. */
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

/** A number masked with asterisks except its last four characters, or entirely if those are half of it or more. */
export function maskNumber(number: string): string {
  const characters = [...number];
  const shown = characters.length > 2 * shownCharacters ? shownCharacters : 0;
  return characters.map((character, index) => (index < characters.length - shown ? '*' : character)).join('');
}
