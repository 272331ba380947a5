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
beforeAll(async () => {
  stack = await startProcessStack();
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
afterEach(async () => {
  await stack.restart();
  await setFaults(stack, {});
});

/** In the order in which a payout reaches them: it is resolved after sending, and again after each query. */
const failpoints = ['reserve-payout.before', 'reserve-payout.after', ...sharedFailpoints, 'ask-transfer.after'];
/** Faults of the callbacks during the test. */
const callbackFaults = {
  shuffled: { callbacks: { copies: 2, shuffle: true } },
  late: { callbacks: { delay_ms: 6_000 } },
  dropped: { callbacks: { drop: true } },
} as const;
type CallbackFault = keyof typeof callbackFaults;
const faults = Object.keys(callbackFaults) as CallbackFault[];

/** Sends the request until it returns 200, like a client that retries with its key. */
async function payWithPatience(partner: BuiltPartner, digits: string): Promise<string> {
  const key = freshKey();
  const answer = await eventually(
    () => partner.post('/payouts', payoutBody({ bank_account_number: magicAccount(digits) }), key).catch(() => null),
    (got) => got?.status === 200,
    180_000,
  );
  return answer?.body.data.id;
}

/** Waits until the payout is final, or pending because the provider does not have it. */
async function settled(partner: BuiltPartner, id: string): Promise<{ status: string }> {
  return eventually(
    async () => {
      const payout = await readPayout(partner, id).catch(() => undefined);
      const [row] = await stack
        .em()
        .execute<{ last_word: string | null }[]>('select last_word from payouts where id = ?', [id]);
      return { status: payout?.status ?? 'away', word: row?.last_word ?? '' };
    },
    ({ status, word }) =>
      status === 'succeeded' || status === 'failed' || (status === 'pending' && word === 'not known'),
    60_000,
  );
}

/** A partner with a payout that the provider executes without an answer, and one that it never executes. */
interface Pair {
  partner: BuiltPartner;
  taken: Promise<string>;
  never?: Promise<string>;
}

async function expectOnce({ partner, taken: takenId, never: neverId }: Pair): Promise<void> {
  const [taken, never] = await Promise.all([takenId, neverId ?? payWithPatience(partner, '900004')]);
  await settled(partner, taken);
  if ((await transfersOf(stack, taken)).length === 0) {
    // Its worker died between attempt and request: the outcome is unknown until the provider, two minutes later, still
    // lacks it.
    expect(await readPayout(partner, taken)).toMatchObject({ status: 'pending' });
    await ageAttempts(stack, taken, 2);
  }
  await payoutWhen(partner, taken, 'succeeded', 90_000);
  expect(await transfersOf(stack, taken)).toMatchObject([{ status: 'SUCCEEDED', idempotency_key: taken }]);
  // The other is never accepted, and its outcome stays unknown: its money stays reserved.
  expect(await settled(partner, never)).toMatchObject({ status: 'pending' });
  expect(await transfersOf(stack, never)).toEqual([]);
  expect(await readBalance(partner)).toMatchObject({ balance: '900000.0000', pending: '100000.0000' });
}

/** In the shorter run `withdrawals/kill` covers each failpoint. */
describe('Payouts without an answer whose worker is killed with -9 at each failpoint', () => {
  it.each(faults)(
    'Unanswered payouts whose worker is killed with -9 take the provider’s outcome, callbacks %s',
    async (fault) => {
      await setFaults(stack, callbackFaults[fault]);
      // With shuffled callbacks either payout may be held at the failpoint, otherwise only the first is started there.
      const isEither = fault === 'shuffled';
      const pairs: Pair[] = [];
      for (const failpoint of failpoints.toReversed()) {
        const partner = await buildPayer(stack);
        await stack.holdAt(failpoint, () => {
          const pay = (digits: string) => payWithPatience(partner, digits);
          pairs.push({ partner, taken: pay('900003'), ...(isEither && { never: pay('900004') }) });
        });
      }
      await stack.kill('worker');
      await stack.restart();
      await Promise.all(pairs.map(expectOnce));
    },
    400_000,
  );
});

describe('A payout whose worker is killed between storing the attempt and the request', () => {
  it('A payout whose worker is killed between attempt and request is sent once, two minutes later', async () => {
    const partner = await buildPayer(stack);
    stack.arm('send-transfer.attempt-written=kill');
    const dying = stack.worker.exited.then(() => stack.restart());
    const id = await payWithPatience(partner, '111111');
    await dying;
    await settled(partner, id);
    expect(await transfersOf(stack, id)).toEqual([]);
    await ageAttempts(stack, id, 2);
    await payoutWhen(partner, id, 'succeeded', 60_000);
    expect(await transfersOf(stack, id)).toMatchObject([{ status: 'SUCCEEDED', idempotency_key: id }]);
    expect(await readBalance(partner)).toMatchObject({ balance: '900000.0000', pending: '0.0000' });
  }, 120_000);
});
