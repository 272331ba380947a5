import { z } from 'zod';
import { readCallbackBody } from '../../platform/callbacks/read-callback-body.ts';
import type { Config } from '../../platform/config/config.ts';
import { open } from '../../platform/http/access.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import { equalSecrets } from '../../shared/digest.ts';
import { refuse } from '../../shared/errors.ts';
import { readBounce, recordBounce } from './bounce.ts';

interface Ports {
  config: Pick<Config, 'MAIL_BOUNCES_TOKEN'>;
}

const routes = createRouteGroup<Ports>({
  prefix: '/v1/mail',
  tag: 'Mail',
  description: 'Receives delivery failure reports from mail servers.',
});

routes.post(
  '/bounces',
  {
    summary: 'Receive a delivery report',
    description:
      'The report that a mail server sends to `MAIL_FROM` (RFC 3464), unchanged. If it says that the address does not ' +
      'exist, e-mails to it stop until its owner confirms it again. Any other message returns 200 and is ignored.',
    access: open('the header x-callback-token'),
    upload: {
      contentType: 'message/rfc822',
      schema: z.string().meta({ description: 'The whole message, with its headers.' }),
    },
    answers: { 200: z.object({ message: z.string() }) },
    refusals: [401],
  },
  async ({ em, deps, ctx, requestId }) => {
    const { MAIL_BOUNCES_TOKEN: token } = deps.config;
    if (token === undefined || !equalSecrets(ctx.get('x-callback-token'), token)) {
      refuse('UNAUTHENTICATED', 'wrong or missing', { field: 'x-callback-token' });
    }
    const bounce = readBounce((await readCallbackBody(ctx.req)).bytes);
    for (const id of bounce?.mailIds ?? []) {
      if (await recordBounce(em, id, bounce?.status ?? '', requestId))
        return { message: 'E-mails to this address stopped' };
    }
    return { message: 'Nothing to stop' };
  },
);

export const bouncesRoutes = routes;
