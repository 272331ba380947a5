import { give } from '../../giving/donations/build-donations.ts';
import { balanceOf, buildIndividual, buildSuperAdmin } from '../../support/build.ts';
import { buildActiveCause } from '../../support/build-targets.ts';
import { buildOperators, decide, secureSession } from '../../support/decide.ts';
import { itInFull } from '../../support/full.ts';
import { loseWorkflow } from '../../support/lose-workflow.ts';
import { recountTallies } from '../../support/recount-tallies.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { withoutTriggers } from '../../support/without-triggers.ts';
import { ageAttempts, setFaults, settleAtProvider, transfersOf } from '../payouts/build-payouts.ts';
import {
  addBankAccount,
  ask,
  askDisbursement,
  buildOwner,
  buildWaitingDisbursement,
  readWithdrawal,
  type WaitingDisbursement,
  withdrawalWhen,
} from './build-withdrawals.ts';

/** Disbursements that failed here and were sent after all, and those whose owner may no longer move money. */
let stack: Stack;
let approvers: string[];
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  approvers = await Promise.all(
    Array.from({ length: 2 }, async () => secureSession(stack, (await buildSuperAdmin(stack)).id)),
  );
}, 120_000);
afterEach(() => setFaults(stack, {}));
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const saidOf = (id: string, word: string) =>
  eventually(
    () => stack.em().execute<{ word: string }[]>('select last_word as word from payouts where id = ?', [id]),
    ([row]) => row?.word === word,
    60_000,
  );

const approve = async ({ decisionId }: Pick<WaitingDisbursement, 'decisionId'>, which: number) =>
  (await stack.post(`/v1/decisions/${decisionId}/approve`, undefined, { token: approvers[which] ?? '' })).body.data;
/** The owner's transactions of the disbursement, oldest first. */
async function transactionsOf({ id, owner }: WaitingDisbursement): Promise<string[]> {
  const { body } = await stack.get('/v1/transactions', { token: owner.token });
  const rows: { reference_id: string; type: string; status: string; amount: string }[] = body.data.transactions;
  return rows
    .toReversed()
    .filter(({ reference_id, type }) => reference_id === id && type === 'price')
    .map(({ status, amount }) => `${status} ${amount}`);
}
/** Requests this much for the owner, as a disbursement or a withdrawal; returns the status. */
async function take({ owner, causeId }: WaitingDisbursement, amount: string, isDisbursed: boolean) {
  const bank_account_id = await addBankAccount(stack, owner);
  const ofCause = isDisbursed ? { cause_id: causeId, purpose_note: 'Two pumps and their pipes' } : {};
  return (await ask(stack, owner, { bank_account_id, amount, ...ofCause })).status;
}

it('The money of a failed disbursement that was sent after all cannot be used again', async () => {
  const it = await buildWaitingDisbursement(stack, '300000', '999999');
  await approve(it, 0);
  expect(await approve(it, 1)).toMatchObject({ status: 'carried_out' });
  await withdrawalWhen(stack, it.owner, it.id, 'failed');
  await settleAtProvider(stack, it.id, 'SUCCEEDED');
  await eventually(
    () => stack.em().execute<{ word: string }[]>('select last_word as word from payouts where id = ?', [it.id]),
    ([row]) => row?.word === 'succeeded',
    60_000,
  );
  expect(await take(it, '100001', true)).toBe(400);
  expect(await take(it, '100001', false)).toBe(400);
  const decision = await decide(stack, await buildOperators(stack), { kind: 'book_transfer', payout_id: it.id });
  expect(decision).toMatchObject({ status: 'carried_out' });
  expect(await balanceOf(stack, it.owner.accountId)).toBe('200000.0000');
  expect(await readWithdrawal(stack, it.owner, it.id)).toMatchObject({ booked_at: expect.any(String) });
  const { body } = await stack.get(`/v1/charitable-causes/${it.causeId}/disbursements`, { token: it.owner.token });
  expect(body.data.items).toMatchObject([{ id: it.id, status: 'failed', booked_at: expect.any(String) }]);
  expect(await take(it, '100001', true)).toBe(400);
  // Reserved, released, and sent after all.
  expect(await transactionsOf(it)).toEqual([
    'successful 300000.0000',
    'reversed 300000.0000',
    'successful 300000.0000',
  ]);
  await settleAtProvider(stack, it.id, 'REVERSED');
  await eventually(
    () => balanceOf(stack, it.owner.accountId),
    (balance) => balance === '500000.0000',
    60_000,
  );
  expect((await transactionsOf(it)).at(-1)).toBe('reversed 300000.0000');
}, 120_000);

it('The decision about a disbursement lapses, with evidence, if the owner is suspended', async () => {
  const it = await buildWaitingDisbursement(stack);
  await approve(it, 0);
  await stack.em().execute("update users set status = 'suspended' where id = ?", [it.owner.id]);
  const decision = await approve(it, 1);
  expect(decision).toMatchObject({ status: 'lapsed', reason: 'the owner is suspended' });
  expect(decision.evidence.books).toMatchObject({ lapsed: 'the owner is suspended' });
  await stack.em().execute("update users set status = 'active' where id = ?", [it.owner.id]);
  expect(await withdrawalWhen(stack, it.owner, it.id, 'failed')).toMatchObject({ failure_code: 'DECISION_LAPSED' });
  expect(await transfersOf(stack, it.id)).toEqual([]);
}, 120_000);

it('An approved disbursement fails, with evidence, if its owner is suspended before it is sent', async () => {
  const it = await buildWaitingDisbursement(stack);
  await setFaults(stack, { requests: { error_rate: 1 } });
  await approve(it, 0);
  expect(await approve(it, 1)).toMatchObject({ status: 'carried_out' });
  await saidOf(it.id, 'unsent');
  await stack.em().execute("update users set status = 'suspended' where id = ?", [it.owner.id]);
  await setFaults(stack, {});
  const failed = { status: 'failed', failure_code: 'DECISION_LAPSED' };
  const token = approvers[0] ?? '';
  const read = async (path: string) => (await stack.get(path, { token })).body.data;
  expect(
    await eventually(
      () => read(`/v1/payouts/${it.id}`),
      ({ status }) => status !== 'pending',
      60_000,
    ),
  ).toMatchObject(failed);
  const { status, evidence } = await read(`/v1/decisions/${it.decisionId}`);
  expect([status, evidence.books.lapsed]).toEqual(['carried_out', 'the owner is suspended']);
  expect((await read(`/v1/payouts/${it.id}/timeline`)).items.map(({ text }: { text: string }) => text)).toContain(
    'It may no longer be sent: the owner is suspended.',
  );
  expect(await transfersOf(stack, it.id)).toEqual([]);
  const changed = "update decisions set evidence = jsonb_set(evidence, '{books,amount}', '\"1\"') where id = ?";
  await expect(stack.owner().execute(changed, [it.decisionId])).rejects.toThrow('what was decided cannot change');
}, 120_000);

const stopOf = (verb: 'stop' | 'reinstate') => async (it: WaitingDisbursement) => {
  const reason = { reason: 'reported as false' };
  const { status } = await stack.post(`/v1/charitable-causes/${it.causeId}/${verb}`, reason, {
    token: approvers[0] ?? '',
  });
  expect(status).toBe(200);
};
const setOwner = (status: string) => (it: WaitingDisbursement) =>
  stack.em().execute('update users set status = ? where id = ?', [status, it.owner.id]);

it.each([
  { what: 'whose owner was suspended', bar: setOwner('suspended'), unbar: setOwner('active') },
  { what: 'whose cause was stopped', bar: stopOf('stop'), unbar: stopOf('reinstate') },
])(
  'A disbursement $what after a lost request is not requested again until that is undone',
  async ({ bar, unbar }) => {
    const it = await buildWaitingDisbursement(stack, '300000', '900005');
    await approve(it, 0);
    expect(await approve(it, 1)).toMatchObject({ status: 'carried_out' });
    await saidOf(it.id, 'not known');
    await bar(it);
    await ageAttempts(stack, it.id, 3);
    const countAsked = async () => {
      const [row] = await stack.em().execute<{ asks: number }[]>('select asks from payouts where id = ?', [it.id]);
      return row?.asks ?? 0;
    };
    const before = await countAsked();
    const hint = () => stack.deps.workflows.hintPayout({ id: it.id, kind: 'withdrawal' });
    await hint();
    // The second query begins only after everything that follows from the first.
    await eventually(countAsked, (asks) => asks > before, 60_000);
    await hint();
    await eventually(countAsked, (asks) => asks > before + 1, 60_000);
    expect(await transfersOf(stack, it.id)).toEqual([]);
    const token = approvers[0] ?? '';
    const { next } = (await stack.get(`/v1/payouts/${it.id}/timeline`, { token })).body.data;
    expect(next.text).toBe(
      'It is not requested again. The provider is asked what became of the request; the money stays reserved until that is known.',
    );
    await unbar(it);
    await hint();
    await withdrawalWhen(stack, it.owner, it.id, 'succeeded');
    expect(await transfersOf(stack, it.id)).toHaveLength(1);
  },
  120_000,
);

itInFull(
  'The money of a disbursement settled as failed that the provider does not have can be disbursed again',
  async () => {
    const it = await buildWaitingDisbursement(stack, '300000', '900004');
    await approve(it, 0);
    expect(await approve(it, 1)).toMatchObject({ status: 'carried_out' });
    await saidOf(it.id, 'not known');
    await ageAttempts(stack, it.id, 3);
    const ending = { kind: 'settle_payout', payout_id: it.id, outcome: 'failed' };
    expect(await decide(stack, await buildOperators(stack), ending)).toMatchObject({ status: 'carried_out' });
    expect(await take(it, '400000', true)).toBe(201);
  },
  120_000,
);

it('A donation cannot be refunded once a failed disbursement of its cause was sent after all', async () => {
  const owner = await buildOwner(stack, '100000');
  const { id: causeId } = await buildActiveCause(stack, owner);
  const donor = await buildIndividual(stack, { balance: '50000' });
  for (const each of [donor, await buildIndividual(stack, { balance: '200000' })]) {
    expect((await give(stack, each, each === donor ? 50_000 : 200_000, causeId)).status).toBe(201);
  }
  const it = { owner, causeId, ...(await askDisbursement(stack, owner, causeId, '100000', '999999')) };
  await approve(it, 0);
  await approve(it, 1);
  await withdrawalWhen(stack, owner, it.id, 'failed');
  await settleAtProvider(stack, it.id, 'SUCCEEDED');
  await saidOf(it.id, 'succeeded');
  const [donation] = await stack
    .em()
    .execute<{ id: string }[]>('select id from donations where user_id = ?', [donor.id]);
  const { status } = await stack.post(`/v1/donations/${donation?.id}/refund`, undefined, { token: donor.token });
  expect(status).toBe(400);
  const { body } = await stack.get(`/v1/donations/${donation?.id}/trace`, { token: donor.token });
  expect(body.data.steps.at(-1)).toMatchObject({ type: 'disbursement', disbursement_id: it.id, status: 'failed' });
}, 120_000);

describe('A disbursement whose transfer was lost in a restore', () => {
  /**
   * A disbursement that two people approved and the provider has; its attempt, and with `undecided` its approval, are
   * lost.
   */
  async function buildForgotten({ undecided }: { undecided: boolean }): Promise<WaitingDisbursement> {
    const it = await buildWaitingDisbursement(stack, '300000', '131313');
    await approve(it, 0);
    expect(await approve(it, 1)).toMatchObject({ status: 'carried_out' });
    await saidOf(it.id, 'accepted');
    await loseWorkflow(stack.deps.workflows.client, `withdrawal/${it.id}`);
    await withoutTriggers(stack, 'delete from payout_attempts where payout_id = ?', [it.id]);
    await withoutTriggers(
      stack,
      `update payouts set last_word = null, last_word_at = null, provider_transfer_id = null, asked_at = null,
         look_again_at = now() + interval '1 hour' where id = ?`,
      [it.id],
    );
    const forget = `update decisions set status = 'pending', first_approved_by = null, approved_by = null, approved_at = null,
      ended_at = null where id = ?`;
    if (undecided) await withoutTriggers(stack, forget, [it.decisionId]);
    await recountTallies(stack);
    return it;
  }
  const hint = ({ id }: WaitingDisbursement) => stack.deps.workflows.hintPayout({ id, kind: 'withdrawal' });

  it('A disbursement whose attempt was lost in a restore does not fail before the provider is queried', async () => {
    const it = await buildForgotten({ undecided: false });
    await stack.em().execute("update users set status = 'suspended' where id = ?", [it.owner.id]);
    await setFaults(stack, { requests: { error_rate: 1 } });
    await hint(it);
    await saidOf(it.id, 'unsent');
    await setFaults(stack, {});
    await settleAtProvider(stack, it.id, 'SUCCEEDED');
    await stack.em().execute("update users set status = 'active' where id = ?", [it.owner.id]);
    await withdrawalWhen(stack, it.owner, it.id, 'succeeded');
    expect(await transfersOf(stack, it.id)).toHaveLength(1);
  }, 120_000);

  it('A disbursement whose attempt was lost in a restore takes the provider’s outcome', async () => {
    const it = await buildForgotten({ undecided: true });
    await settleAtProvider(stack, it.id, 'SUCCEEDED');
    await withdrawalWhen(stack, it.owner, it.id, 'succeeded');
    const { body } = await stack.post(`/v1/decisions/${it.decisionId}/reject`, undefined, {
      token: approvers[0] ?? '',
    });
    expect(body).toMatchObject({ data: { status: 'lapsed', reason: 'the withdrawal is now succeeded' } });
    expect(await take(it, '200000', true)).toBe(400);
  }, 120_000);
});
