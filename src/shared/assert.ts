/** Checks an invariant; a violation is our bug, never the caller's fault. */
export function assert(condition: unknown, belief: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${belief}`);
}

/** Returns the value; throws if it is null or undefined. */
export function must<T>(value: T | null | undefined, belief: string): T {
  if (value === null || value === undefined) throw new Error(`assertion failed: ${belief}`);
  return value;
}
