import { z } from 'zod';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { signedIn } from '../../platform/http/access.ts';
import { created } from '../../platform/http/answer.ts';
import { text } from '../../platform/http/fields.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { beginTotp, confirmTotp } from './begin-totp.ts';
import { removeTotp } from './remove-totp.ts';

interface Ports {
  sealer: Sealer;
}

const routes = createRouteGroup<Ports>({
  prefix: '/v1/auth/totp',
  tag: 'Authentication',
  description: 'A second factor: one-time codes from an authenticator app (SHA-1, six digits, 30 seconds).',
});

/** The issuer's name, as authenticator apps show it. */
const issuer = 'Amanah';
const message = z.string();
const ownUser = signedIn({ scope: 'own user' });
const wrongCodes = 'A wrong code gets 400 and counts as a failed login.';

routes.post(
  '/',
  {
    summary: 'Set up a second factor',
    description:
      'Returns the secret for the app, once. Nothing changes until it is confirmed; 400 if there is already a second factor.',
    access: ownUser,
    answers: { 201: z.object({ message, data: z.object({ secret: z.string(), otpauth_url: z.string() }) }) },
  },
  async ({ em, deps, caller, requestId }) => {
    const { secret, otpauthUrl } = await beginTotp(em, deps.sealer, { caller, issuer, requestId });
    return created({ message: 'Second factor started', data: { secret, otpauth_url: otpauthUrl } });
  },
);

routes.post(
  '/confirm',
  {
    summary: 'Confirm the second factor with a code from the app',
    description: `From now on logging in requires a code. Returns ten recovery codes, once; each works once. ${wrongCodes}`,
    access: ownUser,
    body: z.strictObject({ code: text(40) }),
    answers: { 200: z.object({ message, data: z.object({ recovery_codes: z.array(z.string()) }) }) },
    refusals: [429],
  },
  async ({ body, em, deps, ctx, caller, requestId }) => {
    const input = { caller, code: body.code, address: ctx.ip, requestId };
    const codes = await confirmTotp(em, deps.sealer, input);
    return { message: 'Second factor confirmed', data: { recovery_codes: codes } };
  },
);

routes.delete(
  '/',
  {
    summary: 'Remove the second factor',
    description: `Accepts a code from the app or a recovery code; also removes the recovery codes. ${wrongCodes}`,
    access: ownUser,
    body: z.strictObject({ code: text(40) }),
    answers: { 200: z.object({ message }) },
    refusals: [429],
  },
  async ({ body, em, deps, ctx, caller, requestId }) => {
    await removeTotp(em, deps.sealer, { caller, code: body.code, address: ctx.ip, requestId });
    return { message: 'Second factor removed' };
  },
);

export const totpRoutes = routes;
