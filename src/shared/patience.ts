/** The number of parts that a wait is split into. */
const parts = 10;

/**
 * Runs a call and aborts it after `waitMs` milliseconds of a live event loop (ETIMEDOUT). A process that is too busy to
 * read the answer must not mistake the other side for down: after each part of the wait, arrived data is read first.
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
