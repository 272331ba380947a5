import { z } from 'zod';
import { isoDate, timestamp } from '../../platform/http/fields.ts';
import type { Caller } from '../../shared/caller.ts';
import type { OpenedOfficialDocument } from './find-official-documents.ts';
import { maskNumber, officialDocumentKinds, verificationLaw } from './official-document.ts';

/** An official document in responses (docs/contract.md 7). */
export const OfficialDocumentAnswer = z
  .object({
    id: z.string().meta({ description: 'A numeric string.' }),
    user_id: z.guid(),
    organization_id: z.guid().nullable(),
    kind: z.enum(officialDocumentKinds),
    number: z.string().meta({ description: 'Masked for everybody but the owner.' }),
    name_on_document: z.string(),
    issued_on: isoDate().nullable(),
    expires_on: isoDate().nullable(),
    document_id: z.guid().nullable(),
    verification_status: z.enum(verificationLaw.statuses),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'OfficialDocument' });

/** Returns the document number as this caller sees it: masked unless the caller is the owner. */
export const shownNumber = (caller: Pick<Caller, 'userId'>, { row, details }: OpenedOfficialDocument): string =>
  row.user_id === caller.userId ? details.number : maskNumber(details.number);

/** Returns an unsealed official document as this caller sees it. */
export const presentOfficialDocument = (caller: Pick<Caller, 'userId'>, { row, details }: OpenedOfficialDocument) => ({
  id: row.id,
  user_id: row.user_id,
  organization_id: row.organization_id ?? null,
  kind: row.kind,
  number: shownNumber(caller, { row, details }),
  name_on_document: details.name_on_document,
  issued_on: row.issued_on ?? null,
  expires_on: row.expires_on ?? null,
  document_id: row.document_id ?? null,
  verification_status: row.verification_status,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});
