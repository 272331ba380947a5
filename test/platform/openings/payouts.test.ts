import type { PayoutOpening } from '../../../src/money-out/payouts/payout.ts';
import { preparePayout } from '../../../src/money-out/payouts/prepare-payout.ts';
import { reservePayout } from '../../../src/money-out/payouts/reserve-payout.ts';
import { stampOpening } from '../../../src/platform/openings/idempotency-keys.ts';
import { payoutIdFor } from '../../../src/shared/ids.ts';
import { buildPayer, magicAccount, payoutBody, readBalance } from '../../money-out/payouts/build-payouts.ts';
import { fund } from '../../support/build.ts';
import { readLockWaits } from '../../support/lock-waits.ts';
import { type BuiltPartner, freshKey } from '../../support/partner.ts';
import { eventually, expectChecksEmpty, type Stack, startStack } from '../../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ isImpatient: true, worker: true });
}, 60_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const rowOf = (id: string) => stack.em().execute<{ status: string }[]>('select status from payouts where id = ?', [id]);

/** Returns the input with which the API starts the workflow of a payout of 100,000. */
async function prepared(
  partner: BuiltPartner,
  key = freshKey(),
): Promise<{ payoutId: string; opening: PayoutOpening }> {
  const payoutId = payoutIdFor(partner.id, key);
  const body = { amount: '100000', bank_code: 'BRI', bank_account_number: magicAccount('111111') };
  const idempotency = { keyHash: key, fingerprint: 'f' };
  const stamp = await stampOpening(stack.em());
  const input = { payoutId, partnerId: partner.id, body, idempotency, requestId: 'test' };
  return { payoutId, opening: { ...(await preparePayout(stack.em(), stack.deps.sealer, input)), stamp } };
}
const reserve = (payout: { payoutId: string; opening: PayoutOpening }) =>
  reservePayout(stack.em(), stack.deps.sealer, payout);

describe('Delayed reservations of payouts', () => {
  it('A payout whose first reservation attempt waited too long for a lock is reserved by a later one', async () => {
    const partner = await buildPayer(stack, { available: '100000' });
    const key = freshKey();
    const holder = stack.em();
    await holder.begin();
    cleanups.push(async () => holder.isInTransaction() && holder.rollback());
    await holder.execute(
      "select set_config(name, '0', true) from pg_settings where name like '%\\_timeout' and unit = 'ms' and context = 'user'",
    );
    await holder.execute('select 1 from partners where id = ? for update', [partner.id]);
    const asked = partner.post('/payouts', payoutBody(), key);
    // The first attempt has given up waiting for the lock, and another waits for it.
    const begun = new Set<string>();
    await eventually(
      async () => {
        for (const { since } of await readLockWaits(stack)) begun.add(since);
        return begun.size;
      },
      (attempts) => attempts >= 2,
      50_000,
    );
    await holder.commit();
    const { status } = await asked;
    await eventually(
      () => readLockWaits(stack),
      (waits) => waits.length === 0,
    );
    expect([status, (await rowOf(payoutIdFor(partner.id, key))).length]).toEqual([200, 1]);
  }, 60_000);

  it('A payout refused for lack of funds is never reserved by an attempt that resumes after a top-up', async () => {
    const partner = await buildPayer(stack, { available: '100000' });
    const [sleeper, spender] = [await prepared(partner), await prepared(partner)];
    await reserve(spender);
    await expect(reserve(sleeper)).rejects.toMatchObject({ code: 'FUNDS_INSUFFICIENT_BALANCE' });
    await fund(stack, partner.account.available, '100000');
    const refusal = { code: 'FUNDS_INSUFFICIENT_BALANCE', details: { available: '0.0000', required: '100000.0000' } };
    await expect(reserve(sleeper)).rejects.toMatchObject(refusal);
    expect(await rowOf(sleeper.payoutId)).toEqual([]);
    expect(await readBalance(partner)).toMatchObject({ available: '100000.0000' });
  });
});
