/** The number of parts of a wait. */
const parts = 10;

/**
 * Runs a call and aborts it after `waitMs` milliseconds of a live event loop (ETIMEDOUT). A process that is too busy to
 * read the answer must not treat the other side as down: after each part of the wait, it first reads data that has
 * arrived.
 */
export async function withPatience<T>(waitMs: number, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const givenUp = new Promise<never>((_, reject) => {
    const wait = (left: number) => {
      timer = setTimeout(() => {
        if (left > 1) return wait(left - 1);
        const reason = Object.assign(new Error(`no answer within ${waitMs} ms`), { code: 'ETIMEDOUT' });
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
