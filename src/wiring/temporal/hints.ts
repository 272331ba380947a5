/** Fire-and-forget calls: they never fail, because a sweep makes up for a lost one. */
export interface Hints {
  /** Resolves to whether the call succeeded; after `settled` was called, no more calls are made. */
  send(call: () => Promise<unknown>): Promise<boolean>;
  /**
   * Ends them: resolves when none is under way. The SDK retries a call from a timer, which crashes when its channel is
   * closed meanwhile.
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
