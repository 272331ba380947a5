import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Context, Next } from 'koa';

const tracer = trace.getTracer('amanah/http');

/** The methods of OpenTelemetry's conventions; any other is `_OTHER`, so that callers cannot make names without end. */
const methods = new Set(['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE']);

/**
 * Creates one span per request, named by its route instead of its path, which may contain tokens. Joins the trace of a
 * caller that sends `traceparent`. Attributes are those of OpenTelemetry's conventions for HTTP servers.
 */
export async function traceRequests(ctx: Context, next: Next): Promise<void> {
  const parent = propagation.extract(context.active(), ctx.headers);
  const method = methods.has(ctx.method) ? ctx.method : 'HTTP';
  await tracer.startActiveSpan(method, { kind: SpanKind.SERVER }, parent, async (span) => {
    try {
      await next();
    } finally {
      const route = typeof ctx._matchedRoute === 'string' ? ctx._matchedRoute : undefined;
      if (route !== undefined) span.updateName(`${method} ${route}`);
      if (span.isRecording()) {
        span.setAttributes({
          'http.request.method': method === 'HTTP' ? '_OTHER' : method,
          'url.scheme': ctx.protocol,
          'url.path': route ?? '/',
          ...(route !== undefined && { 'http.route': route }),
          'server.address': ctx.hostname,
          'server.port': Number(ctx.URL.port) || (ctx.secure ? 443 : 80),
          'http.response.status_code': ctx.status,
        });
      }
      if (ctx.status >= 500) {
        span.setAttribute('error.type', String(ctx.status));
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    }
  });
}
