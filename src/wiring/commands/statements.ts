/** Semicolons within quotes or comments do not end a statement; `commentAt` handles nested comments. */
const piece =
  /--[^\r\n]*|e'(?:[^'\\]|\\.|'')*'|'[^']*'|"[^"]*"|\$(?<tag>(?:[\p{L}_][\p{L}\w]*)?)\$.*?\$\k<tag>\$|[\p{L}_][\p{L}\w$]*|\s+|./gisuy;

/** Splits an SQL text into statements, without the semicolons. */
export function statementsOf(text: string): string[] {
  const statements: string[][] = [[]];
  for (const one of piecesOf(text)) {
    if (one === ';') statements.push([]);
    else statements.at(-1)?.push(one);
  }
  return statements.filter((pieces) => said(pieces).length > 0).map((pieces) => pieces.join(''));
}

/** Returns the words with which a statement begins, ends or prepares a transaction; null for any other statement. */
export function transactionWords(statement: string): string | null {
  const words = said(piecesOf(statement)).slice(0, 2).join(' ').toLowerCase();
  return /^(abort|begin|commit|end|rollback|start|prepare transaction)\b/.exec(words)?.[0] ?? null;
}

/** Removes spaces and comments. */
const said = (pieces: readonly string[]): string[] => pieces.filter((one) => !/^(\s|--|\/\*)/.test(one));

function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    piece.lastIndex = at;
    const one = text.startsWith('/*', at) ? commentAt(text, at) : (piece.exec(text)?.[0] ?? text.slice(at));
    pieces.push(one);
    at += one.length;
  }
  return pieces;
}

/** Returns the comment that begins here, including nested comments. */
function commentAt(text: string, start: number): string {
  let depth = 0;
  for (const { 0: mark, index } of text.slice(start).matchAll(/\/\*|\*\//g)) {
    depth += mark === '/*' ? 1 : -1;
    if (depth === 0) return text.slice(start, start + index + mark.length);
  }
  return text.slice(start);
}
