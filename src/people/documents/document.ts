import type { Caller } from '../../shared/caller.ts';
import { newId } from '../../shared/ids.ts';
import { isUuid } from '../../shared/uuid.ts';

/** Document types, limits and rules (docs/contract.md 7). */
export const documentTypes = [
  'legal_agreement',
  'signature',
  'cause_report',
  'donation_certificate',
  'receipt',
  'image',
  'video',
] as const;
export type DocumentType = (typeof documentTypes)[number];

export const productTypes = ['charitable_cause', 'commodity_financing', 'investment', 'transaction'] as const;
export type ProductType = (typeof productTypes)[number];

export const visibilities = ['public', 'private'] as const;
export type Visibility = (typeof visibilities)[number];

/** 50 MB, inclusive. */
export const maximumFileBytes = 52_428_800;

/** How long a presigned URL is valid. */
export const viewUrlLifetimeSeconds = 15 * 60;

export const placeOfUrl = (id: string) => ({ table: 'documents', column: 'url_sealed', row: id });
export const placeOfFileName = (id: string) => ({ table: 'documents', column: 'file_name_sealed', row: id });

type Who = Pick<Caller, 'userId' | 'userType' | 'organizationId'>;

interface Owned {
  created_by: string;
  organization_id?: string | null;
}

const isOfOrganization = ({ organizationId }: Who, { organization_id }: Owned): boolean =>
  organizationId !== null && organization_id === organizationId;

/**
 * Returns whether the caller is the document's creator, a user of type `organization` of its organization, or a
 * platform user.
 */
export const mayChangeDocument = (caller: Who, document: Owned): boolean =>
  caller.userType === 'platform' ||
  document.created_by === caller.userId ||
  (caller.userType === 'organization' && isOfOrganization(caller, document));

/** Returns the prefix of all storage keys in the space of an organization or user. */
export const spaceOf = (id: string): string => `documents/${id}/`;

/** Returns a new storage key in the caller's space: `documents/<organization or user id>/<uuid>`. */
export const newStorageKey = ({ organizationId, userId }: Who): string =>
  `${spaceOf(organizationId ?? userId)}${newId()}`;

/** Returns whether the key is in the space of the caller or of the caller's organization. */
export function isInSpaceOf({ organizationId, userId }: Who, key: string): boolean {
  const [root, space = '', name = '', ...rest] = key.split('/');
  return root === 'documents' && rest.length === 0 && isUuid(name) && (space === userId || space === organizationId);
}
