/** How much of its plan a run carried out. */
export interface EffortFact {
  /** Faults that had an effect, and why some did not; pieces of work, and why some stopped. */
  faults: number;
  idle: string[];
  work: number;
  brokenOff: string[];
}
