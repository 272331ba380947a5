import type { MikroORM } from '@mikro-orm/postgresql';
import { openDatabase } from '../../src/wiring/open-database.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let orm: MikroORM;
beforeAll(async () => {
  database = await cloneDatabase();
  orm = await openDatabase({ url: database.ownerUrl, poolSize: 2 });
});
afterAll(async () => {
  await orm.close(true);
  await database.drop();
});

/**
 * Allowed differences: only the migrations define constraints, indexes, triggers, defaults, sequences and the columns
 * listed here. Any other difference in a table, column, type or nullability is an error.
 */
const ofMigrationsAlone = [
  /^drop (index|trigger|function) /,
  /^alter table "\w+" drop constraint "\w+";$/,
  /^alter table "\w+" alter column "\w+" drop default;$/,
  /^create sequence if not exists /,
  /^select setval\(/,
  /^alter table "\w+" alter column "\w+" set default nextval\(/,
  // Columns written only by the database (generated, identity, set by a trigger) or only by sweeps.
  /^alter table "accounts" drop column "may_go_negative";$/,
  /^alter table "donation_subscriptions" drop column "due_at";$/,
  /^alter table "payouts" drop column "has_left", drop column "booked_amount";$/,
  /^alter table "reconciliations" (drop column "is_further", drop column "kind"|add "kind" text not null);$/,
  /^alter table "roles" drop column "permission_names";$/,
  /^alter table "saving_circle_members" (drop column "joining_order"|add "joining_order" bigserial);$/,
  /^alter table "saving_circle_(rounds" drop column "look_at|contributions" drop column "swept_at)";$/,
];

it('The schema created by the migrations matches the entities', async () => {
  const sql = await orm.schema.getUpdateSchemaSQL({ dropTables: false, wrap: false });
  const differences = sql
    .split('\n')
    .filter((line) => line.trim() !== '' && !ofMigrationsAlone.some((pattern) => pattern.test(line)));
  expect(differences).toEqual([]);
});
