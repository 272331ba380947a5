import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';

const tracer = trace.getTracer('amanah/gateway');

/** `fetch` with a span per provider call: method, path without ids and status, but no bodies. */
export const tracedFetch: typeof fetch = (input, init) => {
  const { pathname } = new URL(input instanceof Request ? input.url : input);
  const path = pathname.replace(/\/[\w-]*\d[\w-]{7,}/g, '/:id');
  const method = init?.method ?? 'GET';
  return tracer.startActiveSpan(`provider ${method} ${path}`, { kind: SpanKind.CLIENT }, async (span) => {
    try {
      const answer = await fetch(input, init);
      span.setAttribute('http.response.status_code', answer.status);
      return answer;
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
};
