import type { z } from 'zod';
import { mostComplaints, refuse } from '../../shared/errors.ts';
import { cutLongLists } from './cut-long-lists.ts';

/** An error in a field, as in the error envelopes. */
export interface FieldComplaint {
  field: string;
  message: string;
}

function complaintsOf(issue: z.core.$ZodIssue, value: unknown, within: readonly PropertyKey[] = []): FieldComplaint[] {
  const path = [...within, ...issue.path].map(String);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, mostComplaints).map((key) => {
      const field = [...path, key].join('.');
      return { field, message: `${field}: unknown field` };
    });
  }
  const field = path.join('.') || 'body';
  const missing = issue.path.length > 0 && issue.code !== 'custom' && (valueAt(value, issue.path) ?? null) === null;
  return [{ field, message: missing ? `${field}: is required` : `${field}: ${lowerFirst(issue.message)}` }];
}

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (found, key) =>
      typeof found === 'object' && found !== null ? (found as Record<PropertyKey, unknown>)[key] : found,
    value,
  );

const kinds: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};
const units: Readonly<Record<string, string>> = { string: 'character', array: 'item' };

/** Our wording for the validator's messages where a schema has none; undefined keeps the validator's own. */
const inPlainWords: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'invalid_type' && issue.expected in kinds) return `must be ${kinds[issue.expected]}`;
  if (issue.code === 'invalid_value')
    return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}`;
  if (issue.code !== 'too_small' && issue.code !== 'too_big') return undefined;
  const { inclusive = true, origin } = issue;
  const [bound, words] =
    issue.code === 'too_small'
      ? [issue.minimum, inclusive ? 'at least' : 'more than']
      : [issue.maximum, inclusive ? 'at most' : 'less than'];
  const unit = units[origin];
  if (unit === undefined) return `must be ${words} ${bound}`;
  return `must have ${words} ${bound} ${unit}${Number(bound) === 1 ? '' : 's'}`;
};

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** Returns the parsed value, or every error in it, with paths `within` the body. */
export function judge<T>(
  schema: z.ZodType<T>,
  value: unknown,
  within: readonly PropertyKey[],
): { data: T } | { complaints: FieldComplaint[] } {
  const result = schema.safeParse(value, { error: inPlainWords });
  if (result.success) return { data: result.data };
  return { complaints: result.error.issues.flatMap((issue) => complaintsOf(issue, value, within)) };
}

/** Returns the parsed value. Throws REQUEST_INVALID with at most 20 errors, each naming its field. */
export function validate<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  cutLongLists(schema, value);
  const result = schema.safeParse(value, { error: inPlainWords });
  if (result.success) return result.data;
  const complaints = result.error.issues
    .slice(0, mostComplaints)
    .flatMap((issue) => complaintsOf(issue, value))
    .slice(0, mostComplaints);
  const messages = complaints.map(({ message }) => message);
  return refuse('REQUEST_INVALID', messages[0] ?? 'The request is invalid', { messages, details: complaints });
}
