import type { EntityManager } from '@mikro-orm/postgresql';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { recordAction } from '../../platform/events/record-event.ts';
import { sha256 } from '../../shared/digest.ts';
import { refuse } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { recordMail } from '../mail/record-mail.ts';
import { createOwnToken, isOwnToken } from '../members/own-token.ts';
import type { User } from '../members/user.entity.ts';
import { holdUserRow } from './end-tokens.ts';
import type { LoggedIn } from './log-in.ts';
import type { SignedToken, TokenSubject, Tokens } from './tokens.ts';

/** The lifetime of a refresh token, which is replaced at each use. */
const livesDays = 30;

/** An access token and its refresh token. */
export interface Session {
  access: SignedToken;
  refreshToken: string;
}

interface TokenMakers {
  sealer: Sealer;
  tokens: Tokens;
}

interface RefreshRow {
  family_id: string;
  user_id: string;
  token_generation: number;
  second_factor: string | null;
  is_expired: boolean;
  is_used: boolean;
}

/** Returns the user of an access token. */
export const subjectOf = (user: User): TokenSubject => ({
  userId: user.id,
  userType: user.user_type,
  organizationId: user.organization_id ?? null,
});

/** Opens a session of an authenticated user: creates the first access and refresh token of a new family. */
export const openSession = (em: EntityManager, by: TokenMakers, loggedIn: LoggedIn): Promise<Session> =>
  addTokens(em, by, loggedIn, newId());

async function addTokens(
  em: EntityManager,
  { sealer, tokens }: TokenMakers,
  { user, generation, secondFactor }: LoggedIn,
  familyId: string,
): Promise<Session> {
  const access = await tokens.sign({ ...subjectOf(user), generation, secondFactor });
  const refreshToken = await createOwnToken(sealer, 'refresh', user.id);
  await em.execute(
    `insert into refresh_tokens (token_hash, family_id, user_id, token_generation, second_factor, access_token_id,
       access_expires_at, expires_at)
     values (?, ?, ?, ?, ?, ?, clock_timestamp() + make_interval(secs => ?),
       clock_timestamp() + interval '${livesDays} days')`,
    [sha256(refreshToken), familyId, user.id, generation, secondFactor, access.tokenId, access.expiresInSeconds],
  );
  return { access, refreshToken };
}

const find = `select family_id, user_id, token_generation, second_factor, expires_at < clock_timestamp() as is_expired,
    used_at is not null as is_used
  from refresh_tokens where token_hash = ?`;

/**
 * Replaces a refresh token with the next one of its family and a new access token. A token used twice was probably
 * stolen: revokes the family with all its access tokens and notifies the user. Throws UNAUTHENTICATED then, and for a
 * token that is unknown, expired or revoked.
 */
export async function refreshSession(
  em: EntityManager,
  by: TokenMakers,
  { refreshToken, requestId }: { refreshToken: string; requestId: string },
): Promise<{ user: User; session: Session }> {
  const hash = sha256(refreshToken);
  const [known] = await em.execute<RefreshRow[]>(find, [hash]);
  if (known === undefined || known.is_expired) refuseRefresh();
  const { family_id: familyId, user_id: userId } = known;
  if (!(await isOwnToken(by.sealer, 'refresh', userId, refreshToken))) refuseRefresh();
  const refreshed = await em.transactional(async (tx) => {
    // Of two concurrent uses of the family's tokens, the second sees the effect of the first.
    await tx.execute("select pg_advisory_xact_lock(hashtextextended('session/' || ?, 0))", [familyId]);
    const [row] = await tx.execute<RefreshRow[]>(find, [hash]);
    const user = await holdUserRow(tx, userId);
    if (row === undefined || user.status !== 'active' || user.token_generation !== row.token_generation)
      refuseRefresh();
    if (row.is_used) {
      await endFamily(tx, familyId);
      await recordAction(tx, { actorId: null, requestId }, ['SESSION_REUSED', 'HIGH'], ['user', userId]);
      await recordMail(tx, by.sealer, { userId, kind: 'sessions_ended' });
      return null;
    }
    await tx.execute('update refresh_tokens set used_at = clock_timestamp() where token_hash = ?', [hash]);
    const loggedIn = { user, generation: row.token_generation, secondFactor: row.second_factor };
    return { user, session: await addTokens(tx, by, loggedIn, familyId) };
  });
  return refreshed ?? refuseRefresh();
}

/** Ends the session of this access token, if it has a refresh token; in the caller's transaction. */
export async function endSessionOf(tx: EntityManager, accessTokenId: string): Promise<void> {
  const [row] = await tx.execute<{ family_id: string }[]>(
    'select family_id from refresh_tokens where access_token_id = ?',
    [accessTokenId],
  );
  if (row === undefined) return;
  await tx.execute("select pg_advisory_xact_lock(hashtextextended('session/' || ?, 0))", [row.family_id]);
  await endFamily(tx, row.family_id);
}

async function endFamily(tx: EntityManager, familyId: string): Promise<void> {
  await tx.execute(
    `with ended as (delete from refresh_tokens where family_id = ? returning access_token_id, access_expires_at)
     insert into revoked_tokens (id, expires_at)
       select access_token_id, access_expires_at from ended where access_expires_at > clock_timestamp()
     on conflict do nothing`,
    [familyId],
  );
}

function refuseRefresh(): never {
  refuse('UNAUTHENTICATED', 'The refresh token is unknown, expired or already used; log in again');
}
