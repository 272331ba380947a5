import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { migrations } from '../../src/migrations/index.ts';
import { keysMigrations } from '../../src/migrations/keys/index.ts';

const root = join(import.meta.dirname, '..', '..');

/**
 * The files of each migration, with their digest. They never change, because databases exist that were created from
 * them: a change is a new migration, with its own line here.
 */
const frozen: Record<string, [files: string, digest: string]> = {
  'm0001-baseline': [
    'src/migrations/{m0001-baseline.ts,baseline/*}',
    'e8be3a007932139c433fd8c08429816913cafa81a6f2c251ad85e55286a3b815',
  ],
  'm0002-booked-transfers-by-time': [
    'src/migrations/m0002-booked-transfers-by-time.ts',
    'd7855e4b792585ac03419a8ce8820f11a7facfd69ee684d9f719834f4accab51',
  ],
  'k0001-keys': ['src/migrations/keys/keys.sql', '1e1d93d8b9b82e44e287c0385ba6b8f419b2ab1374944f1461967b0a2e258029'],
};

function digestOf(files: string): string {
  const hash = createHash('sha256');
  for (const file of globSync(files, { cwd: root }).toSorted())
    hash.update(`${file}\n`).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

it.each(Object.entries(frozen))('The migration %s has not changed since it was merged', (_, [files, digest]) => {
  expect(digestOf(files)).toBe(digest);
});

it('Every migration is frozen', () => {
  expect(Object.keys(frozen)).toEqual([...migrations, ...keysMigrations].map(({ name }) => name));
});

/** The recorded histories of each release: open runs of it have such histories, and later workflows replay them. */
const released: [version: string, digest: string][] = [
  ['1.0.0', '79ce9a3222c00d012fdfc65b804b3c3e07f264f1609e16768a796b29fc29e96f'],
];

it.each(released)('The recorded histories of %s are complete and unchanged', (version, digest) => {
  expect(digestOf(`test/histories/recorded/${version}/*`)).toBe(digest);
});
