import { readFileSync } from 'node:fs';
import { startWorker } from '../../dev/service-parts.ts';
import { buildActiveCircle, circleWhen, contribute, heldBy } from '../circles/build-circle.ts';
import {
  ageAttempts,
  buildPayer,
  generous,
  payoutBody,
  payoutWhen,
  readBalance,
  transfersOf,
} from '../money-out/payouts/build-payouts.ts';
import { askRefund, atProvider, buildPaid, refundWhen } from '../money-out/refunds/build-refunds.ts';
import { atOnce, type Named } from '../support/at-once.ts';
import { balanceOf, buildIndividual } from '../support/build.ts';
import type { HttpAnswer } from '../support/http.ts';
import { buildPartner, freshKey } from '../support/partner.ts';
import { type ProcessStack, startProcessStack } from '../support/processes.ts';
import { eventually, expectChecksEmpty } from '../support/stack.ts';

let stack: ProcessStack;
beforeAll(async () => {
  stack = await startProcessStack();
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

/** Temporal keeps assigning tasks to the polls of a stopped process until they time out, a minute later. */
const twinWithinMs = 240_000;

/** Retries a request until it succeeds. */
const insist = (ask: () => Promise<HttpAnswer>) =>
  eventually(
    () => ask().catch(() => null),
    (answer) => answer?.status === 200 || answer?.status === 201,
    twinWithinMs,
  ).then((answer) => answer?.body.data);

/** Pays at the provider as soon as there is a code, and waits for this status. */
async function payWhenShown(read: () => Promise<HttpAnswer>, status: string): Promise<void> {
  const isShown = (answer: HttpAnswer | null) => answer?.body?.data?.payment_code != null;
  const shown = await eventually(() => read().catch(() => null), isShown, twinWithinMs);
  await stack.sandbox.post('/sandbox/pay', { payment_code: shown?.body.data.payment_code });
  await eventually(
    () => read().catch(() => null),
    (answer) => answer?.body?.data?.status === status,
    twinWithinMs,
  );
}
const recordsOf = async (id: string) => (await stack.sandbox.get(`/sandbox/records?reference_id=${id}`)).body;

/** Prepares what is needed, and returns what makes the worker reach the point. */
type Begin = () => Promise<() => Promise<Ending>>;
interface Ending {
  /** Waits until the twin has completed the work. */
  ends: () => Promise<void>;
  /** What must hold then, and still once the worker resumes. */
  expectOnce: () => Promise<void>;
}

const beginTopUp: Begin = async () => {
  const { accountId, token } = await buildIndividual(stack);
  const key = freshKey();
  return async () => {
    const topUp = { reference_type: 'account_top_up', reference_id: accountId, payment_id: 1, amount: 50_000 };
    const headers = { 'idempotency-key': key };
    const asking = insist(() => stack.post('/v1/payments/gateway', topUp, { token, headers }));
    let id = '';
    return {
      async ends() {
        id = (await asking).payment_order_id;
        await payWhenShown(() => stack.get(`/v1/payments/orders/${id}`, { token }), 'PAID');
      },
      async expectOnce() {
        expect((await recordsOf(id)).payments).toHaveLength(1);
        expect(await balanceOf(stack, accountId)).toBe('50000.0000');
      },
    };
  };
};

/**
 * For a payout that was stored and not sent: waits until the provider reports that it does not have the first attempt.
 */
async function whenNotKnown(payoutId: string): Promise<void> {
  await eventually(
    () => stack.em().execute<{ word: string }[]>('select last_word as word from payouts where id = ?', [payoutId]),
    ([row]) => row?.word === 'not known',
    twinWithinMs,
  );
  await ageAttempts(stack, payoutId, 2);
}
/**
 * Returns the accepted attempts: the provider executes one of two requests under one key, so only our rows show both.
 */
const acceptedOf = (payoutId: string) =>
  stack
    .em()
    .execute<{ number: number }[]>(
      "select number from payout_attempts where payout_id = ? and outcome = 'accepted' order by number",
      [payoutId],
    );

function beginPayout(isSent: boolean): Begin {
  return async () => {
    const partner = await buildPayer(stack);
    const key = freshKey();
    return async () => {
      const { id } = await insist(() => partner.post('/payouts', payoutBody(), key));
      return {
        async ends() {
          if (!isSent) await whenNotKnown(id);
          await payoutWhen(partner, id, 'succeeded', twinWithinMs);
        },
        async expectOnce() {
          expect(await transfersOf(stack, id)).toHaveLength(1);
          if (!isSent) expect(await acceptedOf(id)).toEqual([{ number: 2 }]);
          expect(await readBalance(partner)).toMatchObject({ balance: '900000.0000', pending: '0.0000' });
        },
      };
    };
  };
}

const beginRefund: Begin = async () => {
  const partner = await buildPartner(stack, { limits: generous });
  const paymentId = await buildPaid(stack, partner);
  const key = freshKey();
  return async () => {
    const made = await insist(() => askRefund(partner, paymentId, {}, key));
    return {
      async ends() {
        await whenNotKnown(made.id);
        await refundWhen(partner, made, 'succeeded', twinWithinMs);
      },
      async expectOnce() {
        const { refunds, transfers } = await atProvider(stack, made.id);
        expect(refunds.length + transfers.length).toBe(1);
        expect(await acceptedOf(made.id)).toEqual([{ number: 2 }]);
        expect(await readBalance(partner)).toMatchObject({ pending: '0.0000' });
      },
    };
  };
};

const beginPartnerPayment: Begin = async () => {
  const partner = await buildPartner(stack);
  const key = freshKey();
  return async () => {
    const asking = insist(() =>
      partner.post('/payments', { method: 'virtual_account', channel: 'BNI', amount: '50000' }, key),
    );
    let id = '';
    return {
      async ends() {
        id = (await asking).id;
        await payWhenShown(() => partner.get(`/payments/${id}`), 'succeeded');
      },
      expectOnce: async () => expect((await recordsOf(id)).payments).toHaveLength(1),
    };
  };
};

const beginRound: Begin = async () => {
  const { id, creator, members } = await buildActiveCircle(stack, 2);
  return async () => {
    for (const member of members) expect((await contribute(stack, member, id)).status).toBe(201);
    return {
      ends: async () =>
        void (await eventually(
          () => circleWhen(stack, creator, id, { current_turn: 2 }).catch(() => null),
          (circle) => circle !== null,
          twinWithinMs,
        )),
      async expectOnce() {
        expect(await heldBy(stack, id)).toBe('0.0000');
        expect(await balanceOf(stack, creator.accountId)).toBe('1100000.0000');
      },
    };
  };
};

/** The point that the worker has reached with each when it is paused; on one path, the later point comes first. */
const kinds: [string, string, Begin][] = [
  ['a top-up, requested at the provider but not stored', 'request-instrument.after', beginTopUp],
  [
    'a partner’s payment, requested at the provider but not stored',
    'request-partner-instrument.after',
    beginPartnerPayment,
  ],
  ['a payout, sent but not recorded as sent', 'send-transfer.after', beginPayout(true)],
  ['a payout, recorded but not sent', 'send-transfer.attempt-written', beginPayout(false)],
  ['a refund, recorded but not sent', 'send-transfer.attempt-written', beginRefund],
  ['a circle’s pot, posted but not committed', 'pay-round.posted', beginRound],
];

const isStopped = (pid: number) => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0] === 'T';

/** The whole process is paused, as on a suspended machine. */
describe('A worker paused past its activities’ time-out while its twin acts', () => {
  it(`A worker paused past its time-out repeats nothing when it resumes: ${kinds.map(([name]) => name).join('; ')}`, async () => {
    await using cleanup = new AsyncDisposableStack();
    const ready: [string, string, () => Promise<Ending>][] = [];
    for (const [name, point, begin] of kinds) ready.push([name, point, await begin()]);
    const sleeper = stack.worker;
    cleanup.defer(() => sleeper.kill('SIGCONT'));
    const acting: Named<Promise<Ending>>[] = [];
    for (const [name, point, act] of ready) {
      await stack.holdAt(point, () => {
        const one = act();
        one.catch(() => undefined);
        acting.push([name, one]);
      });
    }
    sleeper.kill('SIGSTOP');
    await eventually(
      async () => isStopped(sleeper.pid),
      (stopped) => stopped,
    );
    stack.arm('');
    const twin = await startWorker({ env: stack.env, logFile: 'ignore' });
    cleanup.defer(() => twin.stop());
    const endings = await atOnce(acting, (one) => one);
    await atOnce(endings, ({ ends }) => ends());
    await atOnce(endings, ({ expectOnce }) => expectOnce());
    sleeper.kill('SIGCONT');
    await twin.stop();
    // Once it has served another payment alone, the worker has resumed and finished its old work.
    const next = await (await beginTopUp())();
    await next.ends();
    await next.expectOnce();
    await atOnce(endings, ({ expectOnce }) => expectOnce());
  }, 900_000);
});
