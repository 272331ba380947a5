import type { Context } from 'koa';
import { z } from 'zod';
import { open, signedIn } from '../http/access.ts';
import { created } from '../http/answer.ts';
import { email, password, text } from '../http/fields.ts';
import { createRoom } from '../http/room.ts';
import { must } from '../shared/assert.ts';
import { acceptInvitation } from './accept-invitation.ts';
import { accessCookie, presentedToken } from './authenticate.ts';
import { logIn } from './log-in.ts';
import { presentUser, UserAnswer } from './present-user.ts';
import { revokeToken } from './revoke-token.ts';
import { signUp } from './sign-up.ts';
import { User } from './user.entity.ts';
import { passwordMaximumCharacters } from './user.ts';

const room = createRoom({ prefix: '/v1/auth', tag: 'Authentication', description: 'Logging in and out.' });

function setAccessCookie(ctx: Context, environment: string, token: string, maxAgeSeconds: number): void {
  const secure = environment !== 'development';
  // The proxy in front ends TLS; the cookie is for its connection, not for ours.
  ctx.cookies.secure = secure;
  ctx.cookies.set(accessCookie, token, {
    httpOnly: true,
    sameSite: 'lax',
    secure,
    path: '/',
    overwrite: true,
    maxAge: maxAgeSeconds * 1000,
  });
}

const LogIn = z.strictObject({ email: text(254), password: z.string().min(1).max(passwordMaximumCharacters) });

room.post(
  '/login',
  {
    summary: 'Log in by e-mail address and password',
    description:
      'After 10 failures of one account from one address, or 100 of one address, within 15 minutes: 429 with Retry-After.',
    access: open(),
    body: LogIn,
    answers: {
      200: z.object({
        message: z.string(),
        data: z.object({
          access_token: z.string(),
          token_type: z.literal('Bearer'),
          expires_in: z.int(),
          user: UserAnswer,
        }),
      }),
    },
    refusals: [401, 429],
  },
  async ({ body, em, deps, ctx }) => {
    const user = await logIn(em, { ...body, address: ctx.ip });
    const { token, expiresInSeconds } = await deps.tokens.sign({
      userId: user.id,
      userType: user.user_type,
      organizationId: user.organization_id ?? null,
    });
    setAccessCookie(ctx, deps.config.NODE_ENV, token, expiresInSeconds);
    return {
      message: 'Logged in',
      data: { access_token: token, token_type: 'Bearer', expires_in: expiresInSeconds, user: presentUser(user) },
    };
  },
);

room.post(
  '/logout',
  {
    summary: 'Log out: clears the cookie and revokes the token',
    access: signedIn({ scope: 'own token', whenReadOnly: true }),
    answers: { 200: z.object({ message: z.string() }) },
  },
  async ({ em, deps, ctx }) => {
    const { token } = must(presentedToken(ctx), 'a signed-in request has a token');
    const { tokenId, expiresAt } = await deps.tokens.verify(token);
    await revokeToken(em, tokenId, expiresAt);
    setAccessCookie(ctx, deps.config.NODE_ENV, '', 0);
    return { message: 'Logged out' };
  },
);

room.get(
  '/me',
  {
    summary: 'Who I am and what I may do',
    access: signedIn({ scope: 'own user' }),
    answers: {
      200: z.object({
        message: z.string(),
        data: UserAnswer.extend({
          role: z.object({ id: z.guid(), name: z.string() }).nullable(),
          permissions: z.array(z.string()),
        }),
      }),
    },
  },
  async ({ em, caller }) => {
    const user = await em.findOneOrFail(User, caller.userId);
    const { roleId, roleName, permissions } = caller;
    const role = roleId && roleName ? { id: roleId, name: roleName } : null;
    return { message: 'Found', data: { ...presentUser(user), role, permissions: [...permissions].sort() } };
  },
);

room.post(
  '/signup',
  {
    summary: 'Sign up as an individual',
    description: 'The user gets the default role `individual_user` and one IDR account.',
    access: open(),
    body: z.strictObject({ name: text(200), email: email(), password: password() }),
    answers: { 201: z.object({ message: z.string(), data: UserAnswer }) },
  },
  async ({ body, em, requestId }) => {
    const user = await signUp(em, { ...body, requestId });
    return created({ message: 'Signed up', data: presentUser(user) });
  },
);

room.post(
  '/invitations/accept',
  {
    summary: 'Accept an invitation by its one-time token',
    access: open('the token is the proof'),
    body: z.strictObject({ token: text(200), password: password() }),
    answers: { 200: z.object({ message: z.string(), data: UserAnswer }) },
  },
  async ({ body, em, requestId }) => {
    const user = await acceptInvitation(em, { ...body, requestId });
    return { message: 'Invitation accepted', data: presentUser(user) };
  },
);

export const authRoom = room;
