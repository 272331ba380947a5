import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { oneLine } from './read-plans.ts';

/** A statement as it is written in the code. */
export interface WrittenStatement {
  file: string;
  /** On one line, each hole of the code as `${}`. */
  sql: string;
  /** Whether the code fills in more than parameters. */
  hasHoles: boolean;
}

const root = join(import.meta.dirname, '../../..');
const isStatement = /^(select [^.]|insert into \w|update \w+ set |delete from \w|with \w+ as )/;
const hole = ['$', '{}'].join('');

/** Finds every statement that is one string in the product's code. */
export function findProductStatements(): WrittenStatement[] {
  return globSync(['src/**/*.ts', 'activities/**/*.ts'], { cwd: root })
    .filter((file) => !file.startsWith('src/migrat'))
    .toSorted()
    .flatMap((file) =>
      textsOf(readFileSync(join(root, file), 'utf8'))
        .map(oneLine)
        .filter((sql) => isStatement.test(sql))
        .map((sql) => ({ file, sql, hasHoles: sql.includes(hole) })),
    );
}

/** The parts of a statement between its holes and parameters, in order. */
export const piecesOf = (sql: string): string[] =>
  sql
    .split(/\$\{\}|\?/)
    .map((piece) => piece.trim())
    .filter((piece) => piece !== '');

/**
 * Returns the strings in code, including those in holes of others. It understands comments and regular expressions as
 * far as needed.
 */
function textsOf(code: string): string[] {
  const texts: string[] = [];
  let at = 0;
  const readCode = (end: string | undefined): void => {
    let depth = 0;
    while (at < code.length) {
      const mark = code[at] ?? '';
      if (code.startsWith('//', at)) at = endOf('\n');
      else if (code.startsWith('/*', at)) at = endOf('*/');
      else if (mark === '`') readTemplate();
      else if (mark === "'" || mark === '"') readQuoted(mark);
      else {
        at += 1;
        if (mark === '{') depth += 1;
        if (mark === '}' && depth === 0 && end === '}') return;
        if (mark === '}') depth -= 1;
      }
    }
  };
  const endOf = (mark: string): number => {
    const found = code.indexOf(mark, at + 2);
    return found < 0 ? code.length : found + mark.length;
  };
  const readQuoted = (mark: string): void => {
    const start = at + 1;
    at = start;
    while (at < code.length && code[at] !== mark && code[at] !== '\n') at += code[at] === '\\' ? 2 : 1;
    texts.push(code.slice(start, at));
    at += 1;
  };
  const readTemplate = (): void => {
    let text = '';
    at += 1;
    while (at < code.length && code[at] !== '`') {
      if (code.startsWith('${', at)) {
        text += hole;
        at += 2;
        readCode('}');
      } else {
        text += code.slice(at, at + (code[at] === '\\' ? 2 : 1));
        at += code[at] === '\\' ? 2 : 1;
      }
    }
    at += 1;
    texts.push(text);
  };
  readCode(undefined);
  return texts;
}
