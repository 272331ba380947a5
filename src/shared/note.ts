import { isPlainText } from './plain-text.ts';

/** The longest operator's note, in characters (docs/contract.md 8). Notes carry references, never personal data. */
export const longestNote = 300;

/** Whether a value is a note: text, not blank, not too long, without control characters, which no event can hold. */
export const isNote = (note: unknown): note is string =>
  typeof note === 'string' && note.trim() !== '' && note.length <= longestNote && isPlainText(note);

/** The complaint about a value that is no note. */
export const notANote = `note is a text of 1 to ${longestNote} characters, none of them a control character`;
