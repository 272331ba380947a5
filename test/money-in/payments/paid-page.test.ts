import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { newId } from '../../../src/shared/ids.ts';
import { describeInBrowser, hasBrowser, startBrowser } from '../../support/browser.ts';
import { type BuiltUser, buildIndividual } from '../../support/build.ts';
import { casesOf } from '../../support/full.ts';
import { type BuiltPartner, buildPartner } from '../../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let browser: Browser;
let payer: BuiltUser;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  if (hasBrowser) browser = await startBrowser();
  payer = await buildIndividual(stack);
  partner = await buildPartner(stack);
}, 120_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(async () => {
  await browser?.close();
  await stack?.stop();
});

const dana = 30;
const wallet = { method: 'ewallet', channel: 'DANA', amount: '1250000' };

const collect = async (changes: object = {}) => {
  const { status, body } = await partner.post('/payments', { ...wallet, ...changes });
  expect({ status, body }).toMatchObject({ status: 200 });
  return body.data;
};
const paymentWhen = (id: string, status: string) =>
  eventually(
    async () => (await partner.get(`/payments/${id}`)).body.data,
    (payment) => payment.status === status,
  );
const placeOf = (id: string) => `${new URL(stack.url).origin}/paid/${id}`;
const atSandbox = (action: string, payment_code: string) => stack.sandbox.post(`/sandbox/${action}`, { payment_code });

async function open(url: string, width = 1280): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width, height: 800 } })).newPage();
  page.on('pageerror', (error) => {
    throw error;
  });
  await page.goto(url);
  return page;
}
async function read(page: Page) {
  await page.waitForLoadState();
  return {
    title: await page.title(),
    heading: await page.locator('h1').textContent(),
    text: (await page.locator('main > *').allTextContents()).join(' '),
  };
}
/** Saves a screenshot if AMANAH_PICTURES names a directory. */
async function keepPicture(page: Page, name: string): Promise<void> {
  const directory = process.env.AMANAH_PICTURES;
  if (!directory) return;
  mkdirSync(directory, { recursive: true });
  await page.screenshot({ path: join(directory, `${name}.png`), fullPage: true });
}

describeInBrowser('A payer who returns from a wallet', () => {
  it('A payer who returns from a wallet sees that the order is paid, and its amount', async () => {
    const { body } = await stack.post(
      '/v1/payments/gateway',
      { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: dana, amount: 50_000 },
      { token: payer.token },
    );
    const { payment_order_id: id, payment_links } = body.data;
    const page = await open(payment_links);
    await page.getByRole('button', { name: 'Pay', exact: true }).click();
    await eventually(
      async () => (await stack.get(`/v1/payments/orders/${id}`, { token: payer.token })).body.data,
      (order) => order.status === 'PAID',
    );
    await page.getByRole('link', { name: 'Back to the merchant' }).click();
    expect(page.url()).toBe(placeOf(id));
    expect(await read(page)).toMatchObject({ title: 'Paid', heading: 'Paid' });
    expect((await read(page)).text).toContain('Rp 51.500');
  });

  it('A payer returns to the partner’s return_url exactly as the partner sent it', async () => {
    const return_url = 'https://shop.example/Orders/1042?from=wallet&x=%20';
    const { payment_code } = await collect({ return_url });
    const page = await open(payment_code);
    await page.getByRole('button', { name: 'Decline' }).click();
    expect(await page.getByRole('link', { name: 'Back to the merchant' }).getAttribute('href')).toBe(return_url);
  });

  it('A payer sees the outcome on our page, in two sentences, if the partner sent no return_url', async () => {
    const tellingsOf = async (id: string, name: string) => {
      for (const width of casesOf([390, 1280])) {
        const page = await open(placeOf(id), width);
        const overflow = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
        expect(overflow).toBeLessThanOrEqual(0);
        await keepPicture(page, `paid-${name}-${width}`);
      }
      return read(await open(placeOf(id)));
    };
    const waiting = await collect();
    expect(await tellingsOf(waiting.id, 'waiting')).toMatchObject({ heading: 'Not received yet' });
    const paid = await collect();
    await atSandbox('pay', paid.payment_code);
    await paymentWhen(paid.id, 'succeeded');
    const told = await tellingsOf(paid.id, 'paid');
    expect(told.heading).toBe('Paid');
    const declined = await collect();
    await atSandbox('decline', declined.payment_code);
    await paymentWhen(declined.id, 'failed');
    expect(await tellingsOf(declined.id, 'declined')).toMatchObject({ heading: 'Not paid' });
    const cancelled = await collect();
    await partner.post(`/payments/${cancelled.id}/cancel`, {}, null);
    await paymentWhen(cancelled.id, 'expired');
    expect(await tellingsOf(cancelled.id, 'expired')).toMatchObject({ heading: 'No longer payable' });
    const sentences = told.text.replace(/^Paid Rp [\d.]+ /, '').match(/[^.]+\./g);
    expect(sentences).toHaveLength(2);
    expect(told.text).toMatch(/^Paid Rp 1\.250\.000 /);
  });

  it('A payer can refresh the payment’s status by a link, without a script', async () => {
    const { id, payment_code } = await collect();
    const page = await open(placeOf(id));
    await atSandbox('pay', payment_code);
    await paymentWhen(id, 'succeeded');
    await page.getByRole('link', { name: 'Check again' }).click();
    await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor();
    expect(await page.locator('script').count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Check again' }).count()).toBe(0);
  });
});

describeInBrowser('The payment page', () => {
  it('The payment page shows only status and amount, is not cached and has a content security policy', async () => {
    const secrets = { external_ref: 'INV-SECRET', customer_name: 'Siti Rahayu', customer_email: 'siti@example.org' };
    const { id, payment_code } = await collect(secrets);
    const { status, body, headers } = await stack.get(`/paid/${id}`);
    expect(status).toBe(200);
    for (const secret of [...Object.values(secrets), id, payment_code, partner.id, 'DANA']) {
      expect(String(body)).not.toContain(secret);
    }
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('content-security-policy')).toContain("script-src 'self'");
  });

  it('The payment page returns 404 for a missing payment and 405 for a POST', async () => {
    for (const id of [newId(), 'x', '%00', '1%20or%201=1']) {
      const { status, body } = await stack.get(`/paid/${id}`);
      expect([id, status]).toEqual([id, 404]);
      expect(String(body)).toContain('Payment not found');
    }
    expect((await stack.post(`/paid/${newId()}`, {})).status).toBe(405);
  });
});

describe('A return_url', () => {
  it.each([
    'http://shop.example/back',
    'shop.example/back',
    'https:shop.example',
    'https://shop.example/a b',
    'https://shop.example/\u0000',
    'javascript:alert(1)',
    '',
    `https://shop.example/${'x'.repeat(240)}`,
  ])('The return_url %j returns 400, and no payment is created', async (return_url) => {
    const before = (await partner.get('/payments')).body.data.total;
    const { status, body } = await partner.post('/payments', { ...wallet, return_url });
    expect([status, body.error.code]).toEqual([400, 'REQUEST_INVALID_PAYLOAD']);
    expect(body.error.details).toEqual([{ field: 'return_url', message: expect.any(String) }]);
    expect((await partner.get('/payments')).body.data.total).toBe(before);
  });

  it('A return_url is stored encrypted, and can be null or absent', async () => {
    const return_url = 'https://shop.example/back?token=very-secret-token';
    const { id } = await collect({ return_url });
    const rows = await stack.em().execute<object[]>('select * from partner_payments where id = ?', [id]);
    expect(JSON.stringify(rows)).not.toContain('very-secret-token');
    await collect({ return_url: null });
  });
});
