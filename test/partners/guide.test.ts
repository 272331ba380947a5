import { get, type IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { partnerErrors } from '../../src/partners/error-catalogue.ts';
import { guidePages } from '../../src/partners/guide.ts';
import { npmPackage, wheel } from '../../src/partners/sdk-packages.ts';
import { errorStatuses } from '../../src/shared/errors.ts';
import { type Stack, startStack } from '../support/stack.ts';
import { wordsOf } from './guide-reader.ts';

let stack: Stack;
/** Returns the response's raw bytes, because `fetch` decompresses them. */
const asSent = (path: string, encoding: string): Promise<{ headers: IncomingHttpHeaders; rawBody: Buffer }> =>
  new Promise((resolve, reject) => {
    get(`${stack.url}${path}`, { headers: { 'accept-encoding': encoding } }, (answer) => {
      buffer(answer).then((rawBody) => resolve({ headers: answer.headers, rawBody }), reject);
    }).on('error', reject);
  });
const pages = new Map<string, string>();
beforeAll(async () => {
  stack = await startStack();
  for (const path of [
    ...Object.keys(guidePages).map((page) => `/docs/partners/${page}`),
    '/docs/start',
    '/docs/errors',
    '/docs/sdk',
  ]) {
    const answer = await fetch(`${stack.url}${path}`);
    expect([path, answer.status, answer.headers.get('content-type')]).toEqual([path, 200, 'text/html; charset=utf-8']);
    pages.set(path, await answer.text());
  }
}, 60_000);
afterAll(() => stack.stop());

describe("The partners' guide", () => {
  it('The guides for partners and for apps each start with a page of at most 1,200 words', () => {
    for (const path of ['/docs/partners/start', '/docs/start'])
      expect([path, wordsOf(pages.get(path) ?? '').length > 1200]).toEqual([path, false]);
  });

  it('The partners’ guide has no dead links, and mentions no file that its reader lacks', async () => {
    const wrong: string[] = [];
    for (const [from, html] of pages) {
      for (const [, link = ''] of html.matchAll(/href="([^"]*)"/g)) {
        if (/^(https?|data):/.test(link)) continue;
        const [path = '', anchor] = link.split('#');
        const page = pages.get(path === '' ? from : path);
        const isThere = page !== undefined || (await fetch(`${stack.url}${path}`, { method: 'HEAD' })).status === 200;
        if (!isThere || (anchor !== undefined && !page?.includes(`id="${anchor}"`))) wrong.push(`${from}: ${link}`);
      }
      for (const [file] of html.matchAll(/credentials\.json|\.amanah|npm start|docs\/[\w-]+\.md|\{\{\w+\}\}/g))
        wrong.push(`${from}: ${file}`);
    }
    expect(wrong).toEqual([]);
  });

  it('The partners’ guide shows webhook receivers that import the installed client', () => {
    const webhooks = pages.get('/docs/partners/webhooks') ?? '';
    for (const name of ['express', 'fastify', 'nextjs']) expect(webhooks).toContain(`<h3 id="${name}">`);
    expect(webhooks.match(/from &#39;amanah-partner&#39;/g)).toHaveLength(3);
  });

  it('The partners’ guide has a heading for each common question', () => {
    const concepts = pages.get('/docs/partners/concepts') ?? '';
    for (const word of ['cancel', 'retry', 'paging', 'fees', 'refunds', 'restore']) {
      expect(concepts).toMatch(new RegExp(`<h2 id="[^"]*${word}`));
    }
    expect(pages.get('/docs/partners/testing')).toContain('900005');
  });

  it('The partners’ guide lists and links each error with its status, without raw markup', () => {
    const page = pages.get('/docs/errors') ?? '';
    for (const code of Object.keys(partnerErrors)) {
      expect(page).toContain(
        `<dt id="${code}"><code>${code}</code> (${errorStatuses[code as keyof typeof errorStatuses]})</dt>`,
      );
      expect(page).toContain(`<a href="#${code}">`);
    }
    expect(page).not.toContain('`');
  });

  it('The partners’ guide is compressed, and returns 304 to clients that have it', async () => {
    const ask = (path: string, headers: Record<string, string>) => fetch(`${stack.url}${path}`, { headers });
    for (const path of ['/docs/partners/start', '/openapi-partners.json', '/docs/renderer.js']) {
      const plain = await ask(path, { 'accept-encoding': 'identity' });
      const tag = plain.headers.get('etag') ?? '';
      const bytes = Buffer.from(await plain.arrayBuffer());
      for (const [encoding, decode] of [
        ['br', brotliDecompressSync],
        ['gzip', gunzipSync],
      ] as const) {
        const { headers, rawBody } = await asSent(path, encoding);
        expect([path, headers['content-encoding'], headers.vary]).toEqual([
          path,
          encoding,
          expect.stringMatching(/accept-encoding/i),
        ]);
        expect(decode(rawBody).equals(bytes)).toBe(true);
        expect(rawBody.length).toBeLessThan(bytes.length / 2);
      }
      expect((await ask(path, { 'if-none-match': tag })).status).toBe(304);
    }
  });

  it('The partners’ guide serves both clients as packages, with instructions to install them', async () => {
    for (const [name, begins] of [
      [npmPackage, '\x1f\x8b'],
      [wheel, 'PK'],
    ] as const) {
      const answer = await fetch(`${stack.url}/docs/sdk/${name}`);
      expect(answer.status).toBe(200);
      expect(
        Buffer.from(await answer.arrayBuffer())
          .toString('latin1')
          .startsWith(begins),
      ).toBe(true);
      expect(pages.get('/docs/sdk')).toContain(`/docs/sdk/${name}`);
    }
  });
});
