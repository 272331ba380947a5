import { DomainError } from '../../src/shared/errors.ts';
import { thenWake } from '../../src/shared/then-wake.ts';

describe('A workflow that awaits a piece of work', () => {
  const outcomes: [title: string, work: () => Promise<string>, woken: number][] = [
    ['is woken when it is done', async () => 'done', 1],
    ['is woken when its outcome is unknown', () => Promise.reject(new Error('Connection terminated')), 1],
    ['is left alone when it was refused', () => Promise.reject(new DomainError('NOT_FOUND', 'no such circle')), 0],
  ];

  it.each(outcomes)('A workflow that awaits a piece of work %s', async (_, work, woken) => {
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
