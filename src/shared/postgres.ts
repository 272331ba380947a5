import { errorCodeOf } from './errors.ts';

/** Whether the database refused a row because one like it is there (SQLSTATE 23505). */
export function isUniqueViolation(error: unknown): boolean {
  return errorCodeOf(error) === '23505';
}

/** A PostgreSQL array literal of texts that need no quoting (ids, names of permissions). */
export function textArray(values: readonly string[]): string {
  return `{${values.map((value) => `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`).join(',')}}`;
}
