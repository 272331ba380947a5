import { z } from 'zod';
import { open } from '../http/access.ts';
import { createRoom } from '../http/room.ts';
import { refuse } from '../shared/errors.ts';
import { deliverCallback } from './deliver-callback.ts';
import { storeCallback } from './store-callback.ts';

const room = createRoom({
  prefix: '/v1/gateway/callbacks',
  tag: 'Gateway callbacks',
  description: 'Where the payment provider tells what happened. A callback is a hint: it is checked with the provider.',
});

room.post(
  '/xendit',
  {
    summary: 'Take a callback of the provider',
    description: 'Stored first (unique by `webhook-id`), answered 200 as soon as it is stored, then delivered.',
    access: open('the header x-callback-token'),
    upload: { contentType: 'application/json', schema: z.looseObject({ event: z.string() }) },
    answers: { 200: z.object({ message: z.string() }) },
    refusals: [400, 401, 413],
  },
  async ({ em, deps, ctx, bytes }) => {
    const token = ctx.get('x-callback-token');
    if (!deps.gateway.isCallbackToken(token === '' ? undefined : token)) {
      refuse('UNAUTHENTICATED', 'x-callback-token: wrong or missing');
    }
    const body = await bytes();
    const hint = deps.gateway.readCallback(parse(body));
    if (hint === null) return { message: 'Nothing here is concerned' };
    const id = await storeCallback(em, deps.sealer, { webhookId: ctx.get('webhook-id') || undefined, body, hint });
    if (id !== null) {
      // Answered as soon as it is stored; what cannot be delivered now is delivered from the store.
      deliverCallback(deps.orm.em.fork(), deps.temporal, id).catch((error: unknown) =>
        deps.log.warn({ err: error, callback: id }, 'a callback waits in the store for its redelivery'),
      );
    }
    return { message: 'Callback stored' };
  },
);

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (cause) {
    refuse('REQUEST_INVALID', 'the body is not JSON', { cause });
  }
}

export const callbacksRoom = room;
