/**
 * A JSON value as a canonical text: the same for values that differ only in member order. Null members of the top-level
 * object count as absent, as in a request. Throws RangeError when it is nested too deeply.
 */
export function canonicalJson(value: unknown): string {
  if (!isObject(value)) return textOf(value);
  return textOf(Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null)));
}

/** What writes itself as JSON, as a number kept by its digits does, is no object. */
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  typeof (value as { toJSON?: unknown }).toJSON !== 'function';

function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${textOf(value[name])}`).join(',')}}`;
}
