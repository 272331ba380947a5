import type { MikroORM } from '@mikro-orm/postgresql';
import { z } from 'zod';
import { readCallbackBody } from '../../platform/callbacks/read-callback-body.ts';
import { storeCallback } from '../../platform/callbacks/store-callback.ts';
import type { Sealer } from '../../platform/encryption/sealer.ts';
import { open } from '../../platform/http/access.ts';
import { createRouteGroup } from '../../platform/http/route-group.ts';
import type { Logger } from '../../platform/process/log.ts';
import { refuse } from '../../shared/errors.ts';
import type { CallbackPorts } from './deliver-callback.ts';
import { deliverCallback } from './deliver-callback.ts';

interface Ports extends CallbackPorts {
  orm: MikroORM;
  sealer: Sealer;
  log: Logger;
}

const routes = createRouteGroup<Ports>({
  prefix: '/v1/gateway/callbacks',
  tag: 'Gateway callbacks',
  description:
    'Receives the payment provider’s callbacks. A callback is only a hint, which is verified with the provider.',
});

routes.post(
  '/:provider',
  {
    summary: 'Receive a callback from the provider',
    description:
      'With the right token, every body is stored (once per `webhook-id` and content), answered with 200, and then ' +
      'delivered. An unreadable body is stored for operators and not delivered.',
    access: open('the header x-callback-token'),
    params: z.object({ provider: z.string().meta({ description: 'The name of the provider: `xendit`.' }) }),
    upload: {
      contentType: 'application/json',
      schema: z.unknown().meta({ description: 'An event of the provider: `event`, and `data` with its ids.' }),
      optional: true,
    },
    answers: { 200: z.object({ message: z.string() }) },
    refusals: [401],
  },
  async ({ em, deps, ctx, params: { provider } }) => {
    const { gateways, sealer, log } = deps;
    const token = ctx.get('x-callback-token');
    const gateway = gateways.names.includes(provider) ? gateways.of(provider) : null;
    if (!gateway?.isCallbackToken(token === '' ? undefined : token)) {
      refuse('UNAUTHENTICATED', 'wrong or missing', { field: 'x-callback-token' });
    }
    const body = await readCallbackBody(ctx.req);
    const reading = body.isWhole ? gateway.readCallback(body.bytes) : { hint: null, unread: 'the body is too large' };
    const webhookId = ctx.get('webhook-id') || undefined;
    const stored = await storeCallback(em, sealer, { provider, webhookId, body, reading });
    if (stored === null) return { message: 'Callback stored' };
    const { id, hasOtherBody } = stored;
    if (hasOtherBody) log.warn({ callback: id }, 'an earlier callback with the same id had a different body');
    if (reading.hint === null) {
      log.warn({ callback: id, unread: reading.unread }, 'stored an unreadable callback');
    } else {
      // Answer once it is stored. If delivery fails, a sweep retries it.
      deliverCallback(deps.orm.em.fork(), deps, id).catch((error: unknown) =>
        log.warn({ err: error, callback: id }, 'could not deliver a callback; it stays stored until delivery succeeds'),
      );
    }
    return { message: 'Callback stored' };
  },
);

export const callbacksRoutes = routes;
