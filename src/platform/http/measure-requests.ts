import type { Context, Next } from 'koa';
import type { Metrics } from '../metrics/metrics.ts';

/** Measures every request under the pattern of its route, never its path: ids would make the label unbounded. */
export function measureRequests(metrics: Metrics) {
  return async (ctx: Context, next: Next): Promise<void> => {
    const stop = metrics.httpRequestSeconds.startTimer();
    try {
      await next();
    } finally {
      const route = typeof ctx._matchedRoute === 'string' ? ctx._matchedRoute : 'none';
      stop({ method: ctx.method, route, status: ctx.status });
    }
  };
}
