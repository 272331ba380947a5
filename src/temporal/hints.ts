/** Fire-and-forget calls: they never fail, because a sweep makes up for a lost one. */
export interface Hints {
  send(call: () => Promise<unknown>): Promise<void>;
  /**
   * Resolves when none is under way: the SDK retries a call from a timer, which crashes when its channel is closed
   * meanwhile.
   */
  settled(): Promise<void>;
}

export function createHints(): Hints {
  const underWay = new Set<Promise<void>>();
  return {
    send(call) {
      const sent: Promise<void> = call().then(
        () => void underWay.delete(sent),
        () => void underWay.delete(sent),
      );
      underWay.add(sent);
      return sent;
    },
    async settled() {
      await Promise.all(underWay);
    },
  };
}
