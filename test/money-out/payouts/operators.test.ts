import { randomUUID } from 'node:crypto';
import type { PayoutSettlement } from '../../../src/money-out/payouts/payout.ts';
import { resolvePayout } from '../../../src/money-out/payouts/resolve-payout.ts';
import { settlePayout } from '../../../src/money-out/payouts/settle-payout.ts';
import { type BuiltUser, balanceOf, buildIndividual } from '../../support/build.ts';
import { buildOperators, decide, type Operators, propose } from '../../support/decide.ts';
import { itInFull } from '../../support/full.ts';
import type { BuiltPartner } from '../../support/partner.ts';
import { recountTallies } from '../../support/recount-tallies.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { withoutTriggers } from '../../support/without-triggers.ts';
import {
  addBankAccount,
  ask,
  buildOwner,
  transactionsOf,
  withdraw,
  withdrawalWhen,
} from '../withdrawals/build-withdrawals.ts';
import {
  ageAttempts,
  buildPayer,
  magicAccount,
  pay,
  payoutWhen,
  readBalance,
  readPayout,
  setFaults,
  settleAtProvider,
  transfersOf,
} from './build-payouts.ts';

let stack: Stack;
let partner: BuiltPartner;
let operator: BuiltUser;
let operators: Operators;
/** Two payouts and a withdrawal that the provider does not have. */
let unknown: string;
let another: string;
let owner: BuiltUser;
let unknownWithdrawal: string;
beforeAll(async () => {
  const env = { WITHDRAWAL_FEE: '2500', PAYOUT_RESEND_HOURS: '0' };
  stack = await startStack({ worker: true, sandbox: true, env });
  partner = await buildPayer(stack);
  operators = await buildOperators(stack);
  operator = operators.proposer;
  owner = await buildOwner(stack);
  // Concurrently, because each takes until the provider call times out.
  [unknown, another] = [(await to('900004')).id, (await to('900004')).id];
  unknownWithdrawal = (await withdraw(stack, owner, { digits: '900004' })).id;
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const to = (lastDigits: string) => pay(partner, { bank_account_number: magicAccount(lastDigits) });
const note = 'ticket 4711, bank statement of the day';
const settle = (payoutId: string, settlement?: object) =>
  stack.deps.workflows.client.workflow
    .getHandle(`partner-payout/${payoutId}`)
    .executeUpdate('settlePayout', { args: [settlement] });
const refusalOf = async (settling: Promise<unknown>): Promise<string> => {
  const error = await settling.then(
    () => null,
    (thrown: { cause?: { message?: string } }) => thrown,
  );
  return error?.cause?.message ?? '';
};
const eventsOf = async (payoutId: string, event: string) =>
  (await stack.get(`/v1/events?event=${event}&resource_id=${payoutId}`, { token: operator.token })).body.data.items;
/** Waits until the payout is listed as stuck, then backdates its attempts so that it can be settled by hand. */
async function whenUnknown(id: string): Promise<void> {
  await eventually(
    () => stuck(),
    (items) => items.some(({ payout_id }: { payout_id: string }) => payout_id === id),
  );
  await ageAttempts(stack, id, 2);
}
const stuck = async (minutes = 0) =>
  (await stack.get(`/v1/payouts/stuck?minutes=${minutes}&limit=100`, { token: operator.token })).body.data.items;

describe('Settlements sent to the workflow', () => {
  it.each([
    ['an invalid outcome', { outcome: 'reversed', note }, 'outcome'],
    ['no note', { outcome: 'failed', note: ' ' }, 'note'],
    ['a note of more than 300 characters', { outcome: 'failed', note: 'x'.repeat(301) }, 'note'],
    ['a note with a control character', { outcome: 'failed', note: 'ticket\u0000 4711' }, 'note'],
    ['a note with half a character', { outcome: 'failed', note: 'ticket \ud83c 4711' }, 'note'],
    ['the name of a colleague', { outcome: 'failed', note, who: randomUUID() }, 'who: unknown field'],
    ['force', { outcome: 'failed', note, force: true }, 'force: unknown field'],
    ['a malformed decision id', { decision_id: 'mine' }, 'decision_id'],
    [
      'a decision and an outcome',
      { decision_id: randomUUID(), outcome: 'failed' },
      'the decision has the outcome and the note',
    ],
    ['nothing', undefined, 'outcome'],
  ])('A settlement sent to the workflow with %s is rejected with the reason', async (_, settlement, named) => {
    expect(await refusalOf(settle(unknown, settlement))).toContain(named);
  });

  it('A settlement that the provider does not prove is rejected with its status and the route', async () => {
    await whenUnknown(unknown);
    for (const outcome of ['succeeded', 'failed']) {
      const refusal = await refusalOf(settle(unknown, { outcome, note }));
      expect(refusal).toContain('it says: not known');
      expect(refusal).toContain('POST /v1/decisions');
    }
    expect(await readPayout(partner, unknown)).toMatchObject({ status: 'pending' });
  });

  it('A settlement has no effect if its decision is missing, about another payout or not approved', async () => {
    await whenUnknown(unknown);
    await whenUnknown(another);
    const other = await propose(stack, operators, { kind: 'settle_payout', payout_id: another, outcome: 'failed' });
    expect(other).toMatchObject({ status: 201, body: { data: { status: 'pending' } } });
    for (const decision_id of [randomUUID(), other.body.data.id]) {
      expect(await refusalOf(settle(unknown, { decision_id }))).toContain('the decision was not found');
    }
    expect(await settle(another, { decision_id: other.body.data.id })).toBe('pending');
    expect(await readPayout(partner, unknown)).toMatchObject({ status: 'pending' });
    expect(await readPayout(partner, another)).toMatchObject({ status: 'pending' });
  });

  it('A settlement that matches the provider’s final status is accepted once, without an operator’s name', async () => {
    const held = await buildPayer(stack);
    const { id } = await pay(held, { bank_account_number: magicAccount('131313') });
    await eventually(
      () => transfersOf(stack, id),
      (transfers) => transfers.length === 1,
    );
    // The transfer fails at the provider without a callback.
    await setFaults(stack, { callbacks: { drop: true } });
    await settleAtProvider(stack, id, 'FAILED');
    expect(await settle(id, { outcome: 'failed', note })).toBe('failed');
    await setFaults(stack, {});
    expect(await readPayout(held, id)).toMatchObject({ status: 'failed', failure_code: 'SETTLED_BY_OPERATOR' });
    expect(await eventsOf(id, 'PAYOUT_SETTLED')).toMatchObject([
      { actor_id: null, data: { outcome: 'failed', note, decision_id: null, provider_says: 'failed' } },
    ]);
    // If its activity is retried, the same settlement returns the same answer; another one is refused.
    const repeat = (settlement: PayoutSettlement) =>
      settlePayout(stack.em(), stack.deps, {
        payoutId: id,
        settlement,
        at: new Date().toISOString(),
        signal: AbortSignal.timeout(10_000),
      });
    expect(await repeat({ outcome: 'failed', note })).toMatchObject({ status: 'failed' });
    await expect(repeat({ outcome: 'failed', note: 'another' })).rejects.toThrow('The payout is already failed');
    expect(await eventsOf(id, 'PAYOUT_SETTLED')).toHaveLength(1);
  });
});

describe('A payout settled by two people', () => {
  itInFull(
    'A payout settled as failed that the provider then pays is stuck as contradicted and moves no money',
    async () => {
      const { id } = await to('131313');
      await eventually(
        () => transfersOf(stack, id),
        (transfers) => transfers.length === 1,
      );
      await ageAttempts(stack, id, 2);
      const failed = { kind: 'settle_payout', payout_id: id, outcome: 'failed' };
      expect(await decide(stack, operators, failed)).toMatchObject({ status: 'carried_out' });
      expect((await eventsOf(id, 'PAYOUT_SETTLED'))[0].data).toMatchObject({ provider_says: 'accepted' });

      const before = await readBalance(partner);
      await settleAtProvider(stack, id, 'SUCCEEDED');
      const [event] = await eventually(
        () => eventsOf(id, 'PAYOUT_CONTRADICTED'),
        (events) => events.length === 1,
      );
      // It is reported once, when it begins: with the status accepted, if a poll comes before the callback.
      expect(event).toMatchObject({ resource_type: 'payout', data: { status: 'failed' } });
      expect(['accepted', 'succeeded']).toContain(event?.data.provider_says);
      expect(await stuck(10)).toContainEqual(
        expect.objectContaining({ payout_id: id, reason: expect.stringContaining('contradicted') }),
      );
      expect(await readPayout(partner, id)).toMatchObject({ status: 'failed' });
      expect(await readBalance(partner)).toEqual(before);
    },
  );
});

describe('A callback that contradicts a final payout', () => {
  it('A callback that contradicts a final payout moves no money and is reported once', async () => {
    const { id } = await to('111111');
    await payoutWhen(partner, id, 'succeeded');
    const before = await readBalance(partner);
    await settleAtProvider(stack, id, 'FAILED');
    await eventually(
      () => eventsOf(id, 'PAYOUT_CONTRADICTED'),
      (events) => events.length === 1,
    );
    await settleAtProvider(stack, id, 'FAILED');
    expect(await stuck(10)).toContainEqual(expect.objectContaining({ payout_id: id, partner_id: partner.id }));
    expect(await readPayout(partner, id)).toMatchObject({ status: 'succeeded' });
    expect(await readBalance(partner)).toEqual(before);

    await settleAtProvider(stack, id, 'SUCCEEDED');
    await eventually(
      () => stuck(),
      (items) => !items.some(({ payout_id }: { payout_id: string }) => payout_id === id),
    );
    expect(await eventsOf(id, 'PAYOUT_CONTRADICTED')).toHaveLength(1);
  });
});

describe('A retried activity', () => {
  it('A retried activity returns the webhook deliveries that are still pending', async () => {
    // Nothing listens there, so the webhook stays pending.
    const payer = await buildPayer(stack, { webhook: { url: 'http://127.0.0.1:9/hook' } });
    const { id } = await pay(payer);
    await payoutWhen(payer, id, 'succeeded');
    const { deliveryIds } = await resolvePayout(stack.em(), stack.deps, { payoutId: id });
    const { items } = (await payer.administer('get', '/webhook-deliveries')).body.data;
    expect(deliveryIds).toEqual(items.map((row: { id: string }) => row.id));
    expect(items).toMatchObject([{ type: 'payout.succeeded', status: 'pending' }]);
  });
});

describe('GET /v1/payouts/stuck', () => {
  it('Only platform users with read-event may list stuck payouts', async () => {
    const { token } = await buildIndividual(stack);
    expect((await stack.get('/v1/payouts/stuck', { token })).status).toBe(403);
    expect((await stack.get('/v1/payouts/stuck')).status).toBe(401);
  });

  it('Stuck payouts are paged by cursor or page number, with the total even past the last page', async () => {
    for (const id of [unknown, another, unknownWithdrawal]) await whenUnknown(id);
    const list = async (query: string) =>
      (await stack.get(`/v1/payouts/stuck?minutes=0&${query}`, { token: operator.token })).body.data;
    const { items, total } = await list('limit=100');
    expect(total).toBe(items.length);
    expect(await list(`after=${items[0].payout_id}&limit=1`)).toMatchObject({
      items: [{ payout_id: items[1].payout_id }],
      total,
    });
    expect(await list(`after=${items.at(-1).payout_id}`)).toMatchObject({ items: [], total });
    const { next } = await list('limit=1');
    expect((await list(`after=${next}&limit=1`)).items).toMatchObject([{ payout_id: items[1].payout_id }]);
    const ended = await to('111111');
    await payoutWhen(partner, ended.id, 'succeeded');
    expect(await list('page=9')).toMatchObject({ items: [], page: 9, total });
    for (const query of ['after=x', `after=${ended.id}`, 'page=0', 'limit=101']) {
      const { status } = await stack.get(`/v1/payouts/stuck?${query}`, { token: operator.token });
      expect([query, status]).toEqual([query, 400]);
    }
  });

  it('A payout that the provider accepted but has not completed for a day is listed as stuck', async () => {
    const { id } = await to('131313');
    await eventually(
      () => transfersOf(stack, id),
      (transfers) => transfers.length === 1,
    );
    const accepted = () =>
      stack.em().execute<{ word: string }[]>('select last_word as word from payouts where id = ?', [id]);
    await eventually(accepted, ([row]) => row?.word === 'accepted');
    const listed = async (minutes: number) =>
      (await stuck(minutes)).find((each: { payout_id: string }) => each.payout_id === id);
    expect(await listed(0)).toBeUndefined();
    await withoutTriggers(stack, "update payouts set created_at = now() - interval '25 hours' where id = ?", [id]);
    await recountTallies(stack);
    expect(await listed(0)).toBeUndefined();
    await ageAttempts(stack, id, 25 * 60);
    expect(await listed(0)).toMatchObject({
      reason: 'unknown: the provider accepted the transfer over a day ago and has not completed it',
      age_seconds: expect.any(Number),
    });
    expect((await listed(59))?.age_seconds).toBeGreaterThanOrEqual(3_600);
    expect(await listed(61)).toBeUndefined();
    await settleAtProvider(stack, id, 'SUCCEEDED');
    await payoutWhen(partner, id, 'succeeded');
    expect(await listed(0)).toBeUndefined();
  });

  it.each(['-1', 'ten', '1.5'])('Listing stuck payouts rejects minutes=%s', async (minutes) => {
    const { status, body } = await stack.get(`/v1/payouts/stuck?minutes=${minutes}`, { token: operator.token });
    expect({ status, body }).toMatchObject({ status: 400, body: { message: expect.stringContaining('minutes') } });
  });
});

describe('A withdrawal with an unknown outcome', () => {
  it('A withdrawal with an unknown outcome stays reserved and stuck until two people settle it', async () => {
    const id = unknownWithdrawal;
    await whenUnknown(id);
    expect((await stuck()).find(({ payout_id }: { payout_id: string }) => payout_id === id)).toMatchObject({
      kind: 'withdrawal',
      partner_id: null,
      amount: '100000.0000',
      reason: expect.stringContaining('unknown'),
    });
    expect(await balanceOf(stack, owner.accountId)).toBe('900000.0000');
    const { body } = await stack.get(`/v1/withdrawals/${id}/timeline`, { token: owner.token });
    expect(body.data.items.at(-1).text).toMatch(/The outcome is unknown/);
    expect(body.data.next.text).toMatch(/the money stays reserved/);
    const decided = await decide(stack, operators, { kind: 'settle_payout', payout_id: id, outcome: 'failed' });
    expect(decided.status).toBe('carried_out');
    const ended = await withdrawalWhen(stack, owner, id, 'failed');
    expect(ended).toMatchObject({ failure_code: 'SETTLED_BY_OPERATOR' });
    expect(await balanceOf(stack, owner.accountId)).toBe('1000000.0000');
    expect(await eventsOf(id, 'PAYOUT_SETTLED')).toMatchObject([
      { resource_type: 'withdrawal', actor_id: operators.approver.id },
    ]);
  });
});

describe('The fee of a withdrawal', () => {
  const revenue = async () => {
    const [row] = await stack.em().execute<[{ id: string }]>("select id from accounts where kind = 'fee_revenue'");
    return Number(await balanceOf(stack, row.id));
  };
  const tellOf = async (id: string) =>
    ((await transactionsOf(stack, id)) as { type: string; amount: string; status: string }[]).map(
      ({ type, amount, status }) => `${status} ${type} ${amount}`,
    );

  it('A withdrawal’s fee is a transaction of its own and is retained when the bank returns the transfer', async () => {
    const payee = await buildOwner(stack);
    const before = await revenue();
    const { id, ...answer } = await withdraw(stack, payee);
    expect(answer).toMatchObject({ amount: '100000.0000', fee: '2500.0000', net_amount: '97500.0000' });
    await withdrawalWhen(stack, payee, id, 'succeeded');
    expect(await transfersOf(stack, id)).toMatchObject([{ amount: 97_500 }]);
    expect(await balanceOf(stack, payee.accountId)).toBe('900000.0000');
    expect((await revenue()) - before).toBe(2500);
    expect(await tellOf(id)).toEqual(['successful price 97500.0000', 'successful fee 2500.0000']);
    await settleAtProvider(stack, id, 'REVERSED');
    await withdrawalWhen(stack, payee, id, 'reversed');
    expect(await balanceOf(stack, payee.accountId)).toBe('997500.0000');
    expect(await tellOf(id)).toEqual([
      'successful price 97500.0000',
      'successful fee 2500.0000',
      'reversed price 97500.0000',
    ]);
  });

  it('A withdrawal’s fee is released when the withdrawal fails', async () => {
    const payee = await buildOwner(stack);
    const { id } = await withdraw(stack, payee, { digits: '121212' });
    await withdrawalWhen(stack, payee, id, 'failed');
    expect(await balanceOf(stack, payee.accountId)).toBe('1000000.0000');
    expect(await tellOf(id)).toEqual([
      'successful price 97500.0000',
      'successful fee 2500.0000',
      'reversed price 97500.0000',
      'reversed fee 2500.0000',
    ]);
  });

  it('A withdrawal’s fee is quoted in advance, and an amount that does not cover it is refused', async () => {
    const bank_account_id = await addBankAccount(stack, owner);
    const { token } = owner;
    const { body } = await stack.post('/v1/withdrawals/quotes', { bank_account_id, amount: '12500' }, { token });
    expect(body.data).toEqual({ bank_account_id, amount: '12500.0000', fee: '2500.0000', net_amount: '10000.0000' });
    const refused = await ask(stack, owner, { bank_account_id, amount: '2500' });
    expect([refused.status, refused.body.message]).toEqual([400, 'amount: does not cover the fee, IDR 2500.0000']);
  });
});
