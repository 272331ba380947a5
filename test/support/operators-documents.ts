import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** The runbook, the reference and the erasure of people: path in this repository, and text. */
export const operatorsDocuments: readonly { path: string; text: string }[] = globSync(
  ['docs/runbook/*.md', 'docs/reference.md', 'docs/erasure-of-people.md'],
  { cwd: root },
)
  .toSorted()
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

/** The texts of these documents' code blocks in one language, without indentation. */
export const blocksOf = (language: string): string[] =>
  operatorsDocuments.flatMap(({ text }) =>
    [...text.matchAll(new RegExp(`^ *\`\`\`${language}\\n(.*?)^ *\`\`\``, 'gms'))].map(([, block = '']) => block),
  );
