/**
 * Waits until the value satisfies the condition, polling after 50 ms and then less often, up to `slowestMs`; fails with
 * the last value.
 */
export async function eventually<T>(
  ask: () => Promise<T>,
  isRight: (value: T) => boolean,
  withinMs = 60_000,
  { slowestMs = 250 } = {},
): Promise<T> {
  const since = Date.now();
  for (;;) {
    const value = await ask();
    if (isRight(value)) return value;
    if (Date.now() - since > withinMs) throw new Error(`it was still ${JSON.stringify(value)} after ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, Math.min(50 + (Date.now() - since) / 10, slowestMs)));
  }
}
