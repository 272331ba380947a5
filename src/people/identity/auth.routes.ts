import type { Context } from 'koa';
import { z } from 'zod';
import type { Config } from '../../platform/config/config.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { open, signedIn } from '../../platform/http/access.ts';
import { created } from '../../platform/http/answer.ts';
import { email, password, text, verbatimText } from '../../platform/http/fields.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { must } from '../../shared/assert.ts';
import { passwordMaximumCharacters } from '../../shared/user.ts';
import { User } from '../members/user.entity.ts';
import { acceptInvitation } from './accept-invitation.ts';
import { accessCookie, presentedToken } from './authenticate.ts';
import { changePassword } from './change-password.ts';
import { type LoggedIn, logIn } from './log-in.ts';
import { logOut, logOutEverywhere } from './log-out.ts';
import { presentUser, UserAnswer } from './present-user.ts';
import { signUp } from './sign-up.ts';
import type { Tokens } from './tokens.ts';
import { updateMe } from './update-me.ts';

/** What these routes work with. */
interface Ports {
  config: Pick<Config, 'NODE_ENV' | 'RATE_LIMIT_SIGNUPS_PER_HOUR'>;
  sealer: Sealer;
  tokens: Tokens;
}

const routes = createRouteGroup<Ports>({
  prefix: '/v1/auth',
  tag: 'Authentication',
  description: 'Logging in and out.',
});

function setAccessCookie(ctx: Context, environment: string, token: string, maxAgeSeconds: number): void {
  const secure = environment !== 'development';
  // TLS ends at the proxy in front; without this, Koa refuses a secure cookie on its plain connection.
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

/** Signs a token for an authenticated user, and sets the cookie. */
async function giveToken(ctx: Context, { tokens, config }: Ports, { user, ...proof }: LoggedIn) {
  const { token, expiresInSeconds } = await tokens.sign({
    userId: user.id,
    userType: user.user_type,
    organizationId: user.organization_id ?? null,
    ...proof,
  });
  setAccessCookie(ctx, config.NODE_ENV, token, expiresInSeconds);
  return { access_token: token, token_type: 'Bearer' as const, expires_in: expiresInSeconds };
}

const knownPassword = z.string().min(1).max(passwordMaximumCharacters).meta({ format: 'password' });
const code = text(40).meta({ description: 'From the authenticator app, or a recovery code; each works once.' });
const LogIn = z.strictObject({ email: text(254), password: knownPassword, totp_code: code.nullish() });
const Token = z.object({ access_token: z.string(), token_type: z.literal('Bearer'), expires_in: z.int() });

routes.post(
  '/login',
  {
    summary: 'Log in with e-mail address and password',
    description:
      'With a second factor `totp_code` is needed, asked for after the right password (401 `totp_code: is required`). ' +
      'After 10 failures of one account from one address, or 100 of one address, within 15 minutes: 429 with ' +
      'Retry-After; those of the address do not hold back whom it has let in within 30 days.',
    access: open(),
    body: LogIn,
    answers: {
      200: z.object({
        message: z.string(),
        data: Token.extend({ user: UserAnswer }),
      }),
    },
    refusals: [401, 429],
  },
  async ({ body, em, deps, ctx, requestId }) => {
    const { email, password, totp_code } = body;
    const totpCode = totp_code ?? undefined;
    const loggedIn = await logIn(em, deps.sealer, { email, password, totpCode, address: ctx.ip, requestId });
    // First, because it may fail: no session begins with a 503.
    const user = await presentUser(deps.sealer, loggedIn.user);
    const data = { ...(await giveToken(ctx, deps, loggedIn)), user };
    return { message: 'Logged in', data };
  },
);

routes.post(
  '/logout',
  {
    summary: 'Log out: clears the cookie and revokes the token',
    access: signedIn({ scope: 'own token', whenReadOnly: true }),
    answers: { 200: z.object({ message: z.string() }) },
  },
  async ({ em, deps, ctx, caller, requestId }) => {
    const { token } = must(presentedToken(ctx), 'a signed-in request has a token');
    const { tokenId, expiresAt } = await deps.tokens.verify(token);
    await logOut(em, { userId: caller.userId, requestId, tokenId, expiresAt });
    setAccessCookie(ctx, deps.config.NODE_ENV, '', 0);
    return { message: 'Logged out' };
  },
);

routes.post(
  '/logout-all',
  {
    summary: 'Log out everywhere: clears the cookie and ends every token of the user',
    access: signedIn({ scope: 'own user', whenReadOnly: true }),
    answers: { 200: z.object({ message: z.string() }) },
  },
  async ({ em, deps, ctx, caller, requestId }) => {
    await logOutEverywhere(em, { userId: caller.userId, requestId });
    setAccessCookie(ctx, deps.config.NODE_ENV, '', 0);
    return { message: 'Logged out everywhere' };
  },
);

routes.put(
  '/password',
  {
    summary: 'Change your password',
    description:
      'Every earlier token ends; the answer carries a new one. A wrong `current_password` is a 400 and counts as a ' +
      'failed login.',
    access: signedIn({ scope: 'own user' }),
    body: z.strictObject({ current_password: knownPassword, new_password: password() }),
    answers: { 200: z.object({ message: z.string(), data: Token }) },
    refusals: [429],
  },
  async ({ body, em, deps, ctx, caller, requestId }) => {
    const { user, secondFactor } = await changePassword(em, deps.sealer, {
      caller,
      requestId,
      address: ctx.ip,
      currentPassword: body.current_password,
      newPassword: body.new_password,
    });
    const { token_generation: generation } = user;
    const data = await giveToken(ctx, deps, { user, generation, secondFactor });
    return { message: 'Password changed', data };
  },
);

routes.get(
  '/me',
  {
    summary: 'Read your own user and its permissions',
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
  async ({ em, deps, caller }) => {
    const user = await em.findOneOrFail(User, caller.userId);
    const { roleId, roleName, permissions } = caller;
    const role = roleId && roleName ? { id: roleId, name: roleName } : null;
    return {
      message: 'Found',
      data: { ...(await presentUser(deps.sealer, user)), role, permissions: [...permissions].sort() },
    };
  },
);

routes.patch(
  '/me',
  {
    summary: 'Change your own details',
    access: signedIn({ scope: 'own user' }),
    body: z.strictObject({
      name: text(200).optional(),
      profile_picture: verbatimText(500).nullable().optional().meta({ description: 'A plain string; null clears it.' }),
    }),
    answers: { 200: z.object({ message: z.string(), data: UserAnswer }) },
  },
  async ({ body, em, deps, caller, requestId }) => {
    const user = await updateMe(em, deps.sealer, { caller, requestId, changes: body });
    return { message: 'User updated', data: await presentUser(deps.sealer, user) };
  },
);

routes.post(
  '/signup',
  {
    summary: 'Sign up as an individual',
    description:
      'The user gets the default role `individual_user` and one IDR account. Beyond the limit of sign-ups from one ' +
      'network address, where one is configured: 429.',
    access: open(),
    body: z.strictObject({ name: text(200), email: email(), password: password() }),
    answers: { 201: z.object({ message: z.string(), data: UserAnswer }) },
    refusals: [429],
  },
  async ({ body, em, deps, ctx, requestId }) => {
    const origin = { address: ctx.ip, perHour: deps.config.RATE_LIMIT_SIGNUPS_PER_HOUR };
    const user = await signUp(em, deps.sealer, { ...body, origin, requestId });
    return created({ message: 'Signed up', data: await presentUser(deps.sealer, user) });
  },
);

routes.post(
  '/invitations/accept',
  {
    summary: 'Accept an invitation by its one-time token',
    access: open('the token is the proof'),
    body: z.strictObject({ token: text(200), password: password() }),
    answers: { 200: z.object({ message: z.string(), data: UserAnswer }) },
  },
  async ({ body, em, deps, ctx, requestId }) => {
    const user = await acceptInvitation(em, deps.sealer, { ...body, address: ctx.ip, requestId });
    return { message: 'Invitation accepted', data: await presentUser(deps.sealer, user) };
  },
);

export const authRoutes = routes;
