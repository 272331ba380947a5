import type { Sealer } from '../../platform/encryption/sealer.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import type { Document } from './document.entity.ts';
import { viewUrlLifetimeSeconds } from './document.ts';
import { showFileName } from './file-name.ts';
import { openUrl } from './stored-url.ts';

/** A document's storage key, and a new URL that downloads its file under its name, valid for fifteen minutes. */
export async function viewDocument(
  { storage, sealer }: { storage: Storage; sealer: Sealer },
  document: Document,
): Promise<{ key: string; viewUrl: string }> {
  const key = await openUrl(sealer, document);
  const extension = /^(?:image|video|application)\/(pdf|png|jpeg|gif|webp|mp4|webm|zip)$/.exec(document.content_type);
  const viewUrl = await storage.signViewUrl(key, {
    fileName:
      (await showFileName(sealer, document)) ??
      `${document.document_type}-${document.id}${extension ? `.${extension[1]}` : ''}`,
    lifetimeSeconds: viewUrlLifetimeSeconds,
  });
  return { key, viewUrl };
}
