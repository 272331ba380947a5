import { sweepPayouts } from '../../../src/money-out/payouts/sweep-payouts.ts';
import { readBacklog } from '../../../src/wiring/measure-backlog.ts';
import { type BuiltUser, buildPlatformAdmin, buildSuperAdmin } from '../../support/build.ts';
import { secureSession } from '../../support/decide.ts';
import { itInFull } from '../../support/full.ts';
import type { BuiltPartner } from '../../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { withoutTriggers } from '../../support/without-triggers.ts';
import { atProvider, buildPaid, refund } from '../refunds/build-refunds.ts';
import { buildOwner, buildWaitingDisbursement, withdraw, withdrawalWhen } from '../withdrawals/build-withdrawals.ts';
import { ageAttempts, buildPayer, pay, payoutWhen, reserve, transfersOf } from './build-payouts.ts';
import { openSteps } from './payout-steps.ts';

let stack: Stack;
let admin: BuiltUser;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startStack({ own: true, worker: true, sandbox: true });
  admin = await buildSuperAdmin(stack);
  partner = await buildPayer(stack);
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const path = '/v1/operations/payouts';
const put = (body: object, { token } = admin) => stack.put(path, body, { token });
const hold = () => put({ enabled: false, reason: 'incident 4711' });
const release = () => put({ enabled: true, reason: 'incident 4711 is over' });
const next = async (id: string): Promise<string> => (await partner.get(`/payouts/${id}/timeline`)).body.data.next.text;
const waiting = async () => Object.fromEntries((await readBacklog(stack.em())).map(({ what, rows }) => [what, rows]));
const wake = () =>
  sweepPayouts(stack.em(), stack.deps.workflows, (_, id, error) => {
    throw new Error(`${id}: ${error}`);
  });

describe('Holding all payouts', () => {
  it('Holding all payouts records an event and shows who held them and why', async () => {
    const { token } = admin;
    expect((await stack.get(path, { token })).body.data).toEqual({
      enabled: true,
      reason: null,
      changed_by: null,
      changed_at: null,
    });
    const { status, body } = await hold();
    const switched = { enabled: false, reason: 'incident 4711', changed_by: admin.id };
    expect({ status, data: body.data }).toMatchObject({ status: 200, data: switched });
    expect((await hold()).body.data).toEqual(body.data);
    expect((await stack.get(path, { token })).body.data).toEqual(body.data);
    const { items } = (await stack.get('/v1/events?event=PAYOUTS_HELD', { token })).body.data;
    expect(items).toMatchObject([{ impact: 'HIGH', actor_id: admin.id, data: { reason: 'incident 4711' } }]);
    expect((await release()).status).toBe(200);
  });

  it('Only a super admin can hold or release all payouts, and only with a reason of 3 to 300 characters', async () => {
    const colleague = await buildPlatformAdmin(stack);
    expect((await put({ enabled: false, reason: 'incident' }, colleague)).status).toBe(403);
    expect((await stack.get(path, { token: colleague.token })).status).toBe(200);
    const refused = [
      {},
      { enabled: false },
      { reason: 'incident' },
      { enabled: 'false', reason: 'incident' },
      { enabled: true, reason: 'no' },
      { enabled: false, reason: 'x'.repeat(301) },
      { enabled: false, reason: 'two\nlines' },
      { enabled: false, reason: 'incident', who: admin.id },
    ];
    const answers = await Promise.all(refused.map(async (body) => [body, (await put(body)).status]));
    expect(answers).toEqual(refused.map((body) => [body, 400]));
  });
});

describe('While all payouts are on hold', () => {
  beforeEach(hold);
  afterEach(release);

  it('Payouts, withdrawals and refunds are accepted during a hold and sent once after release', async () => {
    const owner = await buildOwner(stack);
    const payment = await buildPaid(stack, partner);
    const [payout, withdrawal, refunded] = await Promise.all([
      pay(partner),
      withdraw(stack, owner),
      refund(partner, payment),
    ]);
    const ids = [payout.id, withdrawal.id, refunded.id];
    // Each workflow has tried to send and is on hold.
    await eventually(
      () =>
        stack
          .em()
          .execute<{ n: number }[]>(
            "select count(*)::int as n from payouts where id = any(?::uuid[]) and look_again_at > created_at + interval '5 minutes'",
            [`{${ids.join(',')}}`],
          ),
      ([row]) => row?.n === 3,
    );
    for (const id of ids) expect([id, await atProvider(stack, id)]).toEqual([id, { refunds: [], transfers: [] }]);
    expect(await next(payout.id)).toContain('The platform holds all transfers for now');
    const age = (hours: number) =>
      withoutTriggers(stack, 'update payouts set created_at = created_at - make_interval(hours => ?) where id = ?', [
        hours,
        payout.id,
      ]);
    await age(2);
    const unsent = { unsent_payouts: 0, unknown_payouts: 0, overdue_payouts: 0 };
    expect(await waiting()).toMatchObject({ payouts_held: 1, ...unsent });
    await release();
    expect(await waiting()).toMatchObject({ payouts_held: 0, unsent_payouts: 1 });
    await age(-2);
    await wake();
    await payoutWhen(partner, payout.id, 'succeeded');
    await withdrawalWhen(stack, owner, withdrawal.id, 'succeeded');
    for (const id of ids) {
      await eventually(
        () => atProvider(stack, id),
        ({ refunds, transfers }) => refunds.length + transfers.length === 1,
      );
    }
  }, 90_000);

  it('A disbursement approved during a hold fails after release if its cause was stopped', async () => {
    const approvers = await Promise.all(
      [0, 1].map(async () => secureSession(stack, (await buildSuperAdmin(stack)).id)),
    );
    const { id, owner, causeId, decisionId } = await buildWaitingDisbursement(stack);
    const decided: string[] = [];
    for (const token of approvers) {
      const { body } = await stack.post(`/v1/decisions/${decisionId}/approve`, undefined, { token });
      decided.push(body.data.status);
    }
    expect(decided).toEqual(['pending', 'carried_out']);
    const { token } = admin;
    const stop = await stack.post(`/v1/charitable-causes/${causeId}/stop`, { reason: 'it was a fraud' }, { token });
    expect(stop.status).toBe(200);
    await release();
    await wake();
    expect(await withdrawalWhen(stack, owner, id, 'failed')).toMatchObject({ failure_code: 'DECISION_LAPSED' });
    expect(await transfersOf(stack, id)).toEqual([]);
    const { data } = (await stack.get(`/v1/decisions/${decisionId}`, { token })).body;
    expect(data.evidence.books).toMatchObject({ lapsed: 'the cause was stopped' });
  }, 60_000);

  itInFull(
    'A transfer request that the provider does not have is not retried during a hold',
    async () => {
      await release();
      const steps = openSteps(stack);
      const gateway = steps.openGateway();
      const id = await reserve(stack, partner, '900004');
      await steps.send(id, { gateway });
      await ageAttempts(stack, id, 3);
      await hold();
      expect(await steps.ask(id, { gateway })).toEqual({ said: 'not known' });
      expect(await steps.send(id, { gateway })).toEqual({ said: 'not known' });
      expect(gateway.requests).toBe(1);
      await release();
      expect(await steps.ask(id, { gateway })).toEqual({ said: 'not known', repeat: true });
    },
    60_000,
  );

  it('An attempt that started before the hold sends no request', async () => {
    await release();
    const steps = openSteps(stack);
    const gateway = steps.openGateway();
    const id = await reserve(stack, partner, '111111');
    const held = {
      ...gateway,
      // Runs between the stored attempt and its request.
      requestTransfer: async (...asked: Parameters<typeof gateway.requestTransfer>) => {
        await hold();
        return gateway.requestTransfer(...asked);
      },
    };
    expect(await steps.send(id, { gateway: held })).toMatchObject({ said: 'unsent' });
    expect(await transfersOf(stack, id)).toEqual([]);
  }, 60_000);
});
