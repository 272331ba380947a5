/** Letters that Unicode does not decompose, and typographic punctuation, with the spelling that banks use. */
const written: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', ẞ: 'SS', ø: 'o', Ø: 'O', ł: 'l', Ł: 'L', đ: 'd', Đ: 'D', ð: 'd', Ð: 'D', þ: 'th', Þ: 'Th', ı: 'i' },
  ...{ æ: 'ae', Æ: 'AE', œ: 'oe', Œ: 'OE', '’': "'", '‘': "'", '–': '-', '—': '-' },
};

/**
 * A name as banks accept it: Latin letters without accents, digits, spaces and `.,'-/`. Drops other scripts; empty if
 * nothing remains.
 */
export const foldForBank = (text: string): string =>
  [...text.normalize('NFKD')]
    .map((character) => written[character] ?? character)
    .join('')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9 .,'/-]+/g, ' ')
    .replace(/ +/g, ' ')
    .trim();

/** Whether a bank accepts this name: at least one letter or digit remains. */
export const isNameForBank = (text: string): boolean => /[A-Za-z0-9]/.test(foldForBank(text));
