import { DomainError } from '../../src/shared/errors.ts';
import { thenWake } from '../../src/shared/then-wake.ts';

describe('A waiting workflow', () => {
  const outcomes: [title: string, work: () => Promise<string>, woken: number][] = [
    ['is woken when the work is done', async () => 'done', 1],
    ['is woken when the outcome of the work is unknown', () => Promise.reject(new Error('Connection terminated')), 1],
    ['is not woken when the work was refused', () => Promise.reject(new DomainError('NOT_FOUND', 'no such circle')), 0],
  ];

  it.each(outcomes)('A waiting workflow %s', async (_, work, woken) => {
    let times = 0;
    const [outcome] = await Promise.allSettled([
      thenWake(work(), async () => {
        times += 1;
      }),
    ]);
    expect(outcome).toEqual((await Promise.allSettled([work()]))[0]);
    expect(times).toBe(woken);
  });
});
