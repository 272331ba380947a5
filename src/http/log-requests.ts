import type { Context, Next } from 'koa';
import type { Logger } from 'pino';

/** One line for each request: its route and path, never its query or body. */
export function logRequests(log: Logger) {
  return async (ctx: Context, next: Next): Promise<void> => {
    const startedAt = performance.now();
    try {
      await next();
    } finally {
      const { method, path, status, state } = ctx;
      const facts = { request_id: state.requestId, method, path, route: ctx._matchedRoute, status };
      const milliseconds = Math.round(performance.now() - startedAt);
      log.info({ ...facts, user_id: state.caller?.userId, milliseconds }, 'request');
    }
  };
}
