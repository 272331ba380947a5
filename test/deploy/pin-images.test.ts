import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { files, imagesIn, unpinnedIn } from '../../dev/pin-images.ts';

const root = join(import.meta.dirname, '..', '..');
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'amanah-images-'));
  for (const file of files) cpSync(join(root, file), join(directory, file));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const textOf = (file: string) => readFileSync(join(directory, file), 'utf8');
const run = (...options: string[]) =>
  spawnSync(process.execPath, [join(root, 'dev', 'pin-images.ts'), ...options], {
    cwd: directory,
    encoding: 'utf8',
    env: { ...process.env, PATH: `${directory}${delimiter}${process.env.PATH}` },
  });

/** Installs a `docker` that records its arguments and prints `digest`. */
function standIn(digest: string): void {
  const program = join(directory, 'docker');
  writeFileSync(program, `#!/bin/sh\necho "$*" >> "${join(directory, 'asked')}"\necho "${digest}"\n`);
  chmodSync(program, 0o755);
}
const digestOf = (digit: string) => `sha256:${digit.repeat(64)}`;

describe('Pinned images', () => {
  it('Every third-party image and every base image of our own builds is found', () => {
    expect(imagesIn(textOf('Dockerfile'))).toHaveLength(1);
    const compose = textOf('docker-compose.yml');
    const named = compose.match(/^ +(image: (?!amanah$)|(?:NODE|POSTGRES)_IMAGE: ).+$/gm) ?? [];
    expect(named.length).toBeGreaterThan(7);
    expect(imagesIn(compose)).toHaveLength(named.length);
    expect(imagesIn(textOf('deploy/backup/Dockerfile'))).toHaveLength(1);
    const naming = globSync(['{,deploy/**/}Dockerfile', 'docker-compose.yml', 'deploy/**/*.{yml,yaml}'], { cwd: root });
    const others = naming.filter((file) => imagesIn(readFileSync(join(root, file), 'utf8')).length > 0);
    expect(others.toSorted()).toEqual(files.toSorted());
    for (const file of files) expect(textOf(file).match(/^FROM (?!base|\$\{\w+_IMAGE\})/gm)).toBeNull();
  });

  it('Images are pinned to the digests of their tags, each fetched once, and pinned again by the next run', () => {
    standIn(digestOf('a'));
    expect(run().status).toBe(0);
    const images = files.flatMap((file) => imagesIn(textOf(file)));
    const before = files.flatMap((file) => imagesIn(readFileSync(join(root, file), 'utf8')));
    const tags = before.map((image) => image.replace(/@.*/, ''));
    expect(images).toEqual(tags.map((tag) => `${tag}@${digestOf('a')}`));
    const asked = textOf('asked').trim().split('\n');
    const inspect = 'buildx imagetools inspect --format {{.Manifest.Digest}}';
    expect(asked.toSorted()).toEqual([...new Set(tags)].map((tag) => `${inspect} ${tag}`).toSorted());
    standIn(digestOf('b'));
    expect(run().status).toBe(0);
    expect(files.flatMap((file) => imagesIn(textOf(file)))).toEqual(tags.map((tag) => `${tag}@${digestOf('b')}`));
    expect(run('--check')).toMatchObject({ status: 0, stderr: '' });
  });

  it('An image without a digest fails the check of a release, and is reported in any other commit', () => {
    standIn(digestOf('a'));
    run();
    const compose = textOf('docker-compose.yml');
    const one = imagesIn(compose).find((image) => image.startsWith('postgres:'));
    writeFileSync(join(directory, 'docker-compose.yml'), compose.replace(String(one), 'postgres:18'));
    expect(unpinnedIn(textOf('docker-compose.yml'))).toEqual(['postgres:18']);
    const git = (...words: string[]) => {
      const who = ['-c', 'user.name=Somebody', '-c', 'user.email=somebody@example.org'];
      expect(spawnSync('git', [...who, ...words], { cwd: directory, encoding: 'utf8' })).toMatchObject({ status: 0 });
    };
    const named = 'docker-compose.yml: postgres:18 has no digest\nSo ';
    const warned = { status: 0, stderr: `${named}a release would be refused: npm run images:pin\n` };
    expect(run('--check')).toMatchObject(warned);
    git('init', '--quiet');
    git('add', ...files);
    git('commit', '--quiet', '--message', 'Begin');
    expect(run('--check')).toMatchObject(warned);
    git('tag', 'v1.0.0');
    expect(run('--check')).toMatchObject({
      status: 1,
      stderr: `${named}the release v1.0.0 is refused: npm run images:pin\n`,
    });
  });

  it('Images stay unchanged if the registry returns no digest', () => {
    standIn('unauthorized');
    const { status, stderr } = run();
    expect(status).toBe(1);
    expect(stderr).toContain('returned no digest, but unauthorized');
    for (const file of files) expect(textOf(file)).toBe(readFileSync(join(root, file), 'utf8'));
  });
});
