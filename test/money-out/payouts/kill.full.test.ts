import { readFileSync } from 'node:fs';
import { startWorker } from '../../../dev/service-parts.ts';
import { type BuiltPartner, freshKey } from '../../support/partner.ts';
import { type ProcessStack, startProcessStack } from '../../support/processes.ts';
import { eventually, expectChecksEmpty } from '../../support/stack.ts';
import {
  ageAttempts,
  buildPayer,
  magicAccount,
  payoutBody,
  payoutWhen,
  readBalance,
  readPayout,
  setFaults,
  sharedFailpoints,
  transfersOf,
} from './build-payouts.ts';

let stack: ProcessStack;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startProcessStack();
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  partner = await buildPayer(stack);
});
afterEach(async () => {
  await stack.restart();
  await setFaults(stack, {});
});

const failpoints = ['reserve-payout.before', 'reserve-payout.after', 'ask-transfer.after', ...sharedFailpoints];
/** Faults of the callbacks during the test. */
const callbackFaults = {
  'as they are': {},
  duplicated: { callbacks: { copies: 5 } },
  shuffled: { callbacks: { copies: 2, shuffle: true } },
  late: { callbacks: { delay_ms: 6_000 } },
  dropped: { callbacks: { drop: true } },
} as const;
type CallbackFault = keyof typeof callbackFaults;

/**
 * Every failpoint with every callback fault; payouts to both accounts are sent in each. In the shorter run
 * `withdrawals/kill` has each failpoint once.
 */
const cases = failpoints.flatMap((failpoint) =>
  (Object.keys(callbackFaults) as CallbackFault[]).map((fault): [string, CallbackFault] => [failpoint, fault]),
);

/** A client that retries under its key until it gets a 200. */
async function payWithPatience(digits: string): Promise<string> {
  const key = freshKey();
  const answer = await eventually(
    () => partner.post('/payouts', payoutBody({ bank_account_number: magicAccount(digits) }), key).catch(() => null),
    (got) => got?.status === 200,
    60_000,
  );
  return answer?.body.data.id;
}

/** Waits until the payout is at rest: final, or pending with this status at the provider. */
async function settled(id: string, lastWord = 'not known', withinMs = 60_000): Promise<{ status: string }> {
  return eventually(
    async () => {
      const payout = await readPayout(partner, id).catch(() => undefined);
      const [row] = await stack
        .em()
        .execute<{ last_word: string | null }[]>('select last_word from payouts where id = ?', [id]);
      return { status: payout?.status ?? 'away', word: row?.last_word ?? '' };
    },
    ({ status, word }) => status === 'succeeded' || status === 'failed' || (status === 'pending' && word === lastWord),
    withinMs,
  );
}

describe('Payouts without an answer whose worker is killed with -9', () => {
  it.each(cases)(
    'Payouts without an answer, their worker killed at %s and callbacks %s, end as the provider processed them, and the ledger agrees',
    async (failpoint, fault) => {
      await setFaults(stack, callbackFaults[fault]);
      stack.arm(`${failpoint}=kill`);
      const dying = stack.worker.exited.then(() => stack.restart());
      // Two of the faults affect whichever comes first, the others the one whose outcome can be determined.
      const isFirst = fault !== 'shuffled' && fault !== 'duplicated';
      const first = payWithPatience('900003');
      if (isFirst) await dying;
      const [taken, never] = await Promise.all([first, payWithPatience('900004')]);
      await dying;
      await settled(taken);
      if ((await transfersOf(stack, taken)).length === 0) {
        // Killed between its attempt and the request: its outcome stays unknown until the provider, two minutes later,
        // does not have it.
        expect(await readPayout(partner, taken)).toMatchObject({ status: 'pending' });
        await ageAttempts(stack, taken, 2);
      }
      await payoutWhen(partner, taken, 'succeeded', 90_000);
      expect(await transfersOf(stack, taken)).toMatchObject([{ status: 'SUCCEEDED', idempotency_key: taken }]);
      // The other is never processed, and its outcome cannot be determined: its money stays reserved.
      expect(await settled(never)).toMatchObject({ status: 'pending' });
      expect(await transfersOf(stack, never)).toEqual([]);
      expect(await readBalance(partner)).toMatchObject({ balance: '900000.0000', pending: '100000.0000' });
    },
    240_000,
  );
});

describe('A payout whose worker is killed between storing the attempt and the request', () => {
  it('A payout whose worker is killed between storing the attempt and the request needs no operator: it is sent once, two minutes later', async () => {
    stack.arm('send-transfer.attempt-written=kill');
    const dying = stack.worker.exited.then(() => stack.restart());
    const id = await payWithPatience('111111');
    await dying;
    await settled(id);
    expect(await transfersOf(stack, id)).toEqual([]);
    await ageAttempts(stack, id, 2);
    await payoutWhen(partner, id, 'succeeded', 60_000);
    expect(await transfersOf(stack, id)).toMatchObject([{ status: 'SUCCEEDED', idempotency_key: id }]);
    expect(await readBalance(partner)).toMatchObject({ balance: '900000.0000', pending: '0.0000' });
  }, 120_000);
});

/** The whole process, as on a suspended machine; its activities are tested one by one elsewhere. */
describe('A worker paused between storing the attempt and the request', () => {
  it('A worker paused between storing the attempt and the request never sends after resuming: its twin has asked and sent', async () => {
    const sleeper = stack.worker;
    stack.arm('send-transfer.attempt-written=stop');
    const id = await payWithPatience('111111');
    await eventually(
      async () => readFileSync(`/proc/${sleeper.pid}/stat`, 'utf8').split(') ')[1]?.[0],
      (state) => state === 'T',
    );
    stack.arm('');
    await using cleanup = new AsyncDisposableStack();
    cleanup.defer(() => sleeper.kill('SIGCONT'));
    const twin = await startWorker({ env: stack.env, logFile: 'ignore' });
    cleanup.defer(() => twin.stop());
    // Temporal keeps assigning tasks to the polls of the stopped process until they time out, a minute later.
    await settled(id, 'not known', 200_000);
    await ageAttempts(stack, id, 2);
    await payoutWhen(partner, id, 'succeeded', 120_000);
    sleeper.kill('SIGCONT');
    await twin.stop();
    // It is awake, and past the request that it held, when it sends another payout.
    const next = await payWithPatience('111111');
    await payoutWhen(partner, next, 'succeeded', 120_000);
    const attempts = 'select number, outcome from payout_attempts where payout_id = ? and outcome = ?';
    expect(await stack.em().execute(attempts, [id, 'accepted'])).toEqual([{ number: 2, outcome: 'accepted' }]);
    expect(await transfersOf(stack, id)).toHaveLength(1);
    expect(await readBalance(partner)).toMatchObject({ balance: '800000.0000', pending: '0.0000' });
  }, 400_000);
});
