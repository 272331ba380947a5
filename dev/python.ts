import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** The oldest Python that the partners' client supports. */
const oldest = [3, 11] as const;

/** Returns, in one line, why no Python on this machine can be used; null if one can. */
export function whyNoPython(): string | null {
  const asked = spawnSync('python3', ['-c', 'import ensurepip, sys; print(*sys.version_info[:2])'], {
    encoding: 'utf8',
  });
  if (asked.status !== 0) return 'there is no python3 with ensurepip on this machine';
  const [major = 0, minor = 0] = asked.stdout.trim().split(' ').map(Number);
  const isEnough = major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
  return isEnough ? null : `python3 is ${major}.${minor} here, and ${oldest.join('.')} is the oldest supported version`;
}

/**
 * Creates a virtual environment in the directory, with exactly the packages that the requirements files pin by hash;
 * returns the path of its `bin`.
 */
export function makePythonEnvironment(directory: string, ...requirements: string[]): string {
  const run = (program: string, args: string[]) =>
    execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  run('python3', ['-m', 'venv', directory]);
  const bin = join(directory, 'bin');
  const files = requirements.flatMap((file) => ['--requirement', file]);
  run(join(bin, 'pip'), [
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '--no-deps',
    '--require-hashes',
    ...files,
  ]);
  return bin;
}
