import { readFileSync } from 'node:fs';
import { startWorker } from '../../dev/service-parts.ts';
import { buildActiveCircle, circleWhen, contribute, heldBy } from '../circles/build-circle.ts';
import {
  ageAttempts,
  buildPayer,
  payoutBody,
  payoutWhen,
  readBalance,
  transfersOf,
} from '../money-out/payouts/build-payouts.ts';
import { askRefund, atProvider, buildPaid, refundWhen } from '../money-out/refunds/build-refunds.ts';
import { type BuiltUser, balanceOf, buildIndividual } from '../support/build.ts';
import type { HttpAnswer } from '../support/http.ts';
import { type BuiltPartner, freshKey } from '../support/partner.ts';
import { type ProcessStack, startProcessStack } from '../support/processes.ts';
import { eventually, expectChecksEmpty } from '../support/stack.ts';

let stack: ProcessStack;
let payer: BuiltUser;
let partner: BuiltPartner;
beforeEach(async () => {
  stack = await startProcessStack();
  payer = await buildIndividual(stack);
  partner = await buildPayer(stack);
}, 120_000);
afterEach(async () => {
  await expectChecksEmpty(stack);
  await stack.stop();
}, 60_000);

/** Temporal keeps assigning tasks to the polls of a stopped process until they time out, a minute later. */
const twinWithinMs = 240_000;

/** A client that retries under its key until it is answered. */
const insist = (ask: () => Promise<HttpAnswer>) =>
  eventually(
    () => ask().catch(() => null),
    (answer) => answer?.status === 200 || answer?.status === 201,
    twinWithinMs,
  ).then((answer) => answer?.body.data);

const topUp = (key: string) =>
  stack.post(
    '/v1/payments/gateway',
    { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 },
    { token: payer.token, headers: { 'idempotency-key': key } },
  );

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
const payTopUp = (id: string) =>
  payWhenShown(() => stack.get(`/v1/payments/orders/${id}`, { token: payer.token }), 'PAID');
const recordsOf = async (id: string) => (await stack.sandbox.get(`/sandbox/records?reference_id=${id}`)).body;

interface Kind {
  /** Where the worker stops. */
  point: string;
  /** Prepares the data, and returns what makes the worker reach the point. */
  begin: () => Promise<() => Promise<Ending>>;
}
interface Ending {
  /** Waits until the twin has completed it. */
  ends: () => Promise<void>;
  /** What must hold then, and still once the worker resumes. */
  expectOnce: () => Promise<void>;
}

async function beginTopUp(): Promise<() => Promise<Ending>> {
  const key = freshKey();
  const { accountId } = payer;
  return async () => {
    const asking = insist(() => topUp(key));
    let id = '';
    return {
      async ends() {
        id = (await asking).payment_order_id;
        await payTopUp(id);
      },
      async expectOnce() {
        expect((await recordsOf(id)).payments).toHaveLength(1);
        expect(await balanceOf(stack, accountId)).toBe('50000.0000');
      },
    };
  };
}

const kinds: Record<string, Kind> = {
  'a top-up, asked for at the provider and not written down': { point: 'request-instrument.after', begin: beginTopUp },
  'a partner’s payment, asked for at the provider and not written down': {
    point: 'request-partner-instrument.after',
    async begin() {
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
    },
  },
  'a payout, sent and not noted': {
    point: 'send-transfer.after',
    async begin() {
      const key = freshKey();
      return async () => {
        const { id } = await insist(() => partner.post('/payouts', payoutBody(), key));
        return {
          ends: async () => void (await payoutWhen(partner, id, 'succeeded', twinWithinMs)),
          async expectOnce() {
            expect(await transfersOf(stack, id)).toHaveLength(1);
            expect(await readBalance(partner)).toMatchObject({ balance: '900000.0000', pending: '0.0000' });
          },
        };
      };
    },
  },
  'a refund, noted and not sent': {
    point: 'send-transfer.attempt-written',
    async begin() {
      const paymentId = await buildPaid(stack, partner);
      const key = freshKey();
      return async () => {
        const made = await insist(() => askRefund(partner, paymentId, {}, key));
        return {
          async ends() {
            const word = 'select last_word as word from payouts where id = ?';
            await eventually(
              () => stack.em().execute<{ word: string }[]>(word, [made.id]),
              ([row]) => row?.word === 'not known',
              twinWithinMs,
            );
            await ageAttempts(stack, made.id, 2);
            await refundWhen(partner, made, 'succeeded', twinWithinMs);
          },
          async expectOnce() {
            const { refunds, transfers } = await atProvider(stack, made.id);
            expect(refunds.length + transfers.length).toBe(1);
            // The provider executes one of two requests under one key: only the rows show how often it was asked.
            const attempts = await stack
              .em()
              .execute<{ outcome: string | null }[]>('select outcome from payout_attempts where payout_id = ?', [
                made.id,
              ]);
            expect(attempts.filter(({ outcome }) => outcome === 'accepted')).toHaveLength(1);
            expect(await readBalance(partner)).toMatchObject({ pending: '0.0000' });
          },
        };
      };
    },
  },
  'a circle’s pot, posted in a transaction that is open': {
    point: 'pay-round.posted',
    async begin() {
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
    },
  },
};

const isStopped = (pid: number) => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0] === 'T';

describe('A worker paused past its activity’s time-out while its twin acts', () => {
  it.each(Object.entries(kinds))(
    'A worker paused past its time-out changes nothing when it resumes: %s',
    async (_, { point, begin }) => {
      await using cleanup = new AsyncDisposableStack();
      const act = await begin();
      const sleeper = stack.worker;
      cleanup.defer(() => sleeper.kill('SIGCONT'));
      stack.arm(`${point}=stop`);
      const acting = act();
      acting.catch(() => undefined);
      await eventually(
        async () => isStopped(sleeper.pid),
        (stopped) => stopped,
      );
      stack.arm('');
      const twin = await startWorker({ env: stack.env, logFile: 'ignore' });
      cleanup.defer(() => twin.stop());
      const { ends, expectOnce } = await acting;
      await ends();
      await expectOnce();
      sleeper.kill('SIGCONT');
      await twin.stop();
      // It is awake, and past the hold, when it has served another payment by itself.
      payer = await buildIndividual(stack);
      const next = await (await beginTopUp())();
      await next.ends();
      await next.expectOnce();
      await expectOnce();
    },
    900_000,
  );
});
