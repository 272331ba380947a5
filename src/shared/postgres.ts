import { errorCodeOf } from './errors.ts';

/** Whether the database refused a row as a duplicate (unique violation, SQLSTATE 23505). */
export function isUniqueViolation(error: unknown): boolean {
  return errorCodeOf(error) === '23505';
}

/** A PostgreSQL array literal of texts, quoted and escaped. */
export function textArray(values: readonly string[]): string {
  return `{${values.map((value) => `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`).join(',')}}`;
}
