import { unlessErased, unlessMissing } from '../encryption/personal-keys.ts';
import type { Sealer } from '../encryption/sealer.ts';
import type { Document } from './document.entity.ts';
import { placeOfFileName } from './document.ts';

/**
 * A document's file name as uploaded, unsealed: file names are personal data. Null when its owner was erased, or their key
 * is missing.
 */
export async function openFileName(
  sealer: Sealer,
  { id, file_name_sealed }: Pick<Document, 'id' | 'file_name_sealed'>,
): Promise<string | null> {
  if (file_name_sealed === null || file_name_sealed === undefined) return null;
  return unlessMissing(unlessErased(sealer.open(placeOfFileName(id), file_name_sealed)));
}

/** A file name, sealed for a document: under the key of whoever stored it, unless it is an organization's. */
export const sealFileName = async (
  sealer: Sealer,
  document: Pick<Document, 'id' | 'created_by' | 'organization_id'>,
  fileName: string | null,
): Promise<string | null> => {
  const person = document.organization_id == null ? document.created_by : null;
  return fileName === null ? null : sealer.seal({ ...placeOfFileName(document.id), person }, fileName);
};
