import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ReceivedCallback {
  headers: IncomingHttpHeaders;
  webhookId: string;
  text: string;
  body: { event: string; data: { reference_id: string; amount: number; status: string } };
}

/** Opens an endpoint that stores callbacks and answers 200, or as configured. */
export async function openReceiver() {
  const received: ReceivedCallback[] = [];
  let statuses = [200];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const text = Buffer.concat(chunks).toString('utf8');
    received.push({
      headers: request.headers,
      webhookId: String(request.headers['webhook-id']),
      text,
      body: JSON.parse(text),
    });
    const [status = 200, ...more] = statuses;
    if (more.length > 0) statuses = more;
    response.writeHead(status).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1/gateway/callbacks/xendit`,
    received,
    /** Sets one status per callback from now on; the last applies to all later callbacks. */
    answerWith: (...next: number[]) => {
      statuses = next;
    },
    of: (reference: string) => received.filter(({ body }) => body.data.reference_id === reference),
    /** Waits until this many callbacks of this reference have arrived, and returns them. */
    async waitFor(reference: string, count = 1, patienceMs = 30_000): Promise<ReceivedCallback[]> {
      const deadline = Date.now() + patienceMs;
      for (;;) {
        const found = this.of(reference);
        if (found.length >= count) return found;
        if (Date.now() > deadline) {
          throw new Error(`${found.length} of ${count} callbacks of ${reference} in ${patienceMs} ms`);
        }
        await sleep(20);
      }
    },
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
