import { settlePayout } from '../../../src/money-out/payouts/settle-payout.ts';
import { buildOperators, type Operators, plantDecision } from '../../support/decide.ts';
import { itInFull } from '../../support/full.ts';
import { untilLocked } from '../../support/lock-waits.ts';
import type { BuiltPartner } from '../../support/partner.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { ageAttempts, buildPayer, readBalance, readPayout, reserve, transfersOf } from './build-payouts.ts';
import { openSteps } from './payout-steps.ts';

/** Two people settle a payout while its request is repeated: it has one outcome. */
let stack: Stack;
let operators: Operators;
let partner: BuiltPartner;
let steps: ReturnType<typeof openSteps>;
beforeAll(async () => {
  stack = await startStack({ sandbox: true });
  operators = await buildOperators(stack);
  steps = openSteps(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
beforeEach(async () => {
  partner = await buildPayer(stack, { available: '10000000' });
});

/** Races, run ten at a time: more would wait for connections and time out. */
const racers = isFullRun() ? 50 : 4;
const atOnce = Math.min(racers, 10);

interface Contested {
  id: string;
  decisionId: string;
}

/** A payout whose first request was lost, so that it may be repeated, and whose outcome two people have decided. */
async function contested(outcome: 'failed' | 'succeeded' = 'failed'): Promise<Contested> {
  const id = await reserve(stack, partner, '900005');
  expect((await steps.send(id)).said).toBe('silent');
  await ageAttempts(stack, id, 3);
  expect((await steps.ask(id)).said).toBe('not known');
  const evidence = { provider: { says: 'not known' }, books: {} };
  const facts = { kind: 'settle_payout', payout_id: id, outcome, evidence };
  return { id, decisionId: await plantDecision(stack, operators, facts) };
}

const send = ({ id }: Contested) => steps.send(id);
const settle = ({ id, decisionId }: Contested) => {
  const step = { payoutId: id, at: new Date().toISOString(), signal: AbortSignal.timeout(30_000) };
  return settlePayout(stack.em(), stack.deps, { ...step, settlement: { decision_id: decisionId } });
};
const stateOf = async (decisionId: string) =>
  (await stack.em().execute<[{ status: string }]>('select status from decisions where id = ?', [decisionId]))[0].status;

/** Returns the outcome once the payout is final: at the bank, in the books, and of the decision. */
async function outcomeOf({ id, decisionId }: Contested): Promise<{ sent: boolean; status: string; decision: string }> {
  await eventually(
    () => steps.askAndResolve(id),
    ({ status }) => status !== 'pending',
  );
  const transfers = await transfersOf(stack, id);
  expect(transfers.length).toBeLessThanOrEqual(1);
  const { status } = await readPayout(partner, id);
  return { sent: transfers.length === 1, status, decision: await stateOf(decisionId) };
}
const asSent = { sent: true, status: 'succeeded' };
const asSettled = { sent: false, status: 'failed', decision: 'carried_out' };

/** Starts the deeds so that they wait for the payout's row in this order. */
async function inTurn(payout: Contested, deeds: ((payout: Contested) => Promise<unknown>)[]): Promise<void> {
  const under: Promise<unknown>[] = [];
  await stack.owner().transactional(async (tx) => {
    await tx.execute('select from payouts where id = ? for update', [payout.id]);
    for (const deed of deeds) {
      under.push(deed(payout));
      await untilLocked(stack, { count: under.length, text: 'payouts' });
    }
  });
  await Promise.all(under);
}

describe('A payout settled by operators while its request is retried', () => {
  it('A payout settled as failed is never sent afterwards and releases all its money', async () => {
    const payout = await contested();
    await inTurn(payout, [settle, send]);
    expect(await outcomeOf(payout)).toEqual(asSettled);
    expect(await readBalance(partner)).toMatchObject({ available: '10000000.0000', pending: '0.0000' });
  });

  it('A payout whose request was sent cannot be settled as failed and takes the bank’s outcome', async () => {
    const payout = await contested();
    await inTurn(payout, [send, settle]);
    expect(await outcomeOf(payout)).toEqual({ ...asSent, decision: 'refused' });
    expect(await readBalance(partner)).toMatchObject({ available: '9900000.0000', pending: '0.0000' });
  });

  itInFull('A payout settled as succeeded is never sent afterwards', async () => {
    const payout = await contested('succeeded');
    await inTurn(payout, [settle, send]);
    expect(await outcomeOf(payout)).toEqual({ sent: false, status: 'succeeded', decision: 'carried_out' });
    expect(await readBalance(partner)).toMatchObject({ available: '9900000.0000', pending: '0.0000' });
  });

  itInFull('A payout whose request was sent cannot be settled as succeeded and is paid once', async () => {
    const payout = await contested('succeeded');
    await inTurn(payout, [send, settle]);
    expect(await outcomeOf(payout)).toEqual({ ...asSent, decision: 'refused' });
    expect(await readBalance(partner)).toMatchObject({ available: '9900000.0000', pending: '0.0000' });
  });

  it(`A payout settled while its request is retried has one outcome in each of ${racers} races`, async () => {
    let sent = 0;
    for (let raced = 0; raced < racers; raced += atOnce) {
      const payouts = await Promise.all(Array.from({ length: atOnce }, () => contested()));
      await Promise.all(
        payouts.flatMap((payout, index) => (index % 2 ? [send, settle] : [settle, send]).map((deed) => deed(payout))),
      );
      for (const payout of payouts) {
        const outcome = await outcomeOf(payout);
        if (outcome.sent) sent += 1;
        // The decision lapses if the bank's final status comes first.
        const decision = expect.stringMatching(/^(refused|lapsed)$/);
        expect(outcome).toEqual(outcome.sent ? { ...asSent, decision } : asSettled);
      }
    }
    const available = `${10_000_000 - sent * 100_000}.0000`;
    expect(await readBalance(partner)).toMatchObject({ available, pending: '0.0000' });
  }, 300_000);
});
