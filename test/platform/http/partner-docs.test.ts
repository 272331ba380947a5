import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Locator, Page, Request } from 'playwright-core';
import { errorPage, failureCodes, partnerErrors } from '../../../src/partners/error-catalogue.ts';
import { guidePages } from '../../../src/partners/guide.ts';
import { buildPartnerDocument } from '../../../src/partners/partner-document.ts';
import { decliningCodes } from '../../../src/platform/gateway/xendit/client.ts';
import { unsupportedChannel } from '../../../src/platform/gateway/xendit/instrument-request.ts';
import { routeGroups } from '../../../src/wiring/app.ts';
import { webhookDocuments } from '../../../src/wiring/webhook-documents.ts';
import { describeInBrowser, startBrowser } from '../../support/browser.ts';
import { itInFull } from '../../support/full.ts';
import { type BuiltPartner, buildPartner, signature } from '../../support/partner.ts';
import { type Stack, startStack } from '../../support/stack.ts';

interface PartnerDocument {
  info: { description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, { tags: string[]; operationId: string }>>;
  webhooks: Record<string, Record<string, { tags: string[] }>>;
  components: {
    schemas: { PartnerError: { properties: { error: { properties: { code: { enum: string[] } } } } } };
    securitySchemes: object;
  };
}
const options = { version: '1.0.0', url: 'http://localhost', webhooks: webhookDocuments };
const reference = JSON.parse(JSON.stringify(buildPartnerDocument(routeGroups, options))) as PartnerDocument;

describe("The partners' reference", () => {
  it("The partners’ reference has only partners' operations and only their signatures", () => {
    const paths = routeGroups.flatMap(({ routes }) => routes.filter(({ access }) => access.kind === 'partner'));
    expect(Object.keys(reference.paths).toSorted()).toEqual(
      [...new Set(paths.map(({ path }) => path.replace(/:(\w+)/g, '{$1}')))].toSorted(),
    );
    expect(Object.keys(reference.components.securitySchemes)).toEqual([
      'partnerKey',
      'partnerSignature',
      'partnerSignatureV2',
    ]);
  });

  it('The partners’ reference groups all operations, describes each group and gives refunds their own ids', () => {
    const operations = Object.values(reference.paths).flatMap(Object.values);
    const events = Object.values(reference.webhooks).flatMap(Object.values);
    const names = reference.tags.map(({ name }) => name);
    expect([names[0], names.at(-1)]).toEqual(['Channels and quotes', 'Events']);
    expect(new Set([...operations, ...events].flatMap(({ tags }) => tags))).toEqual(new Set(names));
    for (const { tags } of [...operations, ...events]) expect(tags).toHaveLength(1);
    for (const { description } of reference.tags) expect(description).toMatch(/^[A-Z].*\.$/);
    const inGroup = (group: string) =>
      operations.filter(({ tags }) => tags.includes(group)).map(({ operationId }) => operationId);
    expect(inGroup('Refunds')).toEqual([
      'createPaymentRefund',
      'listPaymentRefunds',
      'getPaymentRefund',
      'getPaymentRefundTimeline',
    ]);
    expect(inGroup('Payments')).toContain('createPayment');
  });

  it('The partners’ reference links to an error page with every code that partners may get', () => {
    const codes = reference.components.schemas.PartnerError.properties.error.properties.code.enum;
    expect(Object.keys(partnerErrors).toSorted()).toEqual(codes.toSorted());
    for (const code of [...codes, ...Object.keys(failureCodes)]) expect(errorPage()).toContain(`<code>${code}</code>`);
    expect(reference.info.description).toContain('(/docs/errors)');
  });

  it('The partners’ reference explains every failure code of the sandbox and of the provider’s 403 refusals', () => {
    const directory = join(import.meta.dirname, '..', '..', '..', 'dev', 'sandbox');
    const text = readdirSync(directory)
      .map((name) => readFileSync(join(directory, name), 'utf8'))
      .join('\n');
    const said =
      /(?:WireError\(40[04], |refused: |fails\(|declineCode = |[fF]ailureCode(?: =|:) .*?)'([A-Z]+_[A-Z_]+)'/g;
    const codes = [...decliningCodes, unsupportedChannel, ...[...text.matchAll(said)].map(([, code = '']) => code)];
    // Codes of calls that move no money, or that only a bug of ours would cause.
    const others = ['INACTIVE_PAYMENT_METHOD', 'INVALID_PAYOUT_STATUS', 'INVALID_JSON_FORMAT', 'NOT_FOUND'];
    const explained = Object.keys(failureCodes);
    expect(codes.length).toBeGreaterThan(15);
    expect(codes.filter((code) => !others.includes(code) && !explained.includes(code))).toEqual([]);
  });
});

describeInBrowser('/docs/partners in a browser', () => {
  let stack: Stack;
  let partner: BuiltPartner;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];
  const elsewhere: string[] = [];
  beforeAll(async () => {
    stack = await startStack({ worker: true, sandbox: true });
    partner = await buildPartner(stack);
    browser = await startBrowser();
    page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== new URL(stack.url).origin) elsewhere.push(request.url());
    });
    await page.goto(`${stack.url}/docs/partners`);
    await page.getByRole('textbox', { name: 'Bearer Token' }).first().fill(partner.apiKey);
    await page.getByRole('textbox', { name: 'Value' }).first().fill(partner.signingSecret);
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  });

  /** Chooses an operation in the side bar, as a reader does, and returns its section. */
  const open = async (group: string, summary: string) => {
    const sidebar = page.getByRole('navigation', { name: /^Sidebar/ });
    const entry = sidebar.getByRole('button', { name: summary });
    if (!(await entry.isVisible())) await sidebar.getByRole('button', { name: group }).click();
    await entry.click();
    return page.getByRole('region', { name: summary, exact: true });
  };
  const openTrial = async (group: string, summary: string) => {
    await (await open(group, summary)).getByRole('button', { name: 'Test Request' }).click();
    return page.getByRole('dialog', { name: 'API Client' });
  };
  /** Sends the trial request and closes it; returns what the browser has sent, and the status it received. */
  const send = async (trial: Locator) => {
    const answered = page.waitForResponse((answer) => answer.url().includes('/v1/partners/'));
    await trial.getByRole('button', { name: /^Send .*request/ }).click();
    const answer = await answered;
    // If closed earlier, the client stops reading the answer.
    await trial.getByRole('region', { name: 'Response' }).getByText(String(answer.status())).first().waitFor();
    await page.keyboard.press('Escape');
    await trial.waitFor({ state: 'hidden' });
    return { status: answer.status(), sent: answer.request() };
  };
  /** Expects both signatures in the headers, and not the secret. The body is passed, as Playwright does not see it. */
  const expectSigned = (request: Request, body = '', idempotencyKey = '') => {
    const headers = request.headers();
    const digest = createHash('sha256').update(body).digest('hex');
    const { pathname, search } = new URL(request.url());
    const [, time] = /^t=(\d+),/.exec(headers['x-partner-signature-v2'] ?? '') ?? [];
    const signed = [time, request.method(), `${pathname}${search}`, idempotencyKey, digest].join('\n');
    expect([headers['x-partner-signature'], headers['x-partner-signature-v2']]).toEqual([
      signature(partner.signingSecret, body),
      `t=${time},v1=${signature(partner.signingSecret, signed)}`,
    ]);
    expect(JSON.stringify(headers)).not.toContain(partner.signingSecret);
  };

  itInFull('/docs/partners links to the error page, and neither page scrolls sideways on a phone', async () => {
    const phone = await (await browser.newContext({ viewport: { width: 390, height: 800 } })).newPage();
    const width = () => phone.evaluate('document.documentElement.scrollWidth');
    await phone.goto(`${stack.url}/docs/partners`);
    // The link opens a new tab, which the tests' browser does not support.
    const path = await phone.getByRole('link', { name: 'Every code' }).getAttribute('href');
    expect(await width()).toBeLessThanOrEqual(390);
    await phone.goto(new URL(path ?? '', stack.url).href);
    await phone.getByText('PROVIDER_INDETERMINATE').first().waitFor();
    expect(await width()).toBeLessThanOrEqual(390);
  });

  itInFull('/docs/partners has a guide whose tables break no word of code on a phone', async () => {
    const phone = await (await browser.newContext({ viewport: { width: 390, height: 800 } })).newPage();
    const broken: unknown[] = [];
    for (const path of Object.keys(guidePages)) {
      await phone.goto(`${stack.url}/docs/partners/${path}`);
      const words = await phone
        .locator('.table code')
        .evaluateAll((all) =>
          all
            .filter((one) => /^[\w.]+$/.test(one.textContent) && one.getClientRects().length > 1)
            .map((one) => one.textContent),
        );
      if (words.length > 0) broken.push({ path, words });
    }
    expect(broken).toEqual([]);
  });

  itInFull('/docs/partners signs reads', async () => {
    const { status, sent } = await send(await openTrial('Balance and settlements', 'Read the balance'));
    expect(status).toBe(200);
    expectSigned(sent);
  });

  itInFull('/docs/partners shows how each operation is called, in the chosen language', async () => {
    const operation = await open('Payments', 'Read a payment');
    await operation.getByText('curl -s -X GET').waitFor();
    await operation.getByRole('button', { name: 'curl' }).click();
    await page.getByRole('option', { name: 'Python' }).click();
    await operation.getByText('import hmac').waitFor();
    const other = await open('Channels and quotes', 'Quote a payment or a payout');
    await other.getByText('import hmac').waitFor();
  });

  itInFull('/docs/partners signs a creation’s body and idempotency key exactly as it sends them', async () => {
    const trial = await openTrial('Payments', 'Create a payment');
    const field = trial.locator('[contenteditable=true]');
    await field.filter({ hasText: 'payment-invoice-2026-0042' }).fill('from-the-reference');
    const body = '{ "method": "qris",\n "amount": "50000", "external_ref": "Zoë" }';
    await field.filter({ hasText: '"method"' }).fill(body);
    // The page applies the input a moment after the last key, without a visible sign.
    await page.waitForTimeout(1_000);
    const { status, sent } = await send(trial);
    expect(status).toBe(200);
    expect((await partner.get('/payments')).body.data.items).toMatchObject([{ external_ref: 'Zoë' }]);
    expectSigned(sent, body, 'from-the-reference');
  });

  it('/docs/partners contacts no third party, offers no services, stores no secret and logs no error', async () => {
    expect([elsewhere, complaints]).toEqual([[], []]);
    expect(await page.locator('[placeholder^=QUxM]').count()).toBe(0);
    const offers = page.getByText(/API Client|Ask AI|MCP|Configure|Share|Deploy/);
    expect(await offers.filter({ visible: true }).count()).toBe(0);
    const kept = String(await page.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie])'));
    for (const secret of [partner.apiKey, partner.signingSecret]) expect(kept).not.toContain(secret);
  });

  itInFull('/docs/partners forgets the secrets on a reload', async () => {
    await page.reload();
    await page.getByRole('textbox', { name: 'Value' }).first().waitFor();
    for (const name of ['Bearer Token', 'Value']) {
      expect(await page.getByRole('textbox', { name }).first().inputValue()).toBe('');
    }
  });
});
