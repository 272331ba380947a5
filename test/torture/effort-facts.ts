/** How much of its plan a run carried out. */
export interface EffortFact {
  /** The number of faults, and why some had no effect; the number of pieces of work, and why some failed. */
  faults: number;
  idle: string[];
  work: number;
  brokenOff: string[];
}
