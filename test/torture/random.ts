/** A source of random numbers that is the same for the same seed, on every machine. */
export interface Random {
  /** A number from 0 to below 1. */
  next(): number;
  /** A whole number from `from` to `to`, both included. */
  int(from: number, to: number): number;
  chance(share: number): boolean;
  pick<T>(choices: readonly T[]): T;
  /** One of the names, each in proportion to its weight. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name;
  /** All choices once, in random order. */
  shuffled<T>(choices: readonly T[]): T[];
  /** A separate source, so that draws for one part of a plan do not change the others. */
  fork(name: string): Random;
}

/** FNV-1a, 32 bits: spreads texts and small seeds. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}

/** Mulberry32: small, fast, and good enough to choose faults; nothing secret depends on it. */
export function createRandom(seed: number | string): Random {
  let state = hash(String(seed));
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const int = (from: number, to: number) => from + Math.floor(next() * (to - from + 1));
  return {
    next,
    int,
    chance: (share) => next() < share,
    pick: (choices) => {
      const chosen = choices[int(0, choices.length - 1)];
      if (chosen === undefined) throw new Error('there is nothing to choose from');
      return chosen;
    },
    weighted: (weights) => {
      const entries = Object.entries<number>(weights);
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      const found = entries.find(([, weight]) => {
        left -= weight;
        return left < 0;
      });
      return (found ?? entries[0])?.[0] as never;
    },
    shuffled: (choices) => {
      const left = [...choices];
      return choices.map(() => left.splice(int(0, left.length - 1), 1)[0] as never);
    },
    fork: (name) => createRandom(`${seed}/${name}`),
  };
}
