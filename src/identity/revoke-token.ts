import type { EntityManager } from '@mikro-orm/postgresql';

/** Revokes a token by its id until it would have expired anyway; forgets those that have. */
export async function revokeToken(em: EntityManager, tokenId: string, expiresAt: Date): Promise<void> {
  await em.execute('insert into revoked_tokens (id, expires_at) values (?, ?) on conflict do nothing', [
    tokenId,
    expiresAt,
  ]);
  await em.execute(
    `delete from revoked_tokens where id in
     (select id from revoked_tokens where expires_at < now() - interval '1 day' limit 100 for update skip locked)`,
  );
}
