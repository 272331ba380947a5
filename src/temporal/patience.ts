/** The parts that a wait is counted in. */
const parts = 10;

/**
 * Runs a call and gives it up after so many milliseconds of a live event loop; the signal tells it so. A process that is
 * too busy to hear the answer does not take the other side for away: each part of the wait lets what has arrived be
 * read first.
 */
export async function withPatience<T>(waitMs: number, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const givenUp = new Promise<never>((_, reject) => {
    const wait = (left: number) => {
      timer = setTimeout(() => {
        if (left > 1) return wait(left - 1);
        const reason = new Error(`no answer within ${waitMs} ms`);
        reject(reason);
        controller.abort(reason);
      }, waitMs / parts);
    };
    wait(parts);
  });
  try {
    return await Promise.race([call(controller.signal), givenUp]);
  } finally {
    clearTimeout(timer);
  }
}
