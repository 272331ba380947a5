import type { EntityManager } from '@mikro-orm/postgresql';
import { unlessErased, unlessMissing } from '../../platform/encryption/personal-keys.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import type { UserType } from '../../shared/user.ts';
import type { Document } from './document.entity.ts';
import { placeOfFileName } from './document.ts';

/**
 * Decrypts a document's file name, which is personal data. Returns null if its owner was erased. Throws KeysAway, also
 * if the owner's key is missing.
 */
export async function openFileName(
  sealer: Sealer,
  { id, file_name_sealed }: Pick<Document, 'id' | 'file_name_sealed'>,
): Promise<string | null> {
  if (file_name_sealed === null || file_name_sealed === undefined) return null;
  return unlessErased(sealer.open(placeOfFileName(id), file_name_sealed));
}

/** As `openFileName`, for display only: also returns null while the key is missing. */
export const showFileName = (
  sealer: Sealer,
  document: Pick<Document, 'id' | 'file_name_sealed'>,
): Promise<string | null> => unlessMissing(openFileName(sealer, document));

/**
 * Encrypts a document's file name with the uploader's key, unless the uploader acts for an organization. Null if the
 * uploader was erased.
 */
export async function sealFileName(
  em: EntityManager,
  sealer: Sealer,
  { id, created_by: creatorId }: Pick<Document, 'id' | 'created_by'>,
  fileName: string | null,
): Promise<string | null> {
  if (fileName === null) return null;
  const [creator] = await em.execute<{ user_type: UserType }[]>('select user_type from users where id = ?', [
    creatorId,
  ]);
  const person = creator?.user_type === 'organization' ? null : { id: creatorId };
  return unlessErased(sealer.seal({ ...placeOfFileName(id), person }, fileName));
}
