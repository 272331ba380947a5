import { AsyncLocalStorage } from 'node:async_hooks';
import { createGathering, type GatherOptions } from '../../src/shared/gather.ts';
import { eventually } from '../support/eventually.ts';

/** Runs that complete when the test decides, each with its requests. */
function heldRuns(options: Partial<GatherOptions<string, string>> = {}) {
  const runs: { questions: readonly string[]; end(): void; fail(error: unknown): void }[] = [];
  const ask = createGathering<string, string>({
    run: (questions) =>
      new Promise((resolve, reject) => {
        runs.push({ questions, end: () => resolve(questions.map((question) => `${question}!`)), fail: reject });
      }),
    isOfOne: () => false,
    waitMs: 60_000,
    runMs: 60_000,
    underWay: 1,
    ...options,
  });
  return { ask, runs };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('Gathered requests', () => {
  it('Gathered requests run at once if none is in progress, and otherwise together after that run', async () => {
    const { ask, runs } = heldRuns({ underWay: 2 });
    const first = ask('a');
    await settled();
    expect(runs.map(({ questions }) => questions)).toEqual([['a']]);
    const others = ['b', 'c', 'd', 'e'].map((question) => ask(question));
    await settled();
    expect(runs).toHaveLength(1);
    runs[0]?.end();
    await settled();
    expect(runs.map(({ questions }) => questions)).toEqual([['a'], ['b', 'c', 'd', 'e']]);
    for (const { end } of runs) end();
    expect(await Promise.all([first, ...others])).toEqual(['a!', 'b!', 'c!', 'd!', 'e!']);
  });

  it('Gathered requests that arrive in one turn of the event loop run together', async () => {
    const { ask, runs } = heldRuns();
    const answers = ['a', 'b', 'c'].map((question) => ask(question));
    await settled();
    expect(runs.map(({ questions }) => questions)).toEqual([['a', 'b', 'c']]);
    runs[0]?.end();
    expect(await Promise.all(answers)).toEqual(['a!', 'b!', 'c!']);
  });

  it('Gathered requests start a parallel run only when they fill one, up to a limit of runs', async () => {
    const { ask, runs } = heldRuns({ underWay: 2, most: 2 });
    const answers = [ask('a')];
    await settled();
    answers.push(ask('b'));
    await settled();
    expect(runs.map(({ questions }) => questions)).toEqual([['a']]);
    answers.push(ask('c'), ask('d'), ask('e'));
    await settled();
    expect(runs.map(({ questions }) => questions)).toEqual([['a'], ['b', 'c']]);
    runs[0]?.end();
    await settled();
    expect(runs.map(({ questions }) => questions)).toEqual([['a'], ['b', 'c'], ['d', 'e']]);
    for (const { end } of runs) end();
    expect(await Promise.all(answers)).toEqual(['a!', 'b!', 'c!', 'd!', 'e!']);
  });

  it('Gathered requests do not wait for a slow run', async () => {
    const { ask, runs } = heldRuns({ underWay: 2, slowMs: 10 });
    const slow = ask('slow');
    await settled();
    const next = ask('next');
    await eventually(
      async () => runs.length,
      (length) => length === 2,
    );
    expect(runs.map(({ questions }) => questions)).toEqual([['slow'], ['next']]);
    runs[1]?.end();
    expect(await next).toBe('next!');
    runs[0]?.end();
    expect(await slow).toBe('slow!');
  });

  it('Gathered requests run together up to a limit, in the order in which they arrived', async () => {
    const { ask, runs } = heldRuns({ most: 2 });
    const answers = ['a', 'b', 'c', 'd', 'e'].map((question) => ask(question));
    for (let run = 0; run < 3; run += 1) {
      await settled();
      runs[run]?.end();
    }
    expect(await Promise.all(answers)).toEqual(['a!', 'b!', 'c!', 'd!', 'e!']);
    expect(runs.map(({ questions }) => questions)).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
  });

  it('Gathered requests that exclude each other never share a run or overlap, and delay no others', async () => {
    const { ask, runs } = heldRuns({ underWay: 2, most: 2, apart: (question) => [question.slice(0, 1)] });
    const answers = ['a1', 'a2', 'b1', 'a3', 'c1', 'b2', 'd1'].map((question) => ask(question));
    const sent = () => runs.map(({ questions }) => questions);
    await settled();
    expect(sent()).toEqual([
      ['a1', 'b1'],
      ['c1', 'd1'],
    ]);
    runs[1]?.end();
    await settled();
    expect(sent()).toHaveLength(2);
    runs[0]?.end();
    await settled();
    expect(sent().slice(2)).toEqual([['a2', 'b2']]);
    runs[2]?.end();
    await settled();
    expect(sent().slice(3)).toEqual([['a3']]);
    for (const { end } of runs) end();
    expect(await Promise.all(answers)).toEqual(['a1!', 'a2!', 'b1!', 'a3!', 'c1!', 'b2!', 'd1!']);
  });

  it('Gathered requests fail together, unless one of them may be the cause: then each runs alone', async () => {
    const runs: (readonly number[])[] = [];
    const ask = createGathering<number, number>({
      async run(questions) {
        runs.push(questions);
        await settled();
        if (questions.includes(13)) throw new Error('unlucky');
        if (questions.includes(0)) throw new Error('away');
        return questions;
      },
      isOfOne: (error) => String(error).includes('unlucky'),
      waitMs: 60_000,
      runMs: 60_000,
      underWay: 1,
    });
    const outcomes = await Promise.allSettled([1, 2, 13, 4].map((question) => ask(question)));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(runs).toEqual([[1, 2, 13, 4], [1], [2], [13], [4]]);
    await settled();
    const others = await Promise.allSettled([1, 0, 3].map((question) => ask(question)));
    expect(others.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(await ask(5)).toBe(5);
  });

  it('Gathered requests are refused without effect if the queue is full or they wait too long', async () => {
    const { ask, runs } = heldRuns({ mostWaiting: 1, waitMs: 20 });
    const first = ask('first');
    await settled();
    const second = ask('second');
    await expect(ask('third')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await expect(second).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    const fourth = ask('fourth');
    runs[0]?.end();
    await settled();
    runs[1]?.end();
    expect(await Promise.all([first, fourth])).toEqual(['first!', 'fourth!']);
    expect(runs.map(({ questions }) => questions)).toEqual([['first'], ['fourth']]);
  });

  it('Gathered requests are refused when their run times out, and the next ones do not wait for it', async () => {
    const { ask, runs } = heldRuns({ runMs: 1_000 });
    const hanging = ask('hanging');
    await settled();
    const next = ask('next');
    await expect(hanging).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    await settled();
    runs[1]?.end();
    expect(await next).toBe('next!');
  });

  it('Gathered requests refused because their run timed out do not run alone when it fails', async () => {
    const runs: (readonly string[])[] = [];
    const ends: (() => void)[] = [];
    const ask = createGathering<string, string>({
      run: (questions) => {
        runs.push(questions);
        return new Promise((_, reject) => ends.push(() => reject(new Error('of one'))));
      },
      isOfOne: () => true,
      waitMs: 60_000,
      runMs: 1_000,
      underWay: 1,
    });
    const first = ask('first');
    await settled();
    const together = ['a', 'b', 'c', 'd', 'e'].map(ask);
    ends[0]?.();
    await expect(first).rejects.toThrow('of one');
    await settled();
    ends[1]?.();
    await settled();
    const alone = [['a'], ['b'], ['c'], ['d']];
    expect(runs).toEqual([['first'], ['a', 'b', 'c', 'd', 'e'], ...alone]);
    for (const one of together) await expect(one).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    ends[2]?.();
    await settled();
    expect(runs).toHaveLength(2 + alone.length);
  });

  it('Gathered requests fail if their run returns the wrong number of results', async () => {
    const ask = createGathering<string, string>({
      run: async () => ['one', 'two'],
      isOfOne: () => false,
      waitMs: 60_000,
      runMs: 60_000,
    });
    await expect(ask('a')).rejects.toThrow('a run must return one answer per question');
  });

  it('Gathered requests run outside the context of any caller', async () => {
    const whose = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const ask = createGathering<string, string>({
      async run(questions) {
        seen.push(whose.getStore());
        return questions;
      },
      isOfOne: () => false,
      waitMs: 60_000,
      runMs: 60_000,
    });
    await whose.run('mine', () => ask('a'));
    expect(seen).toEqual([undefined]);
  });
});
