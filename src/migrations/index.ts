import type { NamedMigration } from '../platform/database/database.ts';
import { M0001Baseline } from './m0001-baseline.ts';

/** The start of every database. */
export const baseline: NamedMigration = { name: 'm0001-baseline', class: M0001Baseline };

/** Every migration in order, by name: one file per change, never edited after it was merged. */
export const migrations: NamedMigration[] = [baseline];
