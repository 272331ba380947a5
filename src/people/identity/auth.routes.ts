import type { Context } from 'koa';
import { z } from 'zod';
import type { Config } from '../../platform/config/config.ts';
import { open, signedIn } from '../../platform/http/access.ts';
import { created } from '../../platform/http/answer.ts';
import { email, knownPassword, password, text, verbatimText } from '../../platform/http/fields.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { must } from '../../shared/assert.ts';
import { locales } from '../../shared/user.ts';
import { User } from '../members/user.entity.ts';
import { acceptInvitation } from './accept-invitation.ts';
import { accessCookie, presentedToken } from './authenticate.ts';
import { changePassword } from './change-password.ts';
import type { SignUpPorts } from './create-user.ts';
import { logIn } from './log-in.ts';
import { logOut, logOutEverywhere } from './log-out.ts';
import { MeAnswer, presentMe, presentUser, UserAnswer } from './present-user.ts';
import { openSession, refreshSession, type Session, subjectOf } from './refresh-tokens.ts';
import { signUp } from './sign-up.ts';
import type { SignedToken, Tokens } from './tokens.ts';
import { updateMe } from './update-me.ts';

interface Ports extends SignUpPorts {
  config: Pick<Config, 'NODE_ENV' | 'RATE_LIMIT_SIGNUPS_PER_HOUR'>;
  tokens: Tokens;
}

const routes = createRouteGroup<Ports>({
  prefix: '/v1/auth',
  tag: 'Authentication',
  description: 'Logging in and out.',
});

function setAccessCookie(ctx: Context, environment: string, token: string, maxAgeSeconds: number): void {
  const secure = environment !== 'development';
  // The proxy terminates TLS; without this, Koa refuses a secure cookie on its plain connection.
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

/** Returns an access token for the response and sets its cookie. */
function showToken(ctx: Context, { config }: Ports, { token, expiresInSeconds }: SignedToken) {
  setAccessCookie(ctx, config.NODE_ENV, token, expiresInSeconds);
  return { access_token: token, token_type: 'Bearer' as const, expires_in: expiresInSeconds };
}

/** As `showToken`, for a new session with its refresh token. */
const showSession = (ctx: Context, deps: Ports, { access, refreshToken }: Session) => ({
  ...showToken(ctx, deps, access),
  refresh_token: refreshToken,
});

const code = text(40).meta({ description: 'From the authenticator app, or a recovery code; each works once.' });
const LogIn = z.strictObject({ email: text(254), password: knownPassword(), totp_code: code.nullish() });
const AccessToken = z.object({ access_token: z.string(), token_type: z.literal('Bearer'), expires_in: z.int() });
const Token = AccessToken.extend({
  refresh_token: z
    .string()
    .meta({ description: 'Exchanged for a new pair at `/v1/auth/refresh`, once, within 30 days.' }),
});

routes.post(
  '/login',
  {
    summary: 'Log in with e-mail address and password',
    description:
      'With a second factor `totp_code` is required; a missing code is reported only after the right password (401 ' +
      '`totp_code: is required`). After 10 failures of one account from one address, or 100 from one address, within ' +
      '15 minutes: 429 with Retry-After; the latter does not lock out accounts that logged in from that address ' +
      'within 30 days.',
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
    // Do this before opening the session, because it may fail with a 503.
    const user = await presentUser(deps.sealer, loggedIn.user);
    const data = { ...showSession(ctx, deps, await openSession(em.fork(), deps, loggedIn)), user };
    return { message: 'Logged in', data };
  },
);

routes.post(
  '/logout',
  {
    summary: 'Log out: clears the cookie and ends the session with its tokens',
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
      'Revokes every earlier token, refresh tokens too, and returns a new access token. A wrong `current_password` ' +
      'is a 400 and counts as a failed login.',
    access: signedIn({ scope: 'own user', whenReadOnly: true }),
    body: z.strictObject({ current_password: knownPassword(), new_password: password() }),
    answers: { 200: z.object({ message: z.string(), data: AccessToken }) },
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
    const access = await deps.tokens.sign({ ...subjectOf(user), generation, secondFactor });
    const data = showToken(ctx, deps, access);
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
        data: MeAnswer.extend({
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
      data: { ...(await presentMe(deps.sealer, user)), role, permissions: [...permissions].sort() },
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
      locale: z.enum(locales).optional().meta({ description: 'The language of e-mails, `id` by default.' }),
      notices: z
        .strictObject({ receipts: z.boolean().optional(), reminders: z.boolean().optional() })
        .optional()
        .meta({ description: 'Which e-mails are sent. Security notices are always sent.' }),
    }),
    answers: { 200: z.object({ message: z.string(), data: MeAnswer }) },
  },
  async ({ body, em, deps, caller, requestId }) => {
    const user = await updateMe(em, deps.sealer, { caller, requestId, changes: body });
    return { message: 'User updated', data: await presentMe(deps.sealer, user) };
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
    const user = await signUp(em, deps, { ...body, origin, requestId });
    return created({ message: 'Signed up', data: await presentUser(deps.sealer, user) });
  },
);

routes.post(
  '/invitations/accept',
  {
    summary: 'Accept an invitation by its one-time token',
    description: 'Confirms the address that it was sent to, and logs in.',
    access: open('the token authenticates'),
    body: z.strictObject({ token: text(200), password: password() }),
    answers: { 200: z.object({ message: z.string(), data: UserAnswer.extend(Token.shape) }) },
  },
  async ({ body, em, deps, ctx, requestId }) => {
    const user = await acceptInvitation(em, deps, { ...body, address: ctx.ip, requestId });
    const loggedIn = { user, generation: user.token_generation, secondFactor: null };
    const session = showSession(ctx, deps, await openSession(em.fork(), deps, loggedIn));
    return { message: 'Invitation accepted', data: { ...(await presentUser(deps.sealer, user)), ...session } };
  },
);

routes.post(
  '/refresh',
  {
    summary: 'Exchange a refresh token for a new access token',
    description:
      'Each refresh token works once and is replaced by the one returned. Using one a second time ends its session ' +
      'with all its tokens (401).',
    access: open('the refresh token authenticates'),
    body: z.strictObject({ refresh_token: text(200) }),
    answers: { 200: z.object({ message: z.string(), data: Token.extend({ user: UserAnswer }) }) },
    refusals: [401],
  },
  async ({ body, em, deps, ctx, requestId }) => {
    const { user, session } = await refreshSession(em, deps, { refreshToken: body.refresh_token, requestId });
    const shown = await presentUser(deps.sealer, user);
    return { message: 'Refreshed', data: { ...showSession(ctx, deps, session), user: shown } };
  },
);

export const authRoutes = routes;
