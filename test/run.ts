import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { parseArgs, stripVTControlCharacters } from 'node:util';
import { z } from 'zod';
import { whenNpmEnds } from '../dev/launcher.ts';

/**
 * `npm test`: the type check and the linter, each counted as one test, then the tests; prints the slowest files, the
 * total time in type checks, and `N passed, N failed`. Folders, files and other arguments are passed to jest.
 *
 * - `--full` runs everything in full size, then some fuzzing (test/fuzz), counted as one test, with a printed seed
 * (`AMANAH_FUZZ_SEED` sets it).
 * - `--shard 2/3` runs the second third of the files; the last shard runs the fuzzing.
 * - `--torture` ends with two minutes of random faults with a fixed seed, counted as one test.
 * - `--most-type-checks 80` fails when the type check, the linter and the tests together take longer than 80 type checks.
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
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      startTime: z.number(),
      endTime: z.number(),
      assertionResults: z.array(
        z.object({ fullName: z.string(), status: z.string(), failureMessages: z.array(z.string()) }),
      ),
    }),
  ),
});
type TestFile = z.infer<typeof jestReport>['testResults'][number];

/** Jest's workers inherit these options. A roomy new space lets them collect garbage less often. */
const roomy = ['--min-semi-space-size=32', '--max-semi-space-size=32'];
const slowestShown = 10;
const shownLines = 12;

/** The failures, printed at the end of the output. */
const failures: string[] = [];

const child = { current: undefined as ReturnType<typeof spawn> | undefined };

/** Runs a program, from our packages or by its full path, in our terminal; returns whether it succeeded in time. */
function run(
  script: string,
  args: string[],
  {
    env = process.env,
    nodeOptions = [],
    withinMs,
  }: { env?: NodeJS.ProcessEnv; nodeOptions?: readonly string[]; withinMs?: number } = {},
): Promise<boolean> {
  const node = ['--experimental-vm-modules', '--no-warnings', ...nodeOptions, resolve(binaries, script), ...args];
  // The channel carries no messages: when it closes, the tests know that we have exited.
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
  if (!passed) failures.push(title);
  return passed ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

async function runJest(args: string[], isFull: boolean): Promise<Outcome> {
  const directory = mkdtempSync(join(tmpdir(), 'amanah-report-'));
  const file = join(directory, 'report.json');
  const complaint = join(directory, 'complaint.txt');
  try {
    const env = { ...process.env, AMANAH_COMPLAINT: complaint, ...(isFull && { AMANAH_FULL: '1' }) };
    const endedWell = await run('jest/bin/jest.js', ['--json', `--outputFile=${file}`, '--forceExit', ...args], {
      env,
      nodeOptions: roomy,
    });
    const report = jestReport.parse(JSON.parse(readFileSync(file, 'utf8')));
    const failed = report.numFailedTests + report.numRuntimeErrorTestSuites;
    sayWhatIsSlow(report.testResults);
    failures.push(...report.testResults.flatMap(failuresOf));
    const complaints = existsSync(complaint) ? [readFileSync(complaint, 'utf8')] : [];
    // No test or teardown failed, so jest itself did.
    if (failed + complaints.length === 0 && !endedWell) complaints.push('jest did not exit cleanly');
    failures.push(...complaints);
    return { passed: report.numPassedTests, failed: failed + complaints.length };
  } catch (error) {
    // Without a report the tests did not run, which is a failure.
    failures.push(`there is no report of the tests: ${String(error)}`);
    return { passed: 0, failed: 1 };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function failuresOf({ name, status, assertionResults }: TestFile): string[] {
  const file = relative(root, name);
  const failed = assertionResults.filter((result) => result.status === 'failed');
  // A file that did not load has no tests.
  if (failed.length === 0) return status === 'failed' ? [file] : [];
  return failed.map(
    ({ fullName, failureMessages }) => `${file}: ${fullName}\n${failureMessages.map(inShort).join('\n')}`,
  );
}

/** The first lines of a failure: expected and received, without colours and places. */
function inShort(message: string): string {
  const lines = stripVTControlCharacters(message)
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^\s+at /.test(line));
  return lines
    .slice(0, shownLines)
    .map((line) => `    ${line.slice(0, 300)}`)
    .join('\n');
}

function sayWhatIsSlow(files: readonly TestFile[]): void {
  const slowest = files
    .map(({ name, startTime, endTime }) => ({ file: relative(root, name), seconds: (endTime - startTime) / 1000 }))
    .toSorted((left, right) => right.seconds - left.seconds)
    .slice(0, slowestShown);
  process.stdout.write('The slowest files:\n');
  for (const { file, seconds } of slowest) process.stdout.write(`${seconds.toFixed(0).padStart(5)} s  ${file}\n`);
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

const { values, tokens } = parseArgs({
  options: {
    full: { type: 'boolean', default: false },
    torture: { type: 'boolean', default: false },
    'most-type-checks': { type: 'string' },
  },
  strict: false,
  tokens: true,
});
const ours = new Set(['full', 'torture', 'most-type-checks']);
const argv = process.argv.slice(2);
const taken = new Set(
  tokens.flatMap((token) => {
    if (token.kind !== 'option' || !ours.has(token.name)) return [];
    return token.name === 'most-type-checks' && !token.inlineValue ? [token.index, token.index + 1] : [token.index];
  }),
);
const forJest = argv.filter((_, index) => !taken.has(index));
const [part, parts] = (/(?:^|\s)--shard[= ](\d+\/\d+)/.exec(argv.join(' '))?.[1] ?? '1/1').split('/');
const hasFuzzing = values.full === true && part === parts;
const torture = ['--seed', '399', '--minutes', '2', '--no-shrink'];
/**
 * The callers, each with few examples of each operation, which find widespread failures; `npm run test:fuzz` runs more
 * examples.
 */
const fuzzed = 'nobody,individual,partner,organization_admin,platform_admin,platform_super_admin';
/**
 * Half as many operations as succeeded when this was written: a caller who is only refused finds nothing.
 */
const succeeding = 'nobody:2,individual:18,partner:12,organization_admin:24,platform_admin:33,platform_super_admin:37';
const fuzzSeed = process.env.AMANAH_FUZZ_SEED ?? String(randomInt(1, 2 ** 31));
const fuzz = [
  ...['--examples', '3', '--callers', fuzzed, '--least', succeeding],
  ...['--seed', fuzzSeed, '--phases', 'examples,fuzzing'],
];
/** The fuzzing takes some minutes on two quiet cores; a run this long hangs. */
const fuzzMs = 30 * 60_000;
/** The torture reports a finding if nothing comes to rest for six minutes. */
const tortureMs = 20 * 60_000;
const startedAt = performance.now();
const secondsSince = (then: number) => (performance.now() - then) / 1000;
const outcomes = [await check('type check', 'typescript/bin/tsc', ['--noEmit'])];
const typeCheckSeconds = secondsSince(startedAt);
outcomes.push(
  await check('lint', '@biomejs/biome/bin/biome', ['check', '--error-on-warnings', '.']),
  await runJest(forJest, values.full === true),
);
const typeChecks = secondsSince(startedAt) / typeCheckSeconds;
if (hasFuzzing) {
  const script = join(import.meta.dirname, 'fuzz', 'run.ts');
  outcomes.push(await check(`fuzz ${fuzz.join(' ')}`, script, fuzz, fuzzMs));
}
process.stdout.write(
  `${secondsSince(startedAt).toFixed(0)} s: ${typeChecks.toFixed(0)} times the type check (${typeCheckSeconds.toFixed(1)} s)\n`,
);
const most = Number(values['most-type-checks'] ?? Number.POSITIVE_INFINITY);
if (!(typeChecks <= most)) {
  failures.push(`the tests take more than ${most} type checks`);
  outcomes.push({ passed: 0, failed: 1 });
}
if (values.torture) {
  const script = join(import.meta.dirname, 'torture', 'run.ts');
  outcomes.push(await check(`torture ${torture.join(' ')}`, script, torture, tortureMs));
}
for (const failure of failures) process.stdout.write(`FAIL ${failure}\n`);
const sum = (which: keyof Outcome) => outcomes.reduce((total, outcome) => total + outcome[which], 0);
process.stdout.write(`${sum('passed')} passed, ${sum('failed')} failed\n`);
process.exit(sum('failed') === 0 ? 0 : 1);
