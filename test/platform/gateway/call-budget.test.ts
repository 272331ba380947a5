import { setImmediate } from 'node:timers/promises';
import { step } from '../../../activities/step.ts';
import { awaitCall, createCallBudget } from '../../../src/platform/gateway/call-budget.ts';
import { type Gateway, ProviderUnknown } from '../../../src/platform/gateway/gateway.ts';
import { createXenditGateway } from '../../../src/platform/gateway/xendit/create-xendit-gateway.ts';
import { buildPayer, setFaults } from '../../money-out/payouts/build-payouts.ts';
import { buildInstrumentRequest, buildTransferRequest } from '../../sandbox/open-sandbox.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { within } from '../../support/within.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
afterEach(() => setFaults(stack, {}));

/** Of 600 a minute, 100 may be made at once, and 8.3 are added each second (one is reserved). */
const perMinute = 600;
const perSecond = 499 / 60;
const fill = (tokens: number) =>
  stack
    .owner()
    .execute('update provider_budget set tokens = ?, filled_at = clock_timestamp(), paused_until = null', [tokens]);
const takeMany = async (count: number, payout: boolean, partnerId: string | null = null) => {
  const began = performance.now();
  const budget = createCallBudget(stack.deps.orm, 'xendit', perMinute);
  const rests = await Promise.all(Array.from({ length: count }, () => budget.take({ payout, partnerId })));
  const refilled = Math.ceil(((performance.now() - began) / 1000) * perSecond) + 1;
  return { taken: rests.filter((restMs) => restMs === 0).length, refilled, rests };
};

describe('The budget of calls to the provider', () => {
  it('The call budget never exceeds its rate, however many concurrent calls need it', async () => {
    await fill(1_000_000);
    const { taken, refilled, rests } = await takeMany(160, true);
    expect(taken).toBeGreaterThanOrEqual(100);
    expect(taken).toBeLessThanOrEqual(100 + refilled);
    expect(Math.max(...rests)).toBeLessThanOrEqual(1000 / perSecond + 1);
  });

  it('The call budget reserves a share for payouts, which go first', async () => {
    await fill(100);
    const others = await takeMany(200, false);
    expect(others.taken).toBeGreaterThanOrEqual(50);
    expect(others.taken).toBeLessThanOrEqual(50 + others.refilled);
    expect((await takeMany(45, true)).taken).toBe(45);
    // When payouts need the whole budget, other calls wait until it is half full again.
    const [rest = 0] = (await takeMany(1, false)).rests;
    expect(rest).toBeGreaterThan(1_000);
  });

  it('The call budget serves a partner with more than a quarter of all calls after everyone else', async () => {
    const [large, small] = [(await buildPayer(stack)).id, (await buildPayer(stack)).id];
    await fill(100);
    expect((await takeMany(20, false, large)).taken).toBe(20);
    const [{ calls }] = await stack
      .em()
      .execute<[{ calls: number }]>('select calls from provider_callers where partner_id = ?', [large]);
    expect(calls).toBeGreaterThan(10);
    expect(calls).toBeLessThanOrEqual(20);
    await stack
      .owner()
      .execute('update provider_callers set calls = 10000, counted_at = clock_timestamp() where partner_id = ?', [
        large,
      ]);
    await fill(100);
    const others = await takeMany(60, false, large);
    expect(others.taken).toBeGreaterThanOrEqual(25);
    expect(others.taken).toBeLessThanOrEqual(25 + others.refilled);
    await fill(100);
    const payouts = await takeMany(60, true, large);
    expect(payouts.taken).toBeGreaterThanOrEqual(37);
    expect(payouts.taken).toBeLessThanOrEqual(38 + payouts.refilled);
    await fill(56);
    expect(await takeMany(1, true, large)).toMatchObject({ taken: 0 });
    expect(await takeMany(5, false, small)).toMatchObject({ taken: 5 });
    expect(await takeMany(40, true, small)).toMatchObject({ taken: 40 });
  });

  it.each(['-13 hours', '-39 hours', '-400 days', '13 hours'])(
    'The call budget ignores a partner’s call count that is dated %s from now',
    async (away) => {
      const { id } = await buildPayer(stack);
      await stack
        .owner()
        .execute(
          'insert into provider_callers (partner_id, calls, counted_at) values (?, 10000, now() + ?::interval)',
          [id, away],
        );
      await fill(100);
      expect(await takeMany(1, false, id)).toMatchObject({ taken: 1 });
    },
  );

  it('The call budget never blocks everyone because the clock was set back', async () => {
    await stack.owner().execute(
      `update provider_budget set tokens = 0, filled_at = clock_timestamp() + interval '1 hour',
         paused_until = clock_timestamp() + interval '1 hour'`,
    );
    const budget = createCallBudget(stack.deps.orm, 'xendit', perMinute);
    await eventually(
      () => budget.take({ payout: true, partnerId: null }),
      (restMs) => restMs === 0,
    );
  });

  it('The call budget pauses for the provider’s delay, even if the clock was set back during a pause', async () => {
    const budget = createCallBudget(stack.deps.orm, 'xendit', perMinute);
    await fill(100);
    await stack.owner().execute(`update provider_budget set paused_until = clock_timestamp() + interval '1 hour'`);
    await budget.pause(30_000);
    const rest = await budget.take({ payout: true, partnerId: null });
    expect(rest).toBeGreaterThan(20_000);
    expect(rest).toBeLessThanOrEqual(30_000);
    await budget.pause(1_000);
    expect(await budget.take({ payout: true, partnerId: null })).toBeGreaterThan(1_000);
    await fill(0);
  });

  it('The call budget lets a follow-up call go first, and exceed the budget by one', async () => {
    const budget = createCallBudget(stack.deps.orm, 'xendit', perMinute);
    const { id } = await buildPayer(stack);
    const following = { payout: true, partnerId: id, follows: true };
    await fill(0.2);
    expect(await budget.take(following)).toBe(0);
    await fill(-0.5);
    const rest = await budget.take(following);
    expect(rest).toBeGreaterThan(0);
    expect(rest).toBeLessThanOrEqual((0.5 / perSecond) * 1000 + 1);
    await budget.pause(30_000);
    expect(await budget.take(following)).toBeGreaterThan(20_000);
    await fill(0);
  });

  it('At most ten calls of a partner wait in a process; further calls are refused at once, with a delay after which to retry', async () => {
    const budget = { ...createCallBudget(stack.deps.orm, 'xendit', perMinute), take: async () => 100 };
    const ending = new AbortController();
    const told: (string | null)[] = [];
    const rests = new Set<number>();
    const waits = ['large', 'small', null].flatMap((partnerId) =>
      Array.from({ length: partnerId === 'small' ? 10 : 25 }, () =>
        awaitCall(budget, { payout: true, partnerId, patienceMs: 600_000, signal: ending.signal }).catch((error) => {
          // Their retries are neither immediate nor all at the same time.
          if (!ending.signal.aborted) rests.add(error.restMs);
          told.push(partnerId);
        }),
      ),
    );
    await setImmediate();
    expect(told).toEqual(Array.from({ length: 15 }, () => 'large'));
    expect(Math.min(...rests)).toBeGreaterThanOrEqual(600_000);
    expect(rests.size).toBeGreaterThan(1);
    ending.abort();
    await Promise.all(waits);
    expect(told).toHaveLength(60);
  });

  it('The call budget has no limit when set to 0', async () => {
    await fill(0);
    expect(await createCallBudget(stack.deps.orm, 'xendit', 0).take({ payout: false, partnerId: null })).toBe(0);
  });
});

const open = (timeoutMs: number): Gateway & { calls: number } => {
  const counted = { calls: 0 };
  const gateway = createXenditGateway({
    secretKey: stack.env.XENDIT_SECRET_KEY ?? '',
    url: stack.sandbox.url,
    callbackToken: stack.callbackToken,
    timeoutMs,
    budget: createCallBudget(stack.deps.orm, 'xendit', perMinute),
    fetch: (input, init) => {
      counted.calls += 1;
      return fetch(input, init);
    },
  });
  return Object.assign(counted, gateway);
};

it('A call for a partner counts against that partner, and a call without a partner against none', async () => {
  await fill(100);
  const { id } = await buildPayer(stack);
  const counted = async () =>
    (
      await stack.em().execute<{ calls: number }[]>('select calls from provider_callers where partner_id = ?', [id])
    ).map(({ calls }) => Math.round(calls));
  const gateway = open(30_000);
  await gateway.requestTransfer(buildTransferRequest());
  expect(await counted()).toEqual([]);
  await gateway.requestTransfer(buildTransferRequest(), { partnerId: id });
  expect(await counted()).toEqual([1]);
  await gateway.requestInstrument(buildInstrumentRequest(), { partnerId: id });
  expect(await counted()).not.toEqual([1]);
});

describe('Calls on an empty budget', () => {
  it('A call on an empty budget waits for its turn', async () => {
    await fill(-9);
    const gateway = open(30_000);
    const began = performance.now();
    expect(await gateway.requestTransfer(buildTransferRequest())).toMatchObject({ outcome: 'accepted' });
    expect(performance.now() - began).toBeGreaterThan(100);
  });

  it('A call on an empty budget never waits beyond its time-out: it is refused with a retry delay', async () => {
    await within(2_000, async () => {
      await fill(-200);
      const gateway = open(2_000);
      await expect(gateway.requestTransfer(buildTransferRequest())).rejects.toMatchObject({
        code: 'PROVIDER_UNKNOWN',
        neverSent: true,
        restMs: expect.any(Number),
      });
      expect(gateway.calls).toBe(0);
    });
  });

  it('A 429 to any call pauses all calls to the provider', async () => {
    await fill(100);
    await setFaults(stack, { requests: { limit_rate: 1, retry_after_seconds: 30 } });
    const told = open(8_000);
    await expect(told.readBalance()).rejects.toMatchObject({ restMs: 30_000 });
    await setFaults(stack, {});
    const other = open(8_000);
    const { restMs } = await other.requestTransfer(buildTransferRequest()).catch((error) => error);
    expect(restMs).toBeGreaterThan(20_000);
    expect([told.calls, other.calls]).toEqual([1, 0]);
  });
});

describe('An activity whose call was rate-limited', () => {
  it('An activity whose call was rate-limited is retried after the provider’s delay', async () => {
    const limited = step(stack.deps, 'limited', () => {
      throw new ProviderUnknown('limited', { restMs: 7_000 });
    });
    await expect(limited({})).rejects.toMatchObject({
      type: 'PROVIDER_UNKNOWN',
      nonRetryable: false,
      nextRetryDelay: 7_000,
    });
  });
});
