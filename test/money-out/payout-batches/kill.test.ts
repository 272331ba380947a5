import { type ProcessStack, startProcessStack } from '../../support/processes.ts';
import { eventually, expectChecksEmpty } from '../../support/stack.ts';
import { buildPayer } from '../payouts/build-payouts.ts';
import { batchWhen, buildSecondKey, itemsOf, itemsOfBatch, makeBatch, transfersOfItems } from './build-batches.ts';

let stack: ProcessStack;
beforeAll(async () => {
  stack = await startProcessStack();
}, 90_000);
afterAll(() => expectChecksEmpty(stack));
afterAll(() => stack.stop());

const hasSucceeded = ({ status }: { status: string }) => status === 'succeeded';

it('A batch sends each payout once even if its worker is killed with -9 while starting payouts', async () => {
  const partner = await buildPayer(stack);
  const approve = await buildSecondKey(stack, partner);
  const batches: { id: string; ids: string[] }[] = [];
  for (const point of ['begin-batch-payouts.after', 'begin-batch-payouts.before']) {
    const { id } = await makeBatch(partner, itemsOf(12, { amount: '10000' }));
    batches.push({ id, ids: (await itemsOfBatch(partner, id)).map((item: { id: string }) => item.id) });
    await stack.holdAt(point, async () =>
      expect(await approve(`/payout-batches/${id}/approve`)).toMatchObject({ status: 200 }),
    );
  }
  // Wait for the first success: a payout killed between attempt and request would wait for two minutes.
  await eventually(
    async () => (await itemsOfBatch(partner, batches[0]?.id ?? '')).filter(hasSucceeded),
    ({ length }) => length === 1,
  );
  await stack.kill('worker');
  await stack.restart();
  for (const { id, ids } of batches) {
    await batchWhen(partner, id, 'completed', 120_000);
    expect(await transfersOfItems(stack, ids)).toEqual(ids.map(() => 1));
  }
}, 240_000);
