/** The part of a number that is shown for comparison: its last four characters. */
export const maskNumber = (number: string): string =>
  number === '' ? '' : `${'*'.repeat(Math.max(4, number.length - 4))}${number.length > 4 ? number.slice(-4) : ''}`;

/** The same of a name: the first letter of each word. */
export const maskName = (name: string): string =>
  name
    .split(/\s+/)
    .map((word) => `${[...word][0] ?? ''}${'*'.repeat(Math.max(0, [...word].length - 1))}`)
    .join(' ');
