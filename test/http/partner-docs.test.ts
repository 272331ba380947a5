import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { routeGroups } from '../../src/app.ts';
import { decliningCodes } from '../../src/gateway/xendit/client.ts';
import { unsupportedChannel } from '../../src/gateway/xendit/instrument-request.ts';
import { errorPage, failureCodes, partnerErrors } from '../../src/partners/error-catalogue.ts';
import { buildPartnerDocument } from '../../src/partners/partner-document.ts';
import { webhookDocuments } from '../../src/webhooks/webhook-documents.ts';
import { firstHour } from '../partners/first-hour.ts';
import { startBrowser } from '../support/browser.ts';
import { type BuiltPartner, buildPartner } from '../support/partner.ts';
import { type Stack, startStack } from '../support/stack.ts';

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
  it("has only partners' operations, and only their signatures", () => {
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

  it("groups operations in the order of a partner's work, each group described, under their own ids", () => {
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

  it('gives the cause and the remedy of every code that they can meet', () => {
    const codes = reference.components.schemas.PartnerError.properties.error.properties.code.enum;
    expect(Object.keys(partnerErrors).toSorted()).toEqual(codes.toSorted());
    for (const code of [...codes, ...Object.keys(failureCodes)]) expect(errorPage()).toContain(`<code>${code}</code>`);
    expect(reference.info.description).toContain('(/docs/errors)');
  });

  it('explains every failure code by which the sandbox, or the provider by a 403, declines money', () => {
    const directory = join(import.meta.dirname, '..', '..', 'dev', 'sandbox');
    const text = readdirSync(directory)
      .map((name) => readFileSync(join(directory, name), 'utf8'))
      .join('\n');
    const said =
      /(?:WireError\(40[04], |refused: |fails\(|declineCode = |[fF]ailureCode(?: =|:) .*?)'([A-Z]+_[A-Z_]+)'/g;
    const codes = [...decliningCodes, unsupportedChannel, ...[...text.matchAll(said)].map(([, code = '']) => code)];
    // Of calls that move no money, or that only a defect of ours makes.
    const others = ['INACTIVE_PAYMENT_METHOD', 'INVALID_PAYOUT_STATUS', 'INVALID_JSON_FORMAT', 'NOT_FOUND'];
    const explained = Object.keys(failureCodes);
    expect(codes.length).toBeGreaterThan(15);
    expect(codes.filter((code) => !others.includes(code) && !explained.includes(code))).toEqual([]);
  });

  it("says of failure codes what the first hour's table says", () => {
    const [, table = ''] = firstHour.split('| What it means, and what to do');
    const rows = [...table.matchAll(/^\| `(\w+)` +\| (.*?) +\|$/gm)].map(([, code, text]) => [code, text]);
    expect(rows).toEqual(Object.entries(failureCodes));
  });
});

describe('/docs/partners in a browser', () => {
  let stack: Stack;
  let partner: BuiltPartner;
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    stack = await startStack({ worker: true, sandbox: true });
    partner = await buildPartner(stack);
    browser = await startBrowser();
    page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
    await page.goto(`${stack.url}/docs/partners`);
    await page.getByRole('button', { name: 'Authorize' }).first().click();
    const dialog = page.locator('.auth-container');
    await dialog.filter({ hasText: 'partnerKey' }).first().locator('input').fill(partner.apiKey);
    await dialog.filter({ hasText: 'x-partner-signature' }).first().locator('input').fill(partner.signingSecret);
    for (const scheme of ['partnerKey', 'x-partner-signature']) {
      await dialog.filter({ hasText: scheme }).first().getByRole('button', { name: 'Apply credentials' }).click();
    }
    await page.getByRole('button', { name: 'Close' }).first().click();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  });

  const open = async (operationId: string) => {
    const operation = page.locator(`[id$="-${operationId}"]`);
    await operation.locator('.opblock-summary-control').click();
    return operation;
  };
  const statusOf = async (operation: Awaited<ReturnType<typeof open>>) => {
    await operation.getByRole('button', { name: 'Execute' }).click();
    return operation.locator('.live-responses-table .response-col_status').last().textContent();
  };

  it('leads to the page of errors, which a phone shows without scrolling sideways', async () => {
    const phone = await (await browser.newContext({ viewport: { width: 390, height: 800 } })).newPage();
    await phone.goto(`${stack.url}/docs/partners`);
    // It opens in a tab of its own, which the browser of the tests does not have.
    const path = await phone.getByRole('link', { name: 'Every code' }).getAttribute('href');
    await phone.goto(`${stack.url}${path}`);
    await phone.getByText('PROVIDER_INDETERMINATE').first().waitFor();
    expect(await phone.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
  });

  it('signs reads', async () => {
    const operation = await open('getBalance');
    expect(await statusOf(operation)).toContain('200');
  });

  it('shows how each operation is called, in the language that was chosen', async () => {
    const operation = await open('getPayment');
    const samples = operation.getByRole('region', { name: 'Code samples' });
    expect(await samples.locator('pre').textContent()).toContain('curl -s -X GET');
    await samples.getByRole('button', { name: 'Python' }).click();
    expect(await samples.locator('pre').textContent()).toContain('import hmac');
    const other = await open('createQuote');
    expect(await other.getByRole('region', { name: 'Code samples' }).locator('pre').textContent()).toContain(
      'import hmac',
    );
  });

  it('signs creations: the body and the key, as they are sent', async () => {
    const operation = await open('createPayment');
    await operation.locator('textarea').fill('{ "method": "qris",\n "amount": "50000" }');
    await operation.getByPlaceholder('X-Idempotency-Key').fill('from-the-reference');
    expect(await statusOf(operation)).toContain('200');
    const { body } = await partner.get('/payments');
    expect(body.data.items).toHaveLength(1);
  });
});
