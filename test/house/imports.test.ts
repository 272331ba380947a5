import { globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { upward, wings } from './wings.ts';

const root = join(import.meta.dirname, '..', '..');
const files = globSync('src/**/*.ts', { cwd: root }).filter((file) => file.split('/').length > 2);
const known = new Set(files);

/** `src/money-out/payouts/payout.ts` is of the module `money-out/payouts`, `src/circles/terms.ts` of `circles`. */
const moduleOf = (file: string): string => file.split('/').slice(1, -1).slice(0, 2).join('/');
const wingOf = (module: string): number => wings.indexOf(module.split('/')[0] as (typeof wings)[number]);

/** Every import of one module from another, of types, too. */
const imports = files.flatMap((file) =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/(?:from|import|import\()\s*'(\.[^']+)'/g)].flatMap(
    ([, path = '']) => {
      const target = normalize(join(dirname(file), path));
      const [from, to] = [moduleOf(file), moduleOf(target)];
      return known.has(target) && from !== to ? [{ arrow: `${from} -> ${to}`, from, to, file, target }] : [];
    },
  ),
);
const arrows = new Map<string, Set<string>>();
for (const { from, to } of imports) arrows.set(from, (arrows.get(from) ?? new Set()).add(to));

/** The modules that a module reaches, over any number of arrows. */
function reachedFrom(module: string): Set<string> {
  const reached = new Set<string>();
  const next = [module];
  for (let at = next.pop(); at !== undefined; at = next.pop()) {
    for (const to of arrows.get(at) ?? []) {
      if (reached.has(to)) continue;
      reached.add(to);
      next.push(to);
    }
  }
  return reached;
}

describe('The modules of src', () => {
  it('are all in a wing whose place is known', () => {
    expect(imports.length).toBeGreaterThan(1500);
    const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(folders.map(({ name }) => name).toSorted()).toEqual([...wings].toSorted());
  });

  it('reach no module that reaches them', () => {
    const inCircles = [...arrows.keys()].filter((module) => reachedFrom(module).has(module));
    const held = imports.filter(({ from, to }) => inCircles.includes(from) && reachedFrom(to).has(from));
    expect(held.map(({ file, target }) => `${file} -> ${target}`)).toEqual([]);
  });

  it('import from the wings below, but for what is listed with its reason', () => {
    const up = imports.filter(({ from, to }) => wingOf(to) > wingOf(from));
    const unlisted = up.filter(({ arrow }) => upward[arrow] === undefined);
    expect(unlisted.map(({ file, target }) => `${file} -> ${target}`)).toEqual([]);
    const counted = Object.keys(upward).map((arrow) => [arrow, up.filter((one) => one.arrow === arrow).length]);
    expect(counted).toEqual(Object.entries(upward).map(([arrow, { most }]) => [arrow, most]));
  });
});
