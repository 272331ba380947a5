import { isMoney } from './money.ts';

/** A CSV cell; null is empty. */
export type CsvCell = string | number | boolean | null;

/**
 * Where a spreadsheet would start a formula (full-width characters included): at the start of a cell, and after the
 * separator used by spreadsheets whose decimal point is a comma, as in Indonesia; those also drop leading quotes.
 */
const formula = /(^|[;\t\r\n])(?=[\s"]*[=+\-@＝＋－＠])|^(?=[\t\r\n])/g;

/**
 * Formats a line of CSV (RFC 4180) with its line end. Separators and quotes are escaped. Text that a spreadsheet would
 * evaluate gets an apostrophe in front; numbers, including negative ones, do not.
 */
export const csvLine = (cells: readonly CsvCell[]): string => `${cells.map(csvCell).join(',')}\r\n`;

function csvCell(cell: CsvCell): string {
  if (cell === null) return '';
  const text = String(cell);
  const safe = isMoney(text) ? text : text.replace(formula, "$1'");
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
