import { sealAll } from '../../ledger/seals/build-seals.ts';
import { buildPartner } from '../../support/partner.ts';
import type { Stack } from '../../support/stack.ts';

/** The tables partitioned by month. */
export const divided = ['events', 'gateway_callbacks', 'webhook_deliveries'] as const;
export type Divided = (typeof divided)[number];

/** Returns the month a number of months ago, `YYYY-MM` in UTC. */
export function monthsAgo(count: number): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - count, 1)).toISOString().slice(0, 7);
}

/** SQL for an id in the middle of a month. */
export const idIn = (month: string): string => `uuidv7(timestamptz '${month}-15T00:00:00Z' - now())`;

/** Builds a month with three events, two callbacks and two webhooks, none of them still needed, and a seal over it. */
export async function buildOldMonth(stack: Stack, month: string): Promise<void> {
  const { id: partner } = await buildPartner(stack);
  const at = `timestamptz '${month}-15T00:00:00Z'`;
  const owner = stack.owner();
  for (const table of divided) await owner.execute(`select make_month('${table}', '${month}-01')`);
  await owner.execute(
    `insert into events (id, event, impact, resource_type, resource_id, actor_id, data, created_at)
     select ${idIn(month)}, 'RESOURCE_UPDATED', 'MEDIUM', 'thing', n || ' "quoted" \\ ü', uuidv7(),
       case when n < 3 then jsonb_build_object('n', n, 'text', E'two\nlines') end, ${at} + n * interval '0.000001 seconds'
     from generate_series(1, 3) n`,
  );
  await owner.execute(
    `with key as (insert into callback_keys (webhook_id, body_digest, callback_id)
       select '${month} ' || n, md5(n::text), ${idIn(month)} from generate_series(1, 2) n returning *)
     insert into gateway_callbacks (id, webhook_id, event, kind, reference, body_digest, body_bytes, received_at, delivered_at)
     select callback_id, webhook_id, 'payment.succeeded', 'payment', uuidv7(), body_digest, 7, ${at}, ${at} from key`,
  );
  await owner.transactional(async (tx) => {
    // Bypasses the rules about statuses, because these webhooks are inserted as delivered.
    await tx.execute("set local session_replication_role = 'replica'");
    await tx.execute(
      `with key as (insert into webhook_version_keys (resource_type, resource_id, version, endpoint_id, delivery_id)
         select 'payment', uuidv7(), n, uuidv7(), ${idIn(month)} from generate_series(1, 2) n returning *)
       insert into webhook_deliveries (id, partner_id, endpoint_id, resource_type, resource_id, version, type, body_digest,
         status, attempts, last_status, delivered_at, created_at)
       select delivery_id, ?, endpoint_id, resource_type, resource_id, version, 'payment.succeeded', md5('body'), 'delivered',
         1, 204, ${at}, ${at} from key`,
      [partner],
    );
  });
  await sealAll(stack);
}

/** Reads a month's rows that are in the database, as text, in the order of ids. */
export async function rowsOf(stack: Stack, table: Divided, month: string): Promise<string[]> {
  const rows = await stack.owner().execute<{ row: string }[]>(
    `select t::text as row from ${table} t
     where id >= first_id_at('${month}-01T00:00:00Z') and id < first_id_at(timestamptz '${month}-01T00:00:00Z' + interval '1 month')
     order by id`,
  );
  return rows.map(({ row }) => row);
}
