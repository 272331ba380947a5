import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Receiver, startReceiver } from '../partners/webhooks/receiver.ts';
import { eventually } from '../support/eventually.ts';
import { itInFull } from '../support/full.ts';
import { runListen } from './run-listen.ts';

const prefix = '/v1/partners/webhook-deliveries';

interface Failure {
  status: number;
  code: string;
  retryAfter?: string;
}
/** Scripted answers to the next requests for the list, and for single deliveries, instead of the real ones. */
let failures: { list: Failure[]; one: Map<string, Failure[]> };
let told: { id: string; created_at: string; resource_id: string }[];
let asked: { path: string; at: number }[];
let api: Server;
let receiver: Receiver;
let running: ReturnType<typeof runListen> | undefined;

const answer = (response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}) =>
  void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const deliveryOf = (row: (typeof told)[number]) => ({
  ...row,
  webhook_id: `msg_${row.id}`,
  type: 'payout.failed',
  version: 1,
});

beforeEach(async () => {
  failures = { list: [], one: new Map() };
  [told, asked] = [[], []];
  api = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://api');
    asked.push({ path: pathname, at: performance.now() });
    const id = pathname.slice(prefix.length + 1);
    const failure = (id === '' ? failures.list : (failures.one.get(id) ?? [])).shift();
    if (failure !== undefined) {
      const { status, code, retryAfter } = failure;
      const error = { error: { code, message: 'not now' }, request_id: 'r' };
      return answer(response, status, error, retryAfter === undefined ? {} : { 'retry-after': retryAfter });
    }
    if (id === '') {
      const from = Date.parse(searchParams.get('from') ?? '');
      const items = told.filter(({ created_at }) => Date.parse(created_at) >= from).map(deliveryOf);
      return answer(response, 200, { data: { items: items.toReversed(), limit: 100 } });
    }
    const row = told.find((one) => one.id === id);
    if (row === undefined) return answer(response, 404, { error: { code: 'RESOURCE_NOT_FOUND', message: 'none' } });
    return answer(response, 200, { data: { ...deliveryOf(row), body: JSON.stringify({ id }) } });
  });
  api.listen(0, '127.0.0.1');
  await once(api, 'listening');
  receiver = await startReceiver();
});
afterEach(async () => {
  await running?.stop();
  await receiver.stop();
  api.closeAllConnections();
  api.close();
});

/** Runs the command against a stub API that fails as scripted; the real one does not fail on request. */
function run() {
  const { port } = api.address() as AddressInfo;
  const keys = { apiKey: 'a-key', signingSecret: 'a-secret' };
  running = runListen(['--port', String(receiver.port)], { url: `http://127.0.0.1:${port}`, ...keys });
  return running;
}
const tell = (...ids: string[]) =>
  void told.push(...ids.map((id) => ({ id, created_at: new Date().toISOString(), resource_id: id })));
const forwarded = () => receiver.received.map(({ body }) => JSON.parse(body).id);
const forwardedWhen = (count: number) =>
  eventually(
    async () => forwarded(),
    (ids) => ids.length >= count,
  );
/** The client itself tries five times before it fails. */
const five = (failure: Failure): Failure[] => Array.from({ length: 5 }, () => failure);
const away: Failure = { status: 503, code: 'SERVICE_UNAVAILABLE', retryAfter: '0' };
const tooMany: Failure = { status: 429, code: 'RATE_LIMITED', retryAfter: '1' };

describe('amanah-listen', () => {
  itInFull(
    'amanah-listen skips a deleted event and forwards the rest of a batch once and in order, although the API fails',
    async () => {
      const { says } = run();
      await says('Listening.');
      failures.one.set('gone', [{ status: 404, code: 'RESOURCE_NOT_FOUND' }]);
      failures.one.set('second', five(away));
      tell('gone', 'first', 'second', 'third');
      await says('SERVICE_UNAVAILABLE');
      expect(await forwardedWhen(3)).toEqual(['first', 'second', 'third']);
      await says('gone');
      tell('fourth');
      expect(await forwardedWhen(4)).toEqual(['first', 'second', 'third', 'fourth']);
    },
    120_000,
  );

  itInFull(
    'amanah-listen waits for Retry-After after a 429, and loses no event',
    async () => {
      failures.list = five(tooMany);
      const { says } = run();
      await says('Listening.');
      failures.list = five(tooMany);
      tell('first');
      expect(await forwardedWhen(1)).toEqual(['first']);
      const lists = asked.filter(({ path }) => path === prefix);
      // Five refusals at the start, each followed by an answer or a refusal at least a second later.
      const [start, ...next] = lists.slice(0, 6);
      for (const [index, { at }] of next.entries()) {
        expect(at - ([start, ...next][index]?.at ?? 0)).toBeGreaterThan(990);
      }
    },
    120_000,
  );

  it('amanah-listen gives up a delivery after four refused attempts, prints each, and keeps the order', async () => {
    const { says, printed } = run();
    await says('Listening.');
    const [statuses, ids] = [[503, 404, 400, 500, 503], new Set<unknown>()];
    receiver.behave((response, { headers }) => {
      ids.add(headers['webhook-id']);
      response.writeHead(statuses.shift() ?? 204).end();
    });
    tell('first', 'second');
    expect(await forwardedWhen(6)).toEqual(['first', 'first', 'first', 'first', 'second', 'second']);
    expect([...ids]).toEqual(['msg_first', 'msg_second']);
    await says('second  version 1  → 204');
    const tries = printed().match(/(?<= {2})\w+ {2}version 1 {2}→ .*/g);
    const again = ['503; sent again in 1 s', '404; sent again in 2 s', '400; sent again in 4 s', '500; not sent again'];
    expect(tries).toEqual([
      ...again.map((outcome) => `first  version 1  → ${outcome}`),
      'second  version 1  → 503; sent again in 1 s',
      'second  version 1  → 204',
    ]);
  }, 120_000);

  itInFull(
    'amanah-listen gives up a delivery after four attempts if the receiver is down, and continues with the next',
    async () => {
      const { says, printed } = run();
      await says('Listening.');
      await receiver.stop();
      tell('first', 'second');
      await says('second  version 1  → no answer');
      expect(printed().match(/first .*; sent again in/g)).toHaveLength(3);
      expect(printed()).toMatch(/first .*→ no answer: .*ECONNREFUSED.*; not sent again/);
    },
    120_000,
  );

  itInFull(
    'amanah-listen exits when its API key is refused',
    async () => {
      const { says, ended, printed } = run();
      await says('Listening.');
      failures.list = [{ status: 401, code: 'AUTH_INVALID_CREDENTIALS' }];
      expect(await ended).toBe(1);
      expect(printed()).toContain('AUTH_INVALID_CREDENTIALS');
    },
    120_000,
  );

  itInFull(
    'amanah-listen prints its usage, and names a missing variable',
    async () => {
      const told = async (args: string[], api: { url: string; signingSecret: string }) => {
        const { ended, printed } = runListen(args, { apiKey: 'amk_x', ...api });
        return { code: await ended, text: printed() };
      };
      const whole = { url: 'http://127.0.0.1:1', signingSecret: 's' };
      expect(await told(['--help'], whole)).toEqual({
        code: 0,
        text: expect.stringContaining('npx amanah-listen --port 4000'),
      });
      expect(await told(['--port', '4000'], { ...whole, url: '' })).toEqual({
        code: 1,
        text: 'Set AMANAH_API_URL beside AMANAH_API_KEY\n',
      });
      expect(await told(['--port', '4000'], { ...whole, signingSecret: '' })).toEqual({
        code: 1,
        text: 'Set AMANAH_SIGNING_SECRET beside AMANAH_API_KEY\n',
      });
    },
    60_000,
  );
});
