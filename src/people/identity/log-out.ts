import type { EntityManager } from '@mikro-orm/postgresql';
import { recordAction } from '../../platform/events/record-event.ts';
import { forgetRows } from '../../platform/housekeeping/forget-rows.ts';
import { endTokens, lockUserRow } from './end-tokens.ts';
import { endSessionOf } from './refresh-tokens.ts';

/** Revokes a token by its id until it expires; deletes revocations a day after that. */
async function revokeToken(em: EntityManager, tokenId: string, expiresAt: Date): Promise<void> {
  await em.execute('insert into revoked_tokens (id, expires_at) values (?, ?) on conflict do nothing', [
    tokenId,
    expiresAt,
  ]);
  await forgetRows(em, 'revoked_tokens', '1 day', 100);
}

interface LogOutInput {
  userId: string;
  requestId: string;
}

/** Revokes this token, which expires at `expiresAt`, and ends its session. */
export async function logOut(
  em: EntityManager,
  { userId, requestId, tokenId, expiresAt }: LogOutInput & { tokenId: string; expiresAt: Date },
): Promise<void> {
  await em.transactional(async (tx) => {
    await endSessionOf(tx, tokenId);
    await revokeToken(tx, tokenId, expiresAt);
    await recordLogOut(tx, { userId, requestId }, false);
  });
}

/** Revokes every token of the user. */
export async function logOutEverywhere(em: EntityManager, input: LogOutInput): Promise<void> {
  await em.transactional(async (tx) => {
    await endTokens(tx, await lockUserRow(tx, input.userId));
    await tx.flush();
    await recordLogOut(tx, input, true);
  });
}

function recordLogOut(tx: EntityManager, { userId, requestId }: LogOutInput, everywhere: boolean): Promise<void> {
  return recordAction(tx, { actorId: userId, requestId }, ['USER_LOGGED_OUT', 'LOW'], ['user', userId], { everywhere });
}
