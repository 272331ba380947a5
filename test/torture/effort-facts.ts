/** How much of its plan a run has carried out. */
export interface EffortFact {
  /** Faults that could act, and why some did not; pieces of work, and why some stopped. */
  faults: number;
  idle: string[];
  work: number;
  brokenOff: string[];
}
