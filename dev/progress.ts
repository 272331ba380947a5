/** The lines that a person reads while the stack starts: one for each part when it is there, and what takes long. */
export interface Progress {
  /** Something about a part that is not there yet. */
  say(part: string, sentence: string): void;
  /** Runs the start of a part and prints its line with the time that it took. */
  step<T>(part: string, start: () => Promise<T>, describe?: (result: T) => string): Promise<T>;
  note(sentence: string): void;
}

const nameWidth = 18;
/** A part that takes longer says so, so that nobody believes it dead. */
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
