import { type VerifiedWebhook, verifyWebhook, WebhookError } from '../index.ts';

/**
 * Handles a webhook once: store its id in the transaction that fulfils the order, and do nothing for an id you have.
 */
export type Take = (verified: VerifiedWebhook) => Promise<void>;

/**
 * Webhooks in Next.js: a route handler of the app router, as in `export const POST =
 * webhooks(process.env.WEBHOOK_SECRET ?? '', take)` in `app/webhooks/route.ts`. It needs only the web platform's
 * `Request`, so it also works in Remix, SvelteKit, Hono and Deno. If `take` throws, the answer is 500, and the webhook
 * is sent again.
 */
export function webhooks(secret: string, take: Take) {
  return async (request: Request): Promise<Response> => {
    try {
      const body = new Uint8Array(await request.arrayBuffer());
      await take(await verifyWebhook(secret, request.headers, body));
      return new Response(null, { status: 204 });
    } catch (error) {
      return new Response(null, { status: error instanceof WebhookError ? 401 : 500 });
    }
  };
}
