import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { whenNpmEnds } from '../dev/launcher.ts';

/**
 * `npm test`: the type check and the linter, each counted as one test, then the tests; ends with one line,
 * `N passed, N failed`. `--full` runs the tests in their full sizes, and then a part of the fuzzing (test/fuzz), from a seed
 * that it prints (`AMANAH_FUZZ_SEED` gives one), counted as one test; `--torture` ends with two minutes of random faults, always from the same seed,
 * counted as one test; other arguments go to jest.
 */
const root = join(import.meta.dirname, '..');
const binaries = join(root, 'node_modules');

interface Outcome {
  passed: number;
  failed: number;
}

const jestReport = z.object({
  success: z.boolean(),
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numRuntimeErrorTestSuites: z.number(),
});

const child = { current: undefined as ReturnType<typeof spawn> | undefined };

/** Runs a program, of our packages or by its whole path, with our terminal; answers whether it ended well, and in time. */
function run(
  script: string,
  args: string[],
  { env = process.env, withinMs }: { env?: NodeJS.ProcessEnv; withinMs?: number } = {},
): Promise<boolean> {
  const node = ['--experimental-vm-modules', '--no-warnings', resolve(binaries, script), ...args];
  // The channel is never spoken on: its end tells the tests that we are gone, however that happened.
  const started = spawn(process.execPath, node, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  child.current = started;
  const late = withinMs === undefined ? undefined : setTimeout(() => started.kill('SIGKILL'), withinMs);
  return new Promise<boolean>((resolve) => {
    started.once('error', () => resolve(false));
    started.once('exit', (code) => resolve(code === 0));
  }).finally(() => clearTimeout(late));
}

async function check(title: string, script: string, args: string[], withinMs?: number): Promise<Outcome> {
  const passed = await run(script, args, { ...(withinMs !== undefined && { withinMs }) });
  process.stdout.write(`${passed ? 'PASS' : 'FAIL'} ${title}\n`);
  return passed ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

async function runJest(args: string[], isFull: boolean): Promise<Outcome> {
  const directory = mkdtempSync(join(tmpdir(), 'amanah-report-'));
  const file = join(directory, 'report.json');
  try {
    const env = { ...process.env, ...(isFull && { AMANAH_FULL: '1' }) };
    const endedWell = await run('jest/bin/jest.js', ['--json', `--outputFile=${file}`, '--forceExit', ...args], {
      env,
    });
    const report = jestReport.parse(JSON.parse(readFileSync(file, 'utf8')));
    const failed = report.numFailedTests + report.numRuntimeErrorTestSuites;
    return { passed: report.numPassedTests, failed: failed === 0 && !endedWell ? 1 : failed };
  } catch {
    // Without a report the tests did not run: a failure, not nothing.
    return { passed: 0, failed: 1 };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    child.current?.kill('SIGTERM');
    process.exit(130);
  });
}

whenNpmEnds(() => {
  child.current?.kill('SIGTERM');
  process.exit(130);
});

const ours = ['--full', '--torture'];
const args = process.argv.slice(2);
const torture = ['--seed', '399', '--minutes', '2', '--no-shrink'];
/** Every kind of caller, with few examples of each operation, which find what is broken for many; `npm run test:fuzz` has them all. */
const fuzzed = 'nobody,individual,partner,organization_admin,platform_admin,platform_super_admin';
/** Half of the operations of which some call succeeded when this was written: what is only refused finds nothing. */
const succeeding = 'nobody:2,individual:18,partner:12,organization_admin:24,platform_admin:33,platform_super_admin:37';
const fuzzSeed = process.env.AMANAH_FUZZ_SEED ?? String(randomInt(1, 2 ** 31));
const fuzz = [
  ...['--examples', '3', '--callers', fuzzed, '--least', succeeding],
  ...['--seed', fuzzSeed, '--phases', 'examples,fuzzing'],
];
/** Minutes on two quiet cores; beyond this something hangs. */
const fuzzMs = 30 * 60_000;
/** It comes to rest within six minutes, or says what did not. */
const tortureMs = 20 * 60_000;
const outcomes = [
  await check('type check', 'typescript/bin/tsc', ['--noEmit']),
  await check('lint', '@biomejs/biome/bin/biome', ['check', '--error-on-warnings', '.']),
  await runJest(
    args.filter((argument) => !ours.includes(argument)),
    args.includes('--full'),
  ),
];
if (args.includes('--full')) {
  const script = join(import.meta.dirname, 'fuzz', 'run.ts');
  outcomes.push(await check(`fuzz ${fuzz.join(' ')}`, script, fuzz, fuzzMs));
}
if (args.includes('--torture')) {
  const script = join(import.meta.dirname, 'torture', 'run.ts');
  outcomes.push(await check(`torture ${torture.join(' ')}`, script, torture, tortureMs));
}
const sum = (part: keyof Outcome) => outcomes.reduce((total, outcome) => total + outcome[part], 0);
process.stdout.write(`${sum('passed')} passed, ${sum('failed')} failed\n`);
process.exit(sum('failed') === 0 ? 0 : 1);
