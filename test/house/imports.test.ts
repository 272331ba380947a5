import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { arrows, findBroken, findForbidden, findLong, wings } from './imports.ts';

const src = join(import.meta.dirname, '..', '..', 'src');
const next = Map.groupBy(arrows, ({ from }) => from);

/** The modules that a module reaches, directly or indirectly. */
function reachedFrom(module: string): Set<string> {
  const reached = new Set<string>();
  const open = [module];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const { to } of next.get(at) ?? []) {
      if (reached.has(to)) continue;
      reached.add(to);
      open.push(to);
    }
  }
  return reached;
}

describe('Imports of the product', () => {
  it('The folders of src are the known wings', () => {
    expect(arrows.length).toBeGreaterThan(1500);
    const folders = readdirSync(src, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(folders.map(({ name }) => name).toSorted()).toEqual(wings.toSorted());
  });

  it('Imports form no cycle between modules', () => {
    const inCircles = [...next.keys()].filter((module) => reachedFrom(module).has(module));
    const held = arrows.filter(({ from, to }) => inCircles.includes(from) && reachedFrom(to).has(from));
    expect(held.map(({ file, target }) => `${file} -> ${target}`)).toEqual([]);
  });

  it('Imports follow the rules and point only to lower wings', () => {
    expect(findForbidden()).toEqual([]);
  });

  it('Files have at most 300 lines', () => {
    expect(findLong()).toEqual([]);
  });

  it('Imports that break a rule are reported', () => {
    const planted = [
      ['src/ledger/post-journal.ts', 'dev/plan.ts'],
      ['src/ledger/post-journal.ts', 'koa'],
      ['src/ledger/accounts.routes.ts', '@temporalio/client'],
      ['src/ledger/post-journal.ts', 'src/ledger/accounts.routes.ts'],
      ['activities/payouts.ts', 'workflows/pay-out.ts'],
      ['workflows/pay-out.ts', 'node:fs'],
    ].map(([file = '', target = '']) => ({ file, target }));
    expect(planted.map((one) => findBroken([one]).length)).toEqual(planted.map(() => 1));
  });
});
