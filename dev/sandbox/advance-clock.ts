import { isOpen } from './instrument.ts';
import { findOpenInstruments, updateInstrument } from './instrument-store.ts';
import { hastenSteps } from './steps.ts';
import type { Store } from './store.ts';

export interface Moved {
  instruments: number;
  transfers: number;
  refunds: number;
  callbacks: number;
}

/**
 * Brings everything scheduled in the sandbox forward by this many milliseconds; things created later are not
 * affected.
 */
export function advanceClock(store: Store, ms: number): Moved {
  return store.transaction(() => {
    const open = findOpenInstruments(store);
    for (const instrument of open) {
      const expiresAt = new Date(Date.parse(instrument.expiresAt) - ms).toISOString();
      updateInstrument(store, { ...instrument, expiresAt }, isOpen(instrument));
    }
    return {
      instruments: open.length,
      transfers: hastenSteps(store, 'transfers', ms),
      refunds: hastenSteps(store, 'refunds', ms),
      callbacks: store.run('update callbacks set due_at = due_at - ? where due_at is not null', ms),
    };
  });
}
