import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SeenRequest {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: unknown;
}

export interface StubAnswer {
  status: number;
  /** Text is sent as is, everything else as JSON. */
  body: unknown;
  headers?: Record<string, string>;
}

/** Starts a provider with scripted answers; `null` never answers. For answers that the sandbox cannot return. */
export async function openStubProvider() {
  const seen: SeenRequest[] = [];
  let answer: (request: SeenRequest) => StubAnswer | null | Promise<StubAnswer | null> = () => null;
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(Buffer.from(chunk));
    const text = Buffer.concat(chunks).toString('utf8');
    const request: SeenRequest = {
      method: incoming.method ?? '',
      url: incoming.url ?? '',
      headers: incoming.headers,
      body: text === '' ? null : JSON.parse(text),
    };
    seen.push(request);
    const given = await answer(request);
    if (!given) return;
    const asText = typeof given.body === 'string';
    response.writeHead(given.status, {
      'content-type': asText ? 'text/html' : 'application/json',
      ...given.headers,
    });
    response.end(asText ? String(given.body) : JSON.stringify(given.body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    answer: (next: typeof answer) => {
      answer = next;
      seen.length = 0;
    },
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
