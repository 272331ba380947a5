import { z } from 'zod';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { open, signedIn } from '../../platform/http/access.ts';
import { email, password, text } from '../../platform/http/fields.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { askForConfirmation, confirmAddress } from './confirm-address.ts';
import { askForPassword, type EndOrders, resetPassword } from './recover-password.ts';

interface Ports {
  sealer: Sealer;
  endOrders: EndOrders;
}

const routes = createRouteGroup<Ports>({
  prefix: '/v1/auth',
  tag: 'Authentication',
  description: 'Logging in and out.',
});

const token = text(200).meta({ description: 'From the link in the e-mail; works once, for 60 minutes.' });
const Told = z.object({ message: z.string() });

routes.post(
  '/email/confirm',
  {
    summary: 'Confirm your e-mail address with the token from the sign-up e-mail',
    description:
      'Without confirmation the account works but gets no receipts or reminders. Accepting an invitation or resetting the ' +
      'password also confirms it. The link in the e-mail opens a page whose button calls this endpoint.',
    access: open('the token authenticates'),
    body: z.strictObject({ token }),
    answers: { 200: Told },
  },
  async ({ body, em, deps, requestId }) => {
    await confirmAddress(em, deps.sealer, { ...body, requestId });
    return { message: 'Address confirmed' };
  },
);

routes.post(
  '/email/confirmations',
  {
    summary: 'Request another e-mail to confirm your e-mail address',
    description: 'For use when the first one has expired or an e-mail to the address bounced (`email_bounced_at`).',
    access: signedIn({ scope: 'own user' }),
    body: z.strictObject({}),
    answers: { 200: Told },
    refusals: [429],
  },
  async ({ em, deps, caller }) => {
    await askForConfirmation(em, deps.sealer, caller);
    return { message: 'An e-mail is on its way' };
  },
);

routes.post(
  '/password/forgot',
  {
    summary: 'Request an e-mail to reset a forgotten password',
    description: 'The response, and its timing, are the same whether or not the address has an account.',
    access: open(),
    body: z.strictObject({ email: email() }),
    answers: { 200: Told },
  },
  async ({ body, em, deps, requestId }) => {
    await askForPassword(em, deps.sealer, { ...body, requestId });
    return { message: 'If there is an account with this address, an e-mail is on its way' };
  },
);

routes.post(
  '/password/reset',
  {
    summary: 'Set a new password with the token from an e-mail',
    description:
      'Ends all sessions and confirms the address. If it was not confirmed, somebody else may have signed up: bank ' +
      'accounts, subscriptions and standing orders are removed, and so is a second factor, unless e-mail to the ' +
      'address bounced.',
    access: open('the token is the proof'),
    body: z.strictObject({ token, password: password() }),
    answers: { 200: Told },
  },
  async ({ body, em, deps, ctx, requestId }) => {
    await resetPassword(em, deps, { ...body, address: ctx.ip, requestId });
    return { message: 'Password set; log in with it' };
  },
);

export const recoveryRoutes = routes;
