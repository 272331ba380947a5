import { setTimeout as sleep } from 'node:timers/promises';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { createActivities } from '../../activities/index.ts';
import { step } from '../../activities/step.ts';
import { withinLimit } from '../../src/platform/database/time-limit.ts';
import { createXenditGateway } from '../../src/platform/gateway/xendit/create-xendit-gateway.ts';
import { openStubProvider } from '../platform/gateway/stub-provider.ts';
import { type BuiltUser, buildIndividual } from '../support/build.ts';
import { itInFull } from '../support/full.ts';
import { type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
let user: BuiltUser;
beforeAll(async () => {
  stack = await startStack({ isImpatient: true, worker: true });
}, 60_000);
beforeEach(async () => {
  user = await buildIndividual(stack);
});
afterAll(() => stack.stop());

const attemptMs = 1500;

/** The context of an activity with a short time-out. */
const within = (startToCloseTimeoutMs: number) =>
  new MockActivityEnvironment({ startToCloseTimeoutMs }, { logger: new DefaultLogger('ERROR') });
const attempt = (work: Parameters<typeof step<object, unknown>>[2], ms = attemptMs) =>
  within(ms).run(step(stack.deps, 'attempt', work), {});

const rename = 'update users set email_digest = ? where id = ?';
const nameOf = async (): Promise<string> =>
  (await stack.em().execute<[{ name: string }]>('select email_digest as name from users where id = ?', [user.id]))[0]
    .name;

/** Holds the user's row until released. */
async function holdUser(): Promise<() => Promise<void>> {
  const em = stack.em();
  await em.begin();
  await em.execute('select 1 from users where id = ? for update', [user.id]);
  return () => em.rollback();
}

/** Expects that an attempt writes nothing when its lock is released after its time-out. */
async function expectNothingOf(running: Promise<unknown>, release: () => Promise<void> = async () => undefined) {
  const before = await nameOf();
  const outcome = running.then(
    () => 'went on',
    ({ type }) => type,
  );
  await sleep(attemptMs);
  await release();
  expect(await outcome).toBe('STEP_FAILED');
  expect(await nameOf()).toBe(before);
}

describe('Activities whose attempt has timed out', () => {
  it('An activity that timed out never writes once the lock that it waited for is released', async () => {
    const release = await holdUser();
    const inTransaction = attempt((em) => em.transactional((tx) => tx.execute(rename, ['late', user.id])));
    const alone = attempt((em) => em.execute(rename, ['late', user.id]));
    await Promise.all([expectNothingOf(inTransaction, release), expectNothingOf(alone)]);
  });

  itInFull('An activity that timed out never commits what it wrote before its time-out', async () => {
    const late = attempt((em) =>
      em.transactional(async (tx) => {
        await tx.execute(rename, ['late', user.id]);
        await sleep(attemptMs);
      }),
    );
    await expectNothingOf(late);
  });

  it('An activity that timed out never starts to write, and returns its connections', async () => {
    const { DATABASE_POOL_SIZE: size } = stack.deps.config;
    const late = Array.from({ length: size + 1 }, () =>
      attempt(async (em) => {
        await sleep(attemptMs);
        await em.transactional((tx) => tx.execute(rename, ['late', user.id]));
      }),
    );
    expect((await Promise.allSettled(late)).filter(({ status }) => status === 'fulfilled')).toEqual([]);
    const alone = attempt(async (em) => {
      await sleep(attemptMs);
      await em.execute(rename, ['late', user.id]);
    });
    await expect(alone).rejects.toMatchObject({ message: 'attempt failed: OUT_OF_TIME' });
    expect(await nameOf()).not.toBe('late');
  });

  it('An activity may write until its time-out', async () => {
    await attempt(async (em) => {
      await em.transactional((tx) => tx.execute(rename, ['in a transaction', user.id]));
      expect(await nameOf()).toBe('in a transaction');
      await em.execute(rename, ['alone', user.id]);
    }, 30_000);
    expect(await nameOf()).toBe('alone');
  });
});

describe('Activities that call the provider', () => {
  itInFull('An activity stops waiting for a silent provider before its own time-out', async () => {
    await stack.sandbox.put('/sandbox/faults', { requests: { hang_rate: 1 } });
    const { openReceipt } = createActivities(stack.deps);
    const startedAt = performance.now();
    const stray = {
      receiptId: user.id,
      provider: 'xendit',
      providerPaymentMethodId: 'pm-1',
      providerPaymentId: 'py-1',
    };
    const asking = within(4000).run(openReceipt, stray as Parameters<typeof openReceipt>[0]);
    await expect(asking).rejects.toMatchObject({ type: 'PROVIDER_UNKNOWN' });
    expect(performance.now() - startedAt).toBeLessThan(4000);
    await stack.sandbox.put('/sandbox/faults', {});
  });

  it('An activity never makes two calls that together exceed its time-out, and starts none after it', async () => {
    const provider = await openStubProvider();
    const gateway = createXenditGateway({
      secretKey: 'xnd_development_x',
      callbackToken: 'a token',
      url: provider.url,
    });
    provider.answer(async () => {
      await sleep(1500);
      return { status: 200, body: { data: [] } };
    });
    const startedAt = performance.now();
    const limit = { endsAt: startedAt + 10_000, askUntil: startedAt + 2500 };
    await withinLimit(limit, async () => {
      expect(await gateway.findTransfer('first')).toBeNull();
      await expect(gateway.findTransfer('second')).rejects.toMatchObject({
        code: 'PROVIDER_UNKNOWN',
        neverSent: false,
      });
      expect(performance.now()).toBeLessThan(limit.endsAt);
      await expect(gateway.findTransfer('third')).rejects.toMatchObject({ code: 'PROVIDER_UNKNOWN', neverSent: true });
    });
    expect(provider.seen).toHaveLength(2);
    await provider.close();
  });
});
