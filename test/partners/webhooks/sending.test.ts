import dns from 'node:dns';
import { mock } from 'node:test';
import { signWebhook } from '../../../src/partners/webhooks/deliver-webhook.ts';
import { createWebhookSender } from '../../../src/partners/webhooks/send-webhook.ts';
import { waitAfterAttempt, webhookLifetimeMs } from '../../../src/partners/webhooks/webhook-delivery.ts';
import { complaintAboutTarget, isPermittedAddress } from '../../../src/partners/webhooks/webhook-target.ts';
import { type Receiver, startReceiver } from './receiver.ts';

let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.stop());

const trusting = createWebhookSender({ allowLoopback: true, allowHttp: false });
const strict = createWebhookSender({ allowLoopback: false, allowHttp: true });

describe('Forbidden webhook targets', () => {
  it.each(['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0', '2130706433'])(
    'Webhooks are not sent to our own host as %s',
    async (host) => {
      const sent = await strict(`http://${host}:${receiver.port}/hook`, {}, '{}');
      expect(sent).toEqual({ status: null, error: 'address refused', retryAfterMs: 0, timedOut: false });
      expect(receiver.received).toEqual([]);
    },
  );

  it.each([
    '10.1.2.3',
    '172.16.0.1',
    '192.168.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    'fe80::1',
    'fd00::1',
    '::',
    '::ffff:10.0.0.1',
    '64:ff9b::a00:1',
    '224.0.0.1',
    '255.255.255.255',
    '168.63.129.16',
    '::ffff:168.63.129.16',
    '200::1',
    '4000::1',
    '100:0:0:1::1',
    '::808:808',
    '::7f00:1',
  ])('Webhooks are not sent to the address %s, even if loopback is allowed', (address) => {
    expect(isPermittedAddress(address, { allowLoopback: true })).toBe(false);
  });

  it('Webhooks are sent only to configured ports, except on loopback where it is allowed', () => {
    const rules = { allowLoopback: true, allowHttp: false, ports: [443, 8443] };
    const complaintOf = (url: string, address: string) => complaintAboutTarget(new URL(url), [address], rules);
    expect(complaintOf('https://partner.example/hook', '93.184.216.34')).toBeNull();
    expect(complaintOf('https://partner.example:8443/hook', '93.184.216.34')).toBeNull();
    expect(complaintOf('https://partner.example:9000/hook', '93.184.216.34')).toContain('ports 443, 8443');
    expect(complaintOf('http://localhost:9000/hook', '127.0.0.1')).toBeNull();
  });

  it('Target names are resolved without dns.lookup, whose threads all other connections share', async () => {
    const lookup = mock.method(dns, 'lookup');
    try {
      const sent = await strict('http://webhooks.invalid/hook', {}, '{}');
      expect([sent.status, sent.error]).toEqual([null, 'ENOTFOUND']);
      expect((await trusting(`http://localhost:${receiver.port}/hook`, {}, '{}')).status).toBe(200);
      expect(lookup.mock.callCount()).toBe(0);
    } finally {
      lookup.mock.restore();
    }
  });

  it('Webhooks do not follow redirects', async () => {
    receiver.behave((response) => void response.writeHead(302, { location: `${receiver.url}/elsewhere` }).end());
    expect((await trusting(receiver.url, {}, '{}')).status).toBe(302);
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook']);
  });
});

describe('Answers to webhooks', () => {
  it('An endless response is cut off', async () => {
    receiver.behave((response) => {
      response.writeHead(200);
      const pour = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
        if (!response.destroyed) response.once('drain', pour);
      };
      pour();
    });
    const began = Date.now();
    expect((await trusting(receiver.url, {}, '{}')).status).toBe(200);
    expect(Date.now() - began).toBeLessThan(5_000);
  });

  it('A response with oversized headers, or cut off by a broken connection, counts as no response', async () => {
    receiver.behave((response) => {
      response.writeHead(200, { 'x-long': 'x'.repeat(30_000) }).end();
    });
    expect(await trusting(receiver.url, {}, '{}')).toMatchObject({ status: null });
    receiver.behave((response) => void response.destroy());
    expect(await trusting(receiver.url, {}, '{}')).toMatchObject({ status: null });
  });

  it('A response that does not arrive within fifteen seconds counts as no response', async () => {
    receiver.behave(() => undefined);
    const { timeout } = AbortSignal;
    const waits: number[] = [];
    // Run a hundred times as fast.
    AbortSignal.timeout = (ms) => {
      waits.push(ms);
      return timeout.call(AbortSignal, ms / 100);
    };
    try {
      expect(await trusting(receiver.url, {}, '{}')).toMatchObject({
        status: null,
        error: 'no answer in time',
        timedOut: true,
      });
    } finally {
      AbortSignal.timeout = timeout;
    }
    expect(waits).toEqual([15_000]);
  });

  it('The Retry-After of a response is returned as the wait', async () => {
    receiver.behave((response) => void response.writeHead(503, { 'retry-after': '120' }).end());
    expect(await trusting(receiver.url, {}, '{}')).toMatchObject({ status: 503, error: null, retryAfterMs: 120_000 });
  });
});

describe('Waits between attempts', () => {
  it('The waits between attempts grow, and end with an attempt after three days', () => {
    let elapsed = 0;
    let attempt = 1;
    const waits: number[] = [];
    for (let wait = waitAfterAttempt(1, 0); wait !== null; wait = waitAfterAttempt(attempt, elapsed)) {
      waits.push(wait);
      elapsed += wait;
      attempt += 1;
    }
    expect(elapsed).toBe(webhookLifetimeMs);
    expect(waits.slice(0, -1)).toEqual(waits.slice(0, -1).toSorted((left, right) => left - right));
    expect(waits[0]).toBe(5_000);
    expect(waitAfterAttempt(1, 0, 60_000)).toBe(60_000);
  });
});

it('The signature of a webhook matches the Standard Webhooks test vector', () => {
  const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1614265330, body: '{"test": 2432232314}' };
  expect(signWebhook(['MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'], message)).toBe(
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  );
});
