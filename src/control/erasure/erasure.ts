import { type StatusOf, statusLaw } from '../../shared/status-law.ts';

/**
 * The statuses of a person's erasure (docs/contract.md 1). It waits, and may be stopped while it does; then the
 * person's rows are emptied (`erasing`), the key is destroyed (`erased`), and once the last backup of the keys has
 * expired no data is readable anywhere (`complete`).
 */
export const erasureLaw = statusLaw({
  initial: ['waiting', 'erasing'],
  transitions: {
    waiting: ['erasing', 'stopped'],
    erasing: ['erased'],
    erased: ['complete'],
    complete: [],
    stopped: [],
  },
});
export type ErasureStatus = StatusOf<typeof erasureLaw>;

/** Hours until a blocked erasure checks again. */
export const holdLookHours = 24;

/** The configured periods of an erasure. */
export interface ErasureTerms {
  /** Hours from the decision until a person is erased. */
  ERASURE_WAIT_HOURS: number;
  /** Days after which no backup of the keys is left. */
  KEYS_BACKUP_DAYS: number;
}

/** The next step of an erasure's workflow: waits this long and checks again, unless it is done. */
export interface ErasureStanding {
  status: ErasureStatus;
  /** Milliseconds. */
  waitMs: number;
}

/** The input of an erasure's workflow. */
export interface PersonErasureInput {
  erasureId: string;
}

/** The port to the workflows of erasures; implemented in `src/wiring/temporal/`. */
export interface ErasureWorkflows {
  /** Starts an erasure's workflow unless it is running. Throws when Temporal does not accept it in time. */
  lookAfterErasure(erasureId: string): Promise<void>;
}
