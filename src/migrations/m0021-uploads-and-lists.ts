import { Migration } from '@mikro-orm/migrations';

/** Uploads keep their file name. */
export class M0021UploadsAndLists extends Migration {
  override up(): void {
    this.addSql(`
alter table documents add column file_name_sealed text;
`);
  }
}
