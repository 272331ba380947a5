import type { Part } from '../dev/part.ts';
import { must } from '../src/shared/assert.ts';
import { median, quantile, sum } from './figures.ts';
import { printTable } from './table.ts';
import { countCpu } from './usage.ts';

/** A flow from request to completion. */
export interface Flow<Mark extends string> {
  name: string;
  /** Runs the flow once; returns the milliseconds until each of its marks. */
  run(): Promise<Record<Mark, number>>;
  /** The parts whose CPU time is counted, by column name. */
  parts: Record<string, Part>;
}

interface Slice {
  perSecond: number;
  marks: Record<string, number[]>;
  cpu: Record<string, number>;
}

export interface Comparison<Mark extends string> {
  /** The median, over the rounds, of a flow's figure divided by the baseline's in the same round. */
  ratio(flow: string, atOnce: number, figure: 'perSecond' | 'cpu' | Mark): number;
}

/**
 * Runs the flows in alternation, at each of the settings' concurrencies, after a discarded round. Prints the medians of
 * the slices, and each part's CPU milliseconds for one run of a flow. The first flow is the baseline.
 */
export async function compareFlows<Mark extends string>(
  flows: readonly Flow<Mark>[],
  marks: readonly Mark[],
  { rounds, settings }: { rounds: number; settings: readonly { atOnce: number; count: number }[] },
): Promise<Comparison<Mark>> {
  const kept = new Map<string, Slice[]>();
  const of = (flow: string, atOnce: number) => kept.get(`${atOnce} ${flow}`) ?? [];
  for (let round = 0; round <= rounds; round += 1) {
    for (const { atOnce, count } of settings) {
      for (const flow of round % 2 === 0 ? flows : flows.toReversed()) {
        const slice = await runSlice(flow, marks, atOnce, count);
        if (round > 0) kept.set(`${atOnce} ${flow.name}`, [...of(flow.name, atOnce), slice]);
      }
    }
  }
  const baseline = must(flows[0], 'the first flow is the baseline').name;
  const figureOf = ({ perSecond, cpu, marks: taken }: Slice, figure: string): number => {
    if (figure === 'perSecond') return perSecond;
    return figure === 'cpu' ? sum(Object.values(cpu)) : median(taken[figure] ?? []);
  };
  const ratio: Comparison<Mark>['ratio'] = (flow, atOnce, figure) => {
    const under = of(baseline, atOnce).map((slice) => figureOf(slice, figure));
    return median(of(flow, atOnce).map((slice, round) => figureOf(slice, figure) / (under[round] ?? Number.NaN)));
  };
  const cells = settings.flatMap(({ atOnce }) => flows.map(({ name }) => ({ name, atOnce, slices: of(name, atOnce) })));
  printTable(
    [
      '',
      'at once',
      'per second',
      ...marks.flatMap((mark) => [`${mark} p50 ms`, 'p95 ms']),
      'rate, ratio to the baseline',
    ],
    cells.map(({ name, atOnce, slices }) => [
      name,
      String(atOnce),
      median(slices.map(({ perSecond }) => perSecond)).toFixed(1),
      ...marks.flatMap((mark) =>
        [0.5, 0.95].map((share) => median(slices.map((slice) => quantile(slice.marks[mark] ?? [], share))).toFixed(0)),
      ),
      ratio(name, atOnce, 'perSecond').toFixed(2),
    ]),
  );
  const columns = [...new Set(flows.flatMap(({ parts }) => Object.keys(parts)))];
  const shown = (value: number) => (Number.isNaN(value) ? '' : value.toFixed(1));
  printTable(
    ['CPU ms for one', 'at once', ...columns, 'all', 'ratio to the baseline'],
    cells.map(({ name, atOnce, slices }) => [
      name,
      String(atOnce),
      ...columns.map((column) => shown(median(slices.map(({ cpu }) => cpu[column] ?? Number.NaN)))),
      shown(median(slices.map((slice) => figureOf(slice, 'cpu')))),
      ratio(name, atOnce, 'cpu').toFixed(2),
    ]),
  );
  return { ratio };
}

async function runSlice<Mark extends string>(
  { run, parts }: Flow<Mark>,
  marks: readonly Mark[],
  atOnce: number,
  count: number,
): Promise<Slice> {
  const used = countCpu(parts);
  const began = performance.now();
  const taken: Record<Mark, number>[] = [];
  let left = count;
  const work = async () => {
    for (; left > 0; ) {
      left -= 1;
      taken.push(await run());
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  const perSecond = count / ((performance.now() - began) / 1000);
  const cpu = Object.fromEntries(Object.entries(used()).map(([name, ms]) => [name, ms / count]));
  return { perSecond, marks: Object.fromEntries(marks.map((mark) => [mark, taken.map((each) => each[mark])])), cpu };
}
