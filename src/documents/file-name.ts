import type { Sealer } from '../encryption/sealer.ts';
import type { Document } from './document.entity.ts';
import { placeOfFileName } from './document.ts';

/** A document's file name as uploaded, unsealed: file names are personal data. */
export async function openFileName(
  sealer: Sealer,
  { id, file_name_sealed }: Pick<Document, 'id' | 'file_name_sealed'>,
): Promise<string | null> {
  if (file_name_sealed === null || file_name_sealed === undefined) return null;
  return sealer.open(placeOfFileName(id), file_name_sealed);
}

/** A file name, sealed for the row with this id. */
export const sealFileName = async (sealer: Sealer, id: string, fileName: string | null): Promise<string | null> =>
  fileName === null ? null : sealer.seal(placeOfFileName(id), fileName);
