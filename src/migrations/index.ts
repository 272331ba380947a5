import type { NamedMigration } from '../platform/database/database.ts';
import { M0001Baseline } from './m0001-baseline.ts';
import { M0002BookedTransfersByTime } from './m0002-booked-transfers-by-time.ts';

/** The start of every database. */
export const baseline: NamedMigration = { name: 'm0001-baseline', class: M0001Baseline };

/** Every migration in order, by name: one file per change, never edited after it was merged. */
export const migrations: NamedMigration[] = [
  baseline,
  { name: 'm0002-booked-transfers-by-time', class: M0002BookedTransfersByTime },
];
