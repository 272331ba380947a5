import { once } from 'node:events';
import { createServer } from 'node:http';
import { startWorker } from '../../dev/service-parts.ts';
import { createApp } from '../../src/app.ts';
import { stampOpening } from '../../src/openings/stamp-opening.ts';
import type { PayoutOpening } from '../../src/payouts/payout.ts';
import { preparePayout } from '../../src/payouts/prepare-payout.ts';
import { reservePayout } from '../../src/payouts/reserve-payout.ts';
import { payoutIdFor } from '../../src/shared/ids.ts';
import { buildPayer, generous, magicAccount, payoutBody, readBalance } from '../payouts/build-payouts.ts';
import { fund } from '../support/build.ts';
import { createHttp, type Http } from '../support/http.ts';
import { readLockWaits } from '../support/lock-waits.ts';
import { type BuiltPartner, freshKey, signature } from '../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ isImpatient: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const rowOf = (id: string) => stack.em().execute<{ status: string }[]>('select status from payouts where id = ?', [id]);
const beginWorker = async () => {
  const worker = await startWorker({ env: stack.env, logFile: 'ignore' });
  cleanups.push(() => worker.stop());
};

/** A second API process, as far as the application can tell. */
async function beginApi(): Promise<Http> {
  const server = createServer(createApp(stack.deps).callback()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return createHttp(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
}

/** What the workflow of a payout of 100,000 is started with, as the API makes it. */
async function prepared(
  partner: BuiltPartner,
  key = freshKey(),
): Promise<{ payoutId: string; opening: PayoutOpening }> {
  const payoutId = payoutIdFor(partner.id, key);
  const body = { amount: '100000', bank_code: 'BRI', bank_account_number: magicAccount('111111') };
  const idempotency = { keyHash: key, fingerprint: 'f' };
  const stamp = await stampOpening(stack.em());
  const input = { payoutId, partnerId: partner.id, body, idempotency, requestId: 'test' };
  return { payoutId, opening: { ...(await preparePayout(stack.em(), stack.deps.sealer, input)), stamp } };
}
const reserve = (payout: { payoutId: string; opening: PayoutOpening }) =>
  reservePayout(stack.em(), stack.deps.sealer, payout);

describe('A payout answered 422', () => {
  it('is never paid by a delayed attempt at its reservation', async () => {
    const partner = await buildPayer(stack, { available: '100000' });
    await beginWorker();
    const key = freshKey();
    const holder = stack.em();
    await holder.begin();
    cleanups.push(async () => holder.isInTransaction() && holder.rollback());
    await holder.execute(
      "select set_config(name, '0', true) from pg_settings where name like '%\\_timeout' and unit = 'ms' and context = 'user'",
    );
    await holder.execute('select 1 from partners where id = ? for update', [partner.id]);
    const asked = partner.post('/payouts', payoutBody(), key);
    // The first attempt has given its lock up, and another waits for it.
    const begun = new Set<string>();
    await eventually(
      async () => {
        for (const { since } of await readLockWaits(stack)) begun.add(since);
        return begun.size;
      },
      (attempts) => attempts >= 2,
      50_000,
    );
    await holder.commit();
    const { status } = await asked;
    await eventually(
      () => readLockWaits(stack),
      (waits) => waits.length === 0,
    );
    expect([status, (await rowOf(payoutIdFor(partner.id, key))).length]).toEqual([200, 1]);
  }, 60_000);

  it('is never reserved by an attempt that wakes up after the balance was topped up', async () => {
    const partner = await buildPayer(stack, { available: '100000' });
    const [sleeper, spender] = [await prepared(partner), await prepared(partner)];
    await reserve(spender);
    await expect(reserve(sleeper)).rejects.toMatchObject({ code: 'FUNDS_INSUFFICIENT_BALANCE' });
    await fund(stack, partner.account.available, '100000');
    const refusal = { code: 'FUNDS_INSUFFICIENT_BALANCE', details: { available: '0.0000', required: '100000.0000' } };
    await expect(reserve(sleeper)).rejects.toMatchObject(refusal);
    expect(await rowOf(sleeper.payoutId)).toEqual([]);
    expect(await readBalance(partner)).toMatchObject({ available: '100000.0000' });
  });

  it('is never made by an earlier request under its key that still runs', async () => {
    const partner = await buildPayer(stack);
    const other = await beginApi();
    const key = freshKey();
    const payoutId = payoutIdFor(partner.id, key);
    const body = payoutBody();
    const handle = stack.deps.workflows.client.workflow.getHandle(`partner-payout/${payoutId}`);
    const first = partner.post('/payouts', body, key);
    await eventually(
      () => handle.describe().catch(() => null),
      (found) => found !== null,
    );
    await partner.administer('put', '/limits', { ...generous, max_payout_amount: '1' });
    const retry = await other.post('/v1/partners/payouts', body, {
      headers: {
        authorization: `Bearer ${partner.apiKey}`,
        'x-partner-signature': signature(partner.signingSecret, JSON.stringify(body)),
        'x-idempotency-key': key,
      },
    });
    expect(retry).toMatchObject({ status: 422, body: { error: { code: 'FUNDS_LIMIT_EXCEEDED' } } });
    await partner.administer('put', '/limits', generous);
    await beginWorker();
    expect(await handle.result()).toBe('REFUSED');
    expect(await rowOf(payoutId)).toEqual([]);
    // A slow machine has its worker when the request has been given up.
    expect([
      [422, 'FUNDS_LIMIT_EXCEEDED'],
      [503, 'SERVICE_UNAVAILABLE'],
    ]).toContainEqual(await first.then(({ status, body: told }) => [status, told.error.code]));
    // The verdict was the opening's: the key is free for another.
    expect(await partner.post('/payouts', body, key)).toMatchObject({ status: 200, body: { data: { id: payoutId } } });
  }, 60_000);
});
