import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Migration } from '@mikro-orm/migrations';

/** The database of the keys, from nothing. */
export class K0001Keys extends Migration {
  override up(): void {
    this.addSql(readFileSync(join(import.meta.dirname, 'keys.sql'), 'utf8'));
  }
}
