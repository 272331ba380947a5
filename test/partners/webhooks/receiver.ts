import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Receiver {
  url: string;
  port: number;
  received: Received[];
  /** Sets the answer to the next webhooks; 200 at once by default. */
  behave(how: (response: ServerResponse, request: Received) => void): void;
  stop(): Promise<void>;
}

/** A partner's endpoint on loopback. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const kindly = (response: ServerResponse): void => void response.writeHead(200).end('ok');
  let react: (response: ServerResponse, request: Received) => void = kindly;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const one = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString('utf8') };
    received.push(one);
    react(response, one);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    behave: (how) => {
      react = how;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Verifies as a partner would, with the Standard Webhooks package; returns the body. Throws on a wrong signature. */
export function verified(secret: string, { headers, body }: Received): { type: string; data: Record<string, unknown> } {
  return new Webhook(secret).verify(body, headers as Record<string, string>) as {
    type: string;
    data: Record<string, unknown>;
  };
}
