/** Masks a number for comparison, except for its last four characters if it has more. */
export const maskNumber = (number: string): string =>
  number === '' ? '' : `${'*'.repeat(Math.max(4, number.length - 4))}${number.length > 4 ? number.slice(-4) : ''}`;

/** Masks a name for comparison, except for the first letter of each word. */
export const maskName = (name: string): string =>
  name
    .split(/\s+/)
    .map((word) => `${[...word][0] ?? ''}${'*'.repeat(Math.max(0, [...word].length - 1))}`)
    .join(' ');
