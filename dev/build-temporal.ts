import { availableParallelism } from 'node:os';
import { runProgram } from './run-program.ts';

const buildTimeoutMs = 30 * 60_000;
const aliveEveryMs = 15_000;
/** How many packages Go compiles for v1.5.1 with the tags below; only used to show progress. */
const packageCount = 1173;
/** CPU seconds for a build with an empty Go cache. */
const buildSeconds = 330;

/**
 * No symbol table, no C compiler. Google's storage client, for an archive that the development server does not use,
 * would pull in gRPC's service mesh with all its messages: 124 packages, and the slowest to compile.
 */
const flags = ['-v', '-ldflags=-s -w', '-tags=disable_grpc_modules,grpcnotrace'];

export interface TemporalBuild {
  /** The path of Go. */
  go: string;
  version: string;
  /** The directory for the binary. */
  directory: string;
  say: (sentence: string) => void;
  signal: AbortSignal;
}

/** Builds the Temporal CLI with Go; resolves to null, or to Go's last error line. */
export async function buildTemporal({ go, version, directory, say, signal }: TemporalBuild): Promise<string | null> {
  const startedAt = Date.now();
  const minutes = Math.max(1, Math.round(buildSeconds / 60 / availableParallelism()));
  say(`not fetched yet: building it with Go, about ${minutes} min (once for this user)`);
  let done = 0;
  const alive = setInterval(() => {
    const seconds = Math.round((Date.now() - startedAt) / 1000);
    const far = done < packageCount ? `${done} of about ${packageCount} packages` : 'linking';
    say(`building: ${far} (${seconds} s)`);
  }, aliveEveryMs);
  const isPackage = (line: string) => /^[\w.\-/]+$/.test(line);
  try {
    return await runProgram(go, ['install', ...flags, `github.com/temporalio/cli/cmd/temporal@${version}`], {
      cwd: directory,
      env: { ...process.env, GOBIN: directory, GOWORK: 'off', CGO_ENABLED: '0' },
      signal,
      timeoutMs: buildTimeoutMs,
      onLine: (line) => {
        if (!isPackage(line)) return false;
        done += 1;
        return true;
      },
    });
  } finally {
    clearInterval(alive);
  }
}
