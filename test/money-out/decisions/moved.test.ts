import { sweepDecisions } from '../../../src/money-out/decisions/carry-out.ts';
import { newId } from '../../../src/shared/ids.ts';
import { type BuiltUser, buildPlatformAdmin, buildSuperAdmin } from '../../support/build.ts';
import {
  approve,
  buildOperators,
  type Operators,
  plantDecision,
  propose,
  secureSession,
} from '../../support/decide.ts';
import { itInFull } from '../../support/full.ts';
import { untilLocked } from '../../support/lock-waits.ts';
import type { BuiltPartner } from '../../support/partner.ts';
import { pauseSchedules } from '../../support/pause-schedules.ts';
import { expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { withoutTriggers } from '../../support/without-triggers.ts';
import { ageAttempts, buildPayer, buildRestingPayout, readPayout } from '../payouts/build-payouts.ts';

/** Decisions whose subject, people or outcome has changed by the time they are carried out. */
let stack: Stack;
let superAdmin: BuiltUser;
let operators: Operators;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startStack({ isImpatient: true, worker: true, sandbox: true });
  superAdmin = await buildSuperAdmin(stack);
  operators = await buildOperators(stack);
  partner = await buildPayer(stack, { available: '100000000' });
  await pauseSchedules(stack, ['sweep']);
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

/** A payout that the provider does not complete, old enough to be settled by hand. */
const resting = async () => {
  const id = await buildRestingPayout(stack, partner);
  await ageAttempts(stack, id, 2);
  return id;
};
/** A decision that waits for its second person. */
const proposed = async (): Promise<string> => {
  const proposal = { kind: 'book_external', amount: '1', reference: `r ${newId()}` };
  return (await propose(stack, operators, proposal)).body.data.id;
};

const about = (payout_id: string, outcome = 'failed') => ({ kind: 'settle_payout', payout_id, outcome });
const read = async (id: string) =>
  (await stack.get(`/v1/decisions/${id}`, { token: operators.approver.token })).body.data;
const suspend = (user: BuiltUser) =>
  stack.patch(`/v1/users/${user.id}`, { status: 'suspended' }, { token: superAdmin.token });
const sweep = () =>
  sweepDecisions(stack.em(), stack.deps, (_, id, cause) => {
    throw new Error(id, { cause });
  });

describe('A pending decision', () => {
  it('An approved decision lapses if its approver is suspended before it is executed', async () => {
    const payoutId = await resting();
    const theirs = await buildOperators(stack);
    const evidence = { provider: { says: 'not known' }, books: {} };
    const id = await plantDecision(stack, theirs, { ...about(payoutId), evidence });
    expect((await suspend(theirs.approver)).status).toBe(200);
    await withoutTriggers(stack, "update decisions set approved_at = now() - interval '2 minutes' where id = ?", [id]);
    await sweep();
    expect(await read(id)).toMatchObject({ status: 'lapsed', reason: 'the approver may no longer decide' });
    expect((await readPayout(partner, payoutId)).status).toBe('pending');
  });

  it('A pending decision lapses once its proposer is suspended, even if someone else approves it', async () => {
    const payoutId = await resting();
    const theirs = { ...operators, proposer: await buildPlatformAdmin(stack) };
    const ids = [
      (await propose(stack, theirs, about(payoutId))).body.data.id,
      (await propose(stack, theirs, about(payoutId))).body.data.id,
    ];
    expect((await suspend(theirs.proposer)).status).toBe(200);
    const lapsed = { status: 'lapsed', reason: 'the proposer may no longer decide' };
    expect((await approve(stack, theirs, ids[0])).body.data).toMatchObject(lapsed);
    await sweep();
    expect(await read(ids[1])).toMatchObject(lapsed);
    expect((await readPayout(partner, payoutId)).status).toBe('pending');
  });

  it('The database refuses to execute a decision whose approver is suspended', async () => {
    const payoutId = await resting();
    const theirs = await buildOperators(stack);
    await plantDecision(stack, theirs, about(payoutId));
    await suspend(theirs.approver);
    await expect(
      stack
        .em()
        .execute("update payouts set status = 'failed', failure_code = 'X', finalized_at = now() where id = ?", [
          payoutId,
        ]),
    ).rejects.toMatchObject({ code: 'AM010' });
  });
});

describe('A decision that expires during its approval', () => {
  it('A decision that expires during its approval lapses without a server error', async () => {
    const id = await proposed();
    const owner = stack.owner();
    // Simulates a slow machine between the check and the write.
    await owner.execute(`create function wait_a_while() returns trigger language plpgsql as $$
      begin perform pg_sleep(1.5); return new; end $$`);
    await owner.execute(`create trigger a_slow_machine before update of approved_by on decisions for each row
      when (new.approved_by is not null and old.approved_by is null) execute function wait_a_while()`);
    const almost = "clock_timestamp() - interval '24 hours' + interval '1 second'";
    await withoutTriggers(stack, `update decisions set created_at = ${almost} where id = ?`, [id]);
    const answer = await approve(stack, operators, id);
    await owner.execute('drop trigger a_slow_machine on decisions');
    expect(answer).toMatchObject({
      status: 200,
      body: { data: { status: 'lapsed', reason: 'it is older than 24 hours', approved_by: null } },
    });
  });
});

describe('An operator who is suspended during a request', () => {
  /** Holds the API's next transfer query to the provider until the test releases it. */
  function holdTheNextQuestion(): { asked: Promise<void>; answer: () => void } {
    const gateway = stack.deps.gateways.of('xendit');
    const { findTransfer } = gateway;
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    gateway.findTransfer = async (...question) => {
      gateway.findTransfer = findTransfer;
      asked.resolve();
      await answered.promise;
      return findTransfer(...question);
    };
    return { asked: asked.promise, answer: answered.resolve };
  }

  it('An operator suspended during an approval is refused, and nothing is approved', async () => {
    const id = await proposed();
    const leaving = await buildSuperAdmin(stack);
    const token = await secureSession(stack, leaving.id);
    let asked: ReturnType<Stack['post']> | undefined;
    await stack.owner().transactional(async (tx) => {
      await tx.execute('select 1 from decisions where id = ? for update', [id]);
      asked = stack.post(`/v1/decisions/${id}/approve`, undefined, { token });
      await untilLocked(stack, { text: 'decisions' });
      expect((await suspend(leaving)).status).toBe(200);
    });
    expect(await asked).toMatchObject({ status: 403, body: { message: 'You may no longer decide' } });
    expect(await read(id)).toMatchObject({ status: 'pending', approved_by: null });
  });

  it.each<[string, (user: BuiltUser & { token: string }) => Promise<unknown>]>([
    ['logged out', ({ token }) => stack.post('/v1/auth/logout', undefined, { token })],
    ['logged out everywhere', ({ token }) => stack.post('/v1/auth/logout-all', undefined, { token })],
    [
      'suspended and reactivated',
      async (user) => {
        expect((await suspend(user)).status).toBe(200);
        return stack.patch(`/v1/users/${user.id}`, { status: 'active' }, { token: superAdmin.token });
      },
    ],
  ])('An operator who was %s during a request is refused', async (_, end) => {
    const id = await proposed();
    const leaving = await buildSuperAdmin(stack);
    const token = await secureSession(stack, leaving.id);
    let asked: ReturnType<Stack['post']> | undefined;
    await stack.owner().transactional(async (tx) => {
      await tx.execute('select 1 from decisions where id = ? for update', [id]);
      asked = stack.post(`/v1/decisions/${id}/approve`, undefined, { token });
      await untilLocked(stack, { text: 'decisions' });
      expect(await end({ ...leaving, token })).toMatchObject({ status: 200 });
    });
    expect(await asked).toMatchObject({ status: 401 });
    expect(await read(id)).toMatchObject({ status: 'pending', approved_by: null });
  });

  itInFull('A proposal from a session revoked during the request is refused', async () => {
    const payoutId = await resting();
    const leaving = await buildPlatformAdmin(stack);
    const question = holdTheNextQuestion();
    const asked = propose(stack, { ...operators, proposer: leaving }, about(payoutId));
    await question.asked;
    expect((await stack.post('/v1/auth/logout-all', undefined, { token: leaving.token })).status).toBe(200);
    question.answer();
    expect(await asked).toMatchObject({ status: 401 });
    const rows = await stack.em().execute('select 1 from decisions where proposed_by = ?', [leaving.id]);
    expect(rows).toEqual([]);
  });

  it('An operator suspended during a proposal is refused', async () => {
    const payoutId = await resting();
    const leaving = await buildPlatformAdmin(stack);
    const question = holdTheNextQuestion();
    const asked = propose(stack, { ...operators, proposer: leaving }, about(payoutId));
    await question.asked;
    expect((await suspend(leaving)).status).toBe(200);
    question.answer();
    expect(await asked).toMatchObject({ status: 403 });
    const rows = await stack.em().execute('select 1 from decisions where proposed_by = ?', [leaving.id]);
    expect(rows).toEqual([]);
  });
});

describe('Explanations of differences', () => {
  it('An explanation lapses if its difference has changed since it was shown', async () => {
    const id = newId();
    const side = (status: string, amount: string) => JSON.stringify({ status, amount });
    await stack.em().execute(
      `insert into reconciliations (id, day, resource_type, subject, reference, theirs)
       values (?, '2026-01-01', 'payout', ?, 'r', ?::jsonb)`,
      [id, `disb-${id}`, side('pending', '5000.0000')],
    );
    let asked: ReturnType<Stack['post']> | undefined;
    await stack.owner().transactional(async (tx) => {
      await tx.execute('update reconciliations set theirs = ?::jsonb where id = ?', [
        side('succeeded', '900000.0000'),
        id,
      ]);
      asked = propose(stack, operators, { kind: 'explain_difference', reconciliation_id: id });
      await untilLocked(stack, { text: 'reconciliations' });
    });
    expect((await asked)?.body.data).toMatchObject({ status: 'lapsed', reason: 'the difference has changed since' });
    const rows = await stack.em().execute('select state, note from reconciliations where id = ?', [id]);
    expect(rows).toEqual([{ state: 'open', note: null }]);
  });
});

describe('An explanation waiting for a row lock', () => {
  it('An explanation lapses if its operator is suspended while it waits for a row lock', async () => {
    const leaving = await buildPlatformAdmin(stack);
    const id = newId();
    await stack.em().execute(
      `insert into reconciliations (id, day, resource_type, subject, reference, theirs)
       values (?, '2026-01-01', 'payout', ?, 'r', '{"status": "pending", "amount": "5000.0000"}'::jsonb)`,
      [id, `disb-${id}`],
    );
    let asked: ReturnType<Stack['post']> | undefined;
    await stack.owner().transactional(async (tx) => {
      await tx.execute('select 1 from reconciliations where id = ? for no key update', [id]);
      const proposal = { kind: 'explain_difference', reconciliation_id: id };
      asked = propose(stack, { ...operators, proposer: leaving }, proposal);
      await untilLocked(stack, { text: 'reconciliations' });
      expect((await suspend(leaving)).status).toBe(200);
    });
    const reason = 'the proposer may no longer decide';
    expect((await asked)?.body.data).toMatchObject({ status: 'lapsed', reason });
    expect(await stack.em().execute('select state from reconciliations where id = ?', [id])).toEqual([
      { state: 'open' },
    ]);
  });
});
