/**
 * A JSON value as a canonical text: the same for values that differ only in member order. Null members of the top-level
 * object count as absent, as in a request. Throws RangeError when it is nested too deeply.
 */
export function canonicalJson(value: unknown): string {
  if (!isObject(value)) return JSON.stringify(sorted(value));
  return JSON.stringify(sorted(Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null))));
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Objects become lists of their members sorted by name: a list can hold any name, and keeps its order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const members = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return { object: members.map(([name, member]) => [name, sorted(member)]) };
}
