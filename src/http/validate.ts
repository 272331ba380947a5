import type { z } from 'zod';
import { mostComplaints, refuse } from '../shared/errors.ts';

/** One complaint about one field, in the words of the error envelopes. */
export interface FieldComplaint {
  field: string;
  message: string;
}

function complaintsOf(issue: z.core.$ZodIssue, value: unknown): FieldComplaint[] {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, mostComplaints).map((key) => {
      const field = [...path, key].join('.');
      return { field, message: `${field}: unknown field` };
    });
  }
  const field = path.join('.') || 'body';
  const missing = issue.path.length > 0 && issue.code !== 'custom' && valueAt(value, issue.path) === undefined;
  return [{ field, message: missing ? `${field}: is required` : `${field}: ${lowerFirst(issue.message)}` }];
}

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (found, key) =>
      typeof found === 'object' && found !== null ? (found as Record<PropertyKey, unknown>)[key] : found,
    value,
  );

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** The value as the schema reads it. Throws REQUEST_INVALID with at most 20 complaints, each naming its field. */
export function validate<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const complaints = result.error.issues
    .slice(0, mostComplaints)
    .flatMap((issue) => complaintsOf(issue, value))
    .slice(0, mostComplaints);
  const messages = complaints.map(({ message }) => message);
  return refuse('REQUEST_INVALID', messages[0] ?? 'invalid', { messages, details: complaints });
}
