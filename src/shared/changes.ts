import { isDeepStrictEqual } from 'node:util';
import { compareMoney } from './money.ts';

/** Requested changes; absent or undefined fields do not change. */
export type Changes<T> = { [Field in keyof T]?: T[Field] | undefined };

/**
 * The fields of a PATCH that differ from the current values, so that a PATCH without changes leaves no trace. Compares
 * fields named like amounts by value (`100` is `100.0000`); null equals an absent column.
 */
export function changesTo<T extends object>(current: { [Field in keyof T]?: unknown }, asked: Changes<T>): Partial<T> {
  const differs = ([field, value]: [string, unknown]): boolean =>
    value !== undefined && !isSame(field, current[field as keyof T] ?? null, value);
  return Object.fromEntries(Object.entries(asked).filter(differs)) as Partial<T>;
}

function isSame(field: string, left: unknown, right: unknown): boolean {
  const isAmount = field.endsWith('amount') && typeof left === 'string' && typeof right === 'string';
  return isAmount ? compareMoney(left, right) === 0 : isDeepStrictEqual(left, right);
}
