import express from 'express';
import { type VerifiedWebhook, verifyWebhook, WebhookError } from '../index.ts';

/**
 * Handles a webhook once: store its id in the transaction that fulfils the order, and do nothing for an id you have.
 */
export type Take = (verified: VerifiedWebhook) => Promise<void>;

/**
 * Webhooks in Express. The body must be the bytes as received, so this route has `express.raw` and no JSON parser
 * before it. If `take` throws, the answer is 500, and the webhook is sent again.
 */
export function webhooks(secret: string, take: Take) {
  const app = express();
  app.post('/webhooks', express.raw({ type: 'application/json' }), async (request, response) => {
    const body: unknown = request.body;
    try {
      await take(await verifyWebhook(secret, request.headers, body as Buffer));
      response.sendStatus(204);
    } catch (error) {
      response.sendStatus(error instanceof WebhookError ? 401 : 500);
    }
  });
  return app;
}
