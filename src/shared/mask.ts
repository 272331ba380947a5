/** What is shown of a number for comparison: its last four characters. */
export const maskNumber = (number: string): string =>
  number === '' ? '' : `${'*'.repeat(Math.max(4, number.length - 4))}${number.length > 4 ? number.slice(-4) : ''}`;

/** What is shown of a name for comparison: the first letter of each word. */
export const maskName = (name: string): string =>
  name
    .split(/\s+/)
    .map((word) => `${[...word][0] ?? ''}${'*'.repeat(Math.max(0, [...word].length - 1))}`)
    .join(' ');
