/** A body built to cost as much as possible. */
export interface WorstBody {
  name: string;
  text: string;
}

/** Repeats a part of a list or text up to about `bytes`. */
const fill = (part: string, bytes: number): string => part.repeat(Math.max(1, Math.floor(bytes / part.length)));
const list = (item: string, bytes: number): string => `[${fill(`${item},`, bytes)}${item}]`;
const object = (field: (index: number) => string, bytes: number): string => {
  const fields: string[] = [];
  for (let size = 2; size < bytes; size += (fields.at(-1)?.length ?? 0) + 1) fields.push(field(fields.length));
  return `{${fields.join(',')}}`;
};

/** Values of about `bytes` in every form known to be slow for parsers and patterns. */
export function worstValues(bytes: number): WorstBody[] {
  const half = Math.floor(bytes / 2);
  const nested = Math.floor(bytes / 6);
  return [
    { name: 'nested lists', text: '['.repeat(half) + ']'.repeat(half) },
    { name: 'nested objects', text: `${'{"a":'.repeat(nested)}1${'}'.repeat(nested)}` },
    { name: 'a list of objects', text: list('{}', bytes) },
    { name: 'a list of lists', text: list('[]', bytes) },
    { name: 'a list of numbers', text: list('1', bytes) },
    { name: 'a list of texts', text: list('""', bytes) },
    { name: 'a list of amounts', text: list('{"amount":1}', bytes) },
    { name: 'amounts far inside', text: `${'['.repeat(28)}${list('{"amount":1}', bytes)}${']'.repeat(28)}` },
    { name: 'duplicates', text: list('{"a":1,"a":1}', bytes) },
    { name: 'a wide object', text: object((index) => `"k${index}":1`, bytes) },
    { name: 'a wide object of numbers', text: object((index) => `"${index * 7919}":1`, bytes) },
    { name: 'a wide object of escapes', text: object((index) => `"\\u0061${index}":1`, bytes) },
    { name: 'long keys', text: object((index) => `"${index}${'k'.repeat(4000)}":1`, bytes) },
    { name: 'a long number', text: `1${'0'.repeat(bytes)}1` },
    { name: 'a long exponent', text: `1e${'9'.repeat(bytes)}` },
    { name: 'spaces', text: `[${' '.repeat(bytes)}]` },
    ...[...worstTexts(bytes)].map(({ name, text }) => ({ name, text: JSON.stringify(text) })),
    { name: 'a text of escapes', text: `"${fill('\\u0041', bytes)}"` },
  ];
}

/**
 * As many different characters as fit: when a host name is converted to ASCII, each is compared with all others.
 */
const ideographs = (bytes: number): string =>
  Array.from({ length: Math.floor(bytes / 3) }, (_, at) => String.fromCodePoint(0x4e00 + ((at * 7919) % 20_000))).join(
    '',
  );

/** Texts of about `bytes` that make patterns backtrack or Unicode normalization sort. */
function* worstTexts(bytes: number): Generator<WorstBody> {
  const parts = [
    'x',
    '0',
    '-',
    '.',
    '@',
    '/',
    "'",
    'a@',
    'a.',
    'a ',
    '\n',
    '\u0301',
    '\u202e',
    '\ufdfa',
    '\u{1f468}\u200d',
  ];
  for (const part of parts) {
    const long = part.repeat(Math.floor(bytes / Buffer.byteLength(part)));
    yield { name: `a text of ${JSON.stringify(part)}`, text: long };
  }
  yield { name: 'spaces before a letter', text: `a${' '.repeat(bytes)}a` };
  yield { name: 'zeros before a digit', text: `1.${'0'.repeat(bytes)}1` };
  yield { name: 'an address of dots', text: `a@${fill('a.', bytes)}` };
  yield { name: 'a URL of dots', text: `https://${fill('a.', bytes)}` };
  yield { name: 'combining marks out of order', text: `a${fill('\u0300\u0316', bytes / 2)}` };
  yield { name: 'a URL of ideographs', text: `https://${ideographs(bytes)}` };
}

/** The bodies of a route: each value in each of the named fields, and as the whole body unless `isAlone` is false. */
export function worstBodies(bytes: number, fields: readonly string[], { isAlone = true } = {}): WorstBody[] {
  return worstValues(bytes).flatMap(({ name, text }) => [
    ...(isAlone ? [{ name: `${name}, alone`, text }] : []),
    ...fields.map((field) => ({ name: `${name}, as ${field}`, text: `{"${field}":${text}}` })),
  ]);
}
