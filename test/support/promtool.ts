import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findExecutable } from '../../dev/temporal-binary.ts';
import { userCacheDirectory } from '../../dev/user-cache.ts';

/** The module version of Prometheus 3.16. */
const version = 'v0.316.0';

/**
 * Returns the path of `promtool`, Prometheus' rule tester: from the PATH, or built with Go once for this user, which
 * takes minutes. Throws if Go is missing or fails.
 */
export function findPromtool(): string {
  const installed = findExecutable('promtool');
  if (installed !== null) return installed;
  const built = join(userCacheDirectory(), `promtool-${version}`);
  if (!existsSync(built)) build(built);
  return built;
}

function build(built: string): void {
  mkdirSync(userCacheDirectory(), { recursive: true });
  const draft = mkdtempSync(join(userCacheDirectory(), 'building-'));
  const go = (...args: string[]) => {
    const { status, stderr, error } = spawnSync('go', args, {
      cwd: draft,
      env: { ...process.env, GOWORK: 'off', GOFLAGS: '-mod=mod' },
      encoding: 'utf8',
    });
    if (error || status !== 0) throw new Error(`go ${args[0]}: ${error?.message ?? stderr.slice(-2_000)}`);
  };
  try {
    // The module has `exclude` directives, so `go install` cannot install it by name.
    go('mod', 'init', 'promtool');
    go('get', `github.com/prometheus/prometheus/cmd/promtool@${version}`);
    go('build', '-o', 'promtool', 'github.com/prometheus/prometheus/cmd/promtool');
    renameSync(join(draft, 'promtool'), built);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
