import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { whyNoPython } from '../../dev/python.ts';
import { createPartnerClient } from '../../sdk/index.ts';
import { describeInBrowser, startBrowser } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { type Product, startProduct } from '../support/product.ts';
import { type Block, blocksOf, Reader } from './guide-reader.ts';

/** How to recognize a block, and its expected output. */
const prints: [block: RegExp, output: RegExp][] = [
  [/call GET \/balance/, /"available":"/],
  [/"virtual_account","channel":"BCA","amount"/, /"show_account_number".*^succeeded$/ms],
  [/webhook-endpoints\/\$endpoint\/test/, /"type":"payment\.succeeded"/],
  [/payout-\$order/, /"net_amount":"17500\.0000".*^succeeded$/ms],
  [/node start\.mjs/, /payment\.succeeded verified\npayout\.succeeded verified/],
  [/python start\.py/, /payout\.succeeded verified/],
  [/instrument_id=/, /"amount":"120000\.0000".*"amount":"75000\.0000"/],
  [/instrument\/close/, /^closed$/m],
  [/^call POST \/bank-account-checks/, /"name_match":"match"/],
  [/sandbox\/bank-accounts/, /"name_match":"partial"/],
  [/POST \/payout-batches/, /"status":"needs_approval".*"total_amount":"45000\.0000"/],
  [/\/approve/, /"status":"processing".*^completed$/ms],
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
  const pages = ['start', 'instruments', 'batches', 'testing'].map(async (page) =>
    (await fetch(`${urls.api}/docs/partners/${page}`)).text(),
  );
  blocks = (await Promise.all(pages)).flatMap(blocksOf);
  // Everything that a new partner receives.
  reader = new Reader(directory, {
    AMANAH_API_KEY: partner.api_key,
    AMANAH_SIGNING_SECRET: partner.signing_secret,
    AMANAH_APPROVER_API_KEY: partner.approver_api_key,
    AMANAH_APPROVER_SIGNING_SECRET: partner.approver_signing_secret,
  });
}, 180_000);
afterAll(async () => {
  reader?.close();
  await product?.stop();
  for (const place of [data, directory]) rmSync(place, { recursive: true, force: true });
}, 60_000);

describe("The partners' guide", () => {
  it('The partners’ guide works as served, block after block, with only its keys and secrets', async () => {
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

describe('The first hour of an app', () => {
  it('The guide to an app’s first hour works as served, block after block', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'app-hour-'));
    const stranger = new Reader(directory, {});
    try {
      const { urls } = product.credentials();
      const blocks = blocksOf(await (await fetch(`${urls.api}/docs/start`)).text());
      const printed = new Map<string, string>();
      for (const block of blocks) printed.set(block.under, await stranger.follow(block));
      for (const output of printed.values()) expect(output).not.toContain('"error":');
      expect(printed.get('Sign up')).toContain('Address confirmed');
      expect(printed.get('Top up')).toContain('"balance":"500000.0000"');
      expect(printed.get('Read the books')).toMatch(/^created_at,.*-50000\.0000/ms);
    } finally {
      stranger.close();
      rmSync(directory, { recursive: true, force: true });
    }
  }, 200_000);
});

describeInBrowser('The page of an app', () => {
  it('The example app signs up, waits for the confirmed address and donates, at 390 px', async () => {
    const { urls } = product.credentials();
    const html = readFileSync(join(import.meta.dirname, '..', '..', 'examples', 'app.html'));
    const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(html));
    await new Promise<void>((listening) => server.listen(0, 'localhost', listening));
    const browser = await startBrowser();
    try {
      const place = server.address();
      const port = typeof place === 'object' ? place?.port : 0;
      const page = await browser.newPage({ viewport: { width: 390, height: 800 } });
      const addresses = new URLSearchParams({ api: urls.api, sandbox: String(urls.sandbox) });
      await page.goto(`http://localhost:${port}/app.html?${addresses}`);
      const email = `page-${Date.now()}@example.org`;
      await page.fill('#sign-up [name=name]', 'Ibu Sari');
      await page.fill('#sign-up [name=email]', email);
      await page.fill('#sign-up [name=password]', 'a long enough phrase');
      await page.click('#sign-up button');
      await page.waitForSelector('#confirm:not([hidden])');
      await page.click('#confirm button');
      await page.waitForFunction("document.getElementById('told').textContent.includes('not confirmed')");
      const caught = () => fetch(`${urls.sandbox}/sandbox/mail?to=${email}`).then((answer) => answer.text());
      const mails = await eventually(caught, (text) => text.includes('confirm-email'));
      const [, token] = /confirm-email\?token=([\w-]+)/.exec(mails) ?? [];
      await fetch(`${urls.api}/confirm-email`, { method: 'POST', body: new URLSearchParams({ token: token ?? '' }) });
      await page.click('#confirm button');
      await page.waitForSelector('#give:not([hidden])');
      await page.click('#give button');
      const told = await page.waitForFunction(
        "/virtual account (\\d+)/.exec(document.getElementById('told').textContent)?.[1]",
      );
      const body = JSON.stringify({ payment_code: await told.jsonValue() });
      const headers = { 'content-type': 'application/json' };
      await fetch(`${urls.sandbox}/sandbox/pay`, { method: 'POST', headers, body });
      await page.waitForSelector('#receipts li');
      expect(await page.textContent('#receipts li')).toContain('completed');
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
      await eventually(caught, (text) => text.includes('Bukti donasi'));
    } finally {
      await browser.close();
      server.close();
    }
  }, 120_000);
});
