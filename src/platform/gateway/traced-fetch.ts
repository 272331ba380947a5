import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';

const tracer = trace.getTracer('amanah/gateway');

/**
 * `fetch` with a span per provider call: method, status and path without ids, but no bodies. Attributes are those of
 * OpenTelemetry's conventions for HTTP clients.
 */
export const tracedFetch: typeof fetch = (input, init) => {
  const { origin, hostname, port, protocol, pathname } = new URL(input instanceof Request ? input.url : input);
  const path = pathname.replace(/\/[\w-]*\d[\w-]{7,}/g, '/:id');
  const method = init?.method ?? 'GET';
  const attributes = {
    'http.request.method': method,
    'url.full': `${origin}${path}`,
    'url.template': path,
    'server.address': hostname,
    'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
  };
  return tracer.startActiveSpan(`${method} ${path}`, { kind: SpanKind.CLIENT, attributes }, async (span) => {
    const fail = (type: string) => span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR });
    try {
      const answer = await fetch(input, init);
      span.setAttribute('http.response.status_code', answer.status);
      if (answer.status >= 400) fail(String(answer.status));
      return answer;
    } catch (error) {
      fail(Error.isError(error) ? error.name : '_OTHER');
      throw error;
    } finally {
      span.end();
    }
  });
};
