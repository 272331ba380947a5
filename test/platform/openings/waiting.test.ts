import { createPayout, type PayoutCreation } from '../../../src/money-out/payouts/create-payout.ts';
import type { PayoutOpening } from '../../../src/money-out/payouts/payout.ts';
import { hashKey, stampOpening } from '../../../src/platform/openings/idempotency-keys.ts';
import { budgets } from '../../../src/shared/budgets.ts';
import { createSemaphore } from '../../../src/shared/concurrency.ts';
import { buildPayer } from '../../money-out/payouts/build-payouts.ts';
import { itInFull } from '../../support/full.ts';
import { type BuiltPartner, freshKey } from '../../support/partner.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ isImpatient: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const unavailable = { code: 'SERVICE_UNAVAILABLE' };
const held = (): { until: Promise<void>; release: () => void } => {
  let release = () => {};
  const until = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { until, release };
};
const creation = async (partner: BuiltPartner): Promise<PayoutCreation> => {
  const key = freshKey();
  const body = { amount: '100000', bank_code: 'BRI', bank_account_number: '00100012111111' };
  const stamp = await stampOpening(stack.em());
  const idempotency = { key, keyHash: hashKey(key), fingerprint: 'f', resourceId: null, stamp };
  return { partnerId: partner.id, body, idempotency, requestId: 'test' };
};

describe('A payout waiting for a slot', () => {
  itInFull(
    'A payout waiting for a slot is never started after its request’s time-out, which the wait never extends',
    async () => {
      const partners = await Promise.all(Array.from({ length: 4 }, () => buildPayer(stack)));
      const started: { opening: PayoutOpening; waitMs: number; atMs: number }[] = [];
      // Temporal is silent here: every start waits until its time-out.
      const { until, release } = held();
      const workflows = {
        startPartnerPayout: async (_: string, opening: PayoutOpening, waitMs: number) => {
          started.push({ opening, waitMs, atMs: Date.now() });
          await Promise.race([until, new Promise((resolve) => setTimeout(resolve, waitMs).unref())]);
          return null;
        },
      };
      const began = Date.now();
      const told = await Promise.allSettled(
        Array.from({ length: 60 }, async (_, index) => {
          const asked = await creation(partners[index % 4] as BuiltPartner);
          return createPayout(stack.em(), { sealer: stack.deps.sealer, workflows }, asked);
        }),
      );
      release();
      expect(Date.now() - began).toBeLessThan(budgets.requests.payoutReservation + 8000);
      for (const outcome of told) expect(outcome).toMatchObject({ status: 'rejected', reason: unavailable });
      // A request that started did so within its own time-out, and waits only for the rest of it.
      expect(started.length).toBeGreaterThan(0);
      for (const { opening, waitMs, atMs } of started) {
        const age = atMs - Date.parse(opening.stamp?.askedAt ?? '');
        expect(age).toBeLessThan(budgets.requests.payoutReservation);
        expect(age + waitMs).toBeLessThan(budgets.requests.payoutReservation + 3000);
      }
    },
    90_000,
  );
});

describe('A semaphore', () => {
  it('A semaphore never admits a caller whose wait timed out, and loses no slot', async () => {
    const semaphore = createSemaphore(1, { mostWaiting: 1 });
    const leave = await semaphore.enter();
    const late = semaphore.enter({ waitMs: 50 });
    await expect(semaphore.enter({ waitMs: 50 })).rejects.toMatchObject(unavailable);
    await expect(late).rejects.toMatchObject(unavailable);
    const next = semaphore.enter({ waitMs: 10_000 });
    leave();
    (await next)();
    (await semaphore.enter({ waitMs: 50 }))();
  });
});

describe('A partner whose row is locked', () => {
  it("A partner whose row is locked delays no other partner's payout", async () => {
    const [stuck, free] = [await buildPayer(stack), await buildPayer(stack)];
    const { until, release } = held();
    const workflows = {
      // The stuck partner's reservations wait for its row; the other partner's requests are answered.
      startPartnerPayout: async (_: string, { partnerId }: PayoutOpening) => {
        if (partnerId === stuck.id) await until;
        else throw new Error('answered');
        return null;
      },
    };
    const ask = async (partner: BuiltPartner) =>
      createPayout(stack.em(), { sealer: stack.deps.sealer, workflows }, await creation(partner)).catch(
        ({ message }: Error) => message,
      );
    const others = Array.from({ length: 60 }, () => ask(stuck));
    const settled = Promise.race([ask(free), Promise.all(others).then(() => 'came last')]);
    expect(await settled).toBe('answered');
    release();
    await Promise.all(others);
  }, 60_000);

  it('A semaphore limits the slots of each key, and other keys overtake its queue', async () => {
    const semaphore = createSemaphore(3, { perKey: 2, mostWaiting: 2 });
    const enter = (key: string) => semaphore.enter({ key, waitMs: 10_000 });
    const [first, second] = [await enter('a'), await enter('a')];
    const third = enter('a');
    const fourth = enter('a');
    await expect(enter('a')).rejects.toMatchObject(unavailable);
    const other = await enter('b');
    const waiting = enter('b');
    other();
    (await waiting)();
    first();
    second();
    for (const leave of await Promise.all([third, fourth])) leave();
    for (const leave of [await enter('a'), await enter('a'), await enter('b')]) leave();
  });

  it('A semaphore forgets that it served a key after ten thousand others', async () => {
    const semaphore = createSemaphore(1);
    let leave = await semaphore.enter({ key: 'early' });
    for (let n = 0; n < 10_001; n += 1) {
      const next = semaphore.enter({ key: `key ${n}` });
      leave();
      leave = await next;
    }
    const order: string[] = [];
    const all = Promise.all(
      ['early', 'new'].map(async (key) => {
        const done = await semaphore.enter({ key });
        order.push(key);
        done();
      }),
    );
    leave();
    await all;
    expect(order).toEqual(['early', 'new']);
  });

  it('A semaphore gives priority callers every second place, and keys take turns', async () => {
    const semaphore = createSemaphore(1);
    const order: string[] = [];
    const leave = await semaphore.enter({ key: 'known' });
    const enter = async (key: string, goesFirst: boolean) => {
      const done = await semaphore.enter({ key, goesFirst });
      order.push(key);
      done();
    };
    const all = Promise.all([
      ...['new', 'newer'].map((key) => enter(key, false)),
      ...['known', 'known', 'other'].map((key) => enter(key, true)),
    ]);
    leave();
    await all;
    expect(order).toEqual(['other', 'new', 'known', 'newer', 'known']);
  });

  it('However many priority callers keep coming, others get in', async () => {
    const semaphore = createSemaphore(1);
    let isIn = false;
    const flood = Array.from({ length: 3 }, async () => {
      for (let n = 0; n < 100 && !isIn; n += 1) {
        const leave = await semaphore.enter({ key: 'known', goesFirst: true });
        await Promise.resolve();
        leave();
      }
      return isIn;
    });
    const other = semaphore.enter({ key: 'new' }).then((leave) => {
      isIn = true;
      leave();
    });
    expect(await Promise.all(flood)).toEqual([true, true, true]);
    await other;
  });

  it('A semaphore’s keys take turns, however many callers wait under one of them', async () => {
    const semaphore = createSemaphore(1);
    const order: string[] = [];
    const leave = await semaphore.enter({ key: 'many' });
    const enter = async (key: string) => {
      const done = await semaphore.enter({ key });
      order.push(key);
      done();
    };
    const all = Promise.all(['many', 'many', 'many', 'few', 'few'].map(enter));
    leave();
    await all;
    expect(order).toEqual(['few', 'many', 'few', 'many', 'many']);
  });
});
