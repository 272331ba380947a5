import type { EntityManager } from '@mikro-orm/postgresql';

/**
 * Why a person cannot be erased as things are, in words; null if nothing keeps them. Money of theirs, or a promise about
 * money, needs somebody whom it belongs to; what people decided needs the people who can still be asked; and an operator
 * may have placed a legal hold.
 */
export async function findHold(em: EntityManager, userId: string): Promise<string | null> {
  const [row] = await em.execute<[{ hold: string | null }]>(`select hold_of_person(?) as hold`, [userId]);
  return row.hold;
}
