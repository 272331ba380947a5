/** Checks an invariant; a violation is our bug and never the caller's. */
export function assert(condition: unknown, belief: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${belief}`);
}

/** The value, which must be there. */
export function must<T>(value: T | null | undefined, belief: string): T {
  if (value === null || value === undefined) throw new Error(`assertion failed: ${belief}`);
  return value;
}
