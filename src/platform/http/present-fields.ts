import type { z } from 'zod';

/** A field as in a row: an instant is a Date, and a nullable field may be absent. */
type Stored<Field> = string extends Field ? Field | Date : Field;
type NullableIn<Shape extends z.ZodRawShape> = {
  [Name in keyof Shape]: null extends z.input<Shape[Name]> ? Name : never;
}[keyof Shape];
type Row<Shape extends z.ZodRawShape> = {
  [Name in Exclude<keyof Shape, NullableIn<Shape>>]: Stored<z.input<Shape[Name]>>;
} & { [Name in NullableIn<Shape>]?: Stored<z.input<Shape[Name]>> | undefined };

/** Returns a response's fields from a row with the same names: instants in ISO 8601, absent fields as null. */
export function presentFields<Shape extends z.ZodRawShape>(
  shape: Shape,
  row: Row<Shape>,
): { [Name in keyof Shape]: z.input<Shape[Name]> } {
  const shown = Object.keys(shape).map((name) => {
    const value = row[name as keyof Row<Shape>] as unknown;
    return [name, value instanceof Date ? value.toISOString() : (value ?? null)];
  });
  return Object.fromEntries(shown);
}
