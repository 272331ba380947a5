import type { Migration } from '@mikro-orm/migrations';
import { M0001Baseline } from './m0001-baseline.ts';

/** A migration under the name by which a database knows that it has been made. */
export interface NamedMigration {
  name: string;
  class: new (...args: ConstructorParameters<typeof Migration>) => Migration;
}

/** What every database of ours begins with. */
export const baseline: NamedMigration = { name: 'm0001-baseline', class: M0001Baseline };

/** Every migration in order, by name: one file per change, never edited after landing. */
export const migrations: NamedMigration[] = [baseline];
