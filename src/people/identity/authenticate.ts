import type { Context } from 'koa';
import type { Origins } from '../../platform/http/security.ts';
import type { Caller } from '../../shared/caller.ts';
import { refuse } from '../../shared/errors.ts';
import type { FindCaller } from './find-caller.ts';
import type { Tokens } from './tokens.ts';

/** The cookie that carries an access token for browsers. */
export const accessCookie = 'access_token';

export interface PresentedToken {
  token: string;
  by: 'bearer' | 'cookie';
}

/** Returns the token from `Authorization`, otherwise from the cookie, or null. */
export function presentedToken(ctx: Context): PresentedToken | null {
  const header = ctx.get('authorization');
  if (header !== '') {
    const [, token] = /^Bearer +([\w.~+/=-]+) *$/i.exec(header) ?? [];
    return { token: token ?? '', by: 'bearer' };
  }
  const cookie = ctx.cookies.get(accessCookie);
  return cookie ? { token: cookie, by: 'cookie' } : null;
}

/**
 * Returns the caller. Verifies the token without the database; one look-up, batched with those of other requests, reads
 * everything else (user and organization status, role, permissions, revocation). Throws 401, and 403 for a
 * cookie-authenticated write from a foreign origin (docs/contract.md 1).
 */
export async function authenticate(
  { ctx }: { ctx: Context },
  { tokens, findCaller, origins }: { tokens: Tokens; findCaller: FindCaller; origins: Origins },
): Promise<Caller> {
  const presented = presentedToken(ctx);
  if (!presented) refuse('UNAUTHENTICATED', 'A token is required');
  const caller = await findCaller(await tokens.verify(presented.token));
  if (!caller) refuse('UNAUTHENTICATED', 'The token is not valid');
  const changes = !['GET', 'HEAD', 'OPTIONS'].includes(ctx.method);
  if (presented.by === 'cookie' && changes && !origins.has(ctx.get('origin'))) {
    refuse('FORBIDDEN', 'Cookie-authenticated writes must come from this origin');
  }
  return caller;
}
