import { readBacklog } from '../../../src/wiring/measure-backlog.ts';
import { buildOperators, decide } from '../../support/decide.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import {
  ageAttempts,
  buildPayer,
  magicAccount,
  pay,
  payoutWhen,
  readPayout,
  setFaults,
  settleAtProvider,
} from './build-payouts.ts';

/** Payouts while the provider refuses all calls for an hour. */
let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());
afterEach(() => setFaults(stack, {}));

const limit = () => setFaults(stack, { requests: { limit_rate: 1, retry_after_seconds: 3_600 } });
const rowOf = async (id: string) => {
  const [row] = await stack.em().execute<{ last_word: string | null; asks: number; in_seconds: number }[]>(
    `select last_word, asks, extract(epoch from look_again_at - now())::float8 - 300 as in_seconds
       from payouts where id = ?`,
    [id],
  );
  return row;
};
const asked = (id: string, times: number) =>
  eventually(
    () => rowOf(id),
    (row) => (row?.asks ?? 0) >= times,
  );

describe('A payout that the provider defers for an hour', () => {
  it('A payout deferred for an hour succeeds at once when its callback arrives', async () => {
    const partner = await buildPayer(stack);
    const { id } = await pay(partner, { bank_account_number: magicAccount('131313') });
    await eventually(
      () => rowOf(id),
      (row) => row?.last_word === 'accepted',
    );
    await limit();
    const { asks = 0 } = (await rowOf(id)) ?? {};
    expect((await asked(id, asks + 1))?.in_seconds).toBeLessThanOrEqual(60);
    await setFaults(stack, {});
    await settleAtProvider(stack, id, 'SUCCEEDED');
    await payoutWhen(partner, id, 'succeeded', 20_000);
    const { items } = (await partner.get(`/payouts/${id}/timeline`)).body.data;
    expect(JSON.stringify(items)).not.toContain('it was asked');
  }, 120_000);

  it('A payout deferred for an hour is listed as not sent, and two people can settle it', async () => {
    await limit();
    const partner = await buildPayer(stack);
    const { id } = await pay(partner);
    expect((await asked(id, 1))?.in_seconds).toBeLessThanOrEqual(60);
    const operators = await buildOperators(stack);
    const { items } = (await stack.get('/v1/payouts/stuck?minutes=0&limit=100', { token: operators.proposer.token }))
      .body.data;
    expect(items).toContainEqual(
      expect.objectContaining({ payout_id: id, reason: 'unknown: the provider is unreachable; nothing was sent' }),
    );
    const texts = (await partner.get(`/payouts/${id}/timeline`)).body.data.items.map(
      ({ text }: { text: string }) => text,
    );
    expect(texts).toContain('The provider could not be asked for the transfer. Nothing has been sent yet.');
    expect(texts).not.toContain('The provider was asked to make the transfer.');
    const settling = { kind: 'settle_payout', payout_id: id, outcome: 'failed' };
    expect(await decide(stack, operators, settling)).toMatchObject({ status: 'carried_out' });
    expect(await readPayout(partner, id)).toMatchObject({ status: 'failed', failure_code: 'SETTLED_BY_OPERATOR' });
  }, 120_000);
});

it('A payout settled as failed while the provider is silent is stuck until the outcome is reported', async () => {
  const partner = await buildPayer(stack);
  const operators = await buildOperators(stack);
  const { id } = await pay(partner, { bank_account_number: magicAccount('131313') });
  await eventually(
    () => rowOf(id),
    (row) => row?.last_word === 'accepted',
  );
  await ageAttempts(stack, id, 2);
  await setFaults(stack, { requests: { error_rate: 1 } });
  const settling = { kind: 'settle_payout', payout_id: id, outcome: 'failed' };
  expect(await decide(stack, operators, settling)).toMatchObject({ status: 'carried_out' });
  const listed = async () => {
    const path = '/v1/payouts/stuck?minutes=0&limit=100';
    const { items } = (await stack.get(path, { token: operators.proposer.token })).body.data;
    return items.find(({ payout_id }: { payout_id: string | null }) => payout_id === id)?.reason;
  };
  expect(await listed()).toMatch(/^settled as failed, outcome unreported/);
  const waiting = (await readBacklog(stack.em())).find(({ what }) => what === 'contradicted_payouts');
  expect(waiting?.rows).toBeGreaterThan(0);
  await setFaults(stack, {});
  await settleAtProvider(stack, id, 'FAILED');
  await eventually(listed, (reason) => reason === undefined, 60_000);
}, 120_000);
