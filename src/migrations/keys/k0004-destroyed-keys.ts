import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Migration } from '@mikro-orm/migrations';

/** What was destroyed goes from the files, too. */
export class K0004DestroyedKeys extends Migration {
  override up(): void {
    this.addSql(readFileSync(join(import.meta.dirname, 'destroyed-keys.sql'), 'utf8'));
  }
}
