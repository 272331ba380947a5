import type { PayoutSettlement } from '../../src/payouts/payout.ts';
import { resolvePayout } from '../../src/payouts/resolve-payout.ts';
import { settlePayout } from '../../src/payouts/settle-payout.ts';
import { type BuiltUser, buildIndividual, buildPlatformAdmin } from '../support/build.ts';
import type { BuiltPartner } from '../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../support/stack.ts';
import { withoutTriggers } from '../support/without-triggers.ts';
import {
  ageAttempts,
  buildPayer,
  magicAccount,
  pay,
  payoutWhen,
  readBalance,
  readPayout,
  settleAtProvider,
  transfersOf,
} from './build-payouts.ts';

let stack: Stack;
let partner: BuiltPartner;
let operator: BuiltUser;
let unknown: string;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
  partner = await buildPayer(stack);
  operator = await buildPlatformAdmin(stack);
  unknown = (await to('900004')).id;
}, 60_000);
afterAll(() => stack.stop());
afterEach(() => expectChecksEmpty(stack));

const to = (lastDigits: string) => pay(partner, { bank_account_number: magicAccount(lastDigits) });
const note = 'ticket 4711, bank statement of the day';
const settle = (payoutId: string, settlement: object) =>
  stack.deps.workflows.client.workflow
    .getHandle(`partner-payout/${payoutId}`)
    .executeUpdate('settlePayout', { args: [{ note, who: operator.id, ...settlement }] });
const refusalOf = async (settling: Promise<unknown>): Promise<string> => {
  const error = await settling.then(
    () => null,
    (thrown: { cause?: { message?: string } }) => thrown,
  );
  return error?.cause?.message ?? '';
};
const eventsOf = async (payoutId: string, event: string) =>
  (await stack.get(`/v1/events?event=${event}&resource_id=${payoutId}`, { token: operator.token })).body.data.items;
const stuck = async (minutes = 0) =>
  (await stack.get(`/v1/payouts/stuck?minutes=${minutes}&limit=100`, { token: operator.token })).body.data.items;

describe('An operator ends a payout by the update settlePayout', () => {
  it.each([
    ['an unknown outcome', { outcome: 'reversed' }, 'outcome'],
    ['no note', { outcome: 'failed', note: ' ' }, 'note'],
    ['a note of more than 300 characters', { outcome: 'failed', note: 'x'.repeat(301) }, 'note'],
    ['a note with a control character', { outcome: 'failed', note: 'ticket\u0000 4711' }, 'note'],
    ['a note with half a character', { outcome: 'failed', note: 'ticket \ud83c 4711' }, 'note'],
    ['nobody', { outcome: 'failed', who: undefined }, 'who'],
    ['a force that is no boolean', { outcome: 'failed', force: 'yes' }, 'force'],
  ])('that is refused with %s before it is written into the history', async (_, settlement, named) => {
    expect(await refusalOf(settle(unknown, settlement))).toContain(named);
  });

  it('that is refused when who is no platform user', async () => {
    const individual = await buildIndividual(stack);
    expect(await refusalOf(settle(unknown, { outcome: 'failed', who: individual.id }))).toContain('platform user');
  });

  it('as succeeded is refused while the provider does not say so, and what it says is told', async () => {
    await eventually(
      () => stuck(),
      (items) => items.some(({ payout_id }: { payout_id: string }) => payout_id === unknown),
      20_000,
    );
    expect(await refusalOf(settle(unknown, { outcome: 'succeeded' }))).toContain('it says: not known');
    expect(await readPayout(partner, unknown)).toMatchObject({ status: 'pending' });
  });

  it('as failed is taken when the provider does not know the transfer: everything is returned, the event tells who', async () => {
    const before = await readBalance(partner);
    expect(await refusalOf(settle(unknown, { outcome: 'failed' }))).toContain('may still be under way');
    await ageAttempts(stack, unknown, 2);
    expect(await settle(unknown, { outcome: 'failed' })).toBe('failed');
    expect(await readPayout(partner, unknown)).toMatchObject({ status: 'failed', failure_code: 'SETTLED_BY_OPERATOR' });
    const after = await readBalance(partner);
    expect(Number(after.available) - Number(before.available)).toBe(100_000);
    const [event] = await eventsOf(unknown, 'PAYOUT_SETTLED');
    expect(event).toMatchObject({
      resource_type: 'payout',
      actor_id: operator.id,
      data: { outcome: 'failed', note, who: operator.id, force: false },
    });
    expect(await stuck()).not.toContainEqual(expect.objectContaining({ payout_id: unknown }));
  });

  it('whose answer was lost answers the same when its step is repeated; another one is refused', async () => {
    const { gateway, sealer } = stack.deps;
    const repeat = (settlement: Partial<PayoutSettlement> = {}) =>
      settlePayout(
        stack.em(),
        { gateway, sealer },
        {
          payoutId: unknown,
          settlement: { outcome: 'failed', note, who: operator.id, ...settlement },
          at: new Date().toISOString(),
          signal: AbortSignal.timeout(10_000),
        },
      );
    expect(await repeat()).toMatchObject({ status: 'failed' });
    await expect(repeat({ note: 'another ticket' })).rejects.toThrow('the payout is failed already');
    expect(await eventsOf(unknown, 'PAYOUT_SETTLED')).toHaveLength(1);
  });

  it('is refused when the payout has ended already', async () => {
    const { id } = await to('111111');
    await payoutWhen(partner, id, 'succeeded');
    await settle(id, { outcome: 'failed', force: true }).then(
      () => expect(null).toBe('refused'),
      () => undefined,
    );
    expect(await readPayout(partner, id)).toMatchObject({ status: 'succeeded' });
  });

  it('as failed is refused while the provider has accepted the transfer, and taken with force', async () => {
    const { id } = await to('131313');
    await eventually(
      () => transfersOf(stack, id),
      (transfers) => transfers.length === 1,
    );
    expect(await refusalOf(settle(id, { outcome: 'failed' }))).toContain('it says: accepted');
    expect(await refusalOf(settle(id, { outcome: 'failed', force: true }))).toContain('may still be under way');
    await ageAttempts(stack, id, 2);
    expect(await settle(id, { outcome: 'failed', force: true })).toBe('failed');
    expect((await eventsOf(id, 'PAYOUT_SETTLED'))[0].data).toMatchObject({ force: true, provider_says: 'accepted' });

    // The provider pays it after all: no money moves, and the case is open for all operators to see.
    const before = await readBalance(partner);
    await settleAtProvider(stack, id, 'SUCCEEDED');
    const [event] = await eventually(
      () => eventsOf(id, 'PAYOUT_CONTRADICTED'),
      (events) => events.length === 1,
    );
    expect(event).toMatchObject({ resource_type: 'payout', data: { status: 'failed', provider_says: 'succeeded' } });
    expect(await stuck(10)).toContainEqual(
      expect.objectContaining({ payout_id: id, reason: expect.stringContaining('contradicted') }),
    );
    expect(await readPayout(partner, id)).toMatchObject({ status: 'failed' });
    expect(await readBalance(partner)).toEqual(before);
  });
});

describe('A callback that contradicts a final payout', () => {
  it('changes no money, is told once, and is closed when the provider agrees again', async () => {
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

describe('A step that is repeated because its answer was lost', () => {
  it('tells the webhooks that it wrote and nobody has begun', async () => {
    // Nobody listens there: the webhook stays to be delivered.
    const payer = await buildPayer(stack, { webhook: { url: 'http://127.0.0.1:9/hook' } });
    const { id } = await pay(payer);
    await payoutWhen(payer, id, 'succeeded');
    const word = { said: 'succeeded', providerTransferId: 'disb-1', failureCode: null } as const;
    const { deliveryIds } = await resolvePayout(stack.em(), stack.deps.sealer, { payoutId: id, word });
    const { items } = (await payer.administer('get', '/webhook-deliveries')).body.data;
    expect(deliveryIds).toEqual(items.map((row: { id: string }) => row.id));
    expect(items).toMatchObject([{ type: 'payout.succeeded', status: 'pending' }]);
  });
});

describe('GET /v1/payouts/stuck', () => {
  it('is for platform users with read-event', async () => {
    const { token } = await buildIndividual(stack);
    expect((await stack.get('/v1/payouts/stuck', { token })).status).toBe(403);
    expect((await stack.get('/v1/payouts/stuck')).status).toBe(401);
  });

  it('reads on after a row as by pages, and tells the number of all on a page past the end', async () => {
    const { id } = await to('111111');
    await payoutWhen(partner, id, 'succeeded');
    await settleAtProvider(stack, id, 'FAILED');
    const list = async (query: string) =>
      (await stack.get(`/v1/payouts/stuck?${query}`, { token: operator.token })).body.data;
    const { items, total } = await eventually(
      () => list('limit=100'),
      (page) => page.items.length >= 2,
    );
    expect(total).toBe(items.length);
    expect(await list(`after=${items[0].payout_id}&limit=1`)).toMatchObject({
      items: [{ payout_id: items[1].payout_id }],
      total,
    });
    expect(await list(`after=${items.at(-1).payout_id}`)).toMatchObject({ items: [], total });
    expect(await list('page=9')).toMatchObject({ items: [], page: 9, total });
    for (const query of ['after=x', 'page=0', 'limit=101']) {
      const { status } = await stack.get(`/v1/payouts/stuck?${query}`, { token: operator.token });
      expect([query, status]).toEqual([query, 400]);
    }
  });

  it('lists what the provider has accepted and not ended for a day', async () => {
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
    expect(await listed(0)).toMatchObject({
      reason: 'unknown: the provider took the transfer more than a day ago, and has not ended it',
      age_seconds: expect.any(Number),
    });
    expect((await listed(59))?.age_seconds).toBeGreaterThanOrEqual(3_600);
    expect(await listed(61)).toBeUndefined();
    await settleAtProvider(stack, id, 'SUCCEEDED');
    await payoutWhen(partner, id, 'succeeded');
    expect(await listed(0)).toBeUndefined();
  });

  it.each(['-1', 'ten', '1.5'])('refuses minutes=%s', async (minutes) => {
    const { status, body } = await stack.get(`/v1/payouts/stuck?minutes=${minutes}`, { token: operator.token });
    expect({ status, body }).toMatchObject({ status: 400, body: { message: expect.stringContaining('minutes') } });
  });
});
