import type { Context, Next } from 'koa';
import type { Logger } from 'pino';

/**
 * Logs one line for each request: its route and path, never its query or body; the caller, by id; the error code as in
 * the envelope (of either API); and whether the response was replayed for its idempotency key.
 */
export function logRequests(log: Logger) {
  return async (ctx: Context, next: Next): Promise<void> => {
    const startedAt = performance.now();
    try {
      await next();
    } finally {
      const { method, path, status, state } = ctx;
      const { requestId: request_id, partnerId: partner_id, errorCode: error } = state;
      const user_id = state.caller?.userId;
      const caller = partner_id ? 'partner' : (state.caller?.userType ?? 'nobody');
      const replayed = ctx.response.get('Idempotency-Replayed') === 'true' || undefined;
      const milliseconds = Math.round(performance.now() - startedAt);
      const asked = { request_id, method, path, route: ctx._matchedRoute, caller, user_id, partner_id };
      log.info({ ...asked, status, error, replayed, milliseconds }, 'request');
    }
  };
}
