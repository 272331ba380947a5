// PostgreSQL's text cannot hold NUL; other control characters but tab and line breaks have no place in a text field.
const controlCharacters = /[^\P{Cc}\t\n\r]/u;

/** Whether a text can be kept: no control characters but tabs and line ends, no half of a surrogate pair. */
export const isPlainText = (value: string): boolean => !controlCharacters.test(value) && value.isWellFormed();
