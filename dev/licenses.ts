/**
 * `npm run licenses`: the licence of every dependency, from the bills of materials that npm itself makes of the lock
 * files (no network). Exits with 1 when one is not on the allow list. `npm run sbom` saves the bill itself.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { z } from 'zod';

const License = z.union([
  z.object({ license: z.object({ id: z.string() }) }).transform(({ license }) => license.id),
  z.object({ license: z.object({ name: z.string() }) }).transform(({ license }) => license.name),
  z.object({ expression: z.string() }).transform(({ expression }) => expression),
]);
const Bill = z.object({
  components: z.array(z.object({ name: z.string(), version: z.string(), licenses: z.array(License).default([]) })),
});

export interface Licensed {
  name: string;
  version: string;
  /** An SPDX id or expression; `undeclared` when the package names none. */
  license: string;
}

/** Licences that require no more than a notice. */
const allowed = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'PSF-2.0',
  'Python-2.0',
  'Unlicense',
]);

/** Packages without a licence in npm's field, checked one by one; a new version must be checked again. */
const lookedAt: Record<string, string> = {
  // The older field `licenses`, and the file LICENSE.
  'busboy@1.6.0': 'MIT',
  'streamsearch@1.1.0': 'MIT',
  // The file Readme.md.
  'humanize-number@0.0.2': 'MIT',
  // The file LICENSE.
  'unionfs@4.6.0': 'Unlicense',
  // Nothing in the package; the file LICENSE of its repository, github.com/xendit/xendit-node.
  'xendit-node@7.0.0': 'MIT',
};

/**
 * Licences that require more than a notice, of packages that stay on the machines of developers and CI: the Dockerfile
 * removes them from the image, where nothing loads them.
 */
export const leftOut: Record<string, string> = {
  // Browser data of the bundler that the Temporal worker brings; our bundle is built beforehand.
  'caniuse-lite': 'CC-BY-4.0',
};

/** The licences of the lock file's dependencies, by name; throws when npm's bill cannot be read. */
export function licensesOf(bill: unknown): Licensed[] {
  return Bill.parse(bill)
    .components.map(({ name, version, licenses }) => ({
      name,
      version,
      license: licenses.join(' AND ') || lookedAt[`${name}@${version}`] || 'undeclared',
    }))
    .toSorted((left, right) => left.name.localeCompare(right.name));
}

/** Allowed when every AND operand is allowed, or any OR operand. */
function isAllowed(expression: string): boolean {
  const inner = expression.replace(/[()]/g, '');
  // Brackets were removed, so an expression with both operators is refused, to be looked at by hand.
  if (/ AND /.test(inner) && / OR /.test(inner)) return false;
  if (/ OR /.test(inner)) return inner.split(' OR ').some((id) => allowed.has(id));
  return inner.split(' AND ').every((id) => allowed.has(id));
}

export const refusedOf = (list: readonly Licensed[]): Licensed[] =>
  list.filter(({ name, license }) => !isAllowed(license) && leftOut[name] !== license);

const root = join(import.meta.dirname, '..');
/** Where lock files are: the project's, and those of what only tests need. */
export const locked = [root, join(root, 'test', 'sdk', 'generators'), join(root, 'test', 'tools')];

/** The bill of materials of the lock file in the directory (CycloneDX), made by npm. */
export function billOfMaterials(directory: string): unknown {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
  const npm = process.env.npm_execpath;
  const program = npm ? process.execPath : 'npm';
  const first = npm ? [npm] : [];
  const options = { cwd: directory, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 } as const;
  return JSON.parse(execFileSync(program, [...first, ...args], options));
}

if (import.meta.main) {
  const list = locked.flatMap((directory) => licensesOf(billOfMaterials(directory)));
  for (const { name, version, license } of list) process.stdout.write(`${name}@${version}\t${license}\n`);
  const refused = refusedOf(list);
  for (const { name, version, license } of refused) process.stderr.write(`${name}@${version} is ${license}: refused\n`);
  process.exitCode = refused.length > 0 ? 1 : 0;
}
