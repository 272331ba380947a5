import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Context, Next } from 'koa';

const tracer = trace.getTracer('amanah/http');

/** One span per request, named by its route, never its path; joins the trace of a caller that sends `traceparent`. */
export async function traceRequests(ctx: Context, next: Next): Promise<void> {
  const parent = propagation.extract(context.active(), ctx.headers);
  await tracer.startActiveSpan(ctx.method, { kind: SpanKind.SERVER }, parent, async (span) => {
    try {
      await next();
    } finally {
      const route = typeof ctx._matchedRoute === 'string' ? ctx._matchedRoute : 'none';
      span.updateName(`${ctx.method} ${route}`);
      span.setAttributes({ 'http.route': route, 'http.response.status_code': ctx.status });
      if (ctx.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    }
  });
}
