import type { EntityManager } from '@mikro-orm/postgresql';
import { must } from '../shared/assert.ts';
import { textArray } from '../shared/postgres.ts';

interface OfPartner {
  partner_id: string | null;
}

/** Adds `partner_name` to rows shown to operators; null where `partner_id` is null. */
export async function withPartnerNames<Row extends OfPartner>(
  em: EntityManager,
  rows: readonly Row[],
): Promise<(Row & { partner_name: string | null })[]> {
  const ids = new Set(rows.flatMap(({ partner_id }) => partner_id ?? []));
  const found = await em.execute<{ id: string; name: string }[]>(
    'select id, name from partners where id = any (?::uuid[])',
    [textArray([...ids])],
  );
  const names = new Map(found.map(({ id, name }) => [id, name]));
  return rows.map((row) => ({ ...row, partner_name: (row.partner_id && names.get(row.partner_id)) || null }));
}

/** Adds `partner_name` to one row. */
export async function withPartnerName<Row extends OfPartner>(
  em: EntityManager,
  row: Row,
): Promise<Row & { partner_name: string | null }> {
  const [named] = await withPartnerNames(em, [row]);
  return must(named, 'each row has a name');
}
