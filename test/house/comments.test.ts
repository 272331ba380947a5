import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const itself = 'test/house/comments.test.ts';
const written = /\.(ts|js|sql|md|ya?ml|sh|patch|json)$/;
/** Made by tools. */
const generated = /^(sdk\/generated\.ts|package-lock\.json|test\/histories\/recorded\/)/;

/** The files of the repository, also those that are not committed yet. */
const listed = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
});
const files = listed.stdout
  .split('\n')
  .filter((file) => written.test(file) && !generated.test(file) && file !== itself)
  .flatMap((file) => {
    try {
      return [{ file, lines: readFileSync(join(root, file), 'utf8').split('\n') }];
    } catch {
      // Deleted, and not yet committed.
      return [];
    }
  });

/** Every place where a line matches, as `file:line: text`. */
const placesOf = (pattern: RegExp) =>
  files.flatMap(({ file, lines }) =>
    lines.flatMap((line, at) => (pattern.test(line) ? [`${file}:${at + 1}: ${line.trim().slice(0, 120)}`] : [])),
  );

describe('References in the repository', () => {
  it('Every file is read', () => {
    expect(listed.status).toBe(0);
    expect(files.length).toBeGreaterThan(800);
  });

  it('No file mentions a text that a reader of the repository does not have', () => {
    const outside =
      /\bdecisions(\.md)? \d|\bdesign('s)? law|\bdesign\.md|\blaw \d|\b(administration|giving-circles-payments|traps|rails-and-conventions)\.md|(?<![-\w])partners\.md|\bissue \d\b|\/work\//i;
    expect(placesOf(outside)).toEqual([]);
  });

  it('References to docs/contract.md point to existing rules', () => {
    const contract = readFileSync(join(root, 'docs/contract.md'), 'utf8');
    const sections = new Set([...contract.matchAll(/^## (\d+)\. /gm)].map(([, section]) => section));
    const pointers = files.flatMap(({ file, lines }) =>
      lines.flatMap((line) =>
        [...line.matchAll(/docs\/contract\.md (\d+)(?:(?: and |, )(\d+))?/g)].flatMap(([, one, two]) =>
          [one, two].filter((section) => section !== undefined).map((section) => ({ file, section })),
        ),
      ),
    );
    expect(pointers.length).toBeGreaterThan(50);
    expect(pointers.filter(({ section }) => !sections.has(section))).toEqual([]);
  });
});
