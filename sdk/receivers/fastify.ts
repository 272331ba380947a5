import fastify from 'fastify';
import { type VerifiedWebhook, verifyWebhook, WebhookError } from '../index.ts';

/** Does what a webhook asks for, once: keep its id in the transaction that fulfils, and do nothing for one you have. */
export type Take = (verified: VerifiedWebhook) => Promise<void>;

/**
 * Webhooks in Fastify. The body has to be the bytes as received, so the JSON parser is replaced in a plugin of its own,
 * which leaves your other routes alone. Whatever `take` throws is answered 500, and the webhook comes again.
 */
export function webhooks(secret: string, take: Take) {
  const app = fastify();
  app.register(async (scope) => {
    scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_, body, done) => done(null, body));
    scope.post('/webhooks', async (request, reply) => {
      try {
        await take(await verifyWebhook(secret, request.headers, request.body as Buffer));
        return reply.code(204).send();
      } catch (error) {
        return reply.code(error instanceof WebhookError ? 401 : 500).send();
      }
    });
  });
  return app;
}
