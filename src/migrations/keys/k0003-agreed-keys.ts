import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Migration } from '@mikro-orm/migrations';

/** Whether this database has the keys that were agreed on. */
export class K0003AgreedKeys extends Migration {
  override up(): void {
    this.addSql(readFileSync(join(import.meta.dirname, 'agreed-keys.sql'), 'utf8'));
  }
}
