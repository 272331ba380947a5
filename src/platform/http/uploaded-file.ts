/** The limit of file systems for a name; counted here in characters. */
const maximumNameCharacters = 255;
/** Control, format (such as direction overrides) and separator characters: they make a name look like another one. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The name a client gave a file, without the folders that some send before it; null when nothing is left. */
export function fileNameOf(given: string | null): string | null {
  const name = (given ?? '').toWellFormed().replace(invisible, '').split(/[\\/]/).at(-1)?.trim() ?? '';
  if (name === '' || name === '.' || name === '..') return null;
  const characters = [...name];
  if (characters.length <= maximumNameCharacters) return name;
  const extension = /\.\w{1,10}$/.exec(name)?.[0] ?? '';
  return characters.slice(0, maximumNameCharacters - extension.length).join('') + extension;
}

/** Texts that a browser does not run or render: never HTML, SVG, XML or a script. */
const textTypes = new Set(['text/plain', 'text/csv', 'text/tab-separated-values', 'text/markdown']);

/** Whether a sample is UTF-8 without control characters; its last character may be cut off. */
function looksLikeText(sample: Uint8Array): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(sample, { stream: true });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what tells other content from text.
    return !/[\x00-\x08\x0b\x0e-\x1f\x7f]/.test(text);
  } catch {
    return false;
  }
}

/** The declared type, if it is one of the text types and the sample looks like text; otherwise null. */
export function declaredTextType(declared: string | null, sample: Uint8Array): string | null {
  const type = declared?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return textTypes.has(type) && looksLikeText(sample) ? type : null;
}
