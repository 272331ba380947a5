import type { EntityManager } from '@mikro-orm/postgresql';
import type { Place, Sealer } from '../../platform/encryption/sealer.ts';
import { sha256 } from '../../shared/digest.ts';
import { newId } from '../../shared/ids.ts';
import { createOwnToken } from '../members/own-token.ts';
import type { MailFacts, MailKind, TokenKind } from './mail.ts';
import { tokenMinutes } from './mail.ts';

/** Returns the place of the sealed values that only the message may contain; they are deleted once it is sent. */
export const mailFactsPlace = (id: string): Place => ({ table: 'mails', column: 'facts_sealed', row: id });

/**
 * Records a security notice to a user, in the transaction of the reported event; a worker sends it. Seals `facts` under
 * the user's key. Throws KeysAway.
 */
export async function recordMail(
  tx: EntityManager,
  sealer: Sealer,
  { userId, kind, facts = {} }: { userId: string; kind: MailKind; facts?: MailFacts },
): Promise<void> {
  const id = newId();
  const sealed = await sealer.seal({ ...mailFactsPlace(id), person: { id: userId } }, JSON.stringify(facts));
  await tx.execute('insert into mails (id, user_id, kind, facts_sealed) values (?, ?, ?, ?)', [
    id,
    userId,
    kind,
    sealed,
  ]);
}

/** Maximum messages per hour to one user with one kind of token. */
const tokenMailsPerHour = 10;

/** Returns whether a user has reached the hourly limit of messages of this kind. */
export async function hasManyTokenMails(tx: EntityManager, userId: string, kind: TokenKind): Promise<boolean> {
  const recorded = await tx.execute<unknown[]>(
    "select from mails where user_id = ? and kind = ? and created_at > now() - interval '1 hour' limit ?",
    [userId, kind, tokenMailsPerHour],
  );
  return recorded.length >= tokenMailsPerHour;
}

/**
 * As `recordMail`, with a new one-time token for `spendMailToken`. Only the message contains it; its digest is stored.
 * Throws KeysAway.
 */
export async function recordTokenMail(
  tx: EntityManager,
  sealer: Sealer,
  mail: { userId: string; kind: Exclude<TokenKind, 'invitation'> },
): Promise<void> {
  const id = newId();
  const token = await createOwnToken(sealer, mail.kind, mail.userId);
  const place = { ...mailFactsPlace(id), person: { id: mail.userId } };
  await tx.execute(
    `insert into mails (id, user_id, kind, facts_sealed, token_hash, token_expires_at)
     values (?, ?, ?, ?, ?, clock_timestamp() + make_interval(mins => ?))`,
    [
      id,
      mail.userId,
      mail.kind,
      await sealer.seal(place, JSON.stringify({ token })),
      sha256(token),
      tokenMinutes[mail.kind],
    ],
  );
}
