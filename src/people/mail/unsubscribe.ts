import { timingSafeEqual } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import type { MailFamily } from './mail.ts';

export type Unsubscribable = Exclude<MailFamily, 'security'>;

export const unsubscribePath = '/unsubscribe';

const proofOf = async (sealer: Sealer, userId: string, family: Unsubscribable): Promise<string> =>
  (await sealer.digest(`unsubscribe/${userId}/${family}`)).slice(0, 40);

/** Returns the link that turns off receipts or reminders without logging in. Throws KeysAway. */
export async function unsubscribeLink(
  { sealer, publicUrl }: { sealer: Sealer; publicUrl: string },
  userId: string,
  family: Unsubscribable,
): Promise<string> {
  const proof = await proofOf(sealer, userId, family);
  return `${new URL(publicUrl).origin}${unsubscribePath}?${new URLSearchParams({ user: userId, from: family, proof })}`;
}

/** Turns off the kind of e-mail named by a link from `unsubscribeLink`. Returns false for any other link. */
export async function unsubscribe(
  em: EntityManager,
  sealer: Sealer,
  { user, from, proof }: { user: string; from: string; proof: string },
): Promise<boolean> {
  if (from !== 'receipts' && from !== 'reminders') return false;
  const expected = Buffer.from(await proofOf(sealer, user, from));
  const given = Buffer.from(proof);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return false;
  const column = from === 'receipts' ? 'takes_receipts' : 'takes_reminders';
  await em.execute(`update users set ${column} = false, updated_at = now() where id = ? and ${column}`, [user]);
  return true;
}
