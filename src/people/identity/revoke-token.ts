import type { EntityManager } from '@mikro-orm/postgresql';
import { forgetRows } from '../../platform/housekeeping/forget-rows.ts';

/** Revokes a token by its id until it would have expired anyway; deletes revocations a day past that. */
export async function revokeToken(em: EntityManager, tokenId: string, expiresAt: Date): Promise<void> {
  await em.execute('insert into revoked_tokens (id, expires_at) values (?, ?) on conflict do nothing', [
    tokenId,
    expiresAt,
  ]);
  await forgetRows(em, 'revoked_tokens', '1 day', 100);
}
