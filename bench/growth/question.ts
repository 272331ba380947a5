/** A request to the product; `ask` returns the number of items returned, with which its reads may grow. */
export interface Question {
  name: string;
  /** How often `ask` runs before it is measured, so that a new connection's reads of the catalogue do not count. */
  before?: number;
  /** Makes rows due, after the warm-up. */
  prepare?(): Promise<void>;
  /** Whether `ask` also counts a list's total; those reads grow with the list and are counted separately. */
  countsTotal?: boolean;
  ask(): Promise<number | Page>;
}

/** A page of a list: its number of rows, and the list's. */
export interface Page {
  answer: number;
  total: number;
}

/** Stands in for the workflows that sweeps wake: every call succeeds and does nothing. */
export const nobody = new Proxy({}, { get: () => async () => undefined }) as never;
export const failed = () => {
  throw new Error('a sweep could not wake a workflow');
};
