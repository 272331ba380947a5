import { randomUUID } from 'node:crypto';
import { carryOut, sweepDecisions } from '../../../src/money-out/decisions/carry-out.ts';
import { refuse } from '../../../src/shared/errors.ts';
import { buildIndividual, buildSuperAdmin } from '../../support/build.ts';
import {
  approve,
  buildOperators,
  decide,
  evidenceNote,
  type Operators,
  plantDecision,
  propose,
} from '../../support/decide.ts';
import { casesOf } from '../../support/full.ts';
import type { BuiltPartner } from '../../support/partner.ts';
import { pauseSchedules } from '../../support/pause-schedules.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { withoutTriggers } from '../../support/without-triggers.ts';
import {
  ageAttempts,
  buildPayer,
  buildRestingPayout,
  buildUnknownPayouts,
  magicAccount,
  pay,
  payoutWhen,
  readBalance,
  readPayout,
  setFaults,
  settleAtProvider,
  transfersOf,
} from '../payouts/build-payouts.ts';

let stack: Stack;
let partner: BuiltPartner;
let operators: Operators;
let unknownPayout: () => Promise<string>;
beforeAll(async () => {
  // No request is repeated automatically, so that none races with decisions.
  stack = await startStack({
    isImpatient: true,
    worker: true,
    sandbox: true,
    env: { PAYOUT_RESEND_HOURS: '0' },
  });
  partner = await buildPayer(stack, { available: '100000000' });
  operators = await buildOperators(stack);
  unknownPayout = await buildUnknownPayouts(stack, partner, isFullRun() ? 18 : 16);
  await pauseSchedules(stack, ['sweep']);
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
afterEach(() => setFaults(stack, {}));

const failing = (payoutId: string) => ({ kind: 'settle_payout', payout_id: payoutId, outcome: 'failed' });
const proposed = async (proposal: object): Promise<string> => {
  const { status, body } = await propose(stack, operators, proposal);
  expect({ status, body }).toMatchObject({ status: 201, body: { data: { status: 'pending' } } });
  return body.data.id;
};
const read = async (id: string) =>
  (await stack.get(`/v1/decisions/${id}`, { token: operators.proposer.token })).body.data;
const reject = (id: string, token = operators.approver.token) =>
  stack.post(`/v1/decisions/${id}/reject`, undefined, { token });
const eventsOf = async (id: string): Promise<{ event: string; actor_id: string | null; impact: string }[]> =>
  (await stack.get(`/v1/events?resource_id=${id}&limit=100`, { token: operators.proposer.token })).body.data.items;
const sweep = () =>
  sweepDecisions(stack.em(), stack.deps, (_, id, error) => {
    throw new Error(`the decision ${id} was not swept`, { cause: error });
  });
/** Backdates a decision. */
const age = (id: string, hours: number) =>
  withoutTriggers(stack, 'update decisions set created_at = now() - make_interval(hours => ?) where id = ?', [
    hours,
    id,
  ]);

describe('A payout with an unknown outcome', () => {
  it('One person proposes and another approves the settlement of a payout with an unknown outcome', async () => {
    const payoutId = await unknownPayout();
    const before = await readBalance(partner);
    const { status, body } = await propose(stack, operators, failing(payoutId));
    expect({ status, body }).toMatchObject({
      status: 201,
      body: {
        message: 'Decision proposed',
        data: {
          kind: 'settle_payout',
          status: 'pending',
          payout_id: payoutId,
          outcome: 'failed',
          note: evidenceNote,
          evidence: {
            provider: { says: 'not known', transfer_id: null },
            books: { status: 'pending', amount: '100000.0000', net_amount: '100000.0000', attempts: 1 },
          },
          proposed_by: operators.proposer.id,
          approved_by: null,
          rejected_by: null,
          reason: null,
          receipt_id: null,
          reconciliation_id: null,
        },
      },
    });
    const { id } = body.data;
    expect(await readPayout(partner, payoutId)).toMatchObject({ status: 'pending' });
    const approved = await approve(stack, operators, id);
    expect(approved).toMatchObject({
      status: 200,
      body: {
        message: 'Decision carried out',
        data: { id, status: 'carried_out', approved_by: operators.approver.id },
      },
    });
    expect(await read(id)).toEqual(approved.body.data);
    expect(await readPayout(partner, payoutId)).toMatchObject({
      status: 'failed',
      failure_code: 'SETTLED_BY_OPERATOR',
    });
    expect(Number((await readBalance(partner)).available) - Number(before.available)).toBe(100_000);
    expect((await eventsOf(id)).map(({ event, actor_id, impact }) => [event, actor_id, impact])).toEqual([
      ['DECISION_CARRIED_OUT', operators.approver.id, 'HIGH'],
      ['DECISION_APPROVED', operators.approver.id, 'HIGH'],
      ['DECISION_PROPOSED', operators.proposer.id, 'HIGH'],
    ]);
    expect(await eventsOf(payoutId)).toContainEqual(
      expect.objectContaining({
        event: 'PAYOUT_SETTLED',
        actor_id: operators.approver.id,
        data: { outcome: 'failed', note: evidenceNote, decision_id: id, provider_says: 'not known' },
      }),
    );
  });

  it('Concurrent approvals settle a payout with an unknown outcome once', async () => {
    const payoutId = await unknownPayout();
    const id = await proposed(failing(payoutId));
    const before = await readBalance(partner);
    const answers = await Promise.all(
      Array.from({ length: isFullRun() ? 50 : 10 }, () => approve(stack, operators, id)),
    );
    for (const { status, body } of answers) {
      // On a busy machine some wait too long behind the others and get a 503, without effect.
      if (status === 503) expect(body.message).toContain('try again');
      else if (status === 200) expect(body.data.status).toBe('carried_out');
      else
        expect({ status, message: body.message }).toEqual({
          status: 400,
          message: expect.stringContaining('not pending'),
        });
    }
    expect(answers.some(({ status }) => status === 200)).toBe(true);
    expect(Number((await readBalance(partner)).available) - Number(before.available)).toBe(100_000);
    expect((await eventsOf(id)).filter(({ event }) => event === 'DECISION_APPROVED')).toHaveLength(1);
    expect((await eventsOf(payoutId)).filter(({ event }) => event === 'PAYOUT_SETTLED')).toHaveLength(1);
  });

  it('Of two decisions about one payout approved concurrently, one is carried out and the other lapses', async () => {
    const payoutId = await unknownPayout();
    const ids = [await proposed(failing(payoutId)), await proposed({ ...failing(payoutId), outcome: 'succeeded' })];
    const answers = await Promise.all(ids.map((id) => approve(stack, operators, id)));
    const statuses = answers.map(({ status, body }) => [status, body.data?.status]);
    expect(statuses.toSorted()).toEqual([
      [200, 'carried_out'],
      [200, 'lapsed'],
    ]);
  });

  it('One person can settle a payout as the provider’s final status proves, and not otherwise', async () => {
    const payoutId = await buildRestingPayout(stack, partner);
    await setFaults(stack, { callbacks: { drop: true } });
    await settleAtProvider(stack, payoutId, 'SUCCEEDED');
    const wrong = await propose(stack, operators, failing(payoutId));
    expect(wrong).toMatchObject({ status: 400, body: { message: expect.stringContaining('succeeded') } });
    const { status, body } = await propose(stack, operators, { ...failing(payoutId), outcome: 'succeeded' });
    expect({ status, body }).toMatchObject({
      status: 201,
      body: {
        message: 'Decision carried out',
        data: { status: 'carried_out', approved_by: null, evidence: { provider: { says: 'succeeded' } } },
      },
    });
    expect(await readPayout(partner, payoutId)).toMatchObject({ status: 'succeeded' });
    expect((await eventsOf(body.data.id)).map(({ event, actor_id }) => [event, actor_id])).toEqual([
      ['DECISION_CARRIED_OUT', operators.proposer.id],
      ['DECISION_PROPOSED', operators.proposer.id],
    ]);
  });
});

describe('Refused decisions', () => {
  it('A proposer cannot approve or reject their own decision, even with every permission', async () => {
    const both = { proposer: operators.approver, approver: operators.approver };
    const { body } = await propose(stack, both, failing(await unknownPayout()));
    for (const answer of [await approve(stack, both, body.data.id), await reject(body.data.id)]) {
      expect(answer).toMatchObject({
        status: 403,
        body: { message: expect.stringContaining('someone other than the proposer') },
      });
    }
    expect(await read(body.data.id)).toMatchObject({ status: 'pending', approved_by: null });
  });

  it('An approver without a second factor can reject a decision but not approve it', async () => {
    const id = await proposed(failing(await unknownPayout()));
    const { token } = await buildSuperAdmin(stack);
    const answer = await stack.post(`/v1/decisions/${id}/approve`, undefined, { token });
    expect(answer).toMatchObject({ status: 403, body: { message: expect.stringContaining('second factor') } });
    expect(await read(id)).toMatchObject({ status: 'pending' });
    // Rejecting needs no second factor.
    expect((await reject(id, token)).body.data).toMatchObject({ status: 'rejected' });
  });

  it('Only platform users with the permission can read, propose, approve or reject decisions', async () => {
    const id = await proposed(failing(await unknownPayout()));
    const { token } = await buildIndividual(stack);
    expect(
      (await stack.post(`/v1/decisions/${id}/approve`, undefined, { token: operators.proposer.token })).status,
    ).toBe(403);
    for (const call of [
      stack.post('/v1/decisions', failing(randomUUID()), { token }),
      stack.get('/v1/decisions', { token }),
      stack.get(`/v1/decisions/${id}`, { token }),
      stack.get('/v1/receipts', { token }),
      reject(id, token),
    ]) {
      expect((await call).status).toBe(403);
    }
  });

  it.each<[string, object, number, string]>([
    ['without a kind', { kind: undefined }, 400, 'kind'],
    ['of an unknown kind', { kind: 'disburse' }, 400, 'kind'],
    ['without a payout', { payout_id: undefined }, 400, 'payout_id: is required'],
    ['about a missing payout', { payout_id: randomUUID() }, 404, 'payout_id'],
    ['to reverse a payout', { outcome: 'reversed' }, 400, 'outcome'],
    ['without a note', { note: undefined }, 400, 'note: is required'],
    ['with a note of two characters', { note: ' ok ' }, 400, 'note'],
    ['in the name of someone else', { proposed_by: randomUUID() }, 400, 'proposed_by: unknown field'],
    ['with an account', { account_id: randomUUID() }, 400, 'account_id: unknown field'],
    ['with force', { force: true }, 400, 'force: unknown field'],
  ])('Proposing a decision %s is refused, and the error names the field', async (_, wrong, status, complaint) => {
    const answer = await propose(stack, operators, { ...failing(randomUUID()), ...wrong });
    expect({ status: answer.status, message: answer.body.message }).toEqual({
      status,
      message: expect.stringContaining(complaint),
    });
  });

  it.each<[string, object, string]>([
    ['an amount of 0', { amount: '0' }, 'amount'],
    ['an amount as a JSON number', { amount: 5 }, 'amount'],
    ['a malformed amount', { amount: '1e5' }, 'amount'],
    ['five decimals in the amount', { amount: '1.00001' }, 'amount'],
    ['no reference', { reference: ' ' }, 'reference'],
    ['a long reference', { reference: 'r'.repeat(65) }, 'reference'],
    ['a reference with a control character', { reference: 'r\u0000' }, 'reference'],
    ['more than the platform owns', { amount: '-1000000000' }, "amount: exceeds the platform's own balance"],
  ])('Proposing a booking with %s is refused', async (_, wrong, complaint) => {
    const proposal = { kind: 'book_external', amount: '5000', reference: `top-up ${randomUUID()}`, ...wrong };
    const { status, body } = await propose(stack, operators, proposal);
    expect({ status, message: body.message }).toEqual({ status: 400, message: expect.stringContaining(complaint) });
  });

  it('A settlement cannot be proposed while the payout’s request may be in flight or once it is final', async () => {
    const { id } = await pay(partner, { bank_account_number: magicAccount('131313') });
    await eventually(
      () => transfersOf(stack, id),
      (transfers) => transfers.length === 1,
    );
    for (const outcome of ['failed', 'succeeded']) {
      expect(await propose(stack, operators, { ...failing(id), outcome })).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining('may still be in transit') },
      });
    }
    await settleAtProvider(stack, id, 'SUCCEEDED');
    await payoutWhen(partner, id, 'succeeded');
    expect(await propose(stack, operators, failing(id))).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('the payout is already succeeded') },
    });
  });

  it('Approving or rejecting a closed decision returns 400 with its status; a missing one returns 404', async () => {
    const payoutId = await unknownPayout();
    const id = await proposed(failing(payoutId));
    expect(await reject(id)).toMatchObject({
      status: 200,
      body: { data: { status: 'rejected', rejected_by: operators.approver.id, approved_by: null } },
    });
    for (const answer of [await approve(stack, operators, id), await reject(id)]) {
      expect(answer).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining('rejected, not pending') },
      });
    }
    expect(await readPayout(partner, payoutId)).toMatchObject({ status: 'pending' });
    expect((await eventsOf(id))[0]).toMatchObject({ event: 'DECISION_REJECTED', actor_id: operators.approver.id });
    expect((await approve(stack, operators, randomUUID())).status).toBe(404);
    expect((await stack.get(`/v1/decisions/${randomUUID()}`, { token: operators.proposer.token })).status).toBe(404);
  });
});

describe('Lapsing decisions', () => {
  const steps = casesOf([
    ['approved', (id: string) => approve(stack, operators, id)],
    ['rejected', (id: string) => reject(id)],
  ] as const);
  it.each(steps)('A decision that is %s after more than 24 hours lapses and moves no money', async (_, step) => {
    const payoutId = await unknownPayout();
    const [id, young] = [await proposed(failing(payoutId)), await proposed(failing(payoutId))];
    await age(id, 25);
    await age(young, 23);
    expect(await step(id)).toMatchObject({
      status: 200,
      body: { data: { status: 'lapsed', reason: 'it is older than 24 hours', approved_by: null, rejected_by: null } },
    });
    expect(await readPayout(partner, payoutId)).toMatchObject({ status: 'pending' });
    expect((await eventsOf(id))[0]).toMatchObject({ event: 'DECISION_LAPSED' });
    expect((await reject(young)).body.data).toMatchObject({ status: 'rejected' });
  });

  it('A decision lapses if nobody decides it within 24 hours', async () => {
    const id = await proposed(failing(await unknownPayout()));
    await age(id, 25);
    await sweep();
    expect(await read(id)).toMatchObject({ status: 'lapsed', reason: 'it is older than 24 hours' });
    expect((await eventsOf(id))[0]).toMatchObject({ event: 'DECISION_LAPSED', actor_id: null });
  });

  it.each(steps)('A decision lapses if its payout is already final when it is %s', async (_, step) => {
    const payoutId = await unknownPayout();
    const [first, second] = [await proposed(failing(payoutId)), await proposed(failing(payoutId))];
    expect((await approve(stack, operators, first)).body.data.status).toBe('carried_out');
    expect(await step(second)).toMatchObject({
      status: 200,
      body: { data: { status: 'lapsed', reason: 'the payout is now failed' } },
    });
  });

  it('The sweep lapses a decision whose payout another decision has settled', async () => {
    const payoutId = await unknownPayout();
    const [first, second] = [
      await proposed(failing(payoutId)),
      await proposed({ ...failing(payoutId), outcome: 'succeeded' }),
    ];
    expect((await approve(stack, operators, first)).body.data.status).toBe('carried_out');
    await sweep();
    expect(await read(second)).toMatchObject({ status: 'lapsed', reason: 'the payout is now failed' });
  });

  it('A decision lapses at its approval if the provider has reported a final status since', async () => {
    const payoutId = await buildRestingPayout(stack, partner);
    await ageAttempts(stack, payoutId, 2);
    const id = await proposed(failing(payoutId));
    await setFaults(stack, { callbacks: { drop: true } });
    await settleAtProvider(stack, payoutId, 'SUCCEEDED');
    expect(await approve(stack, operators, id)).toMatchObject({
      status: 200,
      body: {
        data: { status: 'lapsed', reason: 'the provider has since reported a final status: succeeded' },
      },
    });
    expect((await eventsOf(id))[0]).toMatchObject({ event: 'DECISION_LAPSED', actor_id: operators.approver.id });
    await payoutWhen(partner, payoutId, 'succeeded');
  });
});

describe('Decisions by one person', () => {
  async function plantDifference(): Promise<string> {
    const id = randomUUID();
    await stack.em().execute(
      `insert into reconciliations (id, day, resource_type, subject, reference)
       values (?, '2026-01-01', 'payout', ?, 'r')`,
      [id, `disb-${id}`],
    );
    return id;
  }
  const books = { state: 'open', day: '2026-01-01', resource_type: 'payout', reference: 'r' };
  const explaining = (reconciliation_id: string) => ({
    kind: 'explain_difference',
    reconciliation_id,
    approved: false,
    evidence: { provider: null, books },
  });

  it('A one-person decision lapses if its difference has changed when the sweep executes it', async () => {
    const difference = await plantDifference();
    const id = await plantDecision(stack, operators, explaining(difference));
    await stack
      .owner()
      .execute('update reconciliations set theirs = ?::jsonb where id = ?', [
        JSON.stringify({ status: 'succeeded', amount: '5000.0000' }),
        difference,
      ]);
    await withoutTriggers(stack, "update decisions set created_at = now() - interval '2 minutes' where id = ?", [id]);
    await sweep();
    expect(await read(id)).toMatchObject({ status: 'lapsed', reason: 'the difference has changed since' });
    expect(await eventsOf(difference)).toEqual([]);
  });

  it('The sweep executes a one-person decision if the API died after recording it', async () => {
    const difference = await plantDifference();
    const id = await plantDecision(stack, operators, explaining(difference));
    const unproven = await proposed(failing(await unknownPayout()));
    await sweep();
    expect(await read(id)).toMatchObject({ status: 'pending' });
    await withoutTriggers(stack, "update decisions set created_at = now() - interval '2 minutes' where id in (?, ?)", [
      id,
      unproven,
    ]);
    await sweep();
    expect(await read(id)).toMatchObject({ status: 'carried_out', approved_by: null });
    expect((await eventsOf(difference)).map(({ event, actor_id }) => [event, actor_id])).toEqual([
      ['RECONCILIATION_EXPLAINED', operators.proposer.id],
    ]);
    expect(await read(unproven)).toMatchObject({ status: 'pending' });
  });

  it('The sweep leaves a one-person decision pending if the provider’s status no longer proves it', async () => {
    const payoutId = await unknownPayout();
    const evidence = { provider: { says: 'failed' }, books: {} };
    const id = await plantDecision(stack, operators, { ...failing(payoutId), evidence, approved: false });
    await withoutTriggers(stack, "update decisions set created_at = now() - interval '2 minutes' where id = ?", [id]);
    await sweep();
    expect(await read(id)).toMatchObject({ status: 'pending' });
    expect(await readPayout(partner, payoutId)).toMatchObject({ status: 'pending' });
    // Now a second person is needed.
    expect((await approve(stack, operators, id)).body.data).toMatchObject({ status: 'carried_out' });
  });
});

describe('An approved decision', () => {
  it('The sweep executes an approved decision once if the API died after recording the approval', async () => {
    const payoutId = await unknownPayout();
    const evidence = { provider: { says: 'not known' }, books: {} };
    const id = await plantDecision(stack, operators, { ...failing(payoutId), evidence });
    await sweep();
    // The approval may still be in flight, so the sweep waits for a minute.
    expect(await read(id)).toMatchObject({ status: 'pending', approved_by: operators.approver.id });
    await withoutTriggers(stack, "update decisions set approved_at = now() - interval '2 minutes' where id = ?", [id]);
    await Promise.all([sweep(), sweep()]);
    expect(await read(id)).toMatchObject({ status: 'carried_out' });
    expect(await readPayout(partner, payoutId)).toMatchObject({ status: 'failed' });
    expect((await eventsOf(payoutId)).filter(({ event }) => event === 'PAYOUT_SETTLED')).toHaveLength(1);
  });

  it('A second approval executes an approved decision, which keeps its first approver', async () => {
    const payoutId = await unknownPayout();
    const id = await plantDecision(stack, operators, { ...failing(payoutId) });
    const third = await buildOperators(stack);
    expect((await approve(stack, third, id)).body.data).toMatchObject({
      status: 'carried_out',
      approved_by: operators.approver.id,
    });
  });

  it('A decision is refused at its approval if its transfer was requested again after the proposal', async () => {
    const payoutId = await unknownPayout();
    const id = await proposed(failing(payoutId));
    await withoutTriggers(
      stack,
      'update payout_attempts set sent_at = now(), not_known_at = null where payout_id = ?',
      [payoutId],
    );
    expect(await approve(stack, operators, id)).toMatchObject({
      status: 200,
      body: { data: { status: 'refused', reason: expect.stringContaining('may still be in transit') } },
    });
    expect((await eventsOf(id))[0]).toMatchObject({ event: 'DECISION_REFUSED', actor_id: operators.approver.id });
    expect(await readPayout(partner, payoutId)).toMatchObject({ status: 'pending' });
    await ageAttempts(stack, payoutId, 2);
  });

  it('An approved decision is executed while Temporal is unavailable', async () => {
    const id = await plantDecision(stack, operators, { ...failing(await unknownPayout()) });
    const away = async () => refuse('SERVICE_UNAVAILABLE', 'Temporarily unavailable');
    const workflows = { ...stack.deps.workflows, hintPayout: away };
    expect(await carryOut(stack.em(), { ...stack.deps, workflows }, id)).toMatchObject({ status: 'carried_out' });
  });

  it('A movement of the platform at the provider is booked once per reference', async () => {
    const movement = { kind: 'book_external', amount: '5000.0001', reference: `top-up ${randomUUID()}` };
    const twin = await proposed(movement);
    const booked = await decide(stack, operators, movement);
    expect(booked).toMatchObject({
      status: 'carried_out',
      amount: '5000.0001',
      evidence: { provider: { balance: expect.any(String) }, books: { own_money: expect.any(String) } },
    });
    expect(await approve(stack, operators, twin)).toMatchObject({
      status: 200,
      body: { data: { status: 'refused', reason: 'this movement is already booked, or is of another amount' } },
    });
    expect((await propose(stack, operators, movement)).body.message).toContain('reference');
    const [event] = await stack
      .em()
      .execute<{ actor_id: string; data: object }[]>(
        "select actor_id, data from events where event = 'EXTERNAL_BOOKED' and data ->> 'decision_id' = ?",
        [booked.id],
      );
    expect(event).toMatchObject({ actor_id: operators.approver.id, data: { amount: '5000.0001' } });
    const back = { ...movement, amount: '-5000.0001', reference: `withdrawal ${randomUUID()}` };
    expect(await decide(stack, operators, back)).toMatchObject({ status: 'carried_out' });
  });
});

describe('GET /v1/decisions', () => {
  it('Decisions are listed newest first, filtered by status or kind, and paged with `after`', async () => {
    const payoutId = await unknownPayout();
    const older = await proposed(failing(payoutId));
    const newer = await proposed({ kind: 'book_external', amount: '1', reference: `r ${randomUUID()}` });
    const list = async (query: string) => {
      const { status, body } = await stack.get(`/v1/decisions?${query}`, { token: operators.proposer.token });
      return { status, ...body.data };
    };
    const idsOf = ({ items }: { items: { id: string }[] }) => items.map(({ id }) => id);
    expect(idsOf(await list('status=pending&limit=2'))).toEqual([newer, older]);
    expect(idsOf(await list(`status=pending&limit=1&after=${newer}`))).toEqual([older]);
    expect(idsOf(await list('status=pending&kind=settle_payout'))).not.toContain(newer);
    expect(
      (await list('status=carried_out')).items.every(({ status }: { status: string }) => status === 'carried_out'),
    ).toBe(true);
    expect((await list('status=approved')).status).toBe(400);
    expect((await list('kind=withdraw')).status).toBe(400);
    await reject(older);
    await reject(newer);
  });
});

describe('GET /v1/receipts', () => {
  it('A receipt in suspense is listed as suspended until a decision credits it', async () => {
    const payer = await buildIndividual(stack);
    const body = { reference_type: 'account_top_up', reference_id: payer.accountId, payment_id: 1, amount: 50_000 };
    const { data: order } = (await stack.post('/v1/payments/gateway', body, { token: payer.token })).body;
    await stack.sandbox.post('/sandbox/pay', { payment_code: order.payment_code, amount: 1000 });
    const list = async (query: string) => {
      const answer = await stack.get(`/v1/receipts?limit=100&${query}`, { token: operators.proposer.token });
      return answer.body.data;
    };
    const mine = async (query: string) =>
      (await list(query)).items.filter(({ reference }: { reference: string }) => reference === order.payment_order_id);
    const [receipt] = await eventually(
      () => mine('status=suspended'),
      (items) => items.length === 1,
    );
    expect(receipt).toEqual({
      id: expect.any(String),
      amount: '1000.0000',
      reference: order.payment_order_id,
      reason: 'wrong_amount',
      status: 'suspended',
      received_at: expect.stringMatching(/Z$/),
    });
    expect(await mine('status=applied')).toEqual([]);
    const credit = { kind: 'settle_receipt', receipt_id: receipt.id, action: 'credit', account_id: payer.accountId };
    expect(await decide(stack, operators, credit)).toMatchObject({ status: 'carried_out' });
    expect(await mine('status=suspended')).toEqual([]);
    expect(await mine('status=credited')).toMatchObject([{ id: receipt.id, status: 'credited' }]);
    expect(await list(`after=${receipt.id}&order=asc`)).toMatchObject({ items: expect.any(Array) });
    expect((await stack.get('/v1/receipts?status=open', { token: operators.proposer.token })).status).toBe(400);
  });
});
