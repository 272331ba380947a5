// PostgreSQL's text cannot hold NUL; other control characters, except tab and line breaks, do not belong in a text
// field.
const controlCharacters = /[^\P{Cc}\t\n\r]/u;

/** Whether a text can be stored: no control characters but tabs and line breaks, no lone surrogates. */
export const isPlainText = (value: string): boolean => !controlCharacters.test(value) && value.isWellFormed();

const notOnOneLine = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

/**
 * Whether a text is displayed on one line as written: no control characters (including tabs and line breaks), no line
 * or paragraph separators, no direction marks.
 */
export const isOneLine = (value: string): boolean => !notOnOneLine.test(value);

// A visible character: not a separator, control, format or default-ignorable character, nor the Braille blank.
const mark = /[^\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Whether a text has a visible character; zero-width characters alone could pass for a name. */
export const isVisible = (value: string): boolean => mark.test(value);

/** The maximum length of an operator's note, in characters (docs/contract.md 8). Notes never contain personal data. */
export const longestNote = 300;

/** Whether a value is a note: text, not blank, not too long, without control characters, which events cannot store. */
export const isNote = (note: unknown): note is string =>
  typeof note === 'string' && note.trim() !== '' && note.length <= longestNote && isPlainText(note);

/** The error for a value that is not a note. */
export const notANote = `note is a text of 1 to ${longestNote} characters, none of them a control character`;

/** A partner's own data on a resource: texts under keys that mean nothing to the platform. */
export type Metadata = Readonly<Record<string, string>>;
