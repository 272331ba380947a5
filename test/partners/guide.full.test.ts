import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { whyNoPython } from '../../dev/python.ts';
import { createPartnerClient } from '../../sdk/index.ts';
import { type Product, startProduct } from '../support/product.ts';
import { type Block, blocksOf, Reader } from './guide-reader.ts';

/** What a block is recognized by, and what it prints. */
const prints: [block: RegExp, output: RegExp][] = [
  [/call GET \/balance/, /"available":"/],
  [/method":"virtual_account"/, /"show_account_number".*^succeeded$/ms],
  [/webhook-endpoints\/\$endpoint\/test/, /"type":"payment\.succeeded"/],
  [/payout-\$order/, /"net_amount":"17500\.0000".*^succeeded$/ms],
  [/node start\.mjs/, /payment\.succeeded verified\npayout\.succeeded verified/],
  [/python start\.py/, /payout\.succeeded verified/],
  [/sandbox\/decline/, /DECLINED_BY_ISSUER|FAILED/],
  [/131313/, /^succeeded$/m],
];
const missing = whyNoPython();
if (missing !== null) process.stdout.write(`The blocks in Python are not run: ${missing}.\n`);

let product: Product;
let data: string;
let directory: string;
let reader: Reader;
let blocks: Block[];
beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'guide-data-'));
  directory = mkdtempSync(join(tmpdir(), 'guide-'));
  product = startProduct(data);
  await product.untilReady();
  const { urls, partner } = product.credentials();
  const pages = ['start', 'testing'].map(async (page) => (await fetch(`${urls.api}/docs/partners/${page}`)).text());
  blocks = (await Promise.all(pages)).flatMap(blocksOf);
  // All that a stranger was given.
  reader = new Reader(directory, { AMANAH_API_KEY: partner.api_key, AMANAH_SIGNING_SECRET: partner.signing_secret });
}, 180_000);
afterAll(async () => {
  reader?.close();
  await product?.stop();
  for (const place of [data, directory]) rmSync(place, { recursive: true, force: true });
}, 60_000);

describe("The partners' guide", () => {
  it('works as it is served, block after block, for a stranger with a key', async () => {
    for (const [block] of prints) expect(blocks.filter(({ text }) => block.test(text))).toHaveLength(1);
    for (const block of blocks.filter(({ text }) => missing === null || !/\.venv/.test(text))) {
      const printed = await reader.follow(block);
      expect(printed).not.toContain('"error":');
      for (const [of, output] of prints) {
        if (block.language === 'sh' && of.test(block.text))
          expect([block.under, printed]).toEqual([block.under, expect.stringMatching(output)]);
      }
    }
    const { urls, partner } = product.credentials();
    const { api_key: apiKey, signing_secret: signingSecret } = partner;
    const { payouts, webhookEndpoints } = createPartnerClient({ baseUrl: urls.api, apiKey, signingSecret });
    const { items } = await payouts.list();
    expect(items.map(({ status }) => status)).toEqual(items.map(() => 'succeeded'));
    const { items: left } = await webhookEndpoints.list();
    expect(left.filter(({ url }) => /:400\d\//.test(url))).toEqual([]);
  }, 400_000);
});
