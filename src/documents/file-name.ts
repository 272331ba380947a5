import type { Sealer } from '../encryption/sealer.ts';
import type { Document } from './document.entity.ts';
import { placeOfFileName } from './document.ts';

/** The name of a document's file as it was uploaded, opened: names of files tell about people. */
export async function openFileName(
  sealer: Sealer,
  { id, file_name_sealed }: Pick<Document, 'id' | 'file_name_sealed'>,
): Promise<string | null> {
  if (file_name_sealed === null || file_name_sealed === undefined) return null;
  return sealer.open(placeOfFileName(id), file_name_sealed);
}

/** A file's name as it rests in the row of this id. */
export const sealFileName = async (sealer: Sealer, id: string, fileName: string | null): Promise<string | null> =>
  fileName === null ? null : sealer.seal(placeOfFileName(id), fileName);
