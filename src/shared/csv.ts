import { isMoney } from './money.ts';

/** What a cell of CSV can be; null is an empty one. */
export type CsvCell = string | number | boolean | null;

/** What a spreadsheet takes for a formula when a cell begins with it. */
const formula = /^\s*[=+\-@]|^[\t\r\n]/;

/**
 * One line of CSV (RFC 4180), with its end. What would end a cell or a line is quoted. A text that a spreadsheet would
 * calculate gets an apostrophe in front; a number stays one, also below zero.
 */
export const csvLine = (cells: readonly CsvCell[]): string => `${cells.map(csvCell).join(',')}\r\n`;

function csvCell(cell: CsvCell): string {
  if (cell === null) return '';
  const text = String(cell);
  const safe = formula.test(text) && !isMoney(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
