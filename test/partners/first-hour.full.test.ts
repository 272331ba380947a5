import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { whyNoPython } from '../../dev/python.ts';
import { createPartnerClient } from '../../sdk/index.ts';
import { type Product, startProduct } from '../support/product.ts';
import { type Block, blocksOf, firstHour, Reader } from './first-hour.ts';

/** What a block is recognized by, and what it prints. */
const prints: [block: RegExp, output: RegExp][] = [
  [/examples\/partner\.ts/, /Webhook +payment\.succeeded, verified: succeeded/],
  [/x-idempotency-key: first-hour-1/, /"status":"pending".*"available":"/s],
  [/sign_request\(\)/, /"available":"/],
  [/first-call\.ts/, /^200 /m],
  [/with-client\.ts/, /status: 'pending'/],
  [/first-hour-3/, /"type":"endpoint\.test".*"status":"succeeded".*204 \S+ payment\.succeeded \S+ succeeded/s],
  [/FAILURES=1/, /500 (\S+) endpoint\.test .*204 \1 endpoint\.test /s],
  [/post \/quotes/, /"gross_amount":"20000\.0000","fee":"2500\.0000","net_amount":"17500\.0000"/],
  [/first-hour-4/, /"status":"succeeded".*payout\.succeeded \S+ succeeded/s],
  [/sandbox\/payouts\/settle/, /"status":"succeeded"/],
  [/first-hour-6/, /"status":"succeeded".*refund\.succeeded \S+ succeeded/s],
  [/node refund\.ts/, /status: 'pending'.*amount: '50000\.0000'/s],
  [/first-hour-7/, /"status":"expired".*payment\.unmatched \S+ expired.*came after the payment had ended \(late\)/s],
  [
    /python first_hour/,
    /payment\.succeeded verified.*refund\.succeeded verified.*payout\.succeeded verified.*Payout +\S+ succeeded/s,
  ],
];

const missing = whyNoPython();
if (missing !== null) process.stdout.write(`The blocks in Python are not run: ${missing}.\n`);
const once = blocksOf(firstHour).filter(({ text }) => missing === null || !/\.venv/.test(text));
/** Readers paste blocks again: all work a second time, in the same shell. An environment for Python needs no second one. */
const blocks = [...once, ...once.filter(({ text }) => !/-m venv/.test(text))];
let product: Product;
let data: string;
let directory: string;
let reader: Reader;
beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'first-hour-data-'));
  directory = mkdtempSync(join(tmpdir(), 'first-hour-'));
  product = startProduct(data);
  await product.untilReady();
  reader = new Reader(directory, { DATA_DIR: data });
}, 120_000);
afterAll(async () => {
  reader?.close();
  await product?.stop();
  for (const place of [data, directory]) rmSync(place, { recursive: true, force: true });
}, 60_000);

describe("A partner's first hour", () => {
  it('has a block for each thing it should show', () => {
    for (const [block] of prints) expect(blocksOf(firstHour).filter(({ text }) => block.test(text))).not.toEqual([]);
  });

  it.each(blocks.map((block): [number, string, Block] => [block.line, block.text.split('\n')[0] ?? '', block]))(
    'works as written at line %d: %s',
    async (_, __, block) => {
      const printed = await reader.follow(block);
      expect(printed).not.toContain('"error":');
      if (block.language !== 'sh') return;
      for (const [of, output] of prints) if (of.test(block.text)) expect(printed).toMatch(output);
    },
    150_000,
  );

  it('ends with verified webhooks and paid payouts', async () => {
    const { urls, partner } = product.credentials();
    const { api_key: apiKey, signing_secret: signingSecret } = partner;
    const { payouts, webhookEndpoints } = createPartnerClient({ baseUrl: urls.api, apiKey, signingSecret });
    const { items } = await payouts.list();
    expect(items.map(({ status }) => status)).toEqual(items.map(() => 'succeeded'));
    expect(items.length).toBeGreaterThanOrEqual(2);
    const { items: left } = await webhookEndpoints.list();
    expect(left.filter(({ url }) => /:400[01]\//.test(url))).toEqual([]);
    await expect(fetch('http://127.0.0.1:4000')).rejects.toThrow();
    const received = readFileSync(join(directory, 'received.txt'), 'utf8');
    for (const type of ['endpoint.test', 'payment.succeeded', 'payout.succeeded', 'refund.succeeded'])
      expect(received).toContain(type);
  });
});
