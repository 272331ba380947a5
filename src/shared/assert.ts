/** Checks an invariant; a violation is our bug, never the caller's fault. */
export function assert(condition: unknown, belief: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${belief}`);
}

/** The value, which must be there. */
export function must<T>(value: T | null | undefined, belief: string): T {
  if (value === null || value === undefined) throw new Error(`assertion failed: ${belief}`);
  return value;
}
