import { payoutIdFor } from '../../../src/shared/ids.ts';
import { asAKeyedClient } from '../../support/as-a-client.ts';
import { whileBurning } from '../../support/burn.ts';
import { itInFull } from '../../support/full.ts';
import type { HttpAnswer } from '../../support/http.ts';
import { type BuiltPartner, freshKey } from '../../support/partner.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';
import { buildPayer, generous, payoutBody, readBalance } from './build-payouts.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ worker: true, sandbox: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

/** Simultaneous payouts of 10,000, and how many of them may pass. */
const racers = isFullRun() ? 250 : 15;
const winners = isFullRun() ? 50 : 5;

interface Race {
  /** Compares the answers with the books. */
  truth: () => Promise<void>;
  reserved: number;
  refused: { code: string; details: { limit?: string } }[];
}

/** Requests a payout of the minimum amount, always with the same key. */
async function payAsAClient(partner: BuiltPartner): Promise<HttpAnswer & { id: string }> {
  const key = freshKey();
  const answer = await asAKeyedClient(() => partner.post('/payouts', payoutBody({ amount: '10000' }), key));
  return { ...answer, id: payoutIdFor(partner.id, key) };
}

/** Checks that every answer is and stays true: a row for each 200, and none for a 422. */
async function expectToldTheTruth(partner: BuiltPartner, answers: { status: number; id: string }[]): Promise<void> {
  const rows = await stack.em().execute<{ id: string }[]>('select id from payouts where partner_id = ?', [partner.id]);
  const told = answers.filter(({ status }) => status === 200);
  expect(rows.map(({ id }) => id).sort()).toEqual(told.map(({ id }) => id).sort());
}

/** Sends all concurrently while reading the balance; every reading must be consistent. */
async function race(partner: BuiltPartner): Promise<Race> {
  let racing = true;
  const watching = (async () => {
    let readings = 0;
    for (; racing; readings += 1) {
      const { status, body } = await asAKeyedClient(() => partner.get('/balance'));
      expect(status).toBe(200);
      const { available, pending, balance } = body.data;
      expect(Number(available) + Number(pending)).toBe(Number(balance));
      expect(Number(available)).toBeGreaterThanOrEqual(0);
    }
    return readings;
  })();
  const answers = await whileBurning(() =>
    Promise.all(Array.from({ length: racers }, () => payAsAClient(partner))).finally(() => {
      racing = false;
    }),
  );
  expect(await watching).toBeGreaterThan(0);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 422]));
  await expectToldTheTruth(partner, answers);
  return {
    truth: () => expectToldTheTruth(partner, answers),
    reserved: answers.filter(({ status }) => status === 200).length,
    refused: answers.filter(({ status }) => status === 422).map(({ body }) => body.error),
  };
}

async function everyPayoutEnded(partner: BuiltPartner): Promise<void> {
  await eventually(
    async () => (await partner.get('/payouts?status=pending')).body.data.total,
    (pending) => pending === 0,
    isFullRun() ? 180_000 : 60_000,
  );
}

describe(`${racers} concurrent payouts of 10,000`, () => {
  it(`Concurrent payouts from a balance for ${winners} reserve exactly ${winners}`, async () => {
    const partner = await buildPayer(stack, { available: String(winners * 10_000) });
    const { reserved, refused, truth } = await race(partner);
    expect(reserved).toBe(winners);
    expect(new Set(refused.map(({ code }) => code))).toEqual(new Set(['FUNDS_INSUFFICIENT_BALANCE']));
    expect(await readBalance(partner)).toMatchObject({ available: '0.0000' });
    await everyPayoutEnded(partner);
    await truth();
    expect(await readBalance(partner)).toMatchObject({ balance: '0.0000', pending: '0.0000' });
  }, 300_000);

  itInFull(
    `Concurrent payouts with a daily limit for ${winners} reserve exactly ${winners}`,
    async () => {
      const partner = await buildPayer(stack, { limits: { ...generous, max_daily_amount: String(winners * 10_000) } });
      const { reserved, refused, truth } = await race(partner);
      expect(reserved).toBe(winners);
      expect(new Set(refused.map(({ details }) => details.limit))).toEqual(new Set(['max_daily_amount']));
      await everyPayoutEnded(partner);
      await truth();
    },
    300_000,
  );

  itInFull(
    `Concurrent payouts with an hourly limit of ${winners} reserve exactly ${winners}`,
    async () => {
      const partner = await buildPayer(stack, { limits: { ...generous, max_hourly_count: winners } });
      const { reserved, refused, truth } = await race(partner);
      expect(reserved).toBe(winners);
      expect(new Set(refused.map(({ details }) => details.limit))).toEqual(new Set(['max_hourly_count']));
      await everyPayoutEnded(partner);
      await truth();
    },
    300_000,
  );
});
