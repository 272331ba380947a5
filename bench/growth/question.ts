/** Sends a request to the product and returns how many items it returned; what it reads may grow with that number. */
export interface Question {
  name: string;
  /** How often it runs before it is measured, so that a new connection's reads of the catalogue do not count. */
  before?: number;
  /** Makes something due, after the warm-up. */
  prepare?(): Promise<void>;
  /** Whether it also counts a total, which grows with the list: those reads are counted separately. */
  countsTotal?: boolean;
  ask(): Promise<number | Page>;
}

/** A page of a list: how many rows it has, and how many the whole list has. */
export interface Page {
  answer: number;
  total: number;
}

/** The waker of sweeps: does nothing and always succeeds. */
export const nobody = new Proxy({}, { get: () => async () => undefined }) as never;
export const failed = () => {
  throw new Error('a sweep could not wake a workflow');
};
