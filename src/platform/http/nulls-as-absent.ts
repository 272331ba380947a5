import { z } from 'zod';

/**
 * Returns a body schema in which null means absent for every optional field, including in required nested objects, as a
 * creating request has nothing to clear. Fields that accept null are unchanged.
 */
export function nullsAsAbsent<B extends z.ZodType>(body: B): B {
  if (!(body instanceof z.ZodObject)) return body;
  const shape: Record<string, z.ZodType> = {};
  for (const [name, field] of Object.entries<z.ZodType>(body.shape)) {
    const lenient = lenientField(field);
    if (lenient !== field) shape[name] = lenient;
  }
  // The output type is unchanged: a handler never sees the null.
  return (Object.keys(shape).length === 0 ? body : body.safeExtend(shape)) as unknown as B;
}

function lenientField(field: z.ZodType): z.ZodType {
  if (field instanceof z.ZodObject) return nullsAsAbsent(field);
  if (!(field instanceof z.ZodOptional || field instanceof z.ZodDefault)) return field;
  const inner = field.unwrap() as z.ZodType;
  if (inner.safeParse(null).success) return field;
  const fallback = field instanceof z.ZodDefault ? field.def.defaultValue : undefined;
  const lenient = inner.nullish().transform((value) => value ?? fallback);
  const meta = { ...field.meta(), ...(fallback !== undefined && { default: fallback }) };
  return Object.keys(meta).length === 0 ? lenient : lenient.meta(meta);
}
