import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { version } from '../../src/shared/version.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

describe('The version', () => {
  it.each([
    ['package.json', /^ {2}"version": "(.*)"/gm],
    ['package-lock.json', /"name": "amanah",\n *"version": "(.*)"/g],
    ['sdk/package.json', /"version": "(.*)"/g],
    ['sdk/python/pyproject.toml', /^version = "(.*)"/gm],
    ['sdk/python/amanah_partner/transport.py', /amanah-partner-python\/([^"]+)"/g],
    ['sdk/python/README.md', /amanah_partner-(.*)-py3-none-any\.whl/g],
    ['Dockerfile', /image\.version=(\S+)/g],
    ['deploy/backup/Dockerfile', /image\.version=(\S+)/g],
    ['deploy/kubernetes/kustomization.yaml', /newTag: (.*)/g],
  ])('The version is the same in %s', (file, pattern) => {
    const named = [...read(file).matchAll(pattern)].map(([, found]) => found);
    expect(new Set(named)).toEqual(new Set([version]));
  });

  it('The version is that of the changelog’s first section', () => {
    expect(/^## (\S+) \(\d{4}-\d\d-\d\d\)$/m.exec(read('CHANGELOG.md'))?.[1]).toBe(version);
  });

  it('The version is the tag of each of our images', () => {
    const files = globSync('deploy/**/*.{md,yaml,yml}', { cwd: root });
    const tags = files.flatMap((file) =>
      [...read(file).matchAll(/registry\.example\.org\/amanah(?:-backup)?:([\w.-]+)/g)].map(([, tag]) => tag),
    );
    expect(tags.length).toBeGreaterThan(7);
    expect(new Set(tags)).toEqual(new Set([version]));
  });
});
