// PostgreSQL's text cannot hold NUL; other control characters but tab and line breaks have no place in a text field.
const controlCharacters = /[^\P{Cc}\t\n\r]/u;

/** Whether a text can be kept: no control characters but tabs and line ends, no half of a surrogate pair. */
export const isPlainText = (value: string): boolean => !controlCharacters.test(value) && value.isWellFormed();

// What leaves no mark: separators, format characters, what a font may leave out, and the blank of Braille.
const mark = /[^\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Whether a text shows anything: one of zero-width characters alone passes for a name and cannot be seen. */
export const isVisible = (value: string): boolean => mark.test(value);
