import { must } from '../../shared/assert.ts';
import { refuse } from '../../shared/errors.ts';

/** How deeply a body may be nested; the outermost object counts. */
export const mostNesting = 32;
/** The maximum depth of fields whose numbers are read from their digits; deeper numbers are read as parsed. */
export const deepestLiteral = 4;

/** Decodes bytes as text, without a leading byte order mark; throws on bytes that are not UTF-8. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** A JSON number as written, for schemas that read money from the literal digits. */
export class NumberLiteral {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
  /** Serialized as JSON it is an ordinary number. */
  toJSON(): number {
    return Number(this.source);
  }
}

/** Refuses the body as a whole, with the wording shared by all envelopes. */
export function refuseBody(complaint: string): never {
  const message = `The body ${complaint}`;
  refuse('REQUEST_INVALID', message, { details: [{ field: 'body', message }] });
}

/** A number that the schema reads from its digits, and its path: field names and list indexes. */
interface PlacedLiteral {
  path: readonly (string | number)[];
  source: string;
}

/** Properties of a JSON text that parsing loses. */
export interface JsonScan {
  /** How deeply lists and objects are nested: 0 for a text without any. */
  nesting: number;
  /** The first duplicate key of an object; parsers differ in which of the two they use. */
  duplicateKey: string | null;
  literals: readonly PlacedLiteral[];
}

const [quote, backslash, comma, openList, closeList, openObject, closeObject] = [...'"\\,[]{}'].map((character) =>
  character.charCodeAt(0),
);
const [colon, minus, zero, nine] = [...':-09'].map((character) => character.charCodeAt(0)) as [
  number,
  number,
  number,
  number,
];
const lastSpace = 0x20;
const endOfNumber = /[^-+.\deE]/g;

/**
 * Scans a JSON text once, a character at a time. Stops at nesting beyond `mostNesting`, which is then the only finding.
 * For malformed text the findings are meaningless, and it may throw SyntaxError.
 */
export function scanJson(text: string, literalKeys: ReadonlySet<string>): JsonScan {
  const literals: PlacedLiteral[] = [];
  /** For each open list or object: its path, and an object's keys so far. */
  const places: (string | number)[] = [];
  const keys: (Set<string> | string | null)[] = [];
  let duplicateKey: string | null = null;
  let nesting = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === openObject || code === openList) {
      places[depth] = code === openList ? 0 : '';
      keys[depth] = null;
      depth += 1;
      nesting = Math.max(nesting, depth);
      if (depth > mostNesting) break;
    } else if (code === closeObject || code === closeList) depth -= 1;
    else if (code === comma) {
      const place = places[depth - 1];
      if (typeof place === 'number') places[depth - 1] = place + 1;
    } else if (code === quote) {
      const end = endOfString(text, at);
      const next = afterSpace(text, end);
      if (text.charCodeAt(next) === colon) {
        const key = readKey(text, at, end);
        if (duplicateKey === null && hasKey(keys, depth - 1, key)) duplicateKey = key;
        places[depth - 1] = key;
        at = next;
        if (depth > deepestLiteral || !literalKeys.has(key)) continue;
        const value = afterSpace(text, next + 1);
        if (!beginsNumber(text.charCodeAt(value))) continue;
        endOfNumber.lastIndex = value;
        const source = text.slice(value, endOfNumber.exec(text)?.index ?? text.length);
        literals.push({ path: places.slice(0, depth), source });
      } else at = end - 1;
    }
  }
  return { nesting, duplicateKey, literals };
}

const beginsNumber = (code: number): boolean => code === minus || (code >= zero && code <= nine);

/** Returns the position after the closing quote of the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) return at + 1;
    if (code === backslash) at += 1;
  }
  return text.length;
}

function afterSpace(text: string, start: number): number {
  let at = start;
  while (at < text.length && text.charCodeAt(at) <= lastSpace) at += 1;
  return at;
}

function readKey(text: string, start: number, end: number): string {
  const inside = text.slice(start + 1, end - 1);
  return inside.includes('\\') ? JSON.parse(text.slice(start, end)) : inside;
}

/**
 * Whether the object already has the key; records it. Most objects have few keys, many only one, which needs no set.
 */
function hasKey(keys: (Set<string> | string | null)[], object: number, key: string): boolean {
  const known = keys[object] ?? null;
  if (known === null) keys[object] = key;
  else if (typeof known === 'string') {
    if (known === key) return true;
    keys[object] = new Set([known, key]);
  } else if (known.has(key)) return true;
  else known.add(key);
  return false;
}

/** Replaces a parsed number by its literal. */
function placeLiteral(root: unknown, { path, source }: PlacedLiteral): void {
  const last = must(path.at(-1), 'a literal has a key');
  const parent = path.slice(0, -1).reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], root);
  (parent as Record<string, unknown>)[last] = new NumberLiteral(source);
}

/**
 * Reads a JSON body; an empty one is an empty object. Keeps numbers under the keys in `literalKeys` as written
 * (`NumberLiteral`), so that money never becomes a double. Throws REQUEST_INVALID for malformed JSON, for duplicate
 * keys in an object, and for nesting beyond `mostNesting`.
 */
export function parseJson(bytes: Buffer, contentType: string, literalKeys: ReadonlySet<string>): unknown {
  if (bytes.length === 0) return {};
  if (contentType !== '' && !/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(contentType)) {
    refuseBody('must be application/json');
  }
  let scan: JsonScan;
  let value: unknown;
  try {
    const text = utf8.decode(bytes);
    scan = scanJson(text, literalKeys);
    // Deeply nested bodies are the most expensive to parse.
    if (scan.nesting <= mostNesting) value = JSON.parse(text);
  } catch {
    return refuseBody('is not well-formed JSON');
  }
  const { nesting, duplicateKey, literals } = scan;
  if (nesting > mostNesting) refuseBody(`is nested more than ${mostNesting} levels deep`);
  if (duplicateKey !== null) {
    refuse('REQUEST_INVALID', 'appears twice', {
      field: duplicateKey,
      details: [{ field: duplicateKey, message: `${duplicateKey}: appears twice` }],
    });
  }
  for (const literal of literals) placeLiteral(value, literal);
  return value;
}
