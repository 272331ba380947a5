import { isMoney } from './money.ts';

/** A CSV cell; null is an empty one. */
export type CsvCell = string | number | boolean | null;

/** The beginning of a cell that a spreadsheet takes for a formula. */
const formula = /^\s*[=+\-@]|^[\t\r\n]/;

/**
 * One line of CSV (RFC 4180) with its line end. Separators and quotes are escaped. Text that a spreadsheet would
 * evaluate gets a leading apostrophe; a number stays one, also when negative.
 */
export const csvLine = (cells: readonly CsvCell[]): string => `${cells.map(csvCell).join(',')}\r\n`;

function csvCell(cell: CsvCell): string {
  if (cell === null) return '';
  const text = String(cell);
  const safe = formula.test(text) && !isMoney(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
