import { buildOperators, decide } from '../../support/decide.ts';
import type { BuiltPartner } from '../../support/partner.ts';
import { isFullRun } from '../../support/run.ts';
import { eventually, expectChecksEmpty } from '../../support/stack.ts';
import { startTimeSkippingStack, type TimeSkippingStack } from '../../support/time-skipping.ts';
import {
  ageAttempts,
  buildPayer,
  magicAccount,
  pay,
  payoutWhen,
  readBalance,
  readPayout,
  setFaults,
} from './build-payouts.ts';

let stack: TimeSkippingStack;
let partner: BuiltPartner;
beforeAll(async () => {
  stack = await startTimeSkippingStack();
}, 90_000);
beforeEach(async () => {
  partner = await buildPayer(stack);
});
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

interface Row {
  asks: number;
  unknown_since: string;
}
const rowOf = async (id: string): Promise<Row> => {
  const [row] = await stack.em().execute<Row[]>('select asks, unknown_since from payouts where id = ?', [id]);
  if (row === undefined) throw new Error('no such payout');
  return row;
};
const handleOf = (id: string) => stack.time.client.workflow.getHandle(`partner-payout/${id}`);

/** The details shown to operators in the web UI. */
const detailsOf = async (id: string): Promise<string> => {
  const metadata = await handleOf(id).query<{ currentDetails: string }>('__temporal_workflow_metadata');
  return metadata.currentDetails;
};
/** A month in the full run. */
const days = isFullRun() ? 30 : 7;

describe('A payout without a callback', () => {
  it('A payout whose callback never arrives succeeds by polling', async () => {
    await setFaults(stack, { callbacks: { drop: true } });
    const { id } = await pay(partner, { bank_account_number: magicAccount('131313') });
    await eventually(
      () => rowOf(id),
      ({ asks }) => asks >= 1,
    );
    await stack.sandbox.post('/sandbox/payouts/settle', { reference_id: id, status: 'SUCCEEDED' });
    await stack.time.sleep('1 minute');
    await payoutWhen(partner, id, 'succeeded');
    await setFaults(stack, {});
  }, 60_000);

  it(`A payout without an outcome for ${days} days stays reserved and queried, with a bounded history`, async () => {
    const { id } = await pay(partner, { bank_account_number: magicAccount('900004') });
    await eventually(
      () => rowOf(id),
      ({ asks }) => asks >= 1,
    );
    await stack.time.sleep('9 minutes');
    const early = await rowOf(id);
    // Every 5 seconds at first, growing to 30.
    expect(early.asks).toBeGreaterThanOrEqual(18);
    await stack.time.sleep('2 minutes');
    const state = async () => (await handleOf(id).describe()).searchAttributes.PayoutState?.[0];
    await eventually(state, (told) => told === 'OPERATOR');
    await stack.time.sleep(`${days * 24} hours`);
    const late = await rowOf(id);
    // At least hourly.
    expect(late.asks).toBeGreaterThanOrEqual(days * 24);
    expect(late.unknown_since).toEqual(early.unknown_since);
    expect(await readPayout(partner, id)).toMatchObject({ status: 'pending', is_final: false });
    expect(await readBalance(partner)).toMatchObject({ available: '900000.0000', pending: '100000.0000' });
    const { historyLength, status } = await handleOf(id).describe();
    expect(status.name).toBe('RUNNING');
    expect(historyLength).toBeLessThan(2_000);

    // Two operators settle it; its attempts are backdated, because time skipping does not move the database's clock.
    await ageAttempts(stack, id, 2);
    const operators = await buildOperators(stack);
    expect(await detailsOf(id)).toContain(`/operations/payouts/${id}`);
    await decide(stack, operators, { kind: 'settle_payout', payout_id: id, outcome: 'failed' });
    expect(await handleOf(id).result()).toBe('failed');
    expect(await readBalance(partner)).toMatchObject({ available: '1000000.0000', pending: '0.0000' });
  }, 240_000);
});
