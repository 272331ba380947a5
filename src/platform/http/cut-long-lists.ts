import { z } from 'zod';

type Cut = (value: unknown) => void;

const cuts = new WeakMap<z.ZodType, Cut | null>();

/**
 * Truncates overlong lists of a parsed body after the first excess item. A schema validates all items of a list before
 * it counts them, and reports errors for each; a truncated list gets the same refusal at little cost.
 */
export function cutLongLists(schema: z.ZodType, value: unknown): void {
  cutOf(schema)?.(value);
}

/** Returns the function that truncates a schema's values, or null if there is nothing to truncate. */
function cutOf(schema: z.ZodType): Cut | null {
  const known = cuts.get(schema);
  if (known !== undefined) return known;
  // A recursive schema is truncated at its outermost level.
  cuts.set(schema, null);
  const cut = together([cutList(schema), cutFields(schema), ...innerOf(schema).map(cutOf)]);
  cuts.set(schema, cut);
  return cut;
}

function together(parts: readonly (Cut | null)[]): Cut | null {
  const some = parts.filter((part) => part !== null);
  if (some.length <= 1) return some[0] ?? null;
  return (value) => {
    for (const cut of some) cut(value);
  };
}

function cutList(schema: z.ZodType): Cut | null {
  if (!(schema instanceof z.ZodArray)) return null;
  const maximum = mostItems(schema);
  const cutItem = cutOf(schema.element as z.ZodType);
  if (maximum === null && cutItem === null) return null;
  return (value) => {
    if (!Array.isArray(value)) return;
    if (maximum !== null && value.length > maximum) value.length = maximum + 1;
    if (cutItem) for (const item of value) cutItem(item);
  };
}

/** Returns the maximum number of items of a list; null without one. */
export function mostItems({ def }: z.ZodArray): number | null {
  for (const check of def.checks ?? []) {
    const { check: kind, maximum } = check._zod.def as { check: string; maximum?: number };
    if (kind === 'max_length' && maximum !== undefined) return maximum;
  }
  return null;
}

function cutFields(schema: z.ZodType): Cut | null {
  if (!(schema instanceof z.ZodObject)) return null;
  const fields = Object.entries<z.ZodType>(schema.shape)
    .map(([name, field]) => ({ name, cut: cutOf(field) }))
    .filter(({ cut }) => cut !== null);
  if (fields.length === 0) return null;
  return (value) => {
    if (typeof value !== 'object' || value === null) return;
    for (const { name, cut } of fields) if (Object.hasOwn(value, name)) cut?.((value as Record<string, unknown>)[name]);
  };
}

/** Returns the schemas inside an optional, nullable, transforming or union schema, which read the same value. */
function innerOf(schema: z.ZodType): z.ZodType[] {
  const def = schema.def as Partial<Record<'innerType' | 'in', z.ZodType>> & { options?: unknown };
  const options = Array.isArray(def.options) ? (def.options as z.ZodType[]) : [];
  return [def.innerType, def.in, ...options].filter((inner) => inner !== undefined);
}
