import { spawn } from 'node:child_process';
import { accessSync, constants, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { platform } from 'node:os';
import { delimiter, join } from 'node:path';
import { downloadBySdk, findDownloaded } from './sdk-download.ts';
import { StackError } from './stack-error.ts';
import { userCacheDirectory } from './user-cache.ts';

/** Newer versions have a `replace` directive, with which `go install` does not work. */
const cliVersion = 'v1.5.1';
const aliveEveryMs = 15_000;
const buildTimeoutMs = 30 * 60_000;
const executableName = platform() === 'win32' ? 'temporal.exe' : 'temporal';

/**
 * The Temporal server's binary: from the PATH, downloaded or built earlier, downloaded by the SDK now, or built with Go
 * now. Slow steps are reported to `say`. Throws StackError when none of these works.
 */
export async function findTemporalBinary(say: (sentence: string) => void): Promise<string> {
  const found = findExecutable(executableName) ?? findDownloaded('dev-server') ?? findBuilt();
  if (found) return found;
  say('not here yet: asking the Temporal SDK to download it (once for this user)');
  const downloaded = await downloadBySdk('dev-server');
  if (downloaded) return downloaded;
  const go = findExecutable('go');
  if (!go) {
    throw new StackError(
      'No Temporal server could be downloaded, and there is no Go to build one: put `temporal` (https://docs.temporal.io/cli) on the PATH, install Go, or set TEMPORAL_ADDRESS.',
    );
  }
  say('the download did not begin; building it with Go instead, which takes minutes (once for this user)');
  return build(go, say);
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

const builtPath = () => join(userCacheDirectory(), `temporal-${cliVersion}`, executableName);

const findBuilt = (): string | null => (isExecutable(builtPath()) ? builtPath() : null);

/** Builds in a private directory and moves the binary when complete: two stacks may build at once. */
async function build(go: string, say: (sentence: string) => void): Promise<string> {
  const cache = userCacheDirectory();
  mkdirSync(join(cache, `temporal-${cliVersion}`), { recursive: true });
  const draft = mkdtempSync(join(cache, 'building-'));
  const startedAt = Date.now();
  const alive = setInterval(() => {
    say(`still building (${Math.round((Date.now() - startedAt) / 1000)} s)`);
  }, aliveEveryMs);
  try {
    const complaint = await runGo(go, ['install', `github.com/temporalio/cli/cmd/temporal@${cliVersion}`], draft);
    if (complaint !== null) {
      throw new StackError(
        `No Temporal server could be downloaded, and building one with Go failed (${complaint}): put \`temporal\` on the PATH, or set TEMPORAL_ADDRESS.`,
      );
    }
    renameSync(join(draft, executableName), builtPath());
    return builtPath();
  } finally {
    clearInterval(alive);
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Resolves to null, or to the last line of Go's error output. */
function runGo(go: string, args: string[], binDirectory: string): Promise<string | null> {
  const child = spawn(go, args, {
    cwd: binDirectory,
    env: { ...process.env, GOBIN: binDirectory, GOWORK: 'off' },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: buildTimeoutMs,
  });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = `${complaint}${text}`.slice(-2_000);
  });
  const endWithUs = () => child.kill();
  process.once('exit', endWithUs);
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code) => {
      process.off('exit', endWithUs);
      resolve(code === 0 ? null : complaint.trim().split('\n').at(-1) || `code ${code}`);
    });
  });
}
