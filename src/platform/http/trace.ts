import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Context, Next } from 'koa';

const tracer = trace.getTracer('amanah/http');

/**
 * Creates one span per request, named by its route instead of its path, which may contain tokens. Joins the trace of a
 * caller that sends `traceparent`. Attributes are those of OpenTelemetry's conventions for HTTP servers.
 */
export async function traceRequests(ctx: Context, next: Next): Promise<void> {
  const parent = propagation.extract(context.active(), ctx.headers);
  await tracer.startActiveSpan(ctx.method, { kind: SpanKind.SERVER }, parent, async (span) => {
    try {
      await next();
    } finally {
      const route = typeof ctx._matchedRoute === 'string' ? ctx._matchedRoute : undefined;
      if (route !== undefined) span.updateName(`${ctx.method} ${route}`);
      span.setAttributes({
        'http.request.method': ctx.method,
        'url.scheme': ctx.protocol,
        'url.path': route ?? '/',
        ...(route !== undefined && { 'http.route': route }),
        'server.address': ctx.hostname,
        'http.response.status_code': ctx.status,
      });
      if (ctx.status >= 500) {
        span.setAttribute('error.type', String(ctx.status));
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    }
  });
}
