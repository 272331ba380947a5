// PostgreSQL's text cannot hold NUL; other control characters, except tab and line breaks, have no place in a text
// field.
const controlCharacters = /[^\P{Cc}\t\n\r]/u;

/** Whether a text can be stored: no control characters but tabs and line breaks, no lone surrogates. */
export const isPlainText = (value: string): boolean => !controlCharacters.test(value) && value.isWellFormed();

const notOnOneLine = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

/**
 * Whether a text stands on one line as it reads: no control characters (tabs and line breaks are some), no separators of
 * lines and paragraphs, and nothing that turns the direction of what follows.
 */
export const isOneLine = (value: string): boolean => !notOnOneLine.test(value);

// Any visible character: not a separator, control, format or default-ignorable character, nor the Braille blank.
const mark = /[^\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Whether a text shows anything: one of zero-width characters alone passes for a name and cannot be seen. */
export const isVisible = (value: string): boolean => mark.test(value);

/** The longest operator's note, in characters (docs/contract.md 8). Notes carry references, never personal data. */
export const longestNote = 300;

/** Whether a value is a note: text, not blank, not too long, without control characters, which no event can hold. */
export const isNote = (note: unknown): note is string =>
  typeof note === 'string' && note.trim() !== '' && note.length <= longestNote && isPlainText(note);

/** The complaint about a value that is no note. */
export const notANote = `note is a text of 1 to ${longestNote} characters, none of them a control character`;

/** What a partner keeps with a resource for itself: texts by names that mean nothing to the platform. */
export type Metadata = Readonly<Record<string, string>>;
