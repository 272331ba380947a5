import { compareMoney } from './money.ts';

/** What a request asks to change: fields that are absent, or undefined, stay. */
export type Changes<T> = { [Field in keyof T]?: T[Field] | undefined };

/**
 * What of a PATCH is named and differs from what is there, so that one that changes nothing leaves no trace. Fields
 * named like amounts are compared by value (`100` is `100.0000`); a column that is null and one that is absent are the
 * same.
 */
export function changesTo<T extends object>(current: { [Field in keyof T]?: unknown }, asked: Changes<T>): Partial<T> {
  const differs = ([field, value]: [string, unknown]): boolean =>
    value !== undefined && !isSame(field, current[field as keyof T] ?? null, value);
  return Object.fromEntries(Object.entries(asked).filter(differs)) as Partial<T>;
}

function isSame(field: string, left: unknown, right: unknown): boolean {
  const isAmount = field.endsWith('amount') && typeof left === 'string' && typeof right === 'string';
  return isAmount ? compareMoney(left, right) === 0 : left === right;
}
