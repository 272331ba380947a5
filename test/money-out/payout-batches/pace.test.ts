import { beginBatchPayouts } from '../../../src/money-out/payout-batches/begin-batch-payouts.ts';
import { begunAtOnce } from '../../../src/money-out/payout-batches/payout-batch.ts';
import { startStack } from '../../support/stack.ts';
import { buildPayer } from '../payouts/build-payouts.ts';
import { buildSecondKey, itemsOf, itemsOfBatch, makeBatch } from './build-batches.ts';

it('A batch starts no more payouts while ten that it started have not been sent', async () => {
  await using stack = await startStack();
  const partner = await buildPayer(stack);
  const approve = await buildSecondKey(stack, partner);
  const { id: batchId } = await makeBatch(partner, itemsOf(begunAtOnce + 5, { amount: '10000' }));
  expect(await approve(`/payout-batches/${batchId}/approve`)).toMatchObject({ status: 200 });
  const ids = (await itemsOfBatch(partner, batchId)).map((item: { id: string }) => item.id);

  const begun: string[] = [];
  const hintPayout = async ({ id }: { id: string }) => void begun.push(id);
  const begin = (after: number) => beginBatchPayouts(stack.em(), { hintPayout }, { batchId, after });
  expect(await begin(0)).toEqual({ begun: begunAtOnce, isDone: false });
  expect(await begin(begunAtOnce)).toEqual({ begun: begunAtOnce, isDone: false });
  expect(begun).toEqual(ids.slice(0, begunAtOnce));

  const send = async (some: string[]) => {
    for (const id of some) {
      await stack.owner().execute('insert into payout_attempts (payout_id, number) values (?, 1)', [id]);
    }
  };
  await send(ids.slice(0, 3));
  expect(await begin(begunAtOnce)).toEqual({ begun: begunAtOnce + 3, isDone: false });
  await send(ids.slice(3, 9));
  expect(await begin(begunAtOnce + 3)).toEqual({ begun: begunAtOnce + 5, isDone: true });
  expect(begun).toEqual(ids);
}, 60_000);
