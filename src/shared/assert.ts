/** A programmer's belief; a false one is our defect and never the caller's. */
export function assert(condition: unknown, belief: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${belief}`);
}

/** The value, which the program believes to be there. */
export function must<T>(value: T | null | undefined, belief: string): T {
  if (value === null || value === undefined) throw new Error(`assertion failed: ${belief}`);
  return value;
}
