import { beginBatchPayouts } from '../../../src/money-out/payout-batches/begin-batch-payouts.ts';
import { mostUnsent } from '../../../src/money-out/payout-batches/payout-batch.ts';
import { sweepPayouts } from '../../../src/money-out/payouts/sweep-payouts.ts';
import { startStack } from '../../support/stack.ts';
import { buildPayer } from '../payouts/build-payouts.ts';
import { buildSecondKey, itemsOf, itemsOfBatch, makeBatch } from './build-batches.ts';

it('A batch has at most five payouts started but not sent', async () => {
  await using stack = await startStack();
  const partner = await buildPayer(stack);
  const approve = await buildSecondKey(stack, partner);
  const { id: batchId } = await makeBatch(partner, itemsOf(mostUnsent + 5, { amount: '10000' }));
  expect(await approve(`/payout-batches/${batchId}/approve`)).toMatchObject({ status: 200 });
  const ids = (await itemsOfBatch(partner, batchId)).map((item: { id: string }) => item.id);

  const begun: string[] = [];
  const hintPayout = async ({ id }: { id: string }) => void begun.push(id);
  /** Runs this many steps, each starting at most one payout; returns how many started. */
  const begin = async (steps: number) => {
    let count = 0;
    for (let step = 0; step < steps; step += 1) {
      count += await beginBatchPayouts(stack.em(), { hintPayout }, { batchId, forMs: 0 });
    }
    return count;
  };
  expect(await begin(mostUnsent + 2)).toBe(mostUnsent);
  expect(begun).toEqual(ids.slice(0, mostUnsent));

  const send = async (some: string[]) => {
    for (const id of some) {
      await stack.owner().execute('insert into payout_attempts (payout_id, number) values (?, 1)', [id]);
    }
  };
  await send(ids.slice(0, 3));
  expect(await begin(4)).toBe(3);
  expect(begun).toEqual(ids.slice(0, mostUnsent + 3));
  await send(ids.slice(3, mostUnsent + 3));
  expect(await begin(mostUnsent)).toBe(2);
  expect(begun).toEqual(ids);
}, 60_000);

it('The sweep never starts a payout before its turn in its batch, even after a hold is released', async () => {
  await using stack = await startStack({ own: true });
  const partner = await buildPayer(stack);
  const approve = await buildSecondKey(stack, partner);
  const { id: batchId } = await makeBatch(partner, itemsOf(mostUnsent + 5, { amount: '10000' }));
  expect(await approve(`/payout-batches/${batchId}/approve`)).toMatchObject({ status: 200 });
  const ids = (await itemsOfBatch(partner, batchId)).map((item: { id: string }) => item.id);
  for (let step = 0; step < mostUnsent; step += 1) {
    await beginBatchPayouts(stack.em(), { hintPayout: async () => {} }, { batchId, forMs: 0 });
  }

  const owner = stack.owner();
  await owner.execute(
    "update payouts set look_again_at = now() - interval '1 minute' where batch_id = ? and look_again_at is not null",
    [batchId],
  );
  await owner.execute('update payout_switch set changed_at = now()');
  const woken: string[] = [];
  await sweepPayouts(
    stack.em(),
    { hintPayout: async ({ id }) => void woken.push(id), lookAfterPayoutBatch: async () => {} },
    (_, __, error) => {
      throw error;
    },
  );
  expect(woken.filter((id) => ids.includes(id)).toSorted()).toEqual(ids.slice(0, mostUnsent).toSorted());
}, 60_000);
