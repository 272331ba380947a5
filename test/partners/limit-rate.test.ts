import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Context } from 'koa';
import { limitPartnerRate } from '../../src/platform/http/limit-partner-rate.ts';

/** The part of a request context that the limit uses. */
function knock(path = '/v1/partners/balance', authorization = 'Bearer a') {
  const headers: Record<string, string> = {};
  const ctx = { path, ip: '127.0.0.1', get: () => authorization, set: (more: object) => Object.assign(headers, more) };
  return { ctx: ctx as object as Context, headers };
}

describe('The rate limit of partners', () => {
  it('The rate limit passes at most the configured number of requests in any ten seconds', async () => {
    let now = 0;
    const limit = 20;
    const middleware = limitPartnerRate(limit, () => now);
    const passed: number[] = [];
    for (let step = 0; step < 2000; step += 1) {
      now = step * 25 + (step % 7);
      const { ctx } = knock();
      await Promise.resolve(middleware(ctx, async () => void passed.push(now))).catch(() => undefined);
    }
    for (const from of passed)
      expect(passed.filter((at) => at >= from && at < from + 10_000).length).toBeLessThanOrEqual(limit);
    expect(passed.length).toBeGreaterThan(limit * 4);
  });

  it('All spellings of a key share one rate limit, as do all keyless requests from one address', async () => {
    const middleware = limitPartnerRate(2, () => 0);
    for (const spellings of [
      ['Bearer a', 'bearer a', 'BEARER   a  '],
      ['', 'Basic a', 'Bearer'],
    ]) {
      const refusals = spellings.map(async (authorization) => {
        const { ctx, headers } = knock('/v1/partners/balance', authorization);
        await Promise.resolve(middleware(ctx, async () => undefined)).catch(() => undefined);
        return headers['RateLimit-Remaining'];
      });
      expect(await Promise.all(refusals)).toEqual(['1', '0', '0']);
    }
  });

  it('Keys that are no longer used take no memory', async () => {
    setFlagsFromString('--expose-gc');
    const usedBytes = () => {
      runInNewContext('gc')();
      return process.memoryUsage().heapUsed;
    };
    let now = 0;
    const middleware = limitPartnerRate(20_000, () => now);
    // 40 keys with 20,000 times of 8 bytes each: 6.4 MB.
    for (let key = 0; key < 40; key += 1) {
      for (let call = 0; call < 20_000; call += 1) {
        now += 0.01;
        await middleware(knock('/v1/partners/balance', `Bearer ${key}`).ctx, async () => undefined);
      }
    }
    const full = usedBytes();
    now += 10_000;
    await middleware(knock().ctx, async () => undefined);
    expect(full - usedBytes()).toBeGreaterThan(4_000_000);
  }, 30_000);

  it('The partners’ rate limit does not apply to paths outside /v1/partners', async () => {
    const middleware = limitPartnerRate(1, () => 0);
    for (let call = 0; call < 3; call += 1) {
      const { ctx, headers } = knock('/v1/partner-accounts');
      await middleware(ctx, async () => undefined);
      expect(headers).toEqual({});
    }
  });
});
