import type { DecisionStatus } from '../../../src/money-out/decisions/decision.ts';
import type { PayoutSettlement } from '../../../src/money-out/payouts/payout.ts';
import { newId } from '../../../src/shared/ids.ts';
import { approve, buildOperators, type Operators, plantDecision, propose } from '../../support/decide.ts';
import type { BuiltPartner } from '../../support/partner.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { ageAttempts, buildPayer, readPayout, reserve, setFaults, settleAtProvider } from './build-payouts.ts';
import { openSteps } from './payout-steps.ts';

/** The provider reports a final status and then stops answering; the activities run without a workflow. */
let stack: Stack;
let partner: BuiltPartner;
let operators: Operators;
let steps: ReturnType<typeof openSteps>;
beforeAll(async () => {
  stack = await startStack({ sandbox: true });
  steps = openSteps(stack);
  partner = await buildPayer(stack, { available: '100000000' });
  operators = await buildOperators(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
afterEach(() => setFaults(stack, {}));

const note = 'ticket 4711';
/** A payout whose transfer the provider accepted two minutes ago. */
async function heldPayout(): Promise<string> {
  const id = await reserve(stack, partner, '131313');
  expect(await steps.send(id)).toMatchObject({ said: 'accepted' });
  await ageAttempts(stack, id, 2);
  return id;
}
/** Settles the payout at the provider, queries it, and makes the provider fail before the status has any effect. */
async function endThenFallSilent(id: string, how: 'SUCCEEDED' | 'FAILED' | 'REVERSED') {
  await settleAtProvider(stack, id, how);
  await steps.ask(id);
  await setFaults(stack, { requests: { error_rate: 1 } });
}
const decisionAbout = (payout_id: string, outcome: 'succeeded' | 'failed', says = 'accepted') => ({
  kind: 'settle_payout',
  payout_id,
  outcome,
  evidence: { provider: { says }, books: {} },
});
const decisionOf = async (id: string) => {
  const [row] = await stack
    .em()
    .execute<{ status: DecisionStatus; reason: string | null }[]>('select status, reason from decisions where id = ?', [
      id,
    ]);
  return row;
};
const settle = (id: string, settlement: PayoutSettlement) => steps.settle(id, settlement);
const lapsed = { status: 'lapsed', reason: 'the provider has since reported a final status: succeeded' };

describe('A final status after which the provider stops answering', () => {
  it('A final status resolves its payout even if the provider stops answering afterwards', async () => {
    const id = await heldPayout();
    await endThenFallSilent(id, 'SUCCEEDED');
    expect(await steps.ask(id)).toMatchObject({ said: 'silent' });
    expect(await steps.rowOf(id)).toMatchObject({ last_word: 'succeeded', unknown_since: null });
    expect(await steps.resolve(id)).toMatchObject({ status: 'succeeded' });
    expect(await steps.resolve(id)).toMatchObject({ status: 'succeeded' });
  });

  it('A settlement by one operator is rejected unless it matches the provider’s final status', async () => {
    const id = await heldPayout();
    await endThenFallSilent(id, 'FAILED');
    await expect(settle(id, { outcome: 'succeeded', note })).rejects.toThrow('it says: failed');
    expect(await settle(id, { outcome: 'failed', note })).toMatchObject({ status: 'failed' });
  });

  it('A decision of two people lapses at its execution if the provider’s final status contradicts it', async () => {
    const id = await heldPayout();
    const decision = await plantDecision(stack, operators, decisionAbout(id, 'failed'));
    await endThenFallSilent(id, 'SUCCEEDED');
    expect(await settle(id, { decision_id: decision })).toMatchObject({ status: 'pending' });
    expect(await decisionOf(decision)).toEqual(lapsed);
    expect(await steps.resolve(id)).toMatchObject({ status: 'succeeded' });
  });

  it('A decision lapses at its approval if the provider’s final status contradicts it', async () => {
    const id = await heldPayout();
    const decision = await plantDecision(stack, operators, { ...decisionAbout(id, 'failed'), approved: false });
    await endThenFallSilent(id, 'SUCCEEDED');
    expect(await approve(stack, operators, decision)).toMatchObject({ status: 200, body: { data: lapsed } });
    expect(await steps.resolve(id)).toMatchObject({ status: 'succeeded' });
  });

  it('A proposal that contradicts the final status is refused', async () => {
    const id = await heldPayout();
    await endThenFallSilent(id, 'SUCCEEDED');
    const proposal = { kind: 'settle_payout', payout_id: id, outcome: 'failed' };
    expect(await propose(stack, operators, proposal)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('succeeded') },
    });
    expect(await steps.resolve(id)).toMatchObject({ status: 'succeeded' });
  });

  it('The database rejects settlements against the final status or by decisions older than 24 hours', async () => {
    const id = await heldPayout();
    await endThenFallSilent(id, 'SUCCEEDED');
    await plantDecision(stack, operators, decisionAbout(id, 'failed'));
    await expect(
      stack
        .em()
        .execute("update payouts set status = 'failed', failure_code = 'X', finalized_at = now() where id = ?", [id]),
    ).rejects.toMatchObject({ code: 'AM010' });
    expect(await steps.resolve(id)).toMatchObject({ status: 'succeeded' });
    await setFaults(stack, {});
    const old = await heldPayout();
    const decision = await plantDecision(stack, operators, decisionAbout(old, 'failed'));
    await stack.owner().transactional(async (tx) => {
      await tx.execute("set local session_replication_role = 'replica'");
      await tx.execute("update decisions set created_at = now() - interval '25 hours' where id = ?", [decision]);
    });
    await expect(
      stack
        .em()
        .execute("update payouts set status = 'failed', failure_code = 'X', finalized_at = now() where id = ?", [old]),
    ).rejects.toMatchObject({ code: 'AM010' });
  });
});

const nextLookOf = async (id: string) => {
  const [row] = await stack
    .em()
    .execute<{ look_again_at: string | null }[]>('select look_again_at from payouts where id = ?', [id]);
  return row?.look_again_at;
};
/** Backdates a final payout. */
async function age(id: string, days: number): Promise<void> {
  await ageAttempts(stack, id, 2 * days * 24 * 60);
  await stack
    .owner()
    .execute('update payouts set finalized_at = now() - make_interval(days => ?) where id = ?', [days, id]);
}

describe('The last check of a succeeded payout', () => {
  it('The last check of a succeeded payout is retried an hour later if the provider does not answer', async () => {
    const id = await heldPayout();
    await settleAtProvider(stack, id, 'SUCCEEDED');
    expect(await steps.askAndResolve(id)).toMatchObject({ status: 'succeeded' });
    await age(id, 4);
    await setFaults(stack, { requests: { error_rate: 1 } });
    expect(await steps.ask(id)).toMatchObject({ said: 'silent' });
    const minutes = (Date.parse((await nextLookOf(id)) ?? '') - Date.now()) / 60_000;
    expect(minutes).toBeGreaterThan(55);
    expect(minutes).toBeLessThan(65);
    await setFaults(stack, {});
    expect(await steps.ask(id)).toMatchObject({ said: 'succeeded' });
    expect(await nextLookOf(id)).toBeNull();
  });
});

describe('A returned transfer reported once before the provider stops answering', () => {
  it('A return reported once is booked by the next activity, and the payout stays scheduled until then', async () => {
    const id = await heldPayout();
    await settleAtProvider(stack, id, 'SUCCEEDED');
    expect(await steps.askAndResolve(id)).toMatchObject({ status: 'succeeded' });
    await endThenFallSilent(id, 'REVERSED');
    expect(await steps.rowOf(id)).toMatchObject({ status: 'succeeded', last_word: 'reversed' });
    await age(id, 10);
    expect(await steps.ask(id)).toMatchObject({ said: 'silent' });
    expect(await nextLookOf(id)).toEqual(expect.any(String));
    expect(await steps.resolve(id)).toMatchObject({ status: 'reversed' });
    expect(await steps.rowOf(id)).toMatchObject({ status: 'reversed' });
    expect(await nextLookOf(id)).toBeNull();
  });

  it('A return reported once is booked with the success when an operator settles the payout', async () => {
    const id = await heldPayout();
    await endThenFallSilent(id, 'REVERSED');
    expect(await settle(id, { outcome: 'succeeded', note })).toMatchObject({ status: 'reversed' });
    expect(await settle(id, { outcome: 'succeeded', note })).toMatchObject({ status: 'reversed' });
  });
});

describe('A succeeded payout', () => {
  it('A succeeded payout is reversed only by a return that the provider itself reported', async () => {
    const id = await heldPayout();
    await settleAtProvider(stack, id, 'SUCCEEDED');
    expect(await steps.askAndResolve(id)).toMatchObject({ status: 'succeeded' });
    const [row] = await stack.em().execute('select contradicted_at from payouts where id = ?', [id]);
    expect(row).toEqual({ contradicted_at: null });
    await expect(stack.em().execute("update payouts set status = 'reversed' where id = ?", [id])).rejects.toMatchObject(
      { code: 'AM010' },
    );
    expect(await readPayout(partner, id)).toMatchObject({ status: 'succeeded' });
  });
});

describe('A contradiction reported after the last check', () => {
  const stuck = async (): Promise<string[]> => {
    const { token } = operators.approver;
    const { body } = await stack.get('/v1/payouts/stuck?minutes=0', { token });
    return body.data.items.map(({ payout_id }: { payout_id: string }) => payout_id);
  };
  const contradictionsOf = async (id: string): Promise<number> =>
    (await stack.em().execute("select 1 from events where resource_id = ? and event = 'PAYOUT_CONTRADICTED'", [id]))
      .length;
  const explain = (id: string) => propose(stack, operators, { kind: 'explain_difference', reconciliation_id: id });
  /** A difference of this payout, as the comparison of its day would record it. */
  async function difference(payoutId: string, theirs: string, state = 'open'): Promise<string> {
    const id = newId();
    const side = (status: string) => JSON.stringify({ status, amount: '98000.0000' });
    await stack.em().execute(
      `insert into reconciliations (id, day, resource_type, subject, resource_id, reference, ours, theirs)
       values (?, '2026-01-01', 'payout', ?, ?, ?, ?::jsonb, ?::jsonb)`,
      [id, `disb-${id}`, payoutId, payoutId, side('succeeded'), side(theirs)],
    );
    await stack.em().execute('update reconciliations set state = ? where id = ?', [state, id]);
    return id;
  }

  it('A contradicted payout stays listed as stuck until exactly that difference is explained', async () => {
    const id = await heldPayout();
    await settleAtProvider(stack, id, 'SUCCEEDED');
    expect(await steps.askAndResolve(id)).toMatchObject({ status: 'succeeded' });
    await settleAtProvider(stack, id, 'FAILED');
    expect(await steps.askAndResolve(id)).toMatchObject({ status: 'succeeded' });
    expect(await stuck()).toContain(id);
    expect(await explain(await difference(id, 'succeeded', 'resolved'))).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('resolved') },
    });
    expect((await explain(await difference(id, 'pending'))).body.data).toMatchObject({ status: 'carried_out' });
    expect(await stuck()).toContain(id);
    expect((await explain(await difference(id, 'failed'))).body.data).toMatchObject({ status: 'carried_out' });
    expect(await stuck()).not.toContain(id);
    // A repeated status is not reported again, but one that follows another status is.
    for (let look = 0; look < 2; look += 1) await steps.ask(id);
    expect(await stuck()).not.toContain(id);
    expect(await contradictionsOf(id)).toBe(1);
    await settleAtProvider(stack, id, 'SUCCEEDED');
    await steps.ask(id);
    await settleAtProvider(stack, id, 'FAILED');
    await steps.ask(id);
    expect(await stuck()).toContain(id);
    expect(await contradictionsOf(id)).toBe(2);
  });
});
