import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What happens to one request. */
export type Action =
  | { status: number; headers?: Record<string, string>; body?: unknown }
  | 'reset'
  | 'silence'
  /** The API behind the stub gets the request and answers. */
  | 'pass'
  /** The API behind the stub executes the request; its answer is lost. */
  | 'lose answer';

export interface PeerRequest {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  text: string;
}

/**
 * A stub of the API: acts as planned, one action per request, and repeats the last action for all later requests.
 * Forwards to `target`.
 */
export async function openPeer(plan: readonly Action[], target?: string) {
  const requests: PeerRequest[] = [];
  const passed: Response[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const text = Buffer.concat(chunks).toString('utf8');
    const { method = '', url = '', headers } = request;
    const action = plan[Math.min(requests.length, plan.length - 1)];
    requests.push({ method, url, headers, text });
    if (action === 'silence') return;
    if (action === 'pass' || action === 'lose answer') {
      const names = [
        'authorization',
        'x-partner-signature',
        'x-partner-signature-v2',
        'x-idempotency-key',
        'content-type',
      ];
      const given = names.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]]));
      const answer = await fetch(new URL(url, target), {
        method,
        headers: Object.fromEntries(given),
        ...(text !== '' && { body: text }),
      });
      passed.push(answer.clone());
      const body = await answer.text();
      if (action === 'pass') return response.writeHead(answer.status, { 'content-type': 'application/json' }).end(body);
    }
    if (typeof action !== 'object') return request.socket.resetAndDestroy();
    const body = typeof action.body === 'string' ? action.body : JSON.stringify(action.body ?? {});
    response.writeHead(action.status, action.headers).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.close();
    server.closeAllConnections();
  };
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    /** The answers of the API behind the stub, including lost ones. */
    passed,
    /** The keys, signatures and bodies received, each once. */
    distinct: () => [
      ...new Set(
        requests.map(
          ({ headers, text }) => `${headers['x-idempotency-key']} ${headers['x-partner-signature']} ${text}`,
        ),
      ),
    ],
    close,
    [Symbol.asyncDispose]: close,
  };
}
