import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface ErrorMessage {
  place: string;
  code: string;
  /** The field as written in the source; empty if there is none. */
  field: string;
  /** The text as written, with `…` for placeholders. */
  message: string;
}

const root = join(import.meta.dirname, '../..');
const token =
  /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|\$\{(?:[^{}]|\{[^{}]*\})*\}|[^`\\$]|\$(?!\{))*`|\/\/.*|[\s\S]/g;

/** The arguments of the call whose parenthesis opens before `start`. */
function argumentsAt(text: string, start: number): string[] {
  const found = [''];
  let depth = 0;
  for (const [part] of text.slice(start).matchAll(token)) {
    if (part.startsWith('//')) continue;
    if ('([{'.includes(part)) depth += 1;
    if (')]}'.includes(part)) depth -= 1;
    if (depth < 0) break;
    if (part === ',' && depth === 0) found.push('');
    else found.push(found.pop() + part);
  }
  return found.map((one) => one.trim());
}

/** The strings of an expression: both branches of a conditional; concatenated strings are joined. */
function textsOf(expression: string): string[] {
  const joined = expression.replace(/(['"`])\s*\+\s*\1/g, '').replace(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, '…');
  return [...joined.matchAll(/'((?:\\.|[^'\\])+)'|"((?:\\.|[^"\\])+)"|`((?:\\.|[^`\\])+)`/g)]
    .filter(({ index }) => !/(===|[([])\s*$/.test(joined.slice(0, index)))
    .map(([, ...texts]) => texts.join('').replaceAll('\\', ''));
}

/** The messages of all refusals in the product's code. */
export const errorMessages = (): ErrorMessage[] =>
  globSync('{src,activities,workflows}/**/*.ts', { cwd: root })
    .toSorted()
    .flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      return [...text.matchAll(/\b(refuse|refuseField|new DomainError)\(/g)].flatMap(({ 0: call, 1: name, index }) => {
        const [first = '', message = '', options = ''] = argumentsAt(text, index + call.length);
        const place = `${file}:${text.slice(0, index).split('\n').length}`;
        const isField = name === 'refuseField';
        const code = isField ? 'REQUEST_INVALID_PAYLOAD' : first.replaceAll("'", '');
        const field = isField
          ? first
          : (/\bfield\b(?:: ([^,}]+))?/.exec(options)?.[1] ?? /\bfield\b/.exec(options)?.[0] ?? '');
        return textsOf(message).map((one) => ({ place, code, field, message: one }));
      });
    });

if (import.meta.main) {
  for (const { place, code, field, message } of errorMessages()) console.log([code, field, message, place].join('\t'));
}
