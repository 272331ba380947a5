import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { oracles } from './oracles/index.ts';

/**
 * `npm run torture:mutants [-- name ...]`: applies each patch of `mutants/` to a copy of the project, one at a time,
 * and runs the torture there. Each removes one guard of the product, and must be found within its time by an oracle
 * that its patch names; otherwise the torture proves nothing about that guard. Exits with 1 if one was not found.
 * With `--together` all named mutants are applied to one copy, for one run: no two may name the same oracle, or it
 * would be unclear which was found.
 */
const root = join(import.meta.dirname, '..', '..');
const directory = join(import.meta.dirname, 'mutants');

const checks = 'checks-are-empty';

export interface Mutant {
  name: string;
  file: string;
  /** The guard that the mutant removes, in one sentence. */
  takes: string;
  seeds: number[];
  minutes: number;
  /**
   * Whether lateness counts as a finding, because without this guard work stays late forever. The unchanged product
   * must then be healthy.
   */
  lateness: boolean;
  /** The oracles that can find it; one suffices. A check is named with its view: `checks-are-empty/check_x`. */
  by: string[];
}

/** The mutants, read from the head of each patch: what it removes, the seeds to try in turn, and minutes for each. */
export function readMutants(): Mutant[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.patch'))
    .sort()
    .map((name) => {
      const file = join(directory, name);
      const head = readFileSync(file, 'utf8').split(/^diff /m)[0] ?? '';
      const field = (title: string) => new RegExp(`^${title}: (.+)$`, 'm').exec(head)?.[1]?.trim();
      const [takes, seeds, minutes] = [field('takes'), field('seeds'), field('minutes')];
      const by = field('by')?.split(' ') ?? [];
      if (takes === undefined || seeds === undefined || minutes === undefined || by.length === 0) {
        throw new Error(`${name} must have "takes: ...", "seeds: 1 2 3", "minutes: 1" and "by: an-oracle another"`);
      }
      const unknown = by.find((one) => oracles[one.split('/')[0] ?? ''] === undefined || one === checks);
      if (unknown !== undefined)
        throw new Error(`${name} names ${unknown}, which is not an oracle, or is a check without its view`);
      return {
        name: basename(name, '.patch'),
        file,
        takes,
        seeds: seeds.split(' ').map(Number),
        minutes: Number(minutes),
        lateness: field('sign') === 'lateness',
        by,
      };
    });
}

/** Copies the project's files, except ignored ones, into a directory that shares our packages. */
function copyProject(): string {
  const copy = mkdtempSync(join(tmpdir(), 'amanah-mutant-'));
  const listed = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  for (const file of listed.stdout.split('\0').filter((name) => name !== '')) {
    mkdirSync(join(copy, dirname(file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Whether a patch still applies to the code. */
export const fits = ({ file }: Mutant): boolean =>
  spawnSync('git', ['apply', '--check', file], { cwd: root, stdio: 'ignore' }).status === 0;

interface Told {
  code: number | null;
  output: string;
}

/** Runs the torture once in the copy; returns its exit code and its output. */
async function torture(copy: string, seed: number, minutes: number): Promise<Told> {
  const args = [
    'test/torture/run.ts',
    '--seed',
    String(seed),
    '--minutes',
    String(minutes),
    '--rest',
    '100',
    '--no-shrink',
  ];
  const child = spawn(process.execPath, args, { cwd: copy, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk));
  // Not 'exit', after which the last output is still to be read.
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output };
}

/** The oracles with findings; a check is named with its view, `checks-are-empty/check_x`. */
export function findingsOf(output: string): string[] {
  const found = [...output.matchAll(/^ {2}([a-z-]+): (\w*)/gm)].flatMap(([, oracle = '', first = '']) => {
    if (oracles[oracle] === undefined) return [];
    return oracle === checks ? [`${checks}/${first}`] : [oracle];
  });
  return [...new Set(found)];
}

/** Oracles whose findings may disappear with time while work is in progress. */
const mendedByTime: ReadonlySet<string> = new Set([
  'comes-to-rest',
  'asking-tells',
  'ends-are-kept',
  'payments-match-receipts',
  'orders-match-instruments',
  'payouts-match-transfers',
  'money-is-conserved',
  'decisions-are-kept',
  'webhooks-arrive',
  'rows-and-workflows-match',
  'operators-are-told-exactly',
]);

/**
 * Judges a mutant by findings. Only those of its own oracles count: anything else may be a flake. Lateness proves
 * nothing on a busy machine, unless the unchanged product is not late with that seed.
 */
export function judgeMutant(
  { by, lateness }: Pick<Mutant, 'by' | 'lateness'>,
  found: readonly string[],
): 'found' | 'found if the product is healthy' | 'not found' {
  const seen = by.filter((oracle) => found.includes(oracle));
  if (seen.length === 0) return 'not found';
  const isLate = found.includes('comes-to-rest');
  if (seen.some((oracle) => !(isLate && mendedByTime.has(oracle)))) return 'found';
  return lateness ? 'found if the product is healthy' : 'not found';
}

/** Whether a run proves that a mutant is found. */
async function isProven(
  mutant: Mutant,
  { code, output }: Told,
  isHealthyThen: () => Promise<boolean>,
): Promise<boolean> {
  if (code !== 1) return false;
  const judged = judgeMutant(mutant, findingsOf(output));
  return judged === 'found' || (judged === 'found if the product is healthy' && (await isHealthyThen()));
}

/** Whether the unchanged product has no finding with this seed. */
async function isHealthy(seed: number, minutes: number): Promise<boolean> {
  const copy = copyProject();
  try {
    return (await torture(copy, seed, minutes)).code === 0;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

async function hunt(mutant: Mutant): Promise<boolean> {
  const { name, file, takes, seeds, minutes, by } = mutant;
  const copy = copyProject();
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1000);
  try {
    const applied = spawnSync('git', ['apply', file], { cwd: copy, encoding: 'utf8' });
    if (applied.status !== 0) {
      process.stdout.write(`${name}: the patch does not apply: ${applied.stderr.trim()}\n`);
      return false;
    }
    for (const seed of seeds) {
      const told = await torture(copy, seed, minutes);
      const found = findingsOf(told.output).join(', ') || 'nobody';
      if (await isProven(mutant, told, () => isHealthy(seed, minutes))) {
        process.stdout.write(`${name}: FOUND by seed ${seed} after ${seconds()} s (${found}): ${takes}\n`);
        return true;
      }
      const ended = told.code === 1 ? `found by ${found}` : told.output.slice(-500);
      if (told.code !== 0) process.stdout.write(`${name}: seed ${seed} exited with ${told.code}: ${ended}\n`);
    }
    const wanted = `${seeds.join(', ')} and ${by.join(' or ')}`;
    process.stdout.write(`${name}: NOT FOUND by seeds ${wanted} in ${seconds()} s: ${takes}\n`);
    return false;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/**
 * Applies all mutants to one copy and runs the torture there once, with the first's seed; returns how many were found.
 */
async function huntTogether(mutants: readonly Mutant[]): Promise<number> {
  const shared = mutants.flatMap(({ by }) => by).find((one, index, all) => all.indexOf(one) !== index);
  if (shared !== undefined) throw new Error(`${shared} would find several of these`);
  const copy = copyProject();
  const started = Date.now();
  const [first] = mutants;
  try {
    for (const { name, file } of mutants) {
      const applied = spawnSync('git', ['apply', file], { cwd: copy, encoding: 'utf8' });
      if (applied.status !== 0)
        throw new Error(`${name} does not apply together with the others: ${applied.stderr.trim()}`);
    }
    const [seed = 1] = first?.seeds ?? [];
    const minutes = first?.minutes ?? 1;
    const told = await torture(copy, seed, minutes);
    const found = findingsOf(told.output);
    const seconds = Math.round((Date.now() - started) / 1000);
    let health: Promise<boolean> | undefined;
    const isHealthyThen = () => (health ??= isHealthy(seed, minutes));
    let proven = 0;
    for (const mutant of mutants) {
      const { name, by, takes } = mutant;
      const isFound = await isProven(mutant, told, isHealthyThen);
      if (isFound) proven += 1;
      const what = `${isFound ? 'FOUND' : 'NOT FOUND'} by seed ${seed} and ${by.join(' or ')}`;
      const others = mutants.filter((other) => other !== mutant).map((other) => other.name);
      process.stdout.write(`${name}: ${what}, with ${others.join(', ')}, in ${seconds} s: ${takes}\n`);
    }
    process.stdout.write(`All findings were by: ${found.join(', ') || 'none'}.\n`);
    if (found.length === 0) process.stdout.write(`${told.output.slice(-500)}\n`);
    return proven;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { together: { type: 'boolean', default: false } },
  });
  const chosen = readMutants().filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  let found = 0;
  if (values.together) found = await huntTogether(chosen);
  else for (const mutant of chosen) if (await hunt(mutant)) found += 1;
  process.stdout.write(`${found} of ${chosen.length} mutants were found.\n`);
  process.exit(found === chosen.length && chosen.length > 0 ? 0 : 1);
}
