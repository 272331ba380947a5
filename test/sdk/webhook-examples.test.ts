import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import type { VerifiedWebhook } from '../../sdk/index.ts';
import * as inExpress from '../../sdk/receivers/express.ts';
import * as inFastify from '../../sdk/receivers/fastify.ts';
import * as inNext from '../../sdk/receivers/nextjs.ts';
import { newWebhookSecret } from '../../src/partners/partner-secrets.ts';

const secret = newWebhookSecret();
/** Contains spaces that a parser would drop, and a two-byte letter: the signature is over the bytes. */
const body =
  '{ "type": "payment.succeeded",  "timestamp": "2026-01-15T03:00:00.000Z", "data": { "reference": "Žižek" } }';

let taken: VerifiedWebhook[] = [];
let failing = false;
const take = async (verified: VerifiedWebhook) => {
  if (failing) throw new Error('the database is down');
  taken.push(verified);
};
const stops: (() => Promise<unknown>)[] = [];
const close = (server: Server) => new Promise((resolve) => server.close(resolve));
const portOf = (server: Server) => (server.address() as AddressInfo).port;

async function serveExpress(): Promise<string> {
  const server = createServer(inExpress.webhooks(secret, take));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => close(server));
  return `http://127.0.0.1:${portOf(server)}/webhooks`;
}
async function serveFastify(): Promise<string> {
  const app = inFastify.webhooks(secret, take);
  stops.push(() => app.close());
  return `${await app.listen({ port: 0, host: '127.0.0.1' })}/webhooks`;
}

const senders: [string, () => Promise<(request: Request) => Promise<Response>>, () => Promise<string>][] = [
  ['Express', async () => fetch, serveExpress],
  ['Fastify', async () => fetch, serveFastify],
  ['Next.js', async () => inNext.webhooks(secret, take), async () => 'http://localhost/webhooks'],
];

afterAll(() => Promise.all(stops.map((stop) => stop())));

describe.each(senders)('The example for %s', (_, openSender, serve) => {
  let send: (changes?: Record<string, string>, text?: string) => Promise<number>;
  beforeAll(async () => {
    const [sender, url] = [await openSender(), await serve()];
    send = async (changes = {}, text = body) => {
      const now = new Date();
      const headers = {
        'content-type': 'application/json',
        'webhook-id': 'msg-1',
        'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
        'webhook-signature': new Webhook(secret).sign('msg-1', now, body),
        ...changes,
      };
      return (await sender(new Request(url, { method: 'POST', headers, body: text }))).status;
    };
  });
  beforeEach(() => {
    taken = [];
    failing = false;
  });

  it('The example receiver verifies a webhook’s signature over its raw bytes', async () => {
    expect(await send()).toBe(204);
    expect(taken).toEqual([{ id: 'msg-1', webhook: JSON.parse(body) }]);
  });

  it.each([
    ['has no signature', { 'webhook-signature': '' }, body],
    ['was altered', {}, body.replace('succeeded', 'failed')],
    ['is an hour old', { 'webhook-timestamp': String(Math.floor(Date.now() / 1000) - 3600) }, body],
  ])('The example receiver returns 401 for a webhook that %s, and does not process it', async (__, changes, text) => {
    expect(await send(changes, text)).toBe(401);
    expect(taken).toEqual([]);
  });

  it('The example receiver returns 500 if it cannot process a webhook, so that it is retried', async () => {
    failing = true;
    expect(await send()).toBe(500);
  });
});
