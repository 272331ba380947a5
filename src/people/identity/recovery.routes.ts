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

const token = text(200).meta({ description: 'From the link in the mail; each works once, for 60 minutes.' });
const Told = z.object({ message: z.string() });

routes.post(
  '/email/confirm',
  {
    summary: 'Confirm your e-mail address by the token of the mail that followed your sign-up',
    description:
      'Until then the account works but receives no receipts or reminders. Accepting an invitation or setting a new ' +
      'password by mail confirms, too. The link in the mail opens a page with a button, which calls this.',
    access: open('the token is the proof'),
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
    summary: 'Ask for another mail by which you confirm your e-mail address',
    description: 'If the first has expired, or mail to the address has bounced (`email_bounced_at`).',
    access: signedIn({ scope: 'own user' }),
    body: z.strictObject({}),
    answers: { 200: Told },
    refusals: [429],
  },
  async ({ em, deps, caller }) => {
    await askForConfirmation(em, deps.sealer, caller);
    return { message: 'A mail is on its way' };
  },
);

routes.post(
  '/password/forgot',
  {
    summary: 'Ask for a mail by which a forgotten password can be replaced',
    description: 'The answer to any e-mail address is the same, and as fast, whether or not it has an account.',
    access: open(),
    body: z.strictObject({ email: email() }),
    answers: { 200: Told },
  },
  async ({ body, em, deps, requestId }) => {
    await askForPassword(em, deps.sealer, { ...body, requestId });
    return { message: 'If there is an account with this address, a mail is on its way' };
  },
);

routes.post(
  '/password/reset',
  {
    summary: 'Set a new password by the token of a mail',
    description:
      'Ends all sessions and confirms the address. A second factor stays as it is, unless the address was never confirmed ' +
      'before: then whoever signed up may be somebody else, and second factor, bank accounts, subscriptions and standing ' +
      'orders are removed.',
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
