import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { sha256 } from '../../shared/digest.ts';
import { refuse } from '../../shared/errors.ts';
import { isOwnToken } from '../members/own-token.ts';
import type { TokenKind } from './mail.ts';

type Spent = Exclude<TokenKind, 'invitation'>;

/** Returns the id of the token's user, or null if the token cannot be used now. */
export async function findMailToken(
  em: EntityManager,
  sealer: Sealer,
  kind: Spent,
  token: string,
): Promise<string | null> {
  const [found] = await em.execute<{ user_id: string }[]>(
    `select user_id from mails where token_hash = ? and kind = ? and token_used_at is null
       and token_expires_at > clock_timestamp()`,
    [sha256(token), kind],
  );
  return found && (await isOwnToken(sealer, kind, found.user_id, token)) ? found.user_id : null;
}

/**
 * Uses a token, once, and revokes the user's other tokens of its kind. The caller has found it with `findMailToken` and
 * locked the user's row. Throws REQUEST_INVALID for a token that is unknown, expired or already used.
 */
export async function spendMailToken(tx: EntityManager, kind: Spent, token: string): Promise<void> {
  const spent = await tx.execute<{ user_id: string }[]>(
    `update mails set token_used_at = clock_timestamp() where token_hash = ? and kind = ? and token_used_at is null
       and token_expires_at > clock_timestamp() returning user_id`,
    [sha256(token), kind],
  );
  const userId = spent[0]?.user_id ?? refuseMailToken();
  await tx.execute(
    'update mails set token_used_at = clock_timestamp() where user_id = ? and kind = ? and token_used_at is null',
    [userId, kind],
  );
}

export function refuseMailToken(): never {
  refuse('REQUEST_INVALID', 'is unknown, expired or already used', { field: 'token' });
}
