import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { openProfile } from '../../../src/people/members/profile.ts';
import { User } from '../../../src/people/members/user.entity.ts';
import { buildSecondKey, itemsOf, makeBatch } from '../../money-out/payout-batches/build-batches.ts';
import { buildPayer, buildUnknownPayout, readPayout } from '../../money-out/payouts/build-payouts.ts';
import { refund, toBank } from '../../money-out/refunds/build-refunds.ts';
import { buildOwner, withdraw } from '../../money-out/withdrawals/build-withdrawals.ts';
import { describeInBrowser, hasBrowser, startBrowser } from '../../support/browser.ts';
import { type BuiltUser, buildIndividual, buildSuperAdmin } from '../../support/build.ts';
import { buildOperators, type Operators } from '../../support/decide.ts';
import { itInFull } from '../../support/full.ts';
import type { BuiltPartner } from '../../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let browser: Browser;
let partner: BuiltPartner;
let operators: Operators;
let payout: { id: string; reference: string };
beforeAll(async () => {
  const env = {
    BANK_ACCOUNT_WAIT_HOURS: '0',
    PAYOUT_RESEND_HOURS: '0',
    TEMPORAL_UI_URL: 'http://temporal.example/below/',
  };
  stack = await startStack({ own: true, worker: true, sandbox: true, env });
  if (hasBrowser) browser = await startBrowser();
  partner = await buildPayer(stack, { available: '100000000', webhook: { url: 'http://127.0.0.1:9/hook' } });
  operators = await buildOperators(stack);
  const id = await buildUnknownPayout(stack, partner);
  payout = await readPayout(partner, id);
}, 120_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(async () => {
  await browser?.close();
  await stack?.stop();
});

/** Opens a page of the console as a logged-in user; a narrow page stands for a phone. */
async function visit(
  { token }: BuiltUser,
  { path = '', width = 1280, colorScheme = 'light' as 'light' | 'dark' } = {},
): Promise<Page> {
  const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme });
  await context.addCookies([{ name: 'access_token', value: token, url: stack.url }]);
  const page = await context.newPage();
  await page.goto(`${stack.url}/operations${path}`);
  return page;
}
const heading = (page: Page) => page.locator('h1').textContent();
const main = async (page: Page): Promise<string> => (await page.locator('main').textContent()) ?? '';
/** Saves a screenshot on request, for inspection. */
async function keepPicture(page: Page, name: string): Promise<void> {
  const directory = process.env.AMANAH_PICTURES;
  if (!directory) return;
  mkdirSync(directory, { recursive: true });
  await page.screenshot({ path: join(directory, `${name}.png`), fullPage: true });
}

describeInBrowser('The console', () => {
  it('The console finds a payout by its reference, and two people settle it without typing an id', async () => {
    const first = await visit(operators.proposer);
    await first.getByLabel('Search').fill(payout.reference);
    await first.getByRole('button', { name: 'Search' }).click();
    expect(await heading(first)).toBe(`Payout ${payout.reference}`);
    await keepPicture(first, 'payout');
    const seen = await main(first);
    for (const fact of ['pending', 'IDR 100,000', '0004', 'B*** S******', 'WIB']) expect(seen).toContain(fact);
    expect(await first.getByRole('link', { name: 'Workflow in Temporal' }).getAttribute('href')).toBe(
      `http://temporal.example/below/namespaces/${stack.deps.config.TEMPORAL_NAMESPACE}/workflows/partner-payout%2F${payout.id}`,
    );
    expect(seen).toContain('The workflow is still running');
    await first.getByLabel('Not paid').check();
    await first.getByLabel('Note').fill('ticket 4711, statement of the day');
    await first.getByRole('button', { name: 'Propose' }).click();
    expect(await heading(first)).toBe('Decision pending');

    const path = new URL(first.url()).pathname.replace('/operations', '');
    const second = await visit(operators.approver, { path, width: 390 });
    const shown = await main(second);
    for (const fact of [
      payout.id,
      payout.reference,
      '0004',
      'B*** S******',
      'IDR 100,000',
      'The reservation of IDR 100,000 is released',
      'The workflow is still running',
      'ticket 4711',
    ]) {
      expect(shown).toContain(fact);
    }
    await keepPicture(second, 'decision-390');
    await second.getByRole('button', { name: 'Approve and carry out' }).click();
    expect(await heading(second)).toBe('Decision carried out');
    await second.getByRole('link', { name: 'All details' }).click();
    const ended = await main(second);
    const postings = ['partner-payout.reserved', 'IDR -100,000 partner available', 'partner-payout.failed'];
    for (const fact of ['failed, SETTLED_BY_OPERATOR', 'carried out', 'payout.failed', ...postings])
      expect(ended).toContain(fact);
    await keepPicture(second, 'payout-390');
    await second.getByRole('button', { name: 'Send again' }).first().click();
    expect(await heading(second)).toBe(`Payout ${payout.reference}`);
  }, 120_000);

  it('The console filters payouts, exports them as CSV and reports when nothing matches', async () => {
    const page = await visit(operators.proposer, { path: '/payouts' });
    await keepPicture(page, 'payouts');
    await page.getByLabel('Reference', { exact: true }).fill(payout.reference);
    await page.getByLabel('Kind').selectOption('partner_payout');
    await page.getByRole('button', { name: 'Filter' }).click();
    expect(await page.locator('tbody tr').count()).toBe(1);
    const owner = page.locator('tbody').getByRole('link', { name: 'Partner', exact: true });
    expect(await owner.getAttribute('href')).toBe(`/operations/partners/${partner.id}`);
    const csv = await page
      .context()
      .request.get(`${stack.url}${await page.getByRole('link', { name: 'As CSV' }).getAttribute('href')}`);
    const [head, row, rest] = (await csv.text()).split('\r\n');
    expect([head?.split(',')[0], row?.split(',')[0], rest]).toEqual(['Reference', payout.reference, '']);
    await page.getByLabel('Status').selectOption('reversed');
    await page.getByRole('button', { name: 'Filter' }).click();
    expect(await main(page)).toContain('No payout matches.');
    await page.goto(`${stack.url}/operations/payouts?partner_id=none`);
    expect(await page.getByRole('alert').textContent()).toContain('partner_id: must be a UUID');
    await page.goto(`${stack.url}/operations/search?q=${operators.proposer.id}`);
    expect(await main(page)).toContain(`user ${operators.proposer.id}`);
    await page.goto(`${stack.url}/operations/search?q=nobody`);
    expect(await main(page)).toContain('No exact match for this');
  }, 60_000);

  it('The console finds a batch by its reference, links to its payouts, and can reject a pending one', async () => {
    const [waiting, paid] = [`waiting ${partner.id}`, `paid ${partner.id}`];
    await makeBatch(partner, itemsOf(1), { external_ref: waiting });
    const { id } = await makeBatch(partner, itemsOf(1), { external_ref: paid });
    const approve = await buildSecondKey(stack, partner);
    expect(await approve(`/payout-batches/${id}/approve`)).toMatchObject({ status: 200 });
    const page = await visit(await buildSuperAdmin(stack), { path: '/batches' });
    const open = async (reference: string) => {
      await page.getByLabel('Search').fill(reference);
      await page.getByRole('button', { name: 'Search' }).click();
      expect(await heading(page)).toBe(`Batch ${reference}`);
    };
    await open(waiting);
    expect(await main(page)).toContain('must approve it, but not the key that created it');
    await page.getByRole('button', { name: 'Reject this batch' }).click();
    expect(await main(page)).toMatch(/rejected[\s\S]*by key amk_/);
    expect(await page.getByRole('button', { name: 'Reject this batch' }).count()).toBe(0);
    await open(paid);
    await page.locator('tbody a').click();
    expect(await heading(page)).toMatch(/^Payout PO-/);
    await page.getByRole('link', { name: id }).click();
    expect(await heading(page)).toBe(`Batch ${paid}`);
    await keepPicture(page, 'batch');
  }, 60_000);

  it('The console finds a user’s withdrawals by the e-mail address', async () => {
    const owner = await buildOwner(stack);
    const { id, reference } = await stack
      .get(`/v1/payouts/${(await withdraw(stack, owner)).id}`, { token: operators.proposer.token })
      .then(({ body }) => body.data);
    await withdraw(stack, await buildOwner(stack));
    const { email } = await openProfile(stack.deps.sealer, await stack.em().findOneOrFail(User, owner.id));
    const page = await visit(operators.proposer);
    await page.getByLabel('Search').fill(email);
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('link', { name: 'Withdrawals' }).click();
    expect(await page.locator('tbody tr').count()).toBe(1);
    await page.getByRole('link', { name: reference }).click();
    expect(new URL(page.url()).pathname).toBe(`/operations/payouts/${id}`);
    await page.getByRole('link', { name: owner.id }).click();
    expect(await page.locator('tbody tr').count()).toBe(1);
  }, 60_000);

  it('An unknown address of the console shows a page that links back to the others', async () => {
    const page = await visit(operators.proposer, { path: '/nothing' });
    expect(await heading(page)).toBe('This page is not available');
    expect(await page.getByRole('link', { name: 'Payouts' }).count()).toBe(1);
  }, 60_000);

  it('The console shows a payment to a reusable instrument with its instrument and without a deadline', async () => {
    const { id, payment_code } = (await partner.post('/instruments', { method: 'qris' })).body.data;
    await stack.sandbox.post('/sandbox/pay', { payment_code, amount: 20_000 });
    const [payment] = await eventually(
      async () => (await partner.get(`/payments?instrument_id=${id}`)).body.data.items,
      (items) => items.length === 1,
    );
    const page = await visit(operators.proposer, { path: `/payments/${payment.id}` });
    const facts = await page.locator('dl').textContent();
    expect(facts).toContain(`Instrument${id}`);
    expect(facts).not.toMatch(/1970|Expires|none yet/);
    const workflow = await page.getByRole('link', { name: 'Workflow in Temporal' }).getAttribute('href');
    expect(workflow).toContain(encodeURIComponent(`partner-instrument/${id}`));
    await keepPicture(page, 'instrument-payment');
  }, 60_000);

  it('The console shows a payment’s refunds and money in suspense, which two people credit without typing an id', async () => {
    const body = { method: 'virtual_account', channel: 'BCA', amount: '250000' };
    const { id, payment_code } = (await partner.post('/payments', body)).body.data;
    await stack.sandbox.post('/sandbox/pay', { payment_code, amount: 100_000 });
    await stack.sandbox.post('/sandbox/pay', { payment_code });
    await eventually(
      async () => [
        (await partner.get(`/payments/${id}`)).body.data.status,
        (await stack.get(`/v1/receipts?reference=${id}`, { token: operators.proposer.token })).body.data.total,
      ],
      ([status, total]) => status === 'succeeded' && total === 1,
      30_000,
    );
    await refund(partner, id, { ...toBank(), amount: '20000' });
    const first = await visit(operators.proposer);
    await first
      .getByRole('listitem')
      .filter({ hasText: id })
      .getByRole('link', { name: 'Propose a settlement' })
      .click();
    expect(await first.getByRole('textbox', { name: 'Account' }).inputValue()).toBe(partner.account.available);
    await first.goto(`${stack.url}/operations/receipts?status=suspended`);
    await first.getByRole('link', { name: id }).click();
    await first.getByRole('link', { name: 'IDR 250000.0000, paid' }).click();
    expect(await main(first)).toMatch(
      /Refunds\s+RF-\w+, IDR 20,000: \w+[\s\S]*IDR 100,000: suspended[\s\S]*No decisions\./,
    );
    await first.getByRole('link', { name: 'Propose a settlement' }).click();
    await first.getByLabel('To an account').check();
    await first.getByLabel('Note').fill('ticket 4712: paid twice');
    await first.getByRole('button', { name: 'Propose' }).click();
    expect(await heading(first)).toBe('Decision pending');
    expect(await main(first)).toContain(partner.account.available);
    const second = await visit(operators.approver, { path: new URL(first.url()).pathname.replace('/operations', '') });
    const shown = await main(second);
    for (const fact of [
      'IDR 250,000',
      'virtual account, BCA',
      'The money: IDR 100,000 goes from suspense to an account of',
    ])
      expect(shown).toContain(fact);
    expect(shown).toMatch(/to an account of [^(]*\(partner available\)/);
    await second.getByRole('button', { name: 'Approve and carry out' }).click();
    expect(await heading(second)).toBe('Decision carried out');
    await first.goto(`${stack.url}/operations/payments/${id}`);
    expect(await main(first)).toMatch(/IDR 100,000: credited[\s\S]*ticket 4712/);
    expect(await first.getByRole('link', { name: 'Propose a settlement' }).count()).toBe(0);
    await keepPicture(first, 'payment');
  }, 60_000);

  it('The console shows a partner’s endpoints without secrets, and filters and resends its deliveries', async () => {
    const url = 'http://127.0.0.1:9/second';
    const { status } = await partner.post('/webhook-endpoints', {
      url,
      events: ['payment.succeeded'],
      status: 'disabled',
    });
    expect(status).toBe(200);
    const page = await visit(operators.approver, { path: `/partners/${partner.id}` });
    const rows = page.getByRole('table', { name: 'Webhook endpoints' }).locator('tbody tr');
    const [second, first] = await rows.allTextContents();
    expect(second).toMatch(/second.*payment\.succeeded.*disabled.*none yet.*the partner/s);
    expect(first).toMatch(/hook.*failing since.*pending, .* WIB: .*operators/s);
    expect(await page.content()).not.toContain('whsec_');
    await keepPicture(page, 'partner');
    await rows.nth(1).getByRole('link').click();
    expect(await heading(page)).toBe('Webhook deliveries');
    await page.getByLabel('Status').selectOption('pending');
    await page.getByRole('button', { name: 'Filter' }).click();
    await keepPicture(page, 'deliveries');
    await page.getByRole('button', { name: 'Send again' }).first().click();
    expect(page.url()).toMatch(/\/deliveries\?status=pending&endpoint_id=[\w-]+$/);
    await page
      .getByRole('link', { name: /^payout\./ })
      .first()
      .click();
    expect(await heading(page)).toMatch(/^Payout PO-/);
    await page.goto(`${stack.url}/operations/partners/${partner.id}/deliveries?status=parked`);
    expect(await main(page)).toContain('No delivery matches.');
  }, 60_000);

  itInFull(
    'The console fits a phone on every page and labels every field',
    async () => {
      const partnerPath = `/partners/${partner.id}`;
      const page = await visit(operators.approver, { width: 390, colorScheme: 'dark' });
      for (const path of [
        '',
        '/payouts',
        '/batches',
        '/payments',
        '/receipts',
        '/decisions',
        '/partners',
        '/events',
        '/switch',
        partnerPath,
        `${partnerPath}/deliveries`,
        `/payouts/${payout.id}`,
        `/search?q=${'0'.repeat(200)}`,
      ]) {
        const answer = await page.goto(`${stack.url}/operations${path}`);
        expect([path, answer?.status()]).toEqual([path, 200]);
        await keepPicture(page, `dark-390${path.replaceAll('/', '-').slice(0, 20)}`);
        expect([path, await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')]).toEqual([
          path,
          false,
        ]);
        const unlabelled = await page.evaluate<number>(
          "[...document.querySelectorAll('input:not([type=hidden]):not([type=radio]), textarea, select')].filter(({ labels }) => labels.length !== 1).length",
        );
        expect([path, unlabelled]).toEqual([path, 0]);
      }
    },
    60_000,
  );

  it('An operator can hold all payouts in the console, and every page shows the hold until its release', async () => {
    const page = await visit(operators.approver, { path: '/switch' });
    await page.getByLabel('Why').fill('incident 4711');
    await page.getByRole('button', { name: 'Hold all payouts' }).click();
    await keepPicture(page, 'switch');
    for (const path of [
      '',
      '/payouts',
      `/payouts/${payout.id}`,
      '/decisions',
      '/events',
      '/propose?kind=book_external',
      '/decisions/none',
      '/switch',
    ]) {
      await page.goto(`${stack.url}/operations${path}`);
      expect([path, await page.getByRole('status').textContent()]).toEqual([
        path,
        expect.stringContaining('incident 4711'),
      ]);
    }
    const colleague = await visit(operators.proposer, { path: '/switch' });
    expect(await main(colleague)).toMatch(/Changed.* WIB, by .*\S/);
    expect(await colleague.getByRole('button', { name: 'Release all payouts' }).count()).toBe(0);
    await page.getByLabel('Why').fill('incident 4711 is over');
    await page.getByRole('button', { name: 'Release all payouts' }).click();
    expect(await page.getByRole('status').count()).toBe(0);
  }, 60_000);
});

it('The console returns 403 to users who are not operators', async () => {
  const { token } = await buildIndividual(stack);
  for (const path of ['/payouts', '/payouts.csv', `/payouts/${payout.id}`, '/switch', '/search?q=x']) {
    const answer = await fetch(`${stack.url}/operations${path}`, { headers: { cookie: `access_token=${token}` } });
    expect([path, answer.status]).toEqual([path, 403]);
  }
});
