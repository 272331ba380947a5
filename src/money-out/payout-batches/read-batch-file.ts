import { CsvError, parse } from 'csv-parse/sync';
import { refuse } from '../../shared/errors.ts';
import type { SentItem } from './judge-items.ts';
import { mostItems } from './payout-batch.ts';

/** The columns of a file of payouts; below, the optional ones. */
export const fileColumns = ['external_ref', 'amount', 'bank_code', 'bank_account_number', 'beneficiary_name'];
const optionalColumns = ['beneficiary_name'];

/** Maximum characters of a line and of a row: several times the maximum of its cells. */
const longestLine = 4096;

interface Line {
  record: string[];
  info: { lines: number };
}

const complain = (complaint: string): never => refuse('REQUEST_INVALID', complaint, { field: 'file' });

/**
 * The items of a CSV file (RFC 4180, or separated by semicolons, as some spreadsheets write), each named by its line;
 * empty cells count as absent. Throws REQUEST_INVALID for any other file.
 */
export function readBatchFile(bytes: Uint8Array): SentItem[] {
  const [head, ...lines] = linesOf(textOf(bytes));
  if (head === undefined) return complain('is empty');
  const names = head.record.map((name) => name.toLowerCase());
  const wrong = [
    ...fileColumns
      .filter((name) => !names.includes(name) && !optionalColumns.includes(name))
      .map((name) => `lacks ${name}`),
    ...names
      .filter((name, at) => !fileColumns.includes(name) || names.indexOf(name) !== at)
      .map((name) => `has ${name || 'a nameless one'}`),
  ];
  if (wrong.length > 0) complain(`the columns are ${fileColumns.join(', ')}: this file ${wrong.join(', ')}`);
  if (lines.length === 0 || lines.length > mostItems) {
    complain(
      `must have 1 to ${mostItems.toLocaleString('en')} payouts, and has ${lines.length === 0 ? 'none' : 'more'}`,
    );
  }
  return lines.map(({ record, info }) => {
    const name = `line ${info.lines}`;
    const cells = record
      .slice(0, names.length)
      .flatMap((text, at) => (text === '' ? [] : [[names[at], text] as const]));
    const item = Object.fromEntries(cells);
    if (record.length <= names.length) return { name, item };
    return { name, item, complaint: `has ${record.length} cells for ${names.length} columns` };
  });
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return complain('must be text in UTF-8');
  }
}

function linesOf(text: string): Line[] {
  if (text.split(/[\r\n]/).some((line) => line.length > longestLine)) {
    complain(`has a line of more than ${longestLine.toLocaleString('en')} characters`);
  }
  const [head = ''] = text.split('\n', 1);
  const delimiter = head.includes(';') && !head.includes(',') ? ';' : ',';
  const options = { delimiter, info: true, relax_column_count: true, skip_records_with_empty_values: true, trim: true };
  // Parsing rows costs far more than reading bytes and delays all other requests, so stop after the first excess row.
  const bounds = { to: mostItems + 2, max_record_size: longestLine };
  try {
    return parse(text, { ...options, ...bounds, skip_empty_lines: true }) as unknown as Line[];
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return complain(`is not well-formed CSV near line ${error.lines ?? 'unknown'}`);
  }
}
