/** Calls that nobody waits for: what they were about is found again by a sweep, so they never fail. */
export interface Hints {
  send(call: () => Promise<unknown>): Promise<void>;
  /** When none is under way: the SDK tries a call again by a timer, which crashes when its channel is closed meanwhile. */
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
