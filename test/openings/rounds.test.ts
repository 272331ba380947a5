import { forgetOldRows } from '../../src/housekeeping/forget-old-rows.ts';
import { withinLimit } from '../../src/time-limit.ts';
import { type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ own: true });
}, 60_000);
afterAll(() => stack?.stop());

const many = 25_000;
const plant = () =>
  stack.owner().execute(
    `insert into openings (resource_id, kind, refused_upto, refusal, decided_at)
     select gen_random_uuid(), 'payout', 1, '{}', now() - interval '31 days' from generate_series(1, ${many})`,
  );
const left = async () =>
  Number((await stack.em().execute<[{ count: string }]>('select count(*) from openings'))[0].count);

describe('What is kept for a time only', () => {
  it('goes in one run, however many rounds that takes', async () => {
    await plant();
    expect(await forgetOldRows(stack.em())).toBe(many);
    expect(await left()).toBe(0);
  });

  it('waits for the next run where the time of this one is over', async () => {
    await plant();
    const run = withinLimit({ endsAt: performance.now() - 1, askUntil: 0 }, () => forgetOldRows(stack.em()));
    expect(await run).toBe(0);
    expect(await left()).toBe(many);
  });
});
