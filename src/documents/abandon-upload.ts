import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../encryption/sealer.ts';
import type { Storage } from '../storage/storage.ts';

export const placeOfUpload = (id: string) => ({ table: 'document_uploads', column: 'url_sealed', row: id });

/**
 * Takes away an upload that did not become a document, its object first. The row's lock decides against a document
 * that is being made of it at this moment: once that has committed there is nothing left to abandon.
 */
export async function abandonUpload(
  em: EntityManager,
  { storage, sealer }: { storage: Pick<Storage, 'remove'>; sealer: Sealer },
  id: string,
): Promise<void> {
  await em.transactional(async (tx) => {
    const [upload] = await tx.execute<{ url_sealed: string }[]>(
      'select url_sealed from document_uploads where id = ? for update',
      [id],
    );
    if (upload === undefined) return;
    await storage.remove(await sealer.open(placeOfUpload(id), upload.url_sealed));
    await tx.execute('delete from document_uploads where id = ?', [id]);
  });
}
