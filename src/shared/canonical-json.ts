/**
 * A JSON value as one text, whatever the order of its members: two values have the same if they say the same. Members of
 * the value itself that are null count as absent, as in a request. Throws RangeError for what is nested too deeply.
 */
export function canonicalJson(value: unknown): string {
  if (!isObject(value)) return JSON.stringify(sorted(value));
  return JSON.stringify(sorted(Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null))));
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Objects as lists of their members by name: a list takes any name, and keeps its order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const members = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return { object: members.map(([name, member]) => [name, sorted(member)]) };
}
