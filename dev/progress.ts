/** The lines that a person reads while the stack starts: one per part when it is ready, and notes about slow ones. */
export interface Progress {
  /** Reports on a part that is not ready yet. */
  say(part: string, sentence: string): void;
  /** Runs the start of a part and prints its line with the time it took. */
  step<T>(part: string, start: () => Promise<T>, describe?: (result: T) => string): Promise<T>;
  note(sentence: string): void;
}

const nameWidth = 18;
/** How often a starting part prints a line, so that it does not seem to hang. */
const aliveEveryMs = 10_000;

const inSeconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`;

export function createProgress(write: (line: string) => void): Progress {
  const line = (mark: string, part: string, text: string) => write(`  ${mark} ${part.padEnd(nameWidth)}${text}\n`);
  const say = (part: string, sentence: string) => line('…', part, sentence);
  return {
    say,
    note: (sentence) => write(`  ${sentence}\n`),
    async step(part, start, describe = () => '') {
      const startedAt = Date.now();
      const alive = setInterval(() => say(part, `still starting (${inSeconds(Date.now() - startedAt)})`), aliveEveryMs);
      try {
        const result = await start();
        line('✓', part, `${describe(result)}  (${inSeconds(Date.now() - startedAt)})`);
        return result;
      } finally {
        clearInterval(alive);
      }
    },
  };
}
