import type { z } from 'zod';
import { assert } from '../../shared/assert.ts';
import { deepestLiteral } from './json-body.ts';

/** The names of fields, at any depth of a schema down to `deepestLiteral`, whose numbers are read from their literal digits. */
export function moneyLiteralKeys(schema: z.ZodType | undefined): ReadonlySet<string> {
  const found = new Set<string>();
  if (schema) collect(schema, undefined, found, 0);
  return found;
}

function collect(schema: z.ZodType, key: string | undefined, found: Set<string>, depth: number): void {
  if (schema.meta()?.['x-money-literal'] === true && key !== undefined) {
    assert(depth <= deepestLiteral, 'amounts are not nested so deeply');
    found.add(key);
  }
  const def: object = schema.def;
  if ('shape' in def && typeof def.shape === 'object' && def.shape !== null) {
    for (const [name, field] of Object.entries(def.shape)) collect(field, name, found, depth + 1);
  }
  for (const part of ['innerType', 'in', 'out', 'element'] as const) {
    const inner = (def as Partial<Record<typeof part, z.ZodType>>)[part];
    if (inner && inner !== schema) collect(inner, key, found, part === 'element' ? depth + 1 : depth);
  }
  if ('options' in def && Array.isArray(def.options)) {
    for (const option of def.options) collect(option, key, found, depth);
  }
}
