import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Migration } from '@mikro-orm/migrations';
import type { NamedMigration } from '../../platform/database/database.ts';

/** The initial schema of the keys database. */
class K0001Keys extends Migration {
  override up(): void {
    this.addSql(readFileSync(join(import.meta.dirname, 'keys.sql'), 'utf8'));
  }
}

/**
 * Every migration of the keys database in order, by name; from the first release on, never edited after it was merged.
 */
export const keysMigrations: NamedMigration[] = [{ name: 'k0001-keys', class: K0001Keys }];
