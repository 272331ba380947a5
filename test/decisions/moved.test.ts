import proto from '@temporalio/proto';
import { startWorker } from '../../dev/service-parts.ts';
import { sweepDecisions } from '../../src/decisions/sweep-decisions.ts';
import { newId } from '../../src/shared/ids.ts';
import { buildPayer, buildUnknownPayouts, readPayout, setFaults } from '../payouts/build-payouts.ts';
import { type BuiltUser, buildPlatformAdmin, buildSuperAdmin } from '../support/build.ts';
import { approve, buildOperators, type Operators, plantDecision, propose, secureSession } from '../support/decide.ts';
import { untilLocked } from '../support/lock-waits.ts';
import type { BuiltPartner } from '../support/partner.ts';
import { pauseSchedules } from '../support/pause-schedules.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { withoutTriggers } from '../support/without-triggers.ts';

/** Decisions whose subject, whose people, or whose answer is another by the time. */
let stack: Stack;
let superAdmin: BuiltUser;
let operators: Operators;
let partner: BuiltPartner;
let unknown: () => Promise<string>;
beforeAll(async () => {
  stack = await startStack({
    isImpatient: true,
    worker: true,
    sandbox: true,
    env: { PAYOUT_RESEND_HOURS: '0' },
  });
  superAdmin = await buildSuperAdmin(stack);
  operators = await buildOperators(stack);
  partner = await buildPayer(stack, { available: '100000000' });
  unknown = await buildUnknownPayouts(stack, partner, 9);
  await pauseSchedules(stack, ['decision-sweep']);
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
afterEach(() => setFaults(stack, {}));

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
  it('lapses by the sweep when another decision has ended its payout, and does not count as waiting until tomorrow', async () => {
    const payoutId = await unknown();
    const [first, second] = [
      (await propose(stack, operators, about(payoutId))).body.data.id,
      (await propose(stack, operators, about(payoutId, 'succeeded'))).body.data.id,
    ];
    expect((await approve(stack, operators, first)).body.data.status).toBe('carried_out');
    await sweep();
    expect(await read(second)).toMatchObject({ status: 'lapsed', reason: 'the payout is now failed' });
  });

  it('lapses when its approver is suspended before it is carried out', async () => {
    const payoutId = await unknown();
    const theirs = await buildOperators(stack);
    const evidence = { provider: { says: 'not known' }, books: {} };
    const id = await plantDecision(stack, theirs, { ...about(payoutId), evidence });
    expect((await suspend(theirs.approver)).status).toBe(200);
    await withoutTriggers(stack, "update decisions set approved_at = now() - interval '2 minutes' where id = ?", [id]);
    await sweep();
    expect(await read(id)).toMatchObject({ status: 'lapsed', reason: 'the approver may no longer decide' });
    expect((await readPayout(partner, payoutId)).status).toBe('pending');
  });

  it('lapses when its proposer is suspended, even if somebody else approves it', async () => {
    const payoutId = await unknown();
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

  it('is not carried out by the database either once its approver is suspended', async () => {
    const payoutId = await unknown();
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

describe('A decision that becomes too old while being approved', () => {
  it('lapses, without an error of the server', async () => {
    const proposal = { kind: 'book_external', amount: '1', reference: `r ${newId()}` };
    const { id } = (await propose(stack, operators, proposal)).body.data;
    const owner = stack.owner();
    // A slow machine, between the judgement and the row.
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

describe('An operator who is suspended during the request', () => {
  /** Until the API asks the provider about a transfer the next time. */
  function untilTheProviderIsAsked(): Promise<void> {
    const { gateway } = stack.deps;
    const { findTransfer } = gateway;
    const { promise, resolve } = Promise.withResolvers<void>();
    gateway.findTransfer = (...asked) => {
      gateway.findTransfer = findTransfer;
      resolve();
      return findTransfer(...asked);
    };
    return promise;
  }

  it('is refused the approval, and nothing is approved', async () => {
    const payoutId = await unknown();
    const { id } = (await propose(stack, operators, about(payoutId))).body.data;
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
      'suspended and let in again',
      async (user) => {
        expect((await suspend(user)).status).toBe(200);
        return stack.patch(`/v1/users/${user.id}`, { status: 'active' }, { token: superAdmin.token });
      },
    ],
  ])('is refused the request when they were %s', async (_, end) => {
    const payoutId = await unknown();
    const { id } = (await propose(stack, operators, about(payoutId))).body.data;
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

  it('is refused a proposal from a session that has ended', async () => {
    const payoutId = await unknown();
    const leaving = await buildPlatformAdmin(stack);
    const isAsked = untilTheProviderIsAsked();
    await setFaults(stack, { requests: { hang_rate: 1 } });
    const asked = propose(stack, { ...operators, proposer: leaving }, about(payoutId));
    await isAsked;
    expect((await stack.post('/v1/auth/logout-all', undefined, { token: leaving.token })).status).toBe(200);
    expect(await asked).toMatchObject({ status: 401 });
    const rows = await stack.em().execute('select 1 from decisions where proposed_by = ?', [leaving.id]);
    expect(rows).toEqual([]);
  });

  it('is refused the proposal', async () => {
    const payoutId = await unknown();
    const leaving = await buildPlatformAdmin(stack);
    const isAsked = untilTheProviderIsAsked();
    await setFaults(stack, { requests: { hang_rate: 1 } });
    const asked = propose(stack, { ...operators, proposer: leaving }, about(payoutId));
    await isAsked;
    expect((await suspend(leaving)).status).toBe(200);
    expect(await asked).toMatchObject({ status: 403 });
    const rows = await stack.em().execute('select 1 from decisions where proposed_by = ?', [leaving.id]);
    expect(rows).toEqual([]);
  });
});

describe('An explanation', () => {
  it('applies only to the difference that was looked at, and lapses if that has changed meanwhile', async () => {
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

describe('An explanation waiting for its row', () => {
  it('is not made in the name of somebody suspended in the meantime', async () => {
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

describe('A step’s result forged through Temporal', () => {
  /** An approval under way whose step waits for the provider. */
  async function approveWithASilentProvider() {
    const payoutId = await unknown();
    const { id } = (await propose(stack, operators, about(payoutId))).body.data;
    await setFaults(stack, { requests: { hang_rate: 1 } });
    const asked = approve(stack, operators, id);
    const { client } = stack.deps.workflows;
    const workflowId = `partner-payout/${payoutId}`;
    // Only a step that a worker has taken can be answered.
    const { PENDING_ACTIVITY_STATE_STARTED: taken } = proto.temporal.api.enums.v1.PendingActivityState;
    const settling = await eventually(
      async () => {
        const { raw } = await client.workflow.getHandle(workflowId).describe();
        return raw.pendingActivities?.find(
          ({ activityType, state }) => activityType?.name === 'settlePayout' && state === taken,
        );
      },
      (step) => step !== undefined,
    );
    const activityId = settling?.activityId ?? '';
    return { payoutId, id, asked, client, workflowId, activityId };
  }

  it('refuses no decision: one whose step was failed by hand is carried out anyway', async () => {
    const { payoutId, asked, client, workflowId, activityId } = await approveWithASilentProvider();
    await client.workflowService.respondActivityTaskFailedById({
      namespace: 'default',
      workflowId,
      activityId,
      failure: { message: 'it was paid', applicationFailureInfo: { type: 'REQUEST_INVALID', nonRetryable: true } },
    });
    await setFaults(stack, {});
    expect((await asked).body.data).toMatchObject({ status: 'carried_out', reason: null });
    expect((await readPayout(partner, payoutId)).status).toBe('failed');
  });

  it('carries out no decision: one whose step was answered by hand is carried out by the next approval', async () => {
    const { payoutId, id, asked, client, workflowId, activityId } = await approveWithASilentProvider();
    await stack.worker?.kill('SIGKILL');
    const standing = { status: 'pending', reservedAt: new Date().toISOString(), unknownSince: null, deliveryIds: [] };
    await client.workflowService.respondActivityTaskCompletedById({
      namespace: 'default',
      workflowId,
      activityId,
      result: {
        payloads: [{ metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(JSON.stringify(standing)) }],
      },
    });
    await setFaults(stack, {});
    await using worker = new AsyncDisposableStack();
    const started = await startWorker({ env: stack.env, logFile: 'ignore' });
    worker.defer(() => started.stop());
    await asked;
    // By the answer to this approval, or to the next one.
    await eventually(
      () => approve(stack, operators, id),
      ({ status }) => status !== 503,
      60_000,
    );
    expect(await read(id)).toMatchObject({ status: 'carried_out', reason: null });
    expect((await readPayout(partner, payoutId)).status).toBe('failed');
  }, 120_000);
});
