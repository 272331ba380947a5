/**
 * A JSON value as canonical text, independent of member order. Null members of the top-level object count as absent, as
 * in a request. Throws RangeError for a value that is nested too deeply.
 */
export function canonicalJson(value: unknown): string {
  if (!isObject(value)) return textOf(value);
  return textOf(Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null)));
}

/** A value with its own `toJSON`, such as a number that keeps its digits, is not treated as an object. */
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  typeof (value as { toJSON?: unknown }).toJSON !== 'function';

// Concatenates piece by piece: mapping lists costs several times as much, and anyone's request body reaches this.
function textOf(value: unknown): string {
  if (Array.isArray(value)) {
    let text = '[';
    for (let at = 0; at < value.length; at += 1) text += at === 0 ? textOf(value[at]) : `,${textOf(value[at])}`;
    return `${text}]`;
  }
  if (!isObject(value)) return Number.isFinite(value) ? String(value) : JSON.stringify(value);
  const names = Object.keys(value);
  if (names.length > 1) names.sort();
  let text = '{';
  for (const name of names) text += `${text === '{' ? '' : ','}${JSON.stringify(name)}:${textOf(value[name])}`;
  return `${text}}`;
}
