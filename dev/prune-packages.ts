/**
 * `postinstall`: removes packages' files for other platforms and files that nothing loads, a third of the total size.
 * Can be repeated.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, sep } from 'node:path';

const remove = (path: string): void => rmSync(path, { recursive: true, force: true });
const list = (directory: string): string[] => (existsSync(directory) ? readdirSync(directory) : []);

/** Removes native libraries for other platforms, and their source, from Temporal's SDK. */
function pruneTemporal(packages: string): void {
  const bridge = join(packages, '@temporalio', 'core-bridge');
  if (!existsSync(bridge)) return;
  const { getPrebuiltPath } = createRequire(join(bridge, 'package.json'))('./common.js') as {
    getPrebuiltPath(): string;
  };
  // Throws where there is no library for this platform, so nothing is removed there.
  const ours = basename(dirname(getPrebuiltPath()));
  for (const target of list(join(bridge, 'releases'))) if (target !== ours) remove(join(bridge, 'releases', target));
  remove(join(bridge, 'sdk-core'));
}

/** Removes our Node if npm's own can replace it, otherwise only the headers for compiling add-ons. */
function pruneNode(packages: string, npmNode: string | undefined): void {
  const node = join(packages, 'node');
  if (!existsSync(join(node, 'bin', 'node'))) return;
  const { version } = JSON.parse(readFileSync(join(node, 'package.json'), 'utf8')) as { version: string };
  if (npmNode !== undefined && isOutside(packages, npmNode) && serves(versionOf(npmNode), version)) {
    remove(join(packages, '.bin', 'node'));
    remove(join(node, 'bin'));
    remove(join(node, 'node_modules'));
    return;
  }
  for (const name of list(join(node, 'node_modules'))) remove(join(node, 'node_modules', name, 'include'));
}

/** False for our own Node, on which npm runs inside our scripts. */
const isOutside = (packages: string, program: string): boolean =>
  existsSync(program) && !realpathSync(program).startsWith(realpathSync(packages) + sep);

const versionOf = (program: string): string =>
  execFileSync(program, ['--version'], { encoding: 'utf8' }).trim().replace(/^v/, '');

/** Whether a version of Node can replace ours: the same major version, and not older. */
export function serves(version: string, ours: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  const [ourMajor = 0, ourMinor = 0, ourPatch = 0] = ours.split('.').map(Number);
  return major === ourMajor && (minor > ourMinor || (minor === ourMinor && patch >= ourPatch));
}

/** Removes duplicate builds and the viewer of browser recordings, which neither Node nor the bundler loads. */
function pruneCopies(packages: string): void {
  const telemetry = join(packages, '@opentelemetry');
  for (const name of list(telemetry)) remove(join(telemetry, name, 'build', 'esnext'));
  for (const copy of ['src', join('dist', 'bundles')]) remove(join(packages, 'rxjs', copy));
  remove(join(packages, 'playwright-core', 'lib', 'vite'));
}

/**
 * Removes source maps: most packages do not include the sources, and Node reads maps only under `--enable-source-maps`.
 */
function pruneMaps(packages: string): void {
  for (const file of readdirSync(packages, { recursive: true, encoding: 'utf8' })) {
    if (/\.([cm]?[jt]s|css|min)\.map$/.test(file)) remove(join(packages, file));
  }
}

/** Prunes a folder `node_modules`; `npmNode` is the Node that runs npm. */
export function prunePackages(packages: string, npmNode: string | undefined): void {
  pruneTemporal(packages);
  pruneNode(packages, npmNode);
  pruneCopies(packages);
  pruneMaps(packages);
}

if (import.meta.main) prunePackages(join(import.meta.dirname, '..', 'node_modules'), process.env.npm_node_execpath);
