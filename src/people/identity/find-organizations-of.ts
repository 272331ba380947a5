import type { EntityManager } from '@mikro-orm/postgresql';

/** Returns the organizations of these users, by user id, or null for a user without one. */
export async function findOrganizationsOf(
  em: EntityManager,
  userIds: readonly string[],
): Promise<Map<string, string | null>> {
  const users = await em.execute<{ id: string; organization_id: string | null }[]>(
    'select id, organization_id from users where id = any (?::uuid[])',
    [`{${userIds.join(',')}}`],
  );
  return new Map(users.map(({ id, organization_id }) => [id, organization_id]));
}
