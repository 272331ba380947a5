/** Waits until the value satisfies, asking every 50 ms; fails with what it was last. */
export async function eventually<T>(
  ask: () => Promise<T>,
  isRight: (value: T) => boolean,
  withinMs = 60_000,
): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const value = await ask();
    if (isRight(value)) return value;
    if (Date.now() > deadline) throw new Error(`it was still ${JSON.stringify(value)} after ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
