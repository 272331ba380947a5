/** Asks the product something and returns how many things it answered, by which what it reads may grow. */
export interface Question {
  name: string;
  /** How often it is asked before it is measured: what a connection reads of the catalogue is not meant. */
  before?: number;
  /** Makes something due, after it was asked before. */
  prepare?(): Promise<void>;
  /** Whether it also counts a total, which grows by itself: what that reads is set apart. */
  countsTotal?: boolean;
  ask(): Promise<number | Page>;
}

/** A page of a list: how many rows it has, and how many the list. */
export interface Page {
  answer: number;
  total: number;
}

/** The waker of sweeps: does nothing, always succeeds. */
export const nobody = new Proxy({}, { get: () => async () => undefined }) as never;
export const failed = () => {
  throw new Error('a sweep could not wake what it found');
};
