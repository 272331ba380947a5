/**
 * `npm run test:fuzz`: runs schemathesis, with all its checks, over `/openapi.json` of a new stack, once as each kind
 * of caller, and then checks that stack's books (`npm run verify`). Schemathesis is installed in the user's
 * cache (Python and pip are needed). `--examples 3` sets the examples for each operation (50), `--callers
 * partner:3,nobody` the callers (all) and optionally their numbers of examples, and `--seed 1` makes a run repeatable
 * (otherwise the seed is random and printed). `--bodies 300` sends that many of the worst bodies instead and checks
 * their CPU time (bench/bodies.ts), `--phases` names the phases of schemathesis (all), and `--least partner:10` fails
 * when fewer of a caller's operations succeeded. Further arguments go to schemathesis, e.g. `-- --include-path
 * /v1/partners/quotes`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { userCacheDirectory } from '../../dev/user-cache.ts';

const root = join(import.meta.dirname, '..', '..');
const version = '4.32.5';
const environment = join(userCacheDirectory(), 'fuzz');
const tool = join(environment, 'bin', 'schemathesis');
const bodies = process.argv.indexOf('--bodies');
if (bodies >= 0) {
  const script = join(root, 'bench', 'bodies.ts');
  const args = ['--random', process.argv[bodies + 1] ?? '300', ...process.argv.slice(bodies + 2)];
  process.exit(spawnSync(process.execPath, [script, ...args], { stdio: 'inherit' }).status ?? 1);
}
/**
 * Callers that hooks.py knows. The weakest come first: one who may change roles would take away the rights of others,
 * whose calls would then only be refused.
 */
const everybody = ['nobody', 'individual', 'partner', 'organization_admin', 'platform_admin', 'platform_super_admin'];
const own = ['--examples', '--callers', '--seed', '--phases', '--least'];
const given = process.argv.slice(2);
const isOwn = (_: string, index: number) =>
  own.some(
    (option) => given[index]?.startsWith(`${option}=`) || given[index] === option || given[index - 1] === option,
  );
const { values } = parseArgs({
  args: given.filter(isOwn),
  options: {
    examples: { type: 'string', default: '50' },
    callers: { type: 'string', default: everybody.join(',') },
    seed: { type: 'string' },
    phases: { type: 'string' },
    least: { type: 'string', default: '' },
  },
});
const examplesOf = new Map(
  values.callers.split(',').map((named): [string, string] => {
    const [caller = '', examples = values.examples] = named.split(':');
    return [caller, examples];
  }),
);
const callers = [...examplesOf.keys()];
const leastOf = new Map(
  values.least.split(',').map((named): [string, number] => {
    const [caller = '', operations = '0'] = named.split(':');
    return [caller, Number(operations)];
  }),
);
const seed = values.seed ?? String(randomInt(1, 2 ** 31));
const unknown = callers.filter((caller) => !everybody.includes(caller));
if (unknown.length > 0) throw new Error(`--callers: ${unknown.join(', ')} must be among ${everybody.join(', ')}`);
/** Paths that may destroy the fuzzer's own token or login, so they run last and separately. */
const last = [
  '/v1/auth/login',
  '/v1/users/{user_id}',
  '/v1/auth/logout',
  '/v1/auth/logout-all',
  '/v1/auth/totp/confirm',
  '/v1/auth/password',
];

const run = (program: string, args: string[]) => {
  if (spawnSync(program, args, { stdio: 'inherit' }).status !== 0)
    throw new Error(`${program} ${args.join(' ')} failed`);
};

function install(): void {
  if (existsSync(tool)) return;
  run('python3', ['-m', 'venv', environment]);
  run(join(environment, 'bin', 'pip'), ['install', '--quiet', `schemathesis==${version}`]);
}

async function startStack(directory: string) {
  const settings = { DATA_DIR: directory, PORT: '0', TEMPORAL_UI_PORT: '0', LOG_LEVEL: 'warn', TRUST_PROXY: 'true' };
  const env = { ...process.env, ...settings };
  // The stack detects our exit by its IPC channel.
  const stdio: ['ignore', 'pipe', 'inherit', 'ipc'] = ['ignore', 'pipe', 'inherit', 'ipc'];
  const stack = spawn(process.execPath, [join(root, 'dev', 'start.ts')], { env, stdio });
  if (stack.stdout === null) throw new Error('the stack printed nothing');
  const output: string[] = [];
  for await (const chunk of stack.stdout) {
    output.push(String(chunk));
    if (output.join('').includes('Amanah runs')) break;
  }
  if (!output.join('').includes('Amanah runs')) throw new Error(output.join(''));
  return stack;
}

install();
const directory = mkdtempSync(join(tmpdir(), 'amanah-fuzz-'));
const credentialsFile = join(directory, 'credentials.json');
/** A line for each call that succeeded: who called which operation. */
const successesFile = join(directory, 'successes');
writeFileSync(successesFile, '');
const stack = await startStack(directory);
const stop = async () => {
  const gone = once(stack, 'exit');
  stack.kill('SIGINT');
  await gone;
};
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void stop().then(() => process.exit(130)));
try {
  const { urls }: { urls: { api: string } } = JSON.parse(readFileSync(credentialsFile, 'utf8'));
  const common = [
    '--config-file',
    join(import.meta.dirname, 'schemathesis.toml'),
    'run',
    `${urls.api}/openapi.json`,
    '--checks',
    'all',
    // Credentials are added at the last moment, over the bytes that are sent (hooks.py).
    '--generation-with-security-parameters',
    'false',
    '--no-color',
    '--seed',
    seed,
    ...(values.phases === undefined ? [] : ['--phases', values.phases]),
  ];
  const env = {
    ...process.env,
    FUZZ_CREDENTIALS: credentialsFile,
    FUZZ_SUCCESSES: successesFile,
    SCHEMATHESIS_HOOKS: 'hooks',
    PYTHONPATH: import.meta.dirname,
  };
  let runs = 0;
  const fuzz = async (caller: string, paths: string[]) => {
    runs += 1;
    process.stdout.write(`\nAs ${caller}, seed ${seed}: ${paths.join(' ')}\n`);
    const asCaller = { ...env, FUZZ_CALLER: caller, FUZZ_ADDRESS: `198.51.100.${runs}` };
    const most = ['--max-examples', examplesOf.get(caller) ?? values.examples];
    const fuzzer = spawn(tool, [...common, ...most, ...paths], { env: asCaller, stdio: 'inherit', cwd: directory });
    const [code] = await once(fuzzer, 'exit');
    process.exitCode = process.exitCode || (code ?? 1);
  };
  const chosen = given.filter((argument, index) => !isOwn(argument, index));
  const all = last.flatMap((path) => ['--exclude-path', path]);
  for (const caller of callers) await fuzz(caller, chosen.length > 0 ? chosen : all);
  if (chosen.length === 0) {
    for (const caller of callers) for (const path of last) await fuzz(caller, ['--include-path', path]);
  }
  const succeeded = new Set(readFileSync(successesFile, 'utf8').split('\n'));
  for (const caller of callers) {
    const operations = [...succeeded].filter((line) => line.startsWith(`${caller} `)).length;
    process.stdout.write(`As ${caller}, ${operations} operations succeeded.\n`);
    const least = leastOf.get(caller) ?? 0;
    if (operations >= least) continue;
    process.stdout.write(
      `FAIL: at least ${least} were expected for ${caller}: a fuzz whose calls are all refused finds nothing.\n`,
    );
    process.exitCode = 1;
  }
  // The books must balance whatever was requested, even if the run was aborted.
  const { DATABASE_URL: _, READER_DATABASE_URL: __, ...others } = process.env;
  const verify = spawn(process.execPath, [join(root, 'src', 'wiring', 'commands', 'verify.ts')], {
    env: { ...others, DATA_DIR: directory },
    stdio: 'inherit',
  });
  const [code] = await once(verify, 'exit');
  process.exitCode = process.exitCode || (code ?? 1);
} finally {
  await stop();
  if (process.exitCode === 0) rmSync(directory, { recursive: true, force: true });
  else process.stdout.write(`The stack's logs are in ${join(directory, 'logs')}.\n`);
}
