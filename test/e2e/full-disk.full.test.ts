import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPayer, payoutBody, readBalance, readPayout, transfersOf } from '../money-out/payouts/build-payouts.ts';
import { balanceOf, buildIndividual } from '../support/build.ts';
import type { HttpAnswer } from '../support/http.ts';
import { freshKey } from '../support/partner.ts';
import { type ProcessStack, startProcessStack } from '../support/processes.ts';
import { isFullRun } from '../support/run.ts';
import { eventually, expectChecksEmpty } from '../support/stack.ts';
import { mountSmallDisk, type SmallDisk } from '../torture/small-disk.ts';
import { askFor, balanceWays, expectOneUnder, readPaid, wholly } from './balance-ways.ts';

/** Space for the cluster and for what is written before the disk is full. */
const megabytes = 512;

const directory = mkdtempSync(join(tmpdir(), 'amanah-small-disk-'));
const disk: SmallDisk | null = isFullRun() ? mountSmallDisk(directory, megabytes) : null;
/** Set where no small disk can be mounted, to skip this test deliberately. */
const isGivenUp = disk === null && process.env.AMANAH_WITHOUT_FULL_DISK === '1';
if (isFullRun() && isGivenUp) process.stderr.write('A full disk is not tested: none can be mounted here.\n');

let stack: ProcessStack | undefined;
afterAll(async () => {
  await stack?.stop();
  disk?.unmount();
  rmSync(directory, { recursive: true, force: true });
}, 60_000);

const ways = Object.values(balanceWays);
const mayBeRetried = ({ status, headers }: HttpAnswer) => status === 503 && headers.has('retry-after');

/** IDR of each top-up, partner's payment and payout. */
const amount = 50_000;
const several = Array.from({ length: 3 }, (_, index) => index);
/** Callbacks and sweeps are retried, at growing intervals. */
const settledWithinMs = 300_000;

/** Builds payments to pay at the provider and payouts to request while the disk is full, and checks their outcomes. */
async function buildProviderMoney(stack: ProcessStack) {
  const payer = await buildIndividual(stack);
  const partner = await buildPayer(stack, { available: '1000000' });
  const topUp = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount };
  const collection = { method: 'virtual_account', channel: 'BNI', amount: String(amount) };
  const made = async (answer: Promise<HttpAnswer>) => (await answer).body.data;
  const topUps = await Promise.all(
    several.map(() => made(stack.post('/v1/payments/gateway', topUp, { token: payer.token }))),
  );
  const collections = await Promise.all(several.map(() => made(partner.post('/payments', collection))));
  const keys = several.map(freshKey);
  const payOut = (key: string) => partner.post('/payouts', payoutBody({ amount: String(amount) }), key);
  const statusesOfTopUps = () =>
    Promise.all(
      topUps.map(async ({ payment_order_id }) => {
        const { body } = await stack.get(`/v1/payments/orders/${payment_order_id}`, { token: payer.token });
        return body.data?.status;
      }),
    );
  const statusesOfCollections = () =>
    Promise.all(collections.map(async ({ id }) => (await partner.get(`/payments/${id}`)).body.data?.status));
  const all = (status: string) => (statuses: unknown[]) => statuses.every((each) => each === status);
  return {
    /** Customers pay, and the partner requests its payouts, once each. */
    async begin(): Promise<HttpAnswer[]> {
      for (const { payment_code } of [...topUps, ...collections])
        await stack.sandbox.post('/sandbox/pay', { payment_code });
      return Promise.all(keys.map(payOut));
    },
    /** Counts payments that are not final yet. */
    async countWaiting(): Promise<number> {
      const [paid, succeeded] = [await statusesOfTopUps(), await statusesOfCollections()];
      return paid.filter((each) => each !== 'PAID').length + succeeded.filter((each) => each !== 'succeeded').length;
    },
    /** Expects each payment to be booked exactly once, and each payout to be at the provider exactly once. */
    async expectOnce(): Promise<void> {
      await eventually(statusesOfTopUps, all('PAID'), settledWithinMs);
      await eventually(statusesOfCollections, all('succeeded'), settledWithinMs);
      for (const key of keys) {
        const { body } = await eventually(
          () => payOut(key),
          ({ status }) => status === 200,
          settledWithinMs,
        );
        const { id } = body.data;
        await eventually(
          () => readPayout(partner, id),
          (payout) => payout?.status === 'succeeded',
          settledWithinMs,
        );
        expect(await transfersOf(stack, id)).toMatchObject([{ status: 'SUCCEEDED', amount }]);
      }
      const total = several.length * amount;
      expect(await balanceOf(stack, payer.accountId)).toBe(`${total}.0000`);
      // Money in equals money out.
      expect(await readBalance(partner)).toMatchObject({ balance: '1000000.0000', pending: '0.0000' });
    },
  };
}

(isFullRun() && !isGivenUp ? describe : describe.skip)('A full disk of PostgreSQL', () => {
  it('On a full disk requests succeed or return 503, no process exits, and retries take effect once', async () => {
    if (disk === null) throw new Error('no small disk can be mounted here; AMANAH_WITHOUT_FULL_DISK=1 skips this test');
    const running = await startProcessStack({ ownPostgres: { directory: join(directory, 'cluster') } });
    stack = running;
    const pids = [running.api.pid, running.worker.pid];
    const requests = [];
    for (const way of [...ways, ...ways]) requests.push({ request: await way.build(running), key: freshKey() });
    const [transfer] = ways;
    const small = await transfer?.build(running);
    if (small === undefined) throw new Error('there is no way to pay');
    const money = await buildProviderMoney(running);
    disk.fill();
    // Writes that fit into existing pages still succeed; some table soon needs another page.
    const told = await eventually(
      () => askFor(running, small, freshKey(), { amount: '1' }),
      ({ status }) => status !== 201,
      240_000,
    );
    expect(mayBeRetried(told)).toBe(true);
    for (const { request, key } of requests) {
      const answer = await askFor(running, request, key);
      if (answer.status === 201) expect(await readPaid(running, request)).toEqual(wholly);
      else expect(mayBeRetried(answer)).toBe(true);
    }
    // A payout that cannot be stored is not refused.
    for (const { status } of await money.begin()) expect([200, 503, 504]).toContain(status);
    // Long enough for a callback and its workflow: everything that needs space waits.
    await new Promise((resolve) => setTimeout(resolve, 10_000));
    expect(await money.countWaiting()).toBeGreaterThan(0);
    // Nothing failed for another reason; if PostgreSQL's own log found no space, the server has exited, too.
    expect(running.readLog('postgres')).toContain('No space left on device');
    disk.free();
    await running.startPostgresAgain();
    await eventually(
      () => running.get('/readyz'),
      ({ status }) => status === 200,
    );
    for (const { request, key } of requests) await expectOneUnder(running, key, request);
    await money.expectOnce();
    expect([running.api.isRunning(), running.worker.isRunning()]).toEqual([true, true]);
    expect([running.api.pid, running.worker.pid]).toEqual(pids);
    await expectChecksEmpty(running);
  }, 1_200_000);
});
