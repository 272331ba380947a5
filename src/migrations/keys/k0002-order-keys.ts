import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Migration } from '@mikro-orm/migrations';

/** The keys of partners' orders. */
export class K0002OrderKeys extends Migration {
  override up(): void {
    this.addSql(readFileSync(join(import.meta.dirname, 'order-keys.sql'), 'utf8'));
  }
}
