import { once } from 'node:events';
import { createServer } from 'node:http';
import { startWorker } from '../../../dev/service-parts.ts';
import { payoutIdFor } from '../../../src/shared/ids.ts';
import { createApp } from '../../../src/wiring/app.ts';
import { buildPayer, generous, payoutBody } from '../../money-out/payouts/build-payouts.ts';
import { createHttp, type Http } from '../../support/http.ts';
import { freshKey, signature } from '../../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

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

describe('A payout that got a 422', () => {
  it('A payout that got a 422 is never reserved by an earlier, unfinished request under its key', async () => {
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
    // On a slow machine its worker starts after the request has timed out.
    expect([
      [422, 'FUNDS_LIMIT_EXCEEDED'],
      [503, 'SERVICE_UNAVAILABLE'],
    ]).toContainEqual(await first.then(({ status, body: told }) => [status, told.error.code]));
    // The refusal was for that opening: the key is free for another.
    expect(await partner.post('/payouts', body, key)).toMatchObject({ status: 200, body: { data: { id: payoutId } } });
  }, 60_000);
});
