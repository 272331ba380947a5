import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { generateSync } from 'otplib';
import type { Browser, Page } from 'playwright-core';
import { hashPassword } from '../../../src/people/identity/password.ts';
import { openProfile } from '../../../src/people/members/profile.ts';
import { User } from '../../../src/people/members/user.entity.ts';
import { newId } from '../../../src/shared/ids.ts';
import { give } from '../../giving/donations/build-donations.ts';
import { buildPayer, buildUnknownPayout, readPayout } from '../../money-out/payouts/build-payouts.ts';
import { addBankAccount, ask, buildOwner, withdrawalWhen } from '../../money-out/withdrawals/build-withdrawals.ts';
import { describeInBrowser, hasBrowser, startBrowser } from '../../support/browser.ts';
import {
  type BuiltUser,
  balanceOf,
  buildIndividual,
  buildPlatformAdmin,
  buildSuperAdmin,
} from '../../support/build.ts';
import { buildActiveCause } from '../../support/build-targets.ts';
import { itInFull } from '../../support/full.ts';
import type { BuiltPartner } from '../../support/partner.ts';
import { isFullRun } from '../../support/run.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
let browser: Browser;
let partner: BuiltPartner;
beforeAll(async () => {
  // Nothing is re-sent automatically, so that nothing races with decisions. Tests that need a worker are in the full
  // run.
  const env = { PAYOUT_RESEND_HOURS: '0' };
  stack = await startStack({ own: true, worker: isFullRun(), sandbox: true, env });
  if (hasBrowser) browser = await startBrowser();
  partner = await buildPayer(stack, { available: '100000000' });
}, 120_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(async () => {
  await browser?.close();
  await stack?.stop();
});

const password = 'correct horse battery';

interface Person extends BuiltUser {
  email: string;
  name: string;
}
/** Builds a user who can log in by password. */
async function withPassword(user: BuiltUser): Promise<Person> {
  await stack
    .owner()
    .execute('update users set password_sealed = ? where id = ?', [
      await hashPassword(stack.deps.sealer, user.id, password),
      user.id,
    ]);
  const { email, name } = await openProfile(stack.deps.sealer, await stack.em().findOneOrFail(User, user.id));
  return { ...user, email, name };
}
/** Adds a second factor that was confirmed a while ago; returns the current code. */
async function addSecondFactor({ id, token }: Person): Promise<() => string> {
  const { secret } = (await stack.post('/v1/auth/totp', undefined, { token })).body.data;
  const code = () => generateSync({ secret });
  expect((await stack.post('/v1/auth/totp/confirm', { code: code() }, { token })).status).toBe(200);
  await stack.owner().execute('update second_factors set last_step = 0 where id = ?', [id]);
  return code;
}

/** Opens the pages as a visitor with their own cookies; a narrow page stands for a phone. */
async function visit({ width = 1_000 }: { width?: number } = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width, height: 800 } });
  const page = await context.newPage();
  page.on('pageerror', (error) => {
    throw error;
  });
  await page.goto(`${stack.url}/operations`);
  return page;
}
async function logIn(page: Page, { email }: Person, code?: string): Promise<void> {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(password);
  if (code) await page.getByLabel('Code of the authenticator app').fill(code);
  await page.getByRole('button', { name: 'Log in' }).click();
}
const heading = (page: Page) => page.locator('h1').textContent();
const complaint = (page: Page) => page.getByRole('alert').textContent();
/** Saves a screenshot on request, for inspection. */
async function keepPicture(page: Page, name: string): Promise<void> {
  const directory = process.env.AMANAH_PICTURES;
  if (!directory) return;
  mkdirSync(directory, { recursive: true });
  await page.screenshot({ path: join(directory, `${name}.png`), fullPage: true });
}

const unknownPayout = () => buildUnknownPayout(stack, partner);

describeInBrowser('The pages for operators', () => {
  it('On the pages for operators one user proposes a transfer of platform money and another approves it', async () => {
    const proposer = await withPassword(await buildPlatformAdmin(stack));
    const approver = await withPassword(await buildSuperAdmin(stack));
    const code = await addSecondFactor(approver);

    const first = await visit();
    expect(new URL(first.url()).pathname).toBe('/operations/log-in');
    await keepPicture(first, 'log-in');
    await logIn(first, proposer);
    expect(await heading(first)).toBe('Overview');
    await first.getByRole('link', { name: 'Book the platform’s own transfer' }).click();
    await first.getByLabel('Amount in IDR').fill('250000');
    await first.getByRole('textbox', { name: 'Reference' }).fill('top-up 4711');
    await first.getByLabel('Note').fill('ticket 4711,\nstatement of <b>today</b>');
    await first.getByRole('button', { name: 'Propose' }).click();
    expect(await heading(first)).toBe('Decision pending');
    expect(await first.locator('main').textContent()).toContain('somebody else must approve or reject it');
    const decision = first.url();

    const second = await visit({ width: 390 });
    await logIn(second, approver, code());
    const waiting = second.locator(`a[href="${new URL(decision).pathname}"]`);
    expect(await waiting.textContent()).toContain('IDR 250,000');
    await waiting.click();
    const shown = await second.locator('main').textContent();
    for (const fact of ['ticket 4711, statement of <b>today</b>', proposer.name, 'Book IDR 250,000 at the provider']) {
      expect(shown).toContain(fact);
    }
    const old = await second.context().newPage();
    await old.goto(decision);
    await second.getByRole('button', { name: 'Approve' }).click();
    expect(await heading(second)).toBe('Decision carried out');
    expect(await second.locator('main').textContent()).toContain(approver.name);

    // A page opened earlier shows what has happened since.
    await old.getByRole('button', { name: 'Reject' }).click();
    expect(await complaint(old)).toContain('carried_out, not pending');
    expect(await heading(old)).toBe('Decision carried out');

    await second.getByRole('button', { name: 'Log out' }).click();
    expect(await heading(second)).toBe('Log in');
    await second.goto(decision);
    expect(await heading(second)).toBe('Log in');
  }, 90_000);

  itInFull(
    'On the pages for operators one user proposes a payout’s outcome and another approves it',
    async () => {
      const payoutId = await unknownPayout();
      const proposer = await withPassword(await buildPlatformAdmin(stack));
      const approver = await withPassword(await buildSuperAdmin(stack));
      const code = await addSecondFactor(approver);

      const first = await visit();
      await logIn(first, proposer);
      expect(await heading(first)).toBe('Overview');
      await keepPicture(first, 'overview');
      await first.locator(`a[href*="payout_id=${payoutId}"]`).click();
      expect(await heading(first)).toBe('Propose a payout’s outcome');
      await first.getByLabel('Not paid').check();
      await first.getByLabel('Note').fill('ticket 4711,\nstatement of <b>today</b>');
      await keepPicture(first, 'propose');
      await first.getByRole('button', { name: 'Propose' }).click();
      expect(await heading(first)).toBe('Decision pending');
      await keepPicture(first, 'pending');

      const second = await visit({ width: 390 });
      await logIn(second, approver, code());
      const waiting = second.locator(`a[href="${new URL(first.url()).pathname}"]`);
      expect(await waiting.textContent()).toBe(`Settle payout ${payoutId} as failed`);
      await keepPicture(second, 'overview-390');
      await waiting.click();
      const shown = await second.locator('main').textContent();
      for (const fact of ['ticket 4711, statement of <b>today</b>', proposer.name, 'not known', 'IDR 100,000']) {
        expect(shown).toContain(fact);
      }
      await keepPicture(second, 'decision-390');
      await second.getByRole('button', { name: 'Approve' }).click();
      expect(await heading(second)).toBe('Decision carried out');
      expect(await readPayout(partner, payoutId)).toMatchObject({ status: 'failed' });
    },
    90_000,
  );

  itInFull('The pages for operators work by keyboard alone and fit a phone without horizontal scrolling', async () => {
    const proposer = await withPassword(await buildPlatformAdmin(stack));
    const page = await visit({ width: 390 });
    const focused = () =>
      page.evaluate<string>('document.activeElement.id || document.activeElement.textContent.trim()');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Skip to content');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('email');
    await page.keyboard.type(proposer.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(password);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/operations');
    for (const path of ['', '/propose?kind=settle_receipt', '/propose?kind=book_external']) {
      await page.goto(`${stack.url}/operations${path}`);
      const isWide = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
      expect([path, isWide]).toEqual([path, false]);
      const fields = 'input:not([type=hidden]):not([type=radio]), textarea';
      const unlabelled = await page.evaluate<number>(
        `[...document.querySelectorAll('${fields}')].filter(({ labels }) => labels.length !== 1).length`,
      );
      expect([path, unlabelled]).toEqual([path, 0]);
    }
  });

  it('The pages for operators show an error beside the form and keep the input', async () => {
    const proposer = await withPassword(await buildPlatformAdmin(stack));
    const page = await visit();
    await page.getByLabel('E-mail address').fill(proposer.email);
    await page.getByLabel('Password').fill('wrong');
    await page.getByRole('button', { name: 'Log in' }).click();
    expect(await complaint(page)).not.toBe('');
    expect(await page.getByLabel('E-mail address').inputValue()).toBe(proposer.email);
    await logIn(page, proposer);
    await page.getByRole('link', { name: 'Book the platform’s own transfer' }).click();
    await page.getByLabel('Amount in IDR').fill('-1000000000');
    await page.getByLabel('Reference').fill('withdrawal 7');
    await page.getByLabel('Note').fill('bank statement');
    await page.getByRole('button', { name: 'Propose' }).click();
    expect(await complaint(page)).toContain("amount: exceeds the platform's own balance");
    expect(await page.getByLabel('Reference').inputValue()).toBe('withdrawal 7');
    await keepPicture(page, 'refused');
    await page.goto(`${stack.url}/operations/decisions/${newId()}`);
    expect(await complaint(page)).toContain('The decision was not found');
  });

  it('The pages for operators request the second factor, and refuse approvals without one', async () => {
    const proposer = await buildPlatformAdmin(stack);
    const proposal = { kind: 'book_external', amount: '250000', reference: 'top-up 4712', note: 'ticket 4712' };
    const { body } = await stack.post('/v1/decisions', proposal, { token: proposer.token });
    const approver = await withPassword(await buildSuperAdmin(stack));
    const page = await visit();
    await logIn(page, approver);
    await page.goto(`${stack.url}/operations/decisions/${body.data.id}`);
    await page.getByRole('button', { name: 'Approve' }).click();
    expect(await complaint(page)).toContain('second factor');
    await addSecondFactor(approver);
    await page.context().clearCookies();
    await page.goto(`${stack.url}/operations/log-in`);
    await logIn(page, approver);
    expect(await complaint(page)).toBe('totp_code: is required');
    await stack.post(`/v1/decisions/${body.data.id}/reject`, undefined, { token: approver.token });
  });

  itInFull(
    'The pages for operators credit suspense money, explain differences, and book or reject transfers',
    async () => {
      const payer = await buildIndividual(stack);
      const [receiptId, difference] = [newId(), newId()];
      await stack
        .em()
        .execute("select suspend_receipt(?, ?, ?, ?, ?, 54000, 0, 'late', 'xendit')", [
          newId(),
          receiptId,
          `py-${receiptId}`,
          `pm-${receiptId}`,
          newId(),
        ]);
      await stack.em().execute(
        `insert into reconciliations (id, day, resource_type, subject, reference)
       values (?, '2026-01-01', 'payment', ?, 'stray')`,
        [difference, `py-${difference}`],
      );
      const approver = await withPassword(await buildSuperAdmin(stack));
      const code = await addSecondFactor(approver);
      const [first, second] = [await visit(), await visit()];
      await logIn(first, await withPassword(await buildPlatformAdmin(stack)));
      await logIn(second, approver, code());
      const propose = async (note: string) => {
        await first.getByLabel('Note').fill(note);
        await first.getByRole('button', { name: 'Propose' }).click();
      };
      const decide = async (button: string) => {
        await second.goto(first.url());
        await second.getByRole('button', { name: button }).click();
        return heading(second);
      };

      await first.locator(`a[href*="${receiptId}"]`).click();
      await first.getByLabel('To an account').check();
      await first.getByRole('textbox', { name: 'Account' }).fill(payer.accountId);
      await propose('late money, ticket 12');
      expect(await decide('Approve')).toBe('Decision carried out');
      expect(await balanceOf(stack, payer.accountId)).toBe('54000.0000');

      await first.goto(`${stack.url}/operations`);
      await first.locator(`a[href*="${difference}"]`).click();
      await propose('a test of the provider');
      expect(await heading(first)).toBe('Decision carried out');
      await first.goto(`${stack.url}/operations`);
      expect(await first.locator(`a[href*="${difference}"]`).count()).toBe(0);

      for (const [button, outcome] of [
        ['Reject', 'Decision rejected'],
        ['Approve', 'Decision carried out'],
      ] as const) {
        await first.goto(`${stack.url}/operations/propose?kind=book_external`);
        await first.getByLabel('Amount in IDR').fill('250000');
        await first.getByRole('textbox', { name: 'Reference' }).fill(`top-up ${difference}`);
        await propose('statement of the provider');
        expect(await decide(button)).toBe(outcome);
      }
      expect(await second.locator('main').textContent()).toContain('Book IDR 250,000 at the provider');
    },
    90_000,
  );

  itInFull(
    'The pages for operators require two approvers for a disbursement and let nobody approve twice',
    async () => {
      const owner = await buildOwner(stack);
      const { id: cause_id } = await buildActiveCause(stack, owner);
      expect((await give(stack, await buildOwner(stack), 100_000, cause_id)).status).toBe(201);
      const bank_account_id = await addBankAccount(stack, owner);
      const asked = { bank_account_id, amount: '100000', cause_id, purpose_note: 'Two pumps and their pipes' };
      const { id } = (await ask(stack, owner, asked)).body.data;

      const pageOf = async () => {
        const approver = await withPassword(await buildSuperAdmin(stack));
        const code = await addSecondFactor(approver);
        const page = await visit();
        await logIn(page, approver, code());
        await page.getByRole('link', { name: `Release disbursement ${id}` }).click();
        return page;
      };
      const first = await pageOf();
      await first.getByRole('button', { name: 'Approve', exact: true }).click();
      expect(await heading(first)).toBe('Decision pending');
      expect(await first.locator('main').textContent()).toContain(
        'You approved this: a second person must also approve it.',
      );
      expect(await first.getByRole('button', { name: /Approve/ }).count()).toBe(0);
      const second = await pageOf();
      await second.getByRole('button', { name: 'Approve and carry out' }).click();
      expect(await heading(second)).toBe('Decision carried out');
      await withdrawalWhen(stack, owner, id, 'succeeded');
    },
    90_000,
  );

  it('The pages for operators show how many rows they omit, and the other sections if one is unreadable', async () => {
    const proposer = await withPassword(await buildPlatformAdmin(stack));
    const page = await visit();
    await logIn(page, proposer);
    await stack.em().execute(
      `insert into reconciliations (id, day, resource_type, subject, reference)
       select gen_random_uuid(), '2026-01-01', 'payment', 'py-many-' || n, 'many ' || n from generate_series(1, 103) n`,
    );
    await page.goto(`${stack.url}/operations`);
    expect(await page.locator('main').textContent()).toContain('And 3 newer items.');
    await stack.owner().execute('alter table reconciliations rename to taken_away');
    try {
      await page.goto(`${stack.url}/operations`);
    } finally {
      await stack.owner().execute('alter table taken_away rename to reconciliations');
    }
    expect(await heading(page)).toBe('Overview');
    const shown = await page.locator('main').textContent();
    expect(shown).toMatch(/Differences with the provider\s+This is currently unavailable/);
    expect(shown).toMatch(/Decisions waiting for a second person\s+(None|Book|IDR)/);
    await keepPicture(page, 'unreadable');
    await stack.owner().execute("delete from reconciliations where subject like 'py-many-%'");
  });

  it('The pages for operators admit only platform users', async () => {
    const page = await visit();
    await logIn(page, await withPassword(await buildIndividual(stack)));
    expect(await complaint(page)).toContain('for platform operators');
    await page.getByRole('button', { name: 'Log out' }).click();
    expect(await heading(page)).toBe('Log in');
  });
});

describe('Forms of the pages for operators', () => {
  const send = (path: string, headers: Record<string, string>, body = '') =>
    fetch(`${stack.url}/operations${path}`, { method: 'POST', headers, body, redirect: 'manual' });
  const form = { 'content-type': 'application/x-www-form-urlencoded' };

  it.each([
    ['another site', { origin: 'https://example.org' }],
    ['an opaque origin', { origin: 'null' }],
    ['no origin', {}],
  ])('A form from %s returns 403', async (_, headers) => {
    const { token } = await buildSuperAdmin(stack);
    const signed = { ...form, ...headers, cookie: `access_token=${token}` } as Record<string, string>;
    for (const path of ['/log-in', '/propose', `/decisions/${newId()}/approve`, '/log-out']) {
      const answer = await send(path, signed, 'kind=book_external&amount=1&reference=r&note=note');
      expect([path, answer.status]).toEqual([path, 403]);
      expect(await answer.text()).toContain('did not come from these pages');
    }
  });

  it('A submission is rejected if it is not a form, too large, of an unknown kind or without a login', async () => {
    const { token } = await buildSuperAdmin(stack);
    const own = { ...form, origin: stack.url, cookie: `access_token=${token}` };
    expect((await send('/propose', { ...own, 'content-type': 'application/json' }, '{}')).status).toBe(400);
    const tooLarge = await send('/propose', own, `note=${'x'.repeat(20_000)}`);
    // The server does not wait for the rest of the body.
    expect([tooLarge.status, tooLarge.headers.get('connection')]).toEqual([413, 'close']);
    expect((await send('/propose', own, 'kind=fly')).status).toBe(400);
    const { cookie: _, ...nobody } = own;
    const answer = await send('/propose', nobody, 'kind=book_external');
    expect(answer.status).toBe(401);
    expect(await answer.text()).toContain('/operations/log-in');
  });

  it('A form is not cached, cannot be framed and runs only scripts of its own origin', async () => {
    const { headers, status } = await fetch(`${stack.url}/operations/log-in`);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(headers.get('content-security-policy')).toContain("script-src 'self'");
  });
});
