import { type VerifiedWebhook, verifyWebhook, WebhookError } from '../index.ts';

/** Does what a webhook asks for, once: keep its id in the transaction that fulfils, and do nothing for one you have. */
export type Take = (verified: VerifiedWebhook) => Promise<void>;

/**
 * Webhooks in Next.js: a route handler of the app router, as in
 * `export const POST = webhooks(process.env.WEBHOOK_SECRET ?? '', take)` in `app/webhooks/route.ts`. It needs nothing but
 * the request of the web platform, and so serves Remix, SvelteKit, Hono or Deno as well. Whatever `take` throws is
 * answered 500, and the webhook comes again.
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
