import { recordWebhook } from '../../src/partners/webhooks/record-webhook.ts';
import { newId } from '../../src/shared/ids.ts';
import { type Receiver, startReceiver, verified } from '../partners/webhooks/receiver.ts';
import { casesOf } from '../support/full.ts';
import { type BuiltPartner, buildPartner } from '../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { runListen } from './run-listen.ts';

let stack: Stack;
let receiver: Receiver;
let partner: BuiltPartner;
let running: ReturnType<typeof runListen>[];
beforeAll(async () => {
  stack = await startStack();
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  running = [];
  receiver = await startReceiver();
  partner = await buildPartner(stack, { webhook: { url: 'http://127.0.0.1:9/nobody' } });
});
afterEach(async () => {
  for (const command of running) await command.stop();
  await receiver.stop();
});

function run(args: string[], { apiKey, signingSecret }: Pick<BuiltPartner, 'apiKey' | 'signingSecret'> = partner) {
  const command = runListen(args, { url: stack.url, apiKey, signingSecret });
  running.push(command);
  return command;
}
const tell = (data: object) =>
  stack.em().transactional((tx) =>
    recordWebhook(tx, stack.deps.sealer, {
      partnerId: partner.id,
      resourceType: 'payout',
      resourceId: newId(),
      version: 1,
      type: 'payout.failed',
      at: new Date(),
      data,
    }),
  );

describe('amanah-listen', () => {
  it('amanah-listen forwards new events, each once, signed with the secret that it prints', async () => {
    await partner.send('post', '/webhook-endpoints', { url: 'http://127.0.0.1:9/other', events: ['payout.failed'] });
    await tell({ number: 0 });
    const { printed, says } = run(['--port', String(receiver.port), '--path', '/hook']);
    await says('Listening.');
    const secret = printed().match(/whsec_\S+/)?.[0] ?? '';
    const ids = await tell({ number: 1 });
    expect(ids).toHaveLength(2);
    await eventually(
      async () => receiver.received,
      (received) => received.length === 1,
    );
    await tell({ number: 2 });
    const received = await eventually(
      async () => receiver.received,
      (all) => all.length === 2,
    );
    expect(received.map((one) => verified(secret, one))).toMatchObject([
      { type: 'payout.failed', data: { number: 1, version: 1 } },
      { type: 'payout.failed', data: { number: 2, version: 1 } },
    ]);
    expect(received[0]?.path).toBe('/hook');
    expect(ids.map((id) => `msg_${id.replaceAll('-', '')}`)).toContain(received[0]?.headers['webhook-id']);
    await eventually(
      async () => printed(),
      (text) => text.match(/payout\.failed .*→ 200/g)?.length === 2,
    );
    const { items } = (await partner.get('/webhook-deliveries')).body.data;
    for (const row of items) expect(row).toMatchObject({ status: 'pending', attempts: 0 });
  }, 90_000);

  it('amanah-listen forwards one endpoint’s events with a given secret, and reports a silent target', async () => {
    const { body } = await partner.send('post', '/webhook-endpoints', {
      url: 'http://127.0.0.1:9/other',
      events: ['payout.failed'],
    });
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const options = ['--port', String(receiver.port), '--secret', secret, '--endpoint', body.data.id];
    const { says } = run(options);
    await says('Listening.');
    await tell({ number: 1 });
    const [one] = await eventually(
      async () => receiver.received,
      (received) => received.length === 1,
    );
    if (one === undefined) throw new Error('nothing arrived');
    expect(verified(secret, one).data).toMatchObject({ number: 1 });
    const [row] = (await partner.get(`/webhook-deliveries?endpoint_id=${body.data.id}`)).body.data.items;
    expect(one.headers['webhook-id']).toBe(row.webhook_id);
    receiver.behave((response) => void response.destroy());
    await tell({ number: 2 });
    await says('→ no answer');
  }, 90_000);

  it.each(
    casesOf<[string, string[], string]>([
      ['with a malformed secret', ['--port', '4000', '--secret', 'x'], '--secret must be like'],
      ['without a port', [], '--port is missing'],
      ['with an unknown option', ['--prot', '4000'], '--prot'],
    ]),
  )('amanah-listen %s exits and names the mistake', async (_, args, sentence) => {
    const { ended, printed } = run(args);
    expect(await ended).toBe(1);
    expect(printed()).toContain(sentence);
  });

  it('amanah-listen exits when its API key lacks manage-webhooks', async () => {
    const { ended, printed } = run(
      ['--port', String(receiver.port)],
      await buildPartner(stack, { permissions: ['read-gateway'] }),
    );
    expect(await ended).toBe(1);
    expect(printed()).toContain('manage-webhooks');
  }, 60_000);
});
