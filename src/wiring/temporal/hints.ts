/** Fire-and-forget calls: they never fail, because a sweep makes up for a lost one. */
export interface Hints {
  /** Resolves to whether the call succeeded; makes no calls after `settled`. */
  send(call: () => Promise<unknown>): Promise<boolean>;
  /**
   * Stops new calls and resolves when none is in progress. The SDK retries a call from a timer, which crashes if its
   * channel is closed.
   */
  settled(): Promise<void>;
}

export function createHints(): Hints {
  const underWay = new Set<Promise<boolean>>();
  let isOver = false;
  return {
    async send(call) {
      if (isOver) return false;
      const sent = call().then(
        () => true,
        () => false,
      );
      underWay.add(sent);
      return sent.finally(() => underWay.delete(sent));
    },
    async settled() {
      isOver = true;
      await Promise.all(underWay);
    },
  };
}
