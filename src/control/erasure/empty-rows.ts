import type { EntityManager } from '@mikro-orm/postgresql';
import { endTokens } from '../../people/identity/end-tokens.ts';
import type { User } from '../../people/members/user.entity.ts';
import { readDatabaseClock } from '../../platform/database/database-clock.ts';

/**
 * Deletes a person's identifying data and credentials from the database, in the caller's transaction, which has locked
 * the user's row. Records of their actions remain: journals, transactions and events refer to them only by id. Their
 * documents are deleted one by one afterwards.
 */
export async function emptyRows(tx: EntityManager, user: User): Promise<void> {
  const { id } = user;
  const now = await readDatabaseClock(tx);
  tx.assign(user, {
    profile_sealed: null,
    email_digest: null,
    email_bounced_at: null,
    password_sealed: null,
    role_id: null,
    status: 'suspended',
    erased_at: now,
    updated_at: now,
  });
  await endTokens(tx, user);
  await tx.flush();
  await tx.execute('delete from refresh_tokens where user_id = ?', [id]);
  await tx.execute('delete from mails where user_id = ?', [id]);
  await tx.execute('delete from second_factors where id = ?', [id]);
  await tx.execute('delete from addresses where user_id = ? and organization_id is null', [id]);
  await tx.execute('delete from official_documents where user_id = ?', [id]);
  await tx.execute('delete from cause_managers where user_id = ?', [id]);
  await tx.execute("update saving_goals set name = 'Erased' where user_id = ?", [id]);
  await tx.execute("update accounts set name = 'Erased' where user_id = ?", [id]);
  await tx.execute(
    'update bank_accounts set deleted_at = now() where user_id = ? and organization_id is null and deleted_at is null',
    [id],
  );
  // Deletes responses under the person's idempotency keys; the keys stay with their resources.
  await tx.execute(
    'update requests set answer_status = null, answer_body = null where owner_id = ? and answer_body is not null',
    [id],
  );
}
