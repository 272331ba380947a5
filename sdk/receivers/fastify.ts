import fastify from 'fastify';
import { type VerifiedWebhook, verifyWebhook, WebhookError } from '../index.ts';

/**
 * Handles a webhook once: store its id in the transaction that fulfils the order, and do nothing for an id you have.
 */
export type Take = (verified: VerifiedWebhook) => Promise<void>;

/**
 * Webhooks in Fastify. The body must be the bytes as received, so the JSON parser is replaced in its own plugin, which
 * leaves your other routes alone. If `take` throws, the answer is 500, and the webhook is sent again.
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
