import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/**
 * Which imports are allowed, types included. `npm run lint` runs this file, and test/house/imports.test.ts checks every
 * rule against all imports.
 */

/** The wings of `src/`, from the lowest: each may import from those before it, never from one after it. */
export const wings = [
  'shared',
  'platform',
  'migrations',
  'people',
  'ledger',
  'partners',
  'money-out',
  'money-in',
  'giving',
  'circles',
  'control',
  'wiring',
];

/** `of` may not import `not`, a file or a package, except for `but`. */
interface Rule {
  of: RegExp;
  but?: RegExp;
  not: RegExp;
  why: string;
}

const web = /^(koa|koa-body|koa-helmet|@koa\/.+)$/;
const knowTheWeb = /\.routes\.ts$|^src\/(platform\/http|wiring)\/|^src\/people\/identity\/authenticate\.ts$/;

const rules: readonly Rule[] = [
  {
    of: /^(src|workflows|activities)\//,
    not: /^(dev|test|bench)\//,
    why: 'the product does not import its stand-ins, proofs or measurements',
  },
  {
    of: /^(src\/.+|workflows|activities)\//,
    but: knowTheWeb,
    not: web,
    why: 'only routes, src/platform/http and src/wiring import the web framework',
  },
  {
    of: /^src\/.+\//,
    but: /^src\/wiring\//,
    not: /^@temporalio\//,
    why: 'use cases and routes call ports, which src/wiring/temporal implements',
  },
  {
    of: /^(src\/.+|workflows|activities)\//,
    but: /\.routes\.ts$|^src\/wiring\//,
    not: /\.routes\.ts$/,
    why: 'only src/wiring and other routes import routes',
  },
  {
    of: /^src\/.+\//,
    not: /^(workflows|activities)\//,
    why: 'only the worker imports steps and workflows; they import the wings',
  },
  { of: /^activities\//, not: /^workflows\//, why: 'a step does not import a workflow' },
  {
    of: /^workflows\//,
    not: /^(@mikro-orm\/|mikro-orm$|node:|zod$)|\.entity\.ts$/,
    why: 'workflow code is deterministic and imports no database, Node or zod',
  },
];

const root = join(import.meta.dirname, '..', '..');
const files = globSync('{src,workflows,activities}/**/*.ts', { cwd: root });
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

/** Files too long to read in one go. */
export const findLong = (): string[] =>
  globSync('{src,workflows,activities,dev}/**/*.ts', { cwd: root }).filter(
    (file) => textOf(file).split('\n').length > 301,
  );

/** `src/money-out/payouts/payout.ts` belongs to the module `money-out/payouts`, `src/circles/terms.ts` to `circles`. */
const moduleOf = (file: string): string => file.split('/').slice(1, -1).slice(0, 2).join('/');
const wingOf = (module: string): number => wings.indexOf(module.split('/')[0] ?? '');

/** Every import of the product; `target` is a file or a package. */
export const imports = files.flatMap((file) =>
  [...textOf(file).matchAll(/(?:from|import|import\()\s*'([^']+)'/g)].map(([, path = '']) => ({
    file,
    target: path.startsWith('.') ? normalize(join(dirname(file), path)) : path,
  })),
);

/** The imports between two modules of `src/`. */
export const arrows = imports.flatMap(({ file, target }) => {
  const [from, to] = [moduleOf(file), moduleOf(target)];
  if (!file.startsWith('src/') || !target.startsWith('src/') || from === '' || from === to) return [];
  return [{ file, target, from, to, isUp: wingOf(to) > wingOf(from) }];
});

/** A line for each of these imports that breaks a rule. */
export const findBroken = (among: readonly { file: string; target: string }[]): string[] =>
  rules.flatMap(({ of, but, not, why }) =>
    among
      .filter(({ file, target }) => of.test(file) && !but?.test(file) && not.test(target))
      .map(({ file, target }) => `${file} -> ${target}: ${why}`),
  );

/** A line for each import that breaks a rule or leads to a higher wing. */
export function findForbidden(): string[] {
  const up = arrows.filter(({ isUp }) => isUp);
  return [
    ...findBroken(imports),
    ...up.map(({ file, target }) => `${file} -> ${target}: the target is in a higher wing`),
  ];
}

if (import.meta.main) {
  const forbidden = findForbidden();
  for (const line of forbidden) process.stderr.write(`${line}\n`);
  process.exitCode = forbidden.length === 0 ? 0 : 1;
}
