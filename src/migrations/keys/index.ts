import type { NamedMigration } from '../../platform/database/database.ts';
import { K0001Keys } from './k0001-keys.ts';
import { K0002OrderKeys } from './k0002-order-keys.ts';
import { K0003AgreedKeys } from './k0003-agreed-keys.ts';
import { K0004DestroyedKeys } from './k0004-destroyed-keys.ts';

/** Every migration of the database of the keys in order, by name: never edited after landing. */
export const keysMigrations: NamedMigration[] = [
  { name: 'k0001-keys', class: K0001Keys },
  { name: 'k0002-order-keys', class: K0002OrderKeys },
  { name: 'k0003-agreed-keys', class: K0003AgreedKeys },
  { name: 'k0004-destroyed-keys', class: K0004DestroyedKeys },
];
